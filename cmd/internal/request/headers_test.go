package request_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/request"
)

func TestParseHeaders(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "h")
	if err := os.WriteFile(file, []byte("X-A: 1\r\nX-B:2\n\nX-C;"), 0o600); err != nil {
		t.Fatal(err)
	}
	type lines = []request.HeaderLine
	for _, c := range []struct {
		name  string
		texts []string
		want  lines
	}{
		{"value", []string{"Name: v"}, lines{{Name: "Name", Value: "v"}}},
		{"text and case are kept", []string{"nAME:  v  w "}, lines{{Name: "nAME", Value: " v  w "}}},
		{"no space", []string{"N:v"}, lines{{Name: "N", Value: "v", Tight: true}}},
		{"colons in the value", []string{"N: a:b;c"}, lines{{Name: "N", Value: "a:b;c"}}},
		{"removal", []string{"Name:", "Other: \t"}, lines{{Name: "Name", Remove: true}, {Name: "Other", Remove: true}}},
		{"empty", []string{"Name;", "Other; "}, lines{{Name: "Name"}, {Name: "Other"}}},
		{"nothing", []string{"", " "}, nil},
		{"from a file", []string{"@" + file, "D: d"}, lines{{Name: "X-A", Value: "1"}, {Name: "X-B", Value: "2", Tight: true}, {Name: "X-C"}, {Name: "D", Value: "d"}}},
		{"from stdin", []string{"@-"}, lines{{Name: "S", Value: "in"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := request.ParseHeaders(c.texts, &request.Files{Stdin: strings.NewReader("S: in\n")})
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%#v, %v, want %#v", got, err, c.want)
			}
		})
	}
	for _, bad := range []string{
		"s3cret", "F;s3cret", ": s3cret", " N: s3cret", "N M: s3cret", "N\r\nX: s3cret", "N: a\ns3cret", "N: s3cret\r", "N: s3cret\x00", "Nä: s3cret",
	} {
		_, err := request.ParseHeaders([]string{bad}, nil)
		var e *request.Error
		if !errors.As(err, &e) || e.Code != exitcode.Usage {
			t.Errorf("%q: %v, want exit 2", bad, err)
		} else if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("R11.1 %q: a secret in %v", bad, err)
		}
	}
	var e *request.Error
	if _, err := request.ParseHeaders([]string{"@" + file + ".none"}, nil); !errors.As(err, &e) || e.Code != exitcode.Input {
		t.Errorf("missing file: %v, want exit 26", err)
	}
}

func TestIsToken(t *testing.T) {
	for s, want := range map[string]bool{"GET": true, "M-SEARCH": true, "a!#$%&'*+.^_`|~": true, "": false, "A B": false, "A:": false, "Ä": false, "A\n": false} {
		if request.IsToken(s) != want {
			t.Errorf("IsToken(%q) = %t", s, !want)
		}
	}
}

// TestParseHeadersAsCurl: what --as-curl takes and leaves out.
func TestParseHeadersAsCurl(t *testing.T) {
	texts := []string{"Odd Name: v", " Folded : x", "no colon", "Empty;", "Empty2;  ", "F;g", "Gone :", ":x", "Name: v", "N:w", ""}
	want := []request.HeaderLine{
		{Name: "Odd Name", Value: "v"}, {Name: " Folded ", Value: "x"}, {Name: "Empty"}, {Name: "Gone ", Remove: true},
		{Name: "Name", Value: "v"}, {Name: "N", Value: "w", Tight: true},
	}
	if got, err := request.ParseHeadersAsCurl(texts, nil); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%#v, %v", got, err)
	}
	if _, err := request.ParseHeadersAsCurl([]string{"odd name: a\r\nX: y"}, nil); err == nil {
		t.Error("a line break is taken")
	}
}

func FuzzParseHeaders(f *testing.F) {
	for _, s := range []string{"Name: v", "Name:", "Name;", "N:  v ", "F;g", ": x", "a\r\nb: c", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.HasPrefix(text, "@") {
			return
		}
		lenient, err := request.ParseHeadersAsCurl([]string{text}, nil)
		for _, l := range lenient {
			if l.Name == "" || strings.ContainsAny(l.Name, "\r\n\x00:") || strings.ContainsAny(l.Value, "\r\n\x00") || l.Remove && l.Value != "" {
				t.Fatalf("%q gives %#v, %v", text, l, err)
			}
		}
		lines, err := request.ParseHeaders([]string{text}, nil)
		if err != nil {
			return
		}
		for _, l := range lines {
			if !request.IsToken(l.Name) || strings.ContainsAny(l.Value, "\r\n\x00") || l.Remove && l.Value != "" {
				t.Fatalf("%q gives %#v", text, l)
			}
		}
	})
}
