package flags

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// scrubChild is the process of TestScrub: it parses, scrubs and shows its
// command line as ps would.
func scrubChild() int {
	o, err := Parse(os.Args[1:], Env{})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	ScrubArgs(os.Args[1:], o.Secrets)
	shown, err := os.ReadFile("/proc/self/cmdline")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	g := o.Groups[0]
	fmt.Printf("%q\n%q %q %q %v %q\n", strings.ReplaceAll(string(shown), "\x00", " "), g.User, g.ProxyUser, g.Headers, g.URLs, g.Bearer)
	return 0
}

// TestScrub is R11.3: nothing planted stays in the command line, and the
// options still have it.
func TestScrub(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows and allows it")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-sua:SECRET1", "-U", "b:SECRET2", "--proxy-user=c:SECRET3", "-HX: SECRET4", "--oauth2-bearer", "SECRET5",
		"--cert=f:SECRET6", "--pass", "SECRET7", "-b", "a=SECRET8", "--proxy-header", "P: SECRET9", "-x", "http://u:SECRETA@p:1",
		"https://u:SECRETB@shown/path", "--url=v:SECRETC@shown2", "-o", "kept", "--", "w:SECRETD@shown3/")
	cmd.Env = append(os.Environ(), "BIDE_FLAGS_TEST=scrub")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	line, options, _ := strings.Cut(string(out), "\n")
	if strings.Contains(line, "SECRET") {
		t.Errorf("still shown: %s", line)
	}
	for _, kept := range []string{"-o kept", "@shown/path", "@shown2", "@shown3/", "-su", "--oauth2-bearer", "@p:1"} {
		if !strings.Contains(line, kept) {
			t.Errorf("%q is gone from %s", kept, line)
		}
	}
	for _, kept := range []string{"SECRET1", "SECRET3", "SECRET4", "SECRET5", "SECRETB", "SECRETC", "SECRETD"} {
		if !strings.Contains(options, kept) {
			t.Errorf("%s is lost from the options: %s", kept, options)
		}
	}
}

// TestScrubForeign: strings that are not the process's arguments, read-only
// ones among them, are left alone; so are spans that do not fit.
func TestScrubForeign(t *testing.T) {
	args := []string{"-u", "a:literal"}
	ScrubArgs(args, []ArgSpan{{Index: 1, Start: 0, End: 9}, {Index: 7, Start: 0, End: 1}, {Index: -1, End: 1}, {Index: 1, Start: 5, End: 99}})
	if args[1] != "a:literal" {
		t.Error("a foreign string was written to")
	}
}

func TestSecrets(t *testing.T) {
	args := []string{"-u", "a:b", "-sHX: y", "http://c:d@h/p@q", "plain@host/", "http://h/x@y", "--proxy=p:q@h", "-x", "h:1", "-d", "k:v@w"}
	o := mustParse(t, Env{}, args...)
	var got []string
	for _, s := range o.Secrets {
		got = append(got, args[s.Index][s.Start:s.End])
	}
	if want := "a:b|X: y|c:d|plain|p:q"; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", got, want)
	}
}
