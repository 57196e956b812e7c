package transport

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseResolve(t *testing.T) {
	for _, ok := range []string{"a.test:80:127.0.0.1", "+a.test:80:127.0.0.1,::1", "a.test:443:[::1],[::2]", "*:80:1.2.3.4", "-a.test:80", "[::1]:80:127.0.0.1"} {
		if _, err := parseResolve(ok); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "a.test", "a.test:", "a.test:80", "a.test:80:", "a.test:80:b.test", "a.test:x:1.2.3.4", "a.test:99999:1.2.3.4",
		":80:1.2.3.4", "a.test:80:1.2.3.4,", "-a.test", "-a.test:80:1.2.3.4", "[::1:80:1.2.3.4"} {
		if _, err := parseResolve(bad); err == nil {
			t.Errorf("%q accepted", bad)
		}
	}
}

func TestOverridden(t *testing.T) {
	tests := []struct{ entries, host, port, want string }{
		{"a.test:80:1.1.1.1", "A.Test", "80", "[1.1.1.1]"},
		{"a.test:80:1.1.1.1", "a.test", "81", "[]"},
		{"a.test:80:1.1.1.1", "b.test", "80", "[]"},
		{"a.test:80:1.1.1.1 +a.test:80:2.2.2.2,::1", "a.test", "80", "[2.2.2.2 ::1]"},
		{"a.test:80:1.1.1.1 -a.test:80", "a.test", "80", "[]"},
		{"*:80:3.3.3.3 a.test:80:1.1.1.1", "a.test", "80", "[1.1.1.1]"},
		{"a.test:80:1.1.1.1 *:80:3.3.3.3", "b.test", "80", "[3.3.3.3]"},
		{"a.test:80:1.1.1.1 *:80:3.3.3.3 -a.test:80", "a.test", "80", "[3.3.3.3]"},
	}
	for _, tt := range tests {
		if got := fmt.Sprint(overridden(strings.Fields(tt.entries), tt.host, tt.port)); got != tt.want {
			t.Errorf("%s for %s:%s: %s, want %s", tt.entries, tt.host, tt.port, got, tt.want)
		}
	}
}

func TestParseConnectTo(t *testing.T) {
	for _, ok := range []string{"a:80:b:81", "::b:81", "a:80::81", "a:80:b:", "a:80:b", ":::", "[::1]:80:[::2]:81", "a::[::2]", "::127.0.0.1:8080"} {
		if _, err := parseConnectTo(ok); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "a", "a:80", "a:x:b:80", "a:80:b:zz", "a:80:b:99999", "a:80:b/c:80", "[::1:80:b:80"} {
		if _, err := parseConnectTo(bad); err == nil {
			t.Errorf("%q accepted", bad)
		}
	}
}

func TestConnectTo(t *testing.T) {
	tests := []struct{ entries, host, port, want string }{
		{"a.test:80:b.test:81", "A.test", "80", "b.test 81"},
		{"a.test:80:b.test:81", "a.test", "82", "a.test 82"},
		{"::b.test:81", "x.test", "1", "b.test 81"},
		{"a.test::b.test:", "a.test", "80", "b.test 80"},
		{":80::81", "a.test", "80", "a.test 81"},
		{"a.test:80:[::1]:81", "a.test", "80", "::1 81"},
		{"[::1]:80:b.test:81", "::1", "80", "b.test 81"},
		{"a.test:80:b.test:81 ::c.test:82", "a.test", "80", "b.test 81"},
		{"a.test:80:b.test:81 ::c.test:82", "d.test", "80", "c.test 82"},
	}
	for _, tt := range tests {
		host, port := connectTo(strings.Fields(tt.entries), tt.host, tt.port)
		if got := host + " " + port; got != tt.want {
			t.Errorf("%s for %s:%s: %s, want %s", tt.entries, tt.host, tt.port, got, tt.want)
		}
	}
}

// An entry that is accepted reads back the same.
func FuzzResolveEntry(f *testing.F) {
	for _, s := range []string{"a.test:80:127.0.0.1", "+*:80:[::1],1.2.3.4", "-a:80", "[::1]:80:::1", "a:80:", "fe80::1%eth0:80:fe80::1%eth0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		e, err := parseResolve(entry)
		if err != nil {
			if strings.ContainsFunc(err.Error(), unprintable) {
				t.Fatalf("text %q", err.Error())
			}
			return
		}
		if e.host == "" || e.remove == (len(e.addrs) > 0) {
			t.Fatalf("%q: %+v", entry, e)
		}
		if got := overridden([]string{entry}, e.host, e.port); len(got) != len(e.addrs) {
			t.Fatalf("%q: %v", entry, got)
		}
	})
}

func FuzzConnectToEntry(f *testing.F) {
	for _, s := range []string{"a:80:b:81", "::[::1]:", "[::1]:80:b", ":::", "a:80", "[:80:b:81"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		e, err := parseConnectTo(entry)
		if err != nil {
			if strings.ContainsFunc(err.Error(), unprintable) {
				t.Fatalf("text %q", err.Error())
			}
			return
		}
		host, port := connectTo([]string{entry}, e.host1, e.port1)
		if e.host2 != "" && host != e.host2 || e.host2 == "" && host != e.host1 || e.port2 != "" && port != e.port2 {
			t.Fatalf("%q: %s %s", entry, host, port)
		}
	})
}
