package formdata

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

func p(s string) *string { return &s }

func TestParse(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []*Part
	}{
		{[]string{"a=b"}, []*Part{{Name: p("a"), Content: "b"}}},
		{[]string{"a="}, []*Part{{Name: p("a")}}},
		{[]string{"=b"}, []*Part{{Content: "b"}}},
		{[]string{"a=b=c"}, []*Part{{Name: p("a"), Content: "b=c"}}},
		{[]string{"a=  b  "}, []*Part{{Name: p("a"), Content: "b"}}},
		{[]string{`a=" b "`}, []*Part{{Name: p("a"), Content: " b "}}},
		{[]string{`a="b;c\"d\\e\f"`}, []*Part{{Name: p("a"), Content: `b;c"d\e\f`}}},
		{[]string{`a="b`}, []*Part{{Name: p("a"), Content: `"b`}}},
		{[]string{"a=<f"}, []*Part{{Kind: Inlined, Name: p("a"), Content: "f"}}},
		{[]string{"a=@f"}, []*Part{{Kind: File, Name: p("a"), Content: "f"}}},
		{[]string{"a=@ f ; type = x/y ;filename=n;encoder=base64"}, []*Part{{Kind: File, Name: p("a"), Content: "f", Filename: p("n"), Encoder: p("base64")}}},
		{[]string{"a=b;type=x/y; charset=z ; q=1;filename=n"}, []*Part{{Name: p("a"), Content: "b", Type: p("x/y; charset=z ; q=1"), Filename: p("n")}}},
		{[]string{"a=b;filename=n;type=x/y;z"}, []*Part{{Name: p("a"), Content: "b", Type: p("x/y;z"), Filename: p("n")}}},
		{[]string{"a=b;unknown=n;TYPE=x/y"}, []*Part{{Name: p("a"), Content: "b", Type: p("x/y")}}},
		{[]string{`a=b;headers="X: 1; 2";headers=Y: 2`}, []*Part{{Name: p("a"), Content: "b", Headers: []string{"X: 1; 2", "Y: 2"}}}},
		{[]string{`a=@f,"g,h";type=x/y,i`}, []*Part{{Kind: Group, Name: p("a"), Parts: []*Part{
			{Kind: File, Content: "f"}, {Kind: File, Content: "g,h", Type: p("x/y")}, {Kind: File, Content: "i"},
		}}}},
		{[]string{"a=(;type=x/y", "b=1", "c=(", "=2", "=)", "=)", "d=3"}, []*Part{
			{Kind: Group, Name: p("a"), Type: p("x/y"), Parts: []*Part{
				{Name: p("b"), Content: "1"}, {Kind: Group, Name: p("c"), Parts: []*Part{{Content: "2"}}},
			}},
			{Name: p("d"), Content: "3"},
		}},
		{[]string{"a=("}, []*Part{{Kind: Group, Name: p("a")}}},
		{[]string{"a=<f;filename=n"}, []*Part{{Kind: Inlined, Name: p("a"), Content: "f"}}},
		{[]string{"a=(;filename=n;encoder=x"}, []*Part{{Kind: Group, Name: p("a")}}},
		{[]string{"a=)"}, []*Part{{Name: p("a"), Content: ")"}}},
	} {
		root, err := Parse(fields(c.args...), Env{})
		if err != nil {
			t.Errorf("%q: %v", c.args, err)
			continue
		}
		if d := cmp.Diff(c.want, root.Parts); d != "" {
			t.Errorf("%q: -want +got:\n%s", c.args, d)
		}
	}
}

func TestParseLiteral(t *testing.T) {
	for _, text := range []string{"@f", "<f", "(", ")", `"b";type=x/y`, " b "} {
		root, err := Parse([]Arg{{Text: "a=" + text, Literal: true}}, Env{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]*Part{{Name: p("a"), Content: text}}, root.Parts); d != "" {
			t.Errorf("%q: -want +got:\n%s", text, d)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"a", "", "=)", "a=b;type=foo", "a=b;type=/foo", "a=b;type=foo/", "a=b;type=", "a=@f;type= /x", "a=b;type=" + strings.Repeat("x", 200) + "/y"} {
		_, err := Parse(fields(text), Env{})
		var e *Error
		if !errors.As(err, &e) || e.Code != exitcode.Usage || classOf(err) != retry.ClassRequest {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseWarns(t *testing.T) {
	for text, warnings := range map[string]int{
		"a=b": 0, "a=b;foo=bar": 1, `a="b"c`: 1, `a="b" `: 0, "a=b;;type=x/y": 0, "a=<f;filename=x": 1, "a=(;encoder=x": 1, "a=b;type=x/y;foo": 0,
	} {
		n := 0
		if _, err := Parse(fields(text), Env{Warn: func(string) { n++ }}); err != nil || n != warnings {
			t.Errorf("%q: %d warnings, %v", text, n, err)
		}
	}
}

func TestHeaderFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "h")
	text := "X-One: 1\r\n# comment\r\nX-Two: a  \r\n\r\n\tb\r\n \r\nX-Three: c"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, sign := range []string{"@", "<", "@ "} {
		root, err := Parse(fields("a=b;headers="+sign+`"`+name+`"`), Env{Open: openFile})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"X-One: 1", "X-Two: a  \tb", "X-Three: c"}, root.Parts[0].Headers); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	}
	if _, err := Parse(fields("a=b;headers=@"+name+"x"), Env{Open: openFile}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// FuzzParse: whatever is accepted can be sent, says its length, and says the
// same twice.
func FuzzParse(f *testing.F) {
	f.Add("a=b;type=x/y; charset=z;filename=\"q\\\"\"", "c=(;headers=X: y", "=)", false)
	f.Add("a=\"b\";encoder=quoted-printable", "f=@-,-;type=a/b", "x", true)
	f.Add("=(;type=multipart/form-data", "n=<-;encoder=base64", "=)", true)
	f.Fuzz(func(t *testing.T, one, two, three string, escape bool) {
		if strings.Contains(strings.ToLower(one+two+three), "headers=@") || strings.Contains(strings.ToLower(one+two+three), "headers=<") {
			t.Skip("it would read a file")
		}
		args := []Arg{{Text: one}, {Text: two, Literal: escape}, {Text: three}}
		form, err := build(args, "input", Options{Escape: escape, Source: func(name string) (Source, error) {
			return &fileSource{name: stdin, text: name}, nil
		}})
		if err != nil {
			if classOf(err) != retry.ClassRequest {
				t.Fatalf("%v is of class %q", err, classOf(err))
			}
			return
		}
		first, second := readFuzzed(t, form), readFuzzed(t, form)
		if first != second {
			t.Errorf("%q, then %q", first, second)
		}
	})
}
