// Package writeout is curl's -w: a format with %{variables}, parsed once and
// written after each transfer. What the user asks for here is not redacted.
package writeout

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/bounded"
)

// Format is a parsed -w text. It is immutable and safe for concurrent use.
type Format struct {
	parts []part
}

type partKind int

const (
	literal  partKind = iota // text as it stands
	variable                 // %{text}, known
	unknown                  // %{text}, not known
	header                   // %header{text}
	output                   // %output{text}
	appendTo                 // %output{>>text}
	toStdout
	toStderr
	onError
)

type part struct {
	kind partKind
	text string
}

// Load gives the format of -w's argument: the text itself, or with a leading
// "@" the content of a file ("-" is standard input) without its line ends and
// NUL bytes, as curl reads it. open opens the file.
func Load(arg string, open func(name string) (io.ReadCloser, error)) (string, error) {
	name, isFile := strings.CutPrefix(arg, "@")
	if !isFile {
		return arg, nil
	}
	f, err := open(name)
	if err != nil {
		return "", err
	}
	b, err := bounded.ReadAll(f, bounded.Text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	return strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(string(b)), nil
}

// Parse reads a format. Nothing in it is an error today: what curl does not
// understand it prints as it stands, and an unknown variable is reported when
// the format is written. The error is for notations to come.
func Parse(format string) (*Format, error) {
	f := &Format{}
	var text strings.Builder
	add := func(k partKind, s string) {
		if text.Len() > 0 {
			f.parts = append(f.parts, part{literal, text.String()})
			text.Reset()
		}
		f.parts = append(f.parts, part{k, s})
	}
	for s := format; s != ""; {
		if p, rest, ok := braced(s); ok {
			add(p.kind, p.text)
			s = rest
			continue
		}
		n := escape(&text, s)
		s = s[n:]
	}
	if text.Len() > 0 {
		f.parts = append(f.parts, part{literal, text.String()})
	}
	return f, nil
}

// braced takes a complete %{name}, %header{name} or %output{file} off s.
func braced(s string) (p part, rest string, ok bool) {
	if len(s) < 2 || s[0] != '%' {
		return part{}, "", false
	}
	for _, lead := range [...]string{"{", "header{", "output{"} {
		if !strings.HasPrefix(s[1:], lead) {
			continue
		}
		text, rest, closed := strings.Cut(s[1+len(lead):], "}")
		if !closed {
			return part{}, "", false
		}
		switch lead {
		case "header{":
			return part{header, text}, rest, true
		case "output{":
			if name, more := strings.CutPrefix(text, ">>"); more {
				return part{appendTo, name}, rest, true
			}
			return part{output, text}, rest, true
		}
		return named(text), rest, true
	}
	return part{}, "", false
}

func named(name string) part {
	lower := strings.ToLower(name)
	switch lower {
	case "stdout":
		return part{kind: toStdout}
	case "stderr":
		return part{kind: toStderr}
	case "onerror":
		return part{kind: onError}
	}
	if known(lower) {
		return part{variable, lower}
	}
	return part{unknown, name}
}

// escape writes the text that s starts with and says how many bytes it took.
func escape(text *strings.Builder, s string) int {
	if len(s) < 2 || s[0] != '%' && s[0] != '\\' {
		text.WriteByte(s[0])
		return 1
	}
	switch s[:2] {
	case "%%":
		text.WriteByte('%')
	case `\n`:
		text.WriteByte('\n')
	case `\r`:
		text.WriteByte('\r')
	case `\t`:
		text.WriteByte('\t')
	default:
		text.WriteString(s[:2])
	}
	return 2
}

// Write writes f for one transfer. Output goes to stdout until %{stderr} or
// %output{file} says otherwise; openFile opens such a file, truncated or to
// append. An unknown variable writes nothing and is named on stderr. What was
// meant for a file that cannot be opened is dropped; all errors are joined.
func (f *Format) Write(stdout, stderr io.Writer, v *Values, openFile func(name string, add bool) (io.WriteCloser, error)) error {
	o := &sink{w: stdout}
	for _, p := range f.parts {
		if p.kind == onError && v.ExitCode == 0 {
			break
		}
		switch p.kind {
		case literal:
			o.buf.WriteString(p.text)
		case variable:
			writeVariable(&o.buf, p.text, v)
		case header:
			o.buf.WriteString(v.headers(p.text))
		case unknown:
			_, err := io.WriteString(stderr, "bide: unknown --write-out variable: '"+p.text+"'\n")
			o.fail(err)
		case toStdout:
			o.to(stdout, nil)
		case toStderr:
			o.to(stderr, nil)
		case output, appendTo:
			w, err := openFile(p.text, p.kind == appendTo)
			if err != nil {
				o.fail(err)
				o.to(io.Discard, nil)
				continue
			}
			o.to(w, w)
		}
	}
	o.to(nil, nil)
	return errors.Join(o.errs...)
}

// sink gathers text and writes it when the stream changes.
type sink struct {
	buf   bytes.Buffer
	w     io.Writer
	close io.Closer
	errs  []error
}

func (o *sink) fail(err error) {
	if err != nil {
		o.errs = append(o.errs, err)
	}
}

func (o *sink) to(w io.Writer, c io.Closer) {
	if o.buf.Len() > 0 {
		_, err := o.w.Write(o.buf.Bytes())
		o.fail(err)
		o.buf.Reset()
	}
	if o.close != nil {
		o.fail(o.close.Close())
	}
	o.w, o.close = w, c
}
