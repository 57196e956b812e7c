package formdata

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// Source is a file or a stream whose bytes can be had again: request.Body.
type Source interface {
	// Open returns the bytes from the start and their number (-1 unknown).
	Open() (io.ReadCloser, int64, error)
	// Replay reports whether Open will give the same bytes again.
	Replay() error
	Close() error
}

// Options says how a form becomes a body.
type Options struct {
	// Source opens a file by name, "-" being standard input.
	Source func(name string) (Source, error)
	// Random gives the bytes of boundaries.
	Random io.Reader
	// Escape escapes names with backslashes (--form-escape) instead of percent signs.
	Escape bool
	// ContentType takes the place of multipart/form-data, when not nil; the
	// boundary is added to it.
	ContentType *string
}

// Form is a multipart body: its boundaries and the sizes of its parts are
// frozen (R8.2). Files are opened one after the other while it is read. It has
// the methods of request.Body.
type Form struct {
	contentType string
	segments    []segment
	size        int64 // -1 unknown
	chunked     bool
}

// segment is a piece of the body: text, or a source's bytes through an encoder.
type segment struct {
	text    string
	source  Source // nil: text
	name    string // of the source, for errors
	encoder string
	size    int64 // of the source's own bytes, -1 unknown
}

// New freezes a form. Its errors are Source's, or an *Error where an encoder
// is not known (RFC 2045 §6.1).
func New(root *Part, o Options) (*Form, error) {
	b := &builder{o: o, form: &Form{}}
	contentType := "multipart/form-data"
	if o.ContentType != nil {
		contentType = *o.ContentType
	}
	boundary, err := b.boundary()
	if err == nil {
		b.form.contentType = contentType + "; boundary=" + boundary
		err = b.group(root, contentType, boundary)
	}
	b.flush()
	if err != nil {
		b.form.Close()
		return nil, err
	}
	return b.form, nil
}

type builder struct {
	o    Options
	form *Form
	text strings.Builder // not yet in a segment
}

const (
	boundaryDashes = 24
	boundaryRandom = 22
)

// boundary draws 22 alphanumerics, without favouring any.
func (b *builder) boundary() (string, error) {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	const fair = 256 / len(alphabet) * len(alphabet)
	out := make([]byte, 0, boundaryRandom)
	var draw [2 * boundaryRandom]byte
	for len(out) < boundaryRandom {
		if _, err := io.ReadFull(b.o.Random, draw[:]); err != nil {
			return "", fmt.Errorf("cannot draw a boundary: %w", err)
		}
		for _, c := range draw {
			if int(c) < fair && len(out) < boundaryRandom {
				out = append(out, alphabet[int(c)%len(alphabet)])
			}
		}
	}
	return strings.Repeat("-", boundaryDashes) + string(out), nil
}

// group writes the parts of a multipart body of that type.
func (b *builder) group(g *Part, contentType, boundary string) error {
	disposition := ""
	if matches(contentType, "multipart/form-data") {
		disposition = "form-data"
	}
	line := "--"
	for _, p := range g.Parts {
		b.text.WriteString(line + boundary + "\r\n")
		if err := b.part(p, disposition); err != nil {
			return err
		}
		line = "\r\n--"
	}
	b.text.WriteString(line + boundary + "--\r\n")
	return nil
}

// part writes one part: headers, an empty line, the content.
func (b *builder) part(p *Part, disposition string) error {
	filename := p.Filename
	if filename == nil && p.Kind == File {
		base := filepath.Base(p.Content)
		filename = &base
	}
	if err := b.unbroken(p, filename); err != nil {
		return err
	}
	contentType, typed := typeOf(p, filename)
	encoder, err := encoderOf(p)
	if err != nil {
		return err
	}
	if disposition == "" && (filename != nil || p.Name != nil) {
		disposition = "attachment"
	}
	if _, own := find(p.Headers, "Content-Disposition"); disposition != "" && !own {
		b.text.WriteString("Content-Disposition: " + disposition + b.parameter("name", p.Name) + b.parameter("filename", filename) + "\r\n")
	}
	boundary := ""
	if typed {
		b.text.WriteString("Content-Type: " + contentType)
		if p.Kind == Group {
			if boundary, err = b.boundary(); err != nil {
				return err
			}
			b.text.WriteString("; boundary=" + boundary)
		}
		b.text.WriteString("\r\n")
	}
	if _, own := find(p.Headers, "Content-Transfer-Encoding"); encoder != "" && !own {
		b.text.WriteString("Content-Transfer-Encoding: " + encoder + "\r\n")
	}
	for _, h := range p.Headers {
		if !isHeader(h, "Content-Type") {
			b.text.WriteString(h + "\r\n")
		}
	}
	b.text.WriteString("\r\n")
	if p.Kind == Group {
		return b.group(p, contentType, boundary)
	}
	return b.content(p, encoder)
}

