package request

import (
	"errors"
	"strings"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
)

func TestParseTCP(t *testing.T) {
	for text, origin := range map[string]string{
		"tcp://localhost:5432":  "tcp://localhost:5432",
		"TCP://Db.Example:05/":  "tcp://db.example:5",
		"tcp://[::1]:6379":      "tcp://[::1]:6379",
		"tcp://bücher.test:80":  "tcp://xn--bcher-kva.test:80",
		"tcp://localhost":       "",
		"tcp://localhost:":      "",
		"tcp://localhost:0":     "",
		"tcp://localhost:65536": "",
		"tcp://:80":             "",
		"tcp:/localhost:80":     "",
		"tcp://u:p@localhost:8": "",
		"tcp://localhost:80/x":  "",
		"tcp://localhost:80?x":  "",
		"tcp://local host:80":   "",
		"http://localhost:80":   "",
		"localhost:80":          "",
		"":                      "",
	} {
		u, err := ParseTCP(text)
		switch {
		case origin == "":
			var coded *Error
			if !errors.As(err, &coded) || coded.ExitCode() != exitcode.BadURL {
				t.Errorf("ParseTCP(%q): %v, %v, want an error of exit 3", text, u, err)
			}
		case err != nil:
			t.Errorf("ParseTCP(%q): %v", text, err)
		case u.Origin() != origin:
			t.Errorf("ParseTCP(%q) is %s, want %s", text, u.Origin(), origin)
		}
	}
}

func TestParseTCPPath(t *testing.T) {
	if _, err := ParseTCP("tcp://localhost:80/x"); err == nil || !strings.Contains(err.Error(), "HOST:PORT alone") {
		t.Errorf("%v", err)
	}
}

// FuzzParseTCP: what is accepted has a host and a port, and reads the same when
// it is written again.
func FuzzParseTCP(f *testing.F) {
	for _, seed := range []string{"tcp://localhost:5432", "tcp://[::1]:1/", "tcp://[fe80::1%25eth0]:9", "tcp://1.2:3", "tcp://a@b:1", "tcp://x:y"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := ParseTCP(text)
		if err != nil {
			return
		}
		if u.Host == "" || u.Port == "" || u.Port == "0" || u.Scheme != "tcp" || u.HasUser {
			t.Fatalf("ParseTCP(%q) = %+v", text, u)
		}
		if strings.Contains(u.Host, "%") {
			return // a zone is written without its escape, and may look like one
		}
		again, err := ParseTCP(u.Origin())
		if err != nil || again.Origin() != u.Origin() {
			t.Fatalf("ParseTCP(%q) = %s, read again: %v, %v", text, u.Origin(), again, err)
		}
	})
}
