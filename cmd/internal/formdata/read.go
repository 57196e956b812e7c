package formdata

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bidehttp/bide/retry"
)

// ContentType is the header's value, with the boundary.
func (f *Form) ContentType() string { return f.contentType }

// SendChunked: the body goes out in chunks, as curl sends a form with a file
// whose size it cannot know.
func (f *Form) SendChunked() bool { return f.chunked }

// Open gives the whole body and its length, -1 unknown. A source that has
// changed is found now, before anything is sent.
func (f *Form) Open() (io.ReadCloser, int64, error) {
	if err := f.Replay(); err != nil {
		return nil, 0, err
	}
	return &reader{rest: f.segments}, f.size, nil
}

// Replay asks every source.
func (f *Form) Replay() error {
	for i := range f.segments {
		if s := f.segments[i].source; s != nil {
			if err := s.Replay(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close removes what was spooled.
func (f *Form) Close() error {
	var errs []error
	for i := range f.segments {
		if s := f.segments[i].source; s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}

// reader gives the segments in a row, with one source open at a time.
type reader struct {
	rest   []segment
	now    io.Reader // of rest[0]; nil not yet open
	closer io.Closer // of now, nil none
}

// Read fills p from as many segments as it takes, so that a form does not go
// out in crumbs. Only a stream, which may be slow, is passed on as it comes.
func (r *reader) Read(p []byte) (int, error) {
	n := 0
	for len(r.rest) > 0 && n < len(p) {
		if r.now == nil {
			if err := r.open(); err != nil {
				return n, err
			}
		}
		s := &r.rest[0]
		m, err := r.now.Read(p[n:])
		n += m
		if err == io.EOF {
			err = r.next()
		}
		if err != nil {
			return n, classified(err)
		}
		if m > 0 && s.source != nil && s.size < 0 {
			return n, nil
		}
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (r *reader) open() error {
	s := &r.rest[0]
	if s.source == nil {
		r.now = strings.NewReader(s.text)
		return nil
	}
	rc, size, err := s.source.Open()
	if err != nil {
		return err
	}
	r.closer = rc
	content := io.Reader(rc)
	if size >= 0 {
		content = &exactly{r: rc, left: size, name: s.name}
	}
	r.now = encode(s.encoder, content)
	return nil
}

func (r *reader) next() error {
	err := r.Close()
	r.rest = r.rest[1:]
	return err
}

// Close closes the source that is open.
func (r *reader) Close() error {
	c := r.closer
	r.now, r.closer = nil, nil
	if c == nil {
		return nil
	}
	return c.Close()
}

// exactly reads left bytes and no more; a source with fewer has changed under
// the transfer (R7.3).
type exactly struct {
	r    io.Reader
	left int64
	name string
}

func (e *exactly) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if err == io.EOF && e.left > 0 {
		err = fmt.Errorf("%w: %s became shorter while it was sent", retry.ErrBodyChanged, e.name)
	}
	return n, err
}

// classified gives an error without a class the one of inputs.
func classified(err error) error {
	var c retry.Classified
	if err == nil || errors.As(err, &c) {
		return err
	}
	return &inputError{err}
}
