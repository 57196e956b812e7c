// Package formdata is curl's -F notation and the multipart body that it
// describes (RFC 7578, RFC 2046 §5.1).
//
// Parse reads the notation into a tree of parts; New freezes it into a Form,
// which gives the same bytes each time it is opened. Files are reached through
// Options.Source alone.
package formdata

import (
	"io"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// Arg is one -F or --form-string as given.
type Arg struct {
	Text    string
	Literal bool // --form-string: nothing but the first "=" has a meaning
}

// Kind is what a Part's content is.
type Kind uint8

// The kinds of parts.
const (
	Data    Kind = iota // Content is the text
	File                // "@": Content names a file, which is sent with its name
	Inlined             // "<": Content names a file, which is sent as a text
	Group               // Parts, as a multipart of their own
)

// Part is one field, file or group of a form. A nil string was not given.
type Part struct {
	Kind     Kind
	Content  string
	Name     *string
	Type     *string
	Filename *string
	Encoder  *string
	Headers  []string // lines without their ends
	Parts    []*Part
}

// Error is a form that cannot be made: class request. It quotes nothing of the
// form's values.
type Error struct {
	Reason string
	Code   exitcode.Code
}

func (e *Error) Error() string { return e.Reason }

// RetryClass is request: nothing was sent.
func (e *Error) RetryClass() retry.Class { return retry.ClassRequest }

// ExitCode is curl's for the same fault.
func (e *Error) ExitCode() exitcode.Code { return e.Code }

func usageError(reason string) error { return &Error{reason, exitcode.Usage} }

// Env is what parsing may ask of the world.
type Env struct {
	// Open opens a file of "headers=@FILE".
	Open func(name string) (io.ReadCloser, error)
	// Warn is told of what is ignored, in curl's words; nil: nobody.
	Warn func(text string)
}

// Parse reads all arguments of a request, in their order, into the form's root
// group. Errors are an *Error, or what reading a file of headers gave. A group
// that is not closed ends with the arguments, as in curl.
func Parse(args []Arg, env Env) (*Part, error) {
	root := &Part{Kind: Group}
	p := parser{env: env, open: []*Part{root}}
	for _, a := range args {
		if err := p.field(a); err != nil {
			return nil, err
		}
	}
	return root, nil
}

type parser struct {
	env  Env
	open []*Part // the groups that are not closed, the root first
}

func (p *parser) warn(text string) {
	if p.env.Warn != nil {
		p.env.Warn(text)
	}
}

func (p *parser) add(part *Part) {
	group := p.open[len(p.open)-1]
	group.Parts = append(group.Parts, part)
}

// field reads one NAME=CONTENT.
func (p *parser) field(a Arg) error {
	text, content, ok := strings.Cut(a.Text, "=")
	if !ok {
		return usageError("a form field needs a =: NAME=TEXT, NAME=@FILE, NAME=<FILE")
	}
	var name *string
	if text != "" {
		name = &text
	}
	switch {
	case a.Literal:
		p.add(&Part{Kind: Data, Content: content, Name: name})
		return nil
	case strings.HasPrefix(content, "("):
		return p.begin(name, content)
	case name == nil && content == ")":
		return p.end()
	case strings.HasPrefix(content, "@"):
		return p.files(name, content[1:])
	}
	part := &Part{Kind: Data, Name: name}
	if rest, ok := strings.CutPrefix(content, "<"); ok {
		part.Kind, content = Inlined, rest
	}
	s := scanner{p: p, text: content}
	if err := s.part(part); err != nil {
		return err
	}
	if part.Kind == Inlined && part.Filename != nil {
		p.warn("Field file name not allowed here: " + *part.Filename)
		part.Filename = nil
	}
	p.add(part)
	return nil
}

// begin opens a group: NAME=(;type=...
func (p *parser) begin(name *string, content string) error {
	group := &Part{Kind: Group, Name: name}
	s := scanner{p: p, text: content}
	if err := s.part(group); err != nil {
		return err
	}
	if group.Filename != nil {
		p.warn("Field file name not allowed here: " + *group.Filename)
	}
	if group.Encoder != nil {
		p.warn("Field encoder not allowed here: " + *group.Encoder)
	}
	group.Filename, group.Encoder = nil, nil
	group.Content = ""
	p.add(group)
	p.open = append(p.open, group)
	return nil
}

func (p *parser) end() error {
	if len(p.open) == 1 {
		return usageError("=) closes a group of form fields that was not opened with =(")
	}
	p.open = p.open[:len(p.open)-1]
	return nil
}

// files reads NAME=@FILE,FILE...: several files are a group.
func (p *parser) files(name *string, content string) error {
	s := scanner{p: p, text: content, stop: ','}
	var parts []*Part
	for {
		part := &Part{Kind: File}
		if err := s.part(part); err != nil {
			return err
		}
		parts = append(parts, part)
		if s.at >= len(s.text) {
			break
		}
		s.at++ // the comma
	}
	if len(parts) == 1 {
		parts[0].Name = name
		p.add(parts[0])
		return nil
	}
	p.add(&Part{Kind: Group, Name: name, Parts: parts})
	return nil
}
