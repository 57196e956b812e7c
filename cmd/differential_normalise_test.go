package cmd_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// normaliser replaces what cannot be the same in two runs.
type normaliser struct{ program, addr, dir string }

// rule is one replacement, by a regular expression.
type rule struct {
	find *regexp.Regexp
	put  string
}

func rules(pairs ...string) func() []rule {
	return sync.OnceValue(func() []rule {
		var list []rule
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, rule{regexp.MustCompile(pairs[i]), pairs[i+1]})
		}
		return list
	})
}

func apply(s string, list []rule) string {
	for _, r := range list {
		s = r.find.ReplaceAllString(s, r.put)
	}
	return s
}

const boundaryForm = `-{24}[0-9A-Za-z]{16,22}\b`

// volatile are times, versions, random texts and the client's port.
var volatile = rules(
	`\b(curl|bide)/[0-9A-Za-z.+-]+`, "AGENT",
	boundaryForm, "BOUNDARY",
	`\b\d+\.\d{6}\b`, "SECONDS",
	`after \d+ ms`, "after N ms",
	`after \d+ milliseconds`, "after N milliseconds",
	`(?m)^\d\d:\d\d:(SECONDS|\d\d\.\d{6}) `, "CLOCK ",
	`HTTP2-Settings: \w+`, "HTTP2-Settings: X", // 7.88 announces another window
	`Signature=[0-9a-f]+`, "Signature=X",
	`X-Amz-Date: \w+`, "X-Amz-Date: X",
	`/20\d{6}/`, "/DAY/",
	`PROXY TCP4 127.0.0.1 127.0.0.1 \d+`, "PROXY TCP4 127.0.0.1 127.0.0.1 PORT",
	`"local_port":\d+`, `"local_port":PORT`,
	`(cnonce|response)="[^"]*"`, `$1="X"`,
)

// ofStderr takes out where to find help (we have our own documentation), and what of -v is the library's own talk and not the
// protocol's; URL errors are in the words of curl 8.
var ofStderr = rules(
	`URL rejected: [^;\n]*`, "URL using bad/illegal format or missing URL",
	`(?m)^curl: try '.*\n`, "curl: try 'curl --help' for more information\n",
	`(?s)More details here: https.*web page mentioned above\.\n`, "",
	`(?m)^[{}] \[.*\n`, "",
	`(?m)^\* (Found bundle|Can not multiplex|Ignoring the response-body|Server auth using|Mark bundle|allocate connect|Added .* to DNS|Hostname .* was found|HTTP 1\.|no chunk, no close|CONNECT phase completed|Please rewind|Signaling end|We are completely uploaded).*\n`, "",
	`\r\n`, "\n",
	`(?m)\b(curl|bide)\b( --|: |$)`, "PROGRAM$2",
)

func (n normaliser) text(s string) string {
	_, port, _ := strings.Cut(n.addr, ":")
	s = strings.NewReplacer(n.addr, "HOST:PORT", n.dir, "DIR", "port "+port, "port PORT", ":"+port, ":PORT").Replace(s)
	return apply(s, volatile())
}

// shownBytes is how much of a body is shown; of the rest there is the hash.
const shownBytes = 4000

// request also takes the boundary's own length out of the body's.
func (n normaliser) request(s string) string {
	head, body, _ := strings.Cut(s, "\r\n\r\n")
	if strings.Contains(head, "multipart/") {
		size := 0
		for _, found := range regexp.MustCompile(boundaryForm).FindAllString(body, -1) {
			size += len(found)
		}
		head = regexp.MustCompile(`Content-Length: \d+`).ReplaceAllStringFunc(head, func(line string) string {
			length, _ := strconv.Atoi(strings.TrimPrefix(line, "Content-Length: "))
			return fmt.Sprintf("Content-Length: %d and the boundaries", length-size)
		})
		body = n.text(body)
	}
	if len(body) > shownBytes {
		body = fmt.Sprintf("%s... %d bytes, SHA-256 %x", body[:shownBytes], len(body), sha256.Sum256([]byte(body)))
	}
	return strings.ReplaceAll(n.text(head+"\r\n\r\n"+body), "\r", `\r`)
}

// stderr also calls the program by one name.
func (n normaliser) stderr(s string) string {
	s = apply(n.text(s), ofStderr())
	return strings.NewReplacer(
		// The installed curl's words in those of curl 8, which are ours.
		" not supported or disabled in libcurl", " not supported",
		" disabled in redirect", " not supported", "\" disabled", "\" not supported",
		"no URL specified!", "(2) no URL specified",
		"The file name argument", "The filename argument",
		"* Switch to ", "* Switch from POST to ",
		"Could not resolve host: abc.onion", "Not resolving .onion address (RFC 7686)",
		"libcurl understands", "PROGRAM understands", "bide understands", "PROGRAM understands",
	).Replace(s)
}

var expiryInJar = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\t\d{10}\t`) })

// farOff makes one text of all times beyond 399 days: from 400 days on curl 8,
// unlike 7.88, takes what is left of them.
func farOff(field string) string {
	if at, err := strconv.ParseInt(strings.Trim(field, "\t"), 10, 64); err == nil && time.Until(time.Unix(at, 0)) > 399*24*time.Hour {
		return "\tFAR\t"
	}
	return field
}

// files are those that the run made or changed, with their contents.
func (n normaliser) files(t *testing.T, dir string, fixtures map[string]string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		was, ours := fixtures[name]
		if ours && strings.ReplaceAll(was, "$H", n.addr) == string(text) {
			return nil
		}
		shown := n.text(string(text))
		if strings.HasPrefix(shown, "# Netscape") {
			_, shown, _ = strings.Cut(shown, "\n\n")
			shown = expiryInJar().ReplaceAllStringFunc(shown, farOff)
		}
		if strings.Contains(shown, "== Info: ") {
			shown = regexp.MustCompile(`(?m)^(CLOCK )?== Info: .*\n`).ReplaceAllString(shown, "")
		}
		all = append(all, name+":\n"+shown)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}
