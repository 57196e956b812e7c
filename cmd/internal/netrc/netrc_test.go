package netrc_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bidehttp/bide/cmd/internal/netrc"
)

const host = "127.0.0.1"

// cases are looked up for host. "-" is no login.
var cases = []struct{ name, text, user, want string }{
	{"one line", "machine 127.0.0.1 login a password b\n", "", "a:b"},
	{"one word a line", "machine\n127.0.0.1\nlogin\na\npassword\nb", "", "a:b"},
	{"other order", "machine 127.0.0.1 password b login a\n", "", "a:b"},
	{"keywords in upper case", "MACHINE 127.0.0.1 LOGIN a PASSWORD b\n", "", "a:b"},
	{"quoted", `machine 127.0.0.1 login a password "b c\"d\te"`, "", "a:b c\"d\te"},
	{"account", "machine 127.0.0.1 login a account q password b\n", "", "a:b"},
	{"several machines", "machine x login a password b\nmachine 127.0.0.1 login c password d\n", "", "c:d"},
	{"the first of a host", "machine 127.0.0.1 login a password b\nmachine 127.0.0.1 login c password d\n", "", "a:b"},
	{"one without a password steps back", "machine 127.0.0.1 login a\nmachine 127.0.0.1 login c password d\n", "", "c:d"},
	{"login alone", "machine 127.0.0.1 login a\n", "", "a:"},
	{"password alone", "machine 127.0.0.1 password b\n", "", ":b"},
	{"keywords as values", "machine x login machine password default\nmachine 127.0.0.1 login a password machine\n", "", "a:machine"},
	{"macro", "macdef m\nmachine 127.0.0.1 login m password n\n\nmachine 127.0.0.1 login a password b\n", "", "a:b"},
	{"comment", "# machine 127.0.0.1 login z password z\nmachine 127.0.0.1 login a password b#c\n", "", "a:b#c"},
	{"comment after", "machine 127.0.0.1 login a # x\n password d\n", "", "a:d"},
	{"password cut off", "machine 127.0.0.1 login a password\n", "", "a:"},
	{"default", "machine x login a password b\ndefault login d password e\n", "", "d:e"},
	{"default that comes first wins, as in curl", "default login d password e\nmachine 127.0.0.1 login a password b\n", "", "d:e"},
	{"machine before default", "machine 127.0.0.1 login a password b\ndefault login d password e\n", "", "a:b"},
	{"none", "machine x login a password b\n", "", "-"},
	{"empty", "", "", "-"},
	{"CRLF", "machine 127.0.0.1 login a password b\r\n", "", "a:b"},
}

func lookup(t *testing.T, text, host, user string) string {
	t.Helper()
	f, err := netrc.Parse(strings.NewReader(text), "netrc")
	if err != nil {
		return err.Error()
	}
	login, password, ok := f.Lookup(host, user)
	if !ok {
		return "-"
	}
	return login + ":" + password
}

func TestLookup(t *testing.T) {
	for _, c := range cases {
		if got := lookup(t, c.text, host, c.user); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	const two = "machine h login a password b\nmachine h login c password d\nmachine h password any\n"
	for user, want := range map[string]string{"a": "a:b", "c": "c:d", "e": "e:any"} {
		if got := lookup(t, two, "H", user); got != want {
			t.Errorf("user %s: %q, want %q", user, got, want)
		}
	}
	if got := lookup(t, "machine h login a password b", "h", "c"); got != "-" {
		t.Errorf("another user's password was given: %q", got)
	}
}

func TestLikeCurl(t *testing.T) {
	path, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	sent := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		user, password, ok := r.BasicAuth()
		if !ok {
			sent <- "-"
			return
		}
		sent <- user + ":" + password
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "netrc")
	for _, c := range cases {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(path, "-q", "-sS", "-m", "10", "--noproxy", "*", "--netrc-file", file, server.URL).CombinedOutput()
		if err != nil {
			t.Fatalf("curl, %s: %v %s", c.name, err, out)
		}
		if got := <-sent; got != c.want {
			t.Errorf("curl, %s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := netrc.Open(filepath.Join(dir, "none")); !os.IsNotExist(err) {
		t.Errorf("missing file: %v", err)
	}
	file := filepath.Join(dir, "netrc")
	if err := os.WriteFile(file, []byte("machine h\nlogin a password \"s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := netrc.Open(file)
	if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "netrc:2:") {
		t.Errorf("R11.1: %v, want the place without the word", err)
	}
	if _, err := netrc.Parse(iotest.ErrReader(os.ErrInvalid), "netrc"); err == nil {
		t.Error("a reader that breaks")
	}
	if err := os.WriteFile(file, []byte("machine h login a password b"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := netrc.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if login, password, ok := f.Lookup("h", ""); login != "a" || password != "b" || !ok {
		t.Errorf("%s %s %t", login, password, ok)
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range cases {
		f.Add(c.text)
	}
	f.Add("machine h login \"")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := netrc.Parse(strings.NewReader(text), "netrc")
		if err != nil {
			return
		}
		for _, user := range []string{"", "a"} {
			login, _, ok := file.Lookup(host, user)
			if ok && user != "" && login != user {
				t.Fatalf("asked for %q, got %q", user, login)
			}
		}
	})
}
