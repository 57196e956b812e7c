package cmd_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry/retrytest"
)

// TestLikeCurl runs each argument list of testdata/differential/*.txt through
// the installed curl and through bide --attempts 1 --no-fail, and compares all
// that can be seen: every byte of each request, the connections used, stdout,
// stderr, the files written and the exit code. A difference is a fault, unless
// deliberateDifferences names the case.
//
// A line of a table is "NAME ARGUMENT...", quoted as for a shell (”, "", $”
// with escapes). $U is the recorder's http URL, $S its https URL, $H its
// address, $P its port; a NAME that ends in & runs in parallel, so that the
// order of its requests does not count.
func TestLikeCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	if v, _ := exec.Command(curl, "--version").Output(); !strings.HasPrefix(string(v), "curl 7.88.") {
		t.Skipf("the table is that of curl 7.88, and the installed one is %.20q", v)
	}
	d := &differential{curl: curl, bide: buildBide(t), fixtures: differentialFixtures(t)}
	d.issue(t)
	cases := differentialCases(t)
	t.Run("cases", func(t *testing.T) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				d.compare(t, c, deliberateDifferences[c.name], "--attempts", "1", "--no-fail")
			})
			if slices.Contains(sameAsCurl, c.name) {
				t.Run(c.name+"/as-curl", func(t *testing.T) {
					t.Parallel()
					d.compare(t, c, deliberate{}, "--as-curl")
				})
			}
		}
	})
	docs, err := os.ReadFile("../docs/from-curl.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range deliberateDifferences {
		if !strings.Contains(string(docs), "\n| "+d.row+" | ") {
			t.Errorf("docs/from-curl.md has no row %q, which explains %s", d.row, name)
		}
		if !slices.ContainsFunc(cases, func(c differentialCase) bool { return c.name == name }) {
			t.Errorf("deliberateDifferences has %s, which is no case", name)
		}
	}
	const least = 250
	if len(cases) < least {
		t.Errorf("%d cases, want at least %d", len(cases), least)
	}
}

type differential struct {
	curl, bide  string
	fixtures    map[string]string
	certificate tls.Certificate
}

type differentialCase struct {
	name, where string
	args        []string
	unordered   bool
}

// issue makes the recorder's certificate; its CA is the fixture ca.pem.
func (d *differential) issue(t *testing.T) {
	ca, err := retrytest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	d.certificate, err = ca.Issue(retrytest.Leaf{Hosts: []string{"127.0.0.1", "localhost", "host.test", "auth.test", "digest.test"}})
	if err != nil {
		t.Fatal(err)
	}
	d.fixtures["ca.pem"] = string(ca.PEM())
}

// seen is what one run of one program did.
type seen struct {
	requests, stdout, stderr, files string
	code                            int
}

func (s seen) parts() []part {
	return []part{
		{"requests", s.requests}, {"exit code", strconv.Itoa(s.code)}, {"stdout", s.stdout}, {"stderr", s.stderr}, {"files", s.files},
	}
}

type part struct{ name, text string }

func (d *differential) compare(t *testing.T, c differentialCase, expected deliberate, flags ...string) {
	r := newRecorder(t, d.certificate)
	want := d.run(t, c, r, d.curl, "-q", "--no-progress-meter")
	got := d.run(t, c, r, d.bide, append([]string{"-q", "--no-progress-meter"}, flags...)...)
	var differs []string
	var report strings.Builder
	theirs := want.parts()
	for i, ours := range got.parts() {
		if ours.text == theirs[i].text || ours.name == "stderr" && goesOn(theirs[i].text, ours.text) {
			continue
		}
		differs = append(differs, ours.name)
		fmt.Fprintf(&report, "\n%s\n--- curl\n%s\n--- bide\n%s\n", ours.name, theirs[i].text, ours.text)
	}
	switch found := strings.Join(differs, ", "); {
	case expected == (deliberate{}) && found != "":
		t.Errorf("%s: %q differ in: %s\n%s", c.where, c.args, found, report.String())
	case found != expected.in:
		t.Errorf("%s: %q differ in %q, and deliberately in %q (%s)\n%s", c.where, c.args, found, expected.in, expected.row, report.String())
	}
}

