package urlglob

import (
	"errors"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
)

func urls(t testing.TB, text string) []string {
	t.Helper()
	p, err := Parse(text)
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	var all []string
	for m := range p.All() {
		all = append(all, m.URL)
		if len(all) > 1000 {
			break
		}
	}
	return all
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"http://h/":                 "http://h/",
		"":                          "",
		"http://h/{a,b,c}":          "http://h/a http://h/b http://h/c",
		"{a}":                       "a",
		"x{,y}z":                    "xz xyz",
		"[1-3]":                     "1 2 3",
		"[8-11]":                    "8 9 10 11",
		"[08-11]":                   "08 09 10 11",
		"[001-100:33]":              "001 034 067 100",
		"[0-0]":                     "0",
		"[5-5:1]":                   "5",
		"[1- 3]":                    "1 2 3",
		"[a-e:2]":                   "a c e",
		"[A-C]":                     "A B C",
		"[Z-a]":                     "Z [ \\ ] ^ _ ` a",
		"{a,b}[1-2]":                "a1 a2 b1 b2",
		"[1-2]{a,b}-[x-y]":          "1a-x 1a-y 1b-x 1b-y 2a-x 2a-y 2b-x 2b-y",
		"http://[::1]:80/[1-2]":     "http://[::1]:80/1 http://[::1]:80/2",
		"http://[fe80::1%25lo]/{a}": "http://[fe80::1%25lo]/a",
		"http://h/?a[]=1&b[]=2":     "http://h/?a[]=1&b[]=2",
		`http://h/\{a,b\}\[1-2\]`:   "http://h/{a,b}[1-2]",
		`http://h/\a\`:              `http://h/\a\`,
		`{a\,b,\},\\}`:              `a,b } \`,
		"[18446744073709551614-18446744073709551615]": "18446744073709551614 18446744073709551615",
	} {
		if got := strings.Join(urls(t, text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"http://127.0.0.1:1/[1-":         "bad range in URL position 23",
		"{http://127.0.0.1:1/":           "unmatched brace in URL position 1",
		"http://127.0.0.1:1/{}":          "empty string within braces in URL position 21",
		"http://127.0.0.1:1/a]":          "unmatched close brace/bracket in URL position 21",
		"http://127.0.0.1:1/[1-3:9]":     "bad range in URL position 27",
		"http://127.0.0.1:1/[+]":         "bad range specification in URL position 21",
		"http://127.0.0.1:1/[a-Z]":       "bad range in URL position 25",
		"h/{a{b}}":                       "nested brace in URL position 5",
		"h/{a[1-2]}":                     "nested brace in URL position 5",
		"h/{a]":                          "unexpected close bracket in URL position 5",
		"h/}":                            "unmatched close brace/bracket in URL position 3",
		"h/[":                            "bad range specification in URL position 4",
		"h/[a":                           "bad range in URL position 4",
		"h/[3-1]":                        "bad range in URL position 8",
		"h/[1-9:0]":                      "bad range in URL position 9",
		"h/[1-9:]":                       "bad range in URL position 8",
		"h/[1-9:2":                       "bad range in URL position 9",
		"h/[1-1:2]":                      "bad range in URL position 10",
		"h/[99999999999999999999-1]":     "bad range in URL position 24",
		"h/[0-9999999999][0-9999999999]": "range overflow in URL position 31",
		"h/{a":                           "unmatched brace in URL position 3",
		`h/{a\`:                          "unmatched brace in URL position 3",
	} {
		_, err := Parse(text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("Parse(%q): %v, want an *Error", text, err)
			continue
		}
		if e.Error() != want || e.ExitCode() != exitcode.BadURL || e.URL != text {
			t.Errorf("Parse(%q): %v (exit %d), want %s", text, e, e.ExitCode(), want)
		}
	}
}

// TestLazy: the number of URLs costs no memory.
func TestLazy(t *testing.T) {
	p, err := Parse("http://h/[1-1000000000]/{a,b}[a-z]")
	if err != nil {
		t.Fatal(err)
	}
	if p.Count() != 52e9 {
		t.Errorf("%d URLs, want 52e9", p.Count())
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := 0
	for range p.All() {
		if n++; n == 1000 {
			break
		}
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("a thousand URLs took %d bytes", used)
	}
}

func TestExpand(t *testing.T) {
	p, err := Parse("http://h/{a,b}/[08-09]")
	if err != nil {
		t.Fatal(err)
	}
	for m := range p.All() {
		for name, want := range map[string]string{
			"#1_#2.txt": "a_08.txt", "x": "x", "#": "#", "#3#0#": "#3#0#", "##1": "#a", "#1#1": "aa", "#01": "a", "#99999999999999999999": "#99999999999999999999",
		} {
			if got := m.Expand(name); got != want {
				t.Errorf("Expand(%q) = %q, want %q", name, got, want)
			}
		}
		break
	}
	for m := range Literal("http://h/{a}").All() {
		if got := m.Expand("#1"); got != "#1" || m.URL != "http://h/{a}" {
			t.Errorf("without globbing: %q of %q", got, m.URL)
		}
	}
}

// TestCurl compares with the installed curl, which tells each URL it makes of a
// pattern by -w.
func TestCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	for _, path := range []string{
		"{a,b,c}", "[1-4]", "[001-010:3]", "[a-g:2]", "{x,y}[1-2]{p,q}", "[9-11]", "[07-12:5]", "{,a}", `\{a\}`, "a[]", "[A-D]", "[0-0]", "[x-x]",
		"[1- 3]", `{a\,b,c}`, "{a", "[1-", "[z-a]", "{}", "a}", "a]", "[+]", "[1-3:9]", "[1-3:0]", "[1-1:2]", "{a,{b}}", "{a]", "[A-z]", "[A-z:50]", "[a-f:5]", "[a-f:6]",
	} {
		url := "http://127.0.0.1:1/" + path
		out, err := exec.Command(curl, "-q", "-s", "--noproxy", "*", "-w", "%{url}\n", url).Output() //nolint:gosec // a test's own words
		code := 0
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			code = exit.ExitCode()
		}
		p, err := Parse(url)
		if (err != nil) != (code == 3) {
			t.Errorf("%s: %v, curl exits %d", url, err, code)
			continue
		}
		if err != nil {
			continue
		}
		var got []string
		for m := range p.All() {
			got = append(got, m.URL)
		}
		if want := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); !slices.Equal(got, want) {
			t.Errorf("%s: %q, curl has %q", url, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"http://h/{a,b}[1-3:2]", "[a-z:3]", "http://[::1]/[01-10]", `\{a\}`, "{", "[", "a[]b", "{a,,b}", "[0-18446744073709551615]"} {
		f.Add(s, "#1_#2")
	}
	f.Fuzz(func(t *testing.T, url, name string) {
		p, err := Parse(url)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Pos < 1 || e.Pos > len(url)+1 {
				t.Fatalf("%v: its position lies outside of %q", err, url)
			}
			return
		}
		n := uint64(0)
		seen := ""
		for m := range p.All() {
			n++
			m.Expand(name)
			seen = m.URL
			if n == 200 {
				break
			}
		}
		if n != min(p.Count(), 200) {
			t.Fatalf("%d URLs, Count says %d", n, p.Count())
		}
		if p.globs == 0 && !strings.Contains(url, `\`) && seen != url {
			t.Fatalf("text %q became %q", url, seen)
		}
	})
}
