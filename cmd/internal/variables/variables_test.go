package variables

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bidehttp/bide/cmd/internal/bounded"
)

func source(t testing.TB) Source {
	t.Helper()
	return Source{
		Lookup: func(name string) (string, bool) { return "home of " + name, name == "HOME" },
		Open: func(name string) (io.ReadCloser, error) {
			switch name {
			case "f":
				return io.NopCloser(strings.NewReader(" 0123456789\n")), nil
			case "nul":
				return io.NopCloser(strings.NewReader("a\x00b")), nil
			case "big":
				return io.NopCloser(io.LimitReader(zeros{}, bounded.Text+1)), nil
			case "broken":
				return io.NopCloser(broken{}), nil
			}
			return nil, fs.ErrNotExist
		},
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestExpand(t *testing.T) {
	var s Set
	for _, d := range []string{
		"a=1", "a=x y", "f@f", "%HOME", "%NONE=default", "%NONE2@f", "part[1-3]=abcdef", "tail[4-]@f", "one[2-2]=abcdef", "off[9-10]=abc", "more[1-99]=abc",
		"%HOME2=", "nul@nul", "_q=\"\\\x01\u00e9\n/", "e[0-]=all", "b=IGEg", "bad=***", "eq==@", "line= a\r\n",
	} {
		if err := s.Define(d, source(t)); err != nil {
			t.Fatalf("Define(%q): %v", d, err)
		}
	}
	for text, want := range map[string]string{
		"plain":                     "plain",
		"{{a}}":                     "x y",
		"-{{a}}-{{a}}-":             "-x y-x y-",
		"{{none}}{{NONE}}":          "default",
		"{{HOME}}":                  "home of HOME",
		"{{part}} {{tail}} {{one}}": "bcd 3456789\n c",
		"[{{off}}][{{more}}]{{e}}":  "[][bc]all",
		"{{f:trim}}":                "0123456789",
		"{{line:trim:url}}":         "a",
		"{{a:url}}":                 "x%20y",
		"{{_q:json}}":               `\"\\\u0001` + "\u00e9" + `\n/`,
		"{{nul:b64}}":               "YQBi",
		"{{b:64dec:trim}}":          "a",
		"{{bad:64dec}}":             "[64dec-fail]",
		"{{none:b64}}":              "",
		`\{{a}} {{a}}`:              "{{a}} x y",
		"{{{a}}}":                   "{{{a}}}",
		"{{a b}} {{a}}":             "{{a b}} x y",
		"{{}}":                      "{{}}",
		"{{a":                       "{{a",
		"{{a}} {{":                  "x y {{",
		"{{eq}}":                    "=@",
	} {
		got, warnings, err := s.Expand(text)
		if err != nil || got != want {
			t.Errorf("Expand(%q) = %q, %v; want %q", text, got, err, want)
		}
		odd := strings.Contains(text, "{{{") || strings.Contains(text, "{{a b") || text == "{{}}" || strings.Count(text, "{{") > strings.Count(text, "}}")
		if odd != (len(warnings) > 0) {
			t.Errorf("Expand(%q) warns of %q", text, warnings)
		}
	}
}

func TestExpandErrors(t *testing.T) {
	var s Set
	if err := s.Define("nul@nul", source(t)); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"{{nul}}":           "holds a NUL",
		"{{nul:json:trim}}": "",
		"{{a:}}":            `"" is not one of`,
		"{{a:trim:upper}}":  `"upper" is not one of`,
		"{{a:trim }}":       `"trim " is not one of`,
	} {
		_, _, err := s.Expand(text)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("Expand(%q): %v, want %s", text, err, want)
		}
	}
}

func TestDefineErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "needs a name",
		"=x":                               "needs a name",
		"%=x":                              "needs a name",
		"a-b=x":                            "comes = or @",
		"a":                                "has no content",
		"%NONE":                            "not set in the environment",
		"%NONE[1-2]":                       "not set in the environment",
		"a[1]=x":                           "range of bytes",
		"a[-1]=x":                          "range of bytes",
		"a[2-1]=x":                         "range of bytes",
		"a[1-2=x":                          "range of bytes",
		"a[1-2x]=x":                        "range of bytes",
		"a[99999999999999999999-]=x":       "range of bytes",
		"a@big":                            "larger than 16 MiB",
		"a@broken":                         "cannot read",
		strings.Repeat("n", maxName) + "=": "needs a name",
	} {
		var s Set
		if err := s.Define(text, source(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Define(%q): %v, want %s", text, err, want)
		}
		if len(s.values) != 0 {
			t.Errorf("Define(%q) failed and left something", text)
		}
	}
	var s Set
	if err := s.Define("a@none", source(t)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want the error of Open", err)
	}
}

// FuzzFunctions holds the functions against the standard library's readers.
func FuzzFunctions(f *testing.F) {
	for _, s := range []string{"", "a b", "\"\\\n\x01", "é%20", "\x00\xff", " x "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		s := Set{values: map[string][]byte{"v": []byte(content)}}
		if got, _, err := s.Expand("{{v:url}}"); err != nil {
			t.Fatal(err)
		} else if back, err := url.PathUnescape(got); err != nil || back != content {
			t.Errorf("url: %q of %q reads %q, %v", got, content, back, err)
		}
		if got, _, err := s.Expand("{{v:b64}}"); err != nil {
			t.Fatal(err)
		} else if back, err := base64.StdEncoding.DecodeString(got); err != nil || string(back) != content {
			t.Errorf("b64: %q of %q", got, content)
		}
		got, _, err := s.Expand("{{v:json}}")
		if err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal([]byte(`"`+got+`"`), &back); err != nil {
			t.Errorf("json: %q of %q: %v", got, content, err)
		}
		if utf8.ValidString(content) && back != content {
			t.Errorf("json: %q of %q reads %q", got, content, back)
		}
	})
}

func FuzzExpand(f *testing.F) {
	for _, s := range []string{"{{a}}", `\{{a}}`, "{{a:trim:json}}", "{{a:trim,json}}", "{{", "}}{{", "{{a:}}", "{{{{a}}}}"} {
		f.Add("a=1", s)
	}
	f.Add("a[1-2]=xyz", "{{a}}")
	f.Add("%HOME[0-1]@f", "{{HOME}}")
	f.Fuzz(func(t *testing.T, definition, text string) {
		var s Set
		if err := s.Define(definition, source(t)); err != nil && len(s.values) != 0 {
			t.Fatal("a definition failed and left something")
		}
		got, _, err := s.Expand(text)
		if err == nil && !strings.Contains(text, "{{") && got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
