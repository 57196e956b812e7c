package flags

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
)

// curlHelp is the installed curl's list of flags.
func curlHelp(t *testing.T) [][2]string {
	t.Helper()
	out, err := exec.Command("curl", "--help", "all").Output()
	if err != nil {
		t.Skip("curl is not installed")
	}
	var list [][2]string
	for _, m := range regexp.MustCompile(`(?m)^ *(?:-(.), )?--([^ ]+)`).FindAllStringSubmatch(string(out), -1) {
		list = append(list, [2]string{m[1], m[2]})
	}
	if len(list) < 200 {
		t.Fatalf("read %d flags only", len(list))
	}
	return list
}

// TestCurlFlags: each of curl's flags is either in the table, with the same
// letter, or refused by name.
func TestCurlFlags(t *testing.T) {
	table := map[string]Flag{}
	for _, f := range Table() {
		table[f.Name] = f
	}
	p := newParser(Env{})
	for _, c := range curlHelp(t) {
		letter, name := c[0], c[1]
		f, have := table[name]
		if have {
			if f.Own && name != "no-fail" {
				t.Errorf("--%s is curl's, the table says bide's", name)
			}
			if f.Short != letter {
				t.Errorf("--%s is -%s for curl, -%s here", name, letter, f.Short)
			}
			continue
		}
		if f, _ := p.lookup(name); f != nil {
			continue // a hidden negation
		}
		u := usage(t, Env{}, "--"+name, "u")
		if name == "engine" {
			if u.Code != exitcode.Engine || !strings.HasPrefix(u.Message, "SSL crypto engine not found") {
				t.Errorf("--engine: %d %q", u.Code, u.Message)
			}
			continue
		}
		if !strings.HasPrefix(u.Message, "bide has no --"+name+" of curl's") {
			t.Errorf("--%s: %q", name, u.Message)
		}
		if letter != "" {
			if u := usage(t, Env{}, "-"+letter, "u"); !strings.HasPrefix(u.Message, "bide has no -"+letter+" (--"+name+")") {
				t.Errorf("-%s: %q", letter, u.Message)
			}
		}
	}
	for name, f := range table {
		if curlOnlyName(name, "") != "" {
			t.Errorf("--%s is in the table and in the list of what bide has not", name)
		}
		if f.Short != "" && curlOnlyName("", f.Short) != "" {
			t.Errorf("-%s likewise", f.Short)
		}
	}
}

func TestNearestCommand(t *testing.T) {
	for word, want := range map[string]string{"dmeo": "demo", "verison": "version", "completoin": "completion", "demo": "", "localhost": "", "hi": ""} {
		if got := NearestCommand(word); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"attemps", "attempts", 1}, {"kitten", "sitting", 3}} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != got {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
