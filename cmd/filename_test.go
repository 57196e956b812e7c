package cmd

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDispositionName has what the installed curl makes of each header.
func TestDispositionName(t *testing.T) {
	for value, want := range map[string]string{
		"attachment; filename=foo.txt":               "foo.txt",
		`attachment; filename="foo bar.txt"`:         "foo bar.txt",
		`attachment; filename="a/b/c.txt"`:           "c.txt",
		`attachment; filename="a\b\c.txt"`:           "c.txt",
		`attachment; filename="a\b/c.txt"`:           "c.txt",
		"attachment; filename=/etc/passwd":           "passwd",
		"attachment; filename=../../x":               "x",
		"attachment; filename=..":                    "..",
		"attachment; filename=.hid":                  ".hid",
		"attachment; filename=a.txt; filename=b.txt": "a.txt",
		"attachment;filename=d.txt;":                 "d.txt",
		"filename=e.txt":                             "e.txt",
		"attachment; filename='f.txt'":               "f.txt",
		`attachment; filename="open`:                 "open",
		`attachment; a="; filename=x`:                "x",
		"attachment; filename=":                      "",
		`attachment; filename=""`:                    "",
		"attachment; filename=a b":                   "a b",
		"inline":                                     "none",
		"":                                           "none",
		`attachment; filename="dir/"`:                "none",
		`attachment; filename="q\"r.txt"`:            "none",
		"attachment; filename*=UTF-8''x.txt":         "none",
		"attachment; foo=x; FILENAME=c.txt":          "none",
		"attachment; filename = c.txt":               "none",
		"attachment; xfilename=g":                    "none",
	} {
		got, ok := dispositionName(value)
		if !ok {
			got = "none"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}

func TestAcceptName(t *testing.T) {
	for _, name := range []string{"a", "a b", "é", "a..b", "-rf", "a.txt."} {
		if err := acceptName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", ".", "..", ".profile", "a\nb", "a\x1b[0m", "a\x7f", "a\u0085b", "a\x00"} {
		if acceptName(name) == nil {
			t.Errorf("%q accepted", name)
		}
	}
}

// FuzzDispositionName: a name that is accepted stays in its folder and can be shown.
func FuzzDispositionName(f *testing.F) {
	f.Add(`attachment; filename="../a\..\b"`)
	f.Add("filename='/;x")
	f.Fuzz(func(t *testing.T, value string) {
		name, ok := dispositionName(value)
		if !ok || acceptName(name) != nil {
			return
		}
		if filepath.Base(name) != name || filepath.Dir(filepath.Join("d", name)) != "d" || strings.ContainsAny(name, "/\\\x00\n\r\x1b") || name[0] == '.' {
			t.Errorf("%q gave %q", value, name)
		}
	})
}
