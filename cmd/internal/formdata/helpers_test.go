package formdata

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/bidehttp/bide/retry"
)

// fileSource is a file, or a text that stands for standard input.
type fileSource struct {
	name    string
	text    string
	unknown bool // its length
	changed error
	closed  int
}

func (s *fileSource) Open() (io.ReadCloser, int64, error) {
	if s.name == stdin {
		if s.unknown {
			return io.NopCloser(strings.NewReader(s.text)), -1, nil
		}
		return io.NopCloser(strings.NewReader(s.text)), int64(len(s.text)), nil
	}
	data, err := os.ReadFile(s.name)
	if err != nil {
		return nil, 0, err
	}
	return io.NopCloser(bytes.NewReader(data)), int64(len(data)), nil
}

func (s *fileSource) Replay() error     { return s.changed }
func (s *fileSource) Close() error      { s.closed++; return nil }
func (s *fileSource) SendChunked() bool { return s.unknown }

// counting gives bytes that differ from each other: boundaries are then the
// same in each run.
type counting struct{ n byte }

func (c *counting) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = c.n
		c.n += 7
	}
	return len(p), nil
}

func openFile(name string) (io.ReadCloser, error) { return os.Open(name) }

// build makes a form; input is standard input, given to the first that asks.
func build(args []Arg, input string, o Options) (*Form, error) {
	root, err := Parse(args, Env{Open: openFile})
	if err != nil {
		return nil, err
	}
	if o.Random == nil {
		o.Random = &counting{}
	}
	if o.Source == nil {
		o.Source = func(name string) (Source, error) {
			s := &fileSource{name: name, text: input}
			if name == stdin {
				input = ""
			}
			return s, nil
		}
	}
	return New(root, o)
}

func mustBuild(t *testing.T, input string, texts ...string) *Form {
	t.Helper()
	f, err := build(fields(texts...), input, Options{})
	if err != nil {
		t.Fatalf("%q: %v", texts, err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func fields(texts ...string) []Arg {
	args := make([]Arg, len(texts))
	for i, text := range texts {
		args[i] = Arg{Text: text}
	}
	return args
}

// read gives the whole body, and checks that its length is what was said.
func read(t *testing.T, f *Form) string {
	t.Helper()
	r, size, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if size >= 0 && size != int64(len(body)) {
		t.Errorf("length %d was said, %d bytes came", size, len(body))
	}
	return string(body)
}

func classOf(err error) retry.Class {
	var c retry.Classified
	if errors.As(err, &c) {
		return c.RetryClass()
	}
	return ""
}
