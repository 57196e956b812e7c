package cmd_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