// unbroken refuses what would end its line in a part's head and begin another:
// nothing escapes a line break there, but for names without --form-escape.
func (b *builder) unbroken(p *Part, filename *string) error {
	lines := p.Headers
	for _, v := range []*string{p.Type, b.escaped(p.Name), b.escaped(filename)} {
		if v != nil {
			lines = append(slices.Clip(lines), *v)
		}
	}
	for _, l := range lines {
		if strings.ContainsAny(l, "\r\n\x00") {
			return usageError("a form field's name, type or header holds a line break")
		}
	}
	return nil
}

// escaped is a name as --form-escape sends it, nil without.
func (b *builder) escaped(name *string) *string {
	if !b.o.Escape {
		return nil
	}
	return name
}

// typeOf is the content type of a part: its own, one guessed from the name it
// is sent with or the file's own, or a default. A plain text or a stream has none.
func typeOf(p *Part, filename *string) (contentType string, ok bool) {
	if p.Type != nil {
		return *p.Type, true
	}
	if own, ok := find(p.Headers, "Content-Type"); ok {
		return own, true
	}
	guessed := ""
	if filename != nil {
		guessed = guess(*filename)
	}
	isFile := p.Kind == File && p.Content != stdin
	switch {
	case guessed != "":
	case p.Kind == Group:
		guessed = "multipart/mixed"
	case isFile:
		guessed = cmp.Or(guess(p.Content), "application/octet-stream")
	}
	return guessed, guessed != ""
}

// stdin is the name of standard input.
const stdin = "-"

// encoderOf is a part's encoder by its proper name, "" none.
func encoderOf(p *Part) (string, error) {
	if p.Encoder == nil {
		return "", nil
	}
	for _, known := range []string{encBinary, enc8bit, enc7bit, encBase64, encQP} {
		if strings.EqualFold(*p.Encoder, known) {
			return known, nil
		}
	}
	return "", &Error{"A libcurl function was given a bad argument; a form field's encoder is one of binary, 8bit, 7bit, base64, quoted-printable", exitcode.BadOption}
}

// parameter writes ; name="value", with what would end the quotes escaped.
func (b *builder) parameter(name string, value *string) string {
	if value == nil {
		return ""
	}
	r := strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A")
	if b.o.Escape {
		r = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	}
	return "; " + name + `="` + r.Replace(*value) + `"`
}

func (b *builder) content(p *Part, encoder string) error {
	if p.Kind == Data {
		if encoder == "" || encoder == encBinary || encoder == enc8bit {
			b.text.WriteString(p.Content)
			return nil
		}
		size := int64(len(p.Content))
		b.add(segment{source: textSource(p.Content), name: "a form field", encoder: encoder, size: size})
		return nil
	}
	source, err := b.o.Source(p.Content)
	if err != nil {
		return err
	}
	s := segment{source: source, name: p.Content, encoder: encoder}
	var r io.ReadCloser
	if r, s.size, err = source.Open(); err != nil {
		return errors.Join(err, source.Close())
	}
	b.add(s)
	if c, ok := source.(interface{ SendChunked() bool }); ok && p.Content != stdin {
		b.form.chunked = b.form.chunked || c.SendChunked()
	}
	return r.Close()
}

// add ends the text so far and adds a source.
func (b *builder) add(s segment) {
	b.flush()
	b.grow(encodedSize(s.encoder, s.size))
	b.form.segments = append(b.form.segments, s)
}

func (b *builder) flush() {
	if b.text.Len() == 0 {
		return
	}
	text := b.text.String()
	b.text.Reset()
	b.grow(int64(len(text)))
	b.form.segments = append(b.form.segments, segment{text: text})
}

func (b *builder) grow(n int64) {
	if n < 0 || b.form.size < 0 {
		b.form.size = -1
		return
	}
	b.form.size += n
}

// textSource is a text that goes through an encoder.
type textSource string

func (t textSource) Open() (io.ReadCloser, int64, error) {
	return io.NopCloser(strings.NewReader(string(t))), int64(len(t)), nil
}
func (t textSource) Replay() error { return nil }
func (t textSource) Close() error  { return nil }

// inputError is content that cannot be sent as it is; class input.
type inputError struct{ err error }

func (e *inputError) Error() string           { return e.err.Error() }
func (e *inputError) Unwrap() error           { return e.err }
func (e *inputError) RetryClass() retry.Class { return retry.ClassInput }
func (e *inputError) ExitCode() exitcode.Code { return exitcode.Input }
