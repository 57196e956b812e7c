package configfile_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bidehttp/bide/cmd/internal/configfile"
)

type entry = configfile.Entry

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []entry
	}{
		{"equals", "url = http://h/", []entry{{Name: "url", Value: "http://h/", HasValue: true, Line: 1}}},
		{"no blanks", "url=http://h/?a=b:c", []entry{{Name: "url", Value: "http://h/?a=b:c", HasValue: true, Line: 1}}},
		{"colon", "url: h", []entry{{Name: "url", Value: "h", HasValue: true, Line: 1}}},
		{"blank", "url \t h", []entry{{Name: "url", Value: "h", HasValue: true, Line: 1}}},
		{"dashes", "--url h\n--url=h\n--url = h", []entry{
			{Name: "url", Value: "h", HasValue: true, Line: 1}, {Name: "url", Value: "h", HasValue: true, Line: 2}, {Name: "url", Value: "h", HasValue: true, Line: 3}}},
		{"one dash", "-o f\n-sSfo f\n-of\n-d=x", []entry{
			{Name: "o", Short: true, Value: "f", HasValue: true, Line: 1}, {Name: "sSfo", Short: true, Value: "f", HasValue: true, Line: 2},
			{Name: "of", Short: true, Line: 3}, {Name: "d=x", Short: true, Line: 4}}},
		{"no value", "silent\n  compressed  \nverbose # talk", []entry{
			{Name: "silent", Line: 1}, {Name: "compressed", Line: 2}, {Name: "verbose", Line: 3}}},
		{"comments and empty lines", "# c\n\n  # c\n/ c\n* c\n\r\nx\n", []entry{{Name: "x", Line: 7}}},
		{"quoted", `data = "a \"b\" \\ \t\n\r\v \x"`, []entry{{Name: "data", Value: "a \"b\" \\ \t\n\r\v x", HasValue: true, Line: 1}}},
		{"quoted empty", `user-agent = ""`, []entry{{Name: "user-agent", HasValue: true, Line: 1}}},
		{"quoted, then a comment", `a = "b" # c`, []entry{{Name: "a", Value: "b", HasValue: true, Line: 1}}},
		{"unquoted, then a comment", `a = b # c`, []entry{{Name: "a", Value: "b", HasValue: true, Line: 1}}},
		{"spaces without quotes", "header = X: y # c", []entry{{Name: "header", Value: "X:", HasValue: true, Line: 1, Spaced: true}}},
		{"a # inside", `a = b#c`, []entry{{Name: "a", Value: "b#c", HasValue: true, Line: 1}}},
		{"CRLF", "a = b\r\nc\r\n", []entry{{Name: "a", Value: "b", HasValue: true, Line: 1}, {Name: "c", Line: 2}}},
		{"byte order mark", "\xef\xbb\xbfa = b", []entry{{Name: "a", Value: "b", HasValue: true, Line: 1}}},
		{"long line", "data = " + strings.Repeat("x", 1<<20), []entry{{Name: "data", Value: strings.Repeat("x", 1<<20), HasValue: true, Line: 1}}},
		{"nothing", "", nil},
	} {
		got, err := configfile.Parse(strings.NewReader(c.text), "f")
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v\nwant %+v", c.name, got, err, c.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no closing quote", "a\nb = \"s3cret", "conf:2: the closing quote is missing"},
		{"backslash at the end", `b = "s3cret\`, "conf:1: the closing quote is missing"},
		{"after the quote", `b = "x" s3cret`, "conf:1: text after the closing quote"},
		{"no name", "\n= s3cret", "conf:2: no flag name"},
		{"dashes alone", "--", "conf:1: no flag name"},
		{"NUL", "a = s3cret\x00", "conf:1: the line holds a NUL"},
		{"too long", "a = " + strings.Repeat("x", 10<<20), "conf:1: the line is longer than 10 MiB"},
	} {
		entries, err := configfile.Parse(strings.NewReader(c.text), "conf")
		if err == nil || err.Error() != c.want || entries != nil {
			t.Errorf("%s: %v, %d entries, want %s", c.name, err, len(entries), c.want)
		}
	}
	var e *configfile.Error
	if _, err := configfile.Parse(iotest.ErrReader(os.ErrInvalid), "conf"); !errors.As(err, &e) || !errors.Is(err, os.ErrInvalid) {
		t.Errorf("a reader that breaks: %v", err)
	}
}

// TestLikeCurl gives the same lines to the installed curl.
func TestLikeCurl(t *testing.T) {
	path, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	agents := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { agents <- r.UserAgent() }))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "conf")
	for _, line := range []string{
		"user-agent = x", "user-agent=x", "user-agent: x", "user-agent x", "user-agent==:=x", "--user-agent x", "-A x", "-sA x",
		`user-agent = "x y\t\q\\\"z"`, `user-agent = "x" # c`, "user-agent = x # c", "user-agent = x#c", "\tuser-agent\t=\tx\t", "user-agent = 'x'",
		`user-agent = x"y`, "user-agent = x\r", `user-agent = ""`,
	} {
		text := fmt.Sprintf("# first\nurl = %q\n\n%s\n", server.URL, line)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(path, "-q", "-sS", "-m", "10", "--noproxy", "*", "-K", file).CombinedOutput()
		if err != nil {
			t.Errorf("curl with %q: %v %s", line, err, out)
			continue
		}
		agent := <-agents
		entries, err := configfile.Parse(strings.NewReader(text), "conf")
		if err != nil || len(entries) != 2 || entries[0].Value != server.URL || entries[1].Value != agent {
			t.Errorf("%q: %+v, %v; curl sent %q", line, entries, err, agent)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a = b", "--a=\"b\\\"c\"", "-sSfo x # c", "# c\n\na:b\r\n", "a = \"", "=", "a = b c", "\xef\xbb\xbfa"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := configfile.Parse(strings.NewReader(text), "conf")
		if err != nil {
			return
		}
		// Written out in the plainest way, they must read the same.
		var b strings.Builder
		for _, e := range entries {
			if e.Name == "" || e.Line < 1 {
				t.Fatalf("%q gives %+v", text, e)
			}
			dashes := "--"
			if e.Short {
				dashes = "-"
			}
			b.WriteString(dashes + e.Name)
			if e.HasValue {
				b.WriteString(" \"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(e.Value) + `"`)
			}
			b.WriteByte('\n')
		}
		again, err := configfile.Parse(strings.NewReader(b.String()), "conf")
		if err != nil || len(again) != len(entries) {
			t.Fatalf("%q, written as %q: %v", text, b.String(), err)
		}
		for i := range again {
			again[i].Line, again[i].Spaced = entries[i].Line, entries[i].Spaced
			if again[i] != entries[i] {
				t.Fatalf("%+v became %+v", entries[i], again[i])
			}
		}
	})
}