// run runs one program in a folder of its own, with the fixtures in it that its
// arguments name.
func (d *differential) run(t *testing.T, c differentialCase, r *recorder, program string, prefix ...string) seen {
	t.Helper()
	dir := t.TempDir()
	for name, text := range d.fixtures {
		if name != ".netrc" && !strings.Contains(strings.Join(c.args, " "), name) {
			continue
		}
		writeFile(t, filepath.Join(dir, name), strings.ReplaceAll(text, "$H", r.addr))
	}
	_, port, _ := strings.Cut(r.addr, ":")
	addresses := strings.NewReplacer("$U", "http://"+r.addr, "$S", "https://"+r.addr, "$H", r.addr, "$P", port)
	args := slices.Clone(prefix)
	for _, a := range c.args {
		args = append(args, addresses.Replace(a))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = dir
	command.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TZ=UTC", "DIFF_SET=from the environment"}
	command.Stdin = strings.NewReader("from stdin\n")
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	_ = command.Run() // the exit code tells
	n := normaliser{program: filepath.Base(program), addr: r.addr, dir: dir}
	requests := slices.DeleteFunc(r.take(), func(s string) bool {
		return strings.HasSuffix(s, ": nothing") || strings.HasSuffix(s, ": TLS handshake failed") // no request
	})
	for i := range requests {
		requests[i] = n.request(requests[i])
		if c.unordered {
			_, requests[i], _ = strings.Cut(requests[i], ": ")
		}
	}
	if c.unordered {
		slices.Sort(requests)
	}
	return seen{
		requests: strings.Join(requests, "\n"), code: command.ProcessState.ExitCode(),
		stdout: n.text(stdout.String()), stderr: n.stderr(stderr.String()), files: n.files(t, dir, d.fixtures),
	}
}

// goesOn: each of our lines is curl's, or starts as it does and goes on with
// words of our own: after a semicolon, or as the reason in parentheses.
func goesOn(theirs, ours string) bool {
	a, b := strings.Split(theirs, "\n"), strings.Split(ours, "\n")
	return slices.EqualFunc(a, b, func(a, b string) bool {
		rest, ok := strings.CutPrefix(b, a)
		return ok && (rest == "" || strings.HasPrefix(rest, "; ") || strings.HasPrefix(rest, " ("))
	})
}

// normaliser replaces what cannot be the same in two runs.
type normaliser struct{ program, addr, dir string }

func (n normaliser) text(s string) string {
	_, port, _ := strings.Cut(n.addr, ":")
	s = strings.NewReplacer(n.addr, "HOST:PORT", n.dir, "DIR", "port "+port, "port PORT", ":"+port, ":PORT").Replace(s)
	for _, rule := range []struct{ find, put string }{
		{`\b(curl|bide)/[0-9A-Za-z.+-]+`, "AGENT"},
		{`-{24}[0-9A-Za-z]{16,22}\b`, "BOUNDARY"},
		{`\b\d+\.\d{6}\b`, "SECONDS"},
		{`after \d+ ms`, "after N ms"}, {`after \d+ milliseconds`, "after N milliseconds"},
		{`(?m)^\d\d:\d\d:SECONDS `, "CLOCK "},
		{`(?m)^\d\d:\d\d:\d\d\.\d{6} `, "CLOCK "},
		{`Signature=[0-9a-f]+`, "Signature=X"}, {`X-Amz-Date: \w+`, "X-Amz-Date: X"}, {`/20\d{6}/`, "/DAY/"},
		{`PROXY TCP4 127.0.0.1 127.0.0.1 \d+`, "PROXY TCP4 127.0.0.1 127.0.0.1 PORT"},
		{`"local_port":\d+`, `"local_port":PORT`},
		{`(cnonce)="[^"]*"`, `$1="X"`}, {`(response)="[^"]*"`, `$1="X"`},
	} {
		s = regexp.MustCompile(rule.find).ReplaceAllString(s, rule.put)
	}
	return s
}

// request also takes the boundary's own length out of the body's.
func (n normaliser) request(s string) string {
	boundary := regexp.MustCompile(`-{24}[0-9A-Za-z]{16,22}\b`)
	if head, body, ok := strings.Cut(s, "\r\n\r\n"); ok && strings.Contains(head, "multipart/") {
		size := 0
		for _, found := range boundary.FindAllString(body, -1) {
			size += len(found)
		}
		head = regexp.MustCompile(`Content-Length: \d+`).ReplaceAllStringFunc(head, func(line string) string {
			length, _ := strconv.Atoi(strings.TrimPrefix(line, "Content-Length: "))
			return fmt.Sprintf("Content-Length: %d and the boundaries", length-size)
		})
		s = head + "\r\n\r\n" + body
	}
	s = n.text(s)
	const most = 4000
	if len(s) > most {
		s = fmt.Sprintf("%s... (%d bytes)", s[:most], len(s))
	}
	return strings.ReplaceAll(s, "\r", `\r`)
}

// stderr also calls the program by one name, and leaves out of -v what is the
// library's own talk and not the protocol's.
func (n normaliser) stderr(s string) string {
	s = n.text(s)
	libraryTalk := regexp.MustCompile(`^[{}] \[|^\* (Found bundle|Can not multiplex|Ignoring the response-body|Server auth using|Mark bundle|allocate connect|Added .* to DNS|Hostname .* was found|HTTP 1\.|no chunk, no close|processing: |CONNECT phase completed|Please rewind|Signaling end|We are completely uploaded)`)
	// The installed curl's words in those of curl 8, which are ours.
	s = regexp.MustCompile(`URL rejected: [^;\n]*`).ReplaceAllString(s, "URL using bad/illegal format or missing URL")
	s = strings.NewReplacer(" not supported or disabled in libcurl", " not supported", "no URL specified!", "no URL specified", "* Switch to ", "* Switch from POST to ",
		" disabled in redirect", " not supported", "\" disabled", "\" not supported",
		"Could not resolve host: abc.onion", "Not resolving .onion address (RFC 7686)", "libcurl understands", "PROGRAM understands",
		"bide understands", "PROGRAM understands").Replace(s)
	// Where to find help: we have one line, and our own documentation.
	s = regexp.MustCompile(`(?m)^curl: try '.*\n`).ReplaceAllString(s, "")
	s = regexp.MustCompile(`(?s)More details here: https.*web page mentioned above\.\n`).ReplaceAllString(s, "")
	var lines []string
	for line := range strings.Lines(s) {
		if libraryTalk.MatchString(line) {
			continue
		}
		line = strings.ReplaceAll(line, "\r\n", "\n")
		lines = append(lines, regexp.MustCompile(`\b(curl|bide)\b( --|: |$)`).ReplaceAllString(line, "PROGRAM$2"))
	}
	return strings.Join(lines, "")
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

// differentialFixtures are the files that each run finds in its folder.
func differentialFixtures(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{"big.bin": strings.Repeat("0123456789abcdef", 1<<16) + "over a MiB"}
	const folder = "testdata/differential/files"
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = string(text)
	}
	return files
}

func differentialCases(t *testing.T) []differentialCase {
	t.Helper()
	paths, err := filepath.Glob("testdata/differential/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var cases []differentialCase
	names := map[string]bool{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			where := fmt.Sprintf("%s:%d", path, i+1)
			words, err := shellWords(line)
			if err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			c := differentialCase{name: words[0], where: where, args: words[1:]}
			c.name, c.unordered = strings.CutSuffix(c.name, "&")
			if names[c.name] {
				t.Errorf("%s: %s is there twice", where, c.name)
			}
			names[c.name] = true
			cases = append(cases, c)
		}
	}
	return cases
}

// shellWords splits a line as a shell would: quotes, $” with escapes, no expansion.
func shellWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	begun := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == ' ':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		case c == '$' && strings.HasPrefix(line[i+1:], "'"):
			end := strings.IndexByte(line[i+2:], '\'')
			if end < 0 {
				return nil, fmt.Errorf("unbalanced quote in %s", line)
			}
			text, err := strconv.Unquote(`"` + strings.ReplaceAll(line[i+2:i+2+end], `"`, `\"`) + `"`)
			if err != nil {
				return nil, err
			}
			word.WriteString(text)
			begun, i = true, i+2+end
		case c == '\'' || c == '"':
			end := strings.IndexByte(line[i+1:], c)
			if end < 0 {
				return nil, fmt.Errorf("unbalanced quote in %s", line)
			}
			word.WriteString(line[i+1 : i+1+end])
			begun, i = true, i+1+end
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}
