package request

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/bidehttp/bide/retry"
)

// spoolMemory is how much of a stream is held in memory (R8.1).
const spoolMemory = 1 << 20

// spool holds the bytes of a stream: the first MiB in memory, or else all of
// it in a temporary file of mode 0600 that has lost its name already where the
// platform allows. Readers of it are independent of each other.
type spool struct {
	memory []byte
	size   int64

	mu   sync.Mutex // guards file and path: Close may come from a signal's path
	file *os.File
	path string // to be removed at Close; "" when unlinked already
}

// newSpool reads r to its end. what names r in errors.
func newSpool(r io.Reader, what, dir string) (*spool, error) {
	var head bytes.Buffer
	n, err := io.Copy(&head, io.LimitReader(r, spoolMemory+1))
	if err != nil {
		return nil, sourceError(what, err)
	}
	if n <= spoolMemory {
		return &spool{memory: head.Bytes(), size: n}, nil
	}
	s := &spool{}
	if err := s.create(dir); err != nil {
		return nil, inputError("cannot spool %s for a retry (--no-spool streams it once): %w", what, err)
	}
	if err := s.fill(io.MultiReader(&head, r), what); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *spool) create(dir string) error {
	f, err := os.CreateTemp(dir, "bide-spool-*") // mode 0600
	if err != nil {
		return err
	}
	s.file, s.path = f, f.Name()
	if unlinkEarly && os.Remove(s.path) == nil {
		s.path = ""
	}
	return nil
}

// fill tells a source that cannot be read from a disk that is full.
func (s *spool) fill(r io.Reader, what string) error {
	source := &errReader{r: r}
	n, err := io.CopyBuffer(struct{ io.Writer }{s.file}, source, make([]byte, 256<<10))
	s.size = n
	switch {
	case source.err != nil:
		return sourceError(what, source.err)
	case err != nil:
		return inputError("cannot spool %s for a retry (--no-spool streams it once): %w", what, err)
	}
	return nil
}

// errReader remembers the error of its source.
type errReader struct {
	r   io.Reader
	err error
}

func (e *errReader) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if err != nil && err != io.EOF {
		e.err = err
	}
	return n, err
}

// open gives the bytes from the start.
func (s *spool) open() (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.file != nil:
		return io.NopCloser(io.NewSectionReader(s.file, 0, s.size)), nil
	case s.size > int64(len(s.memory)):
		return nil, errClosed
	}
	return io.NopCloser(bytes.NewReader(s.memory)), nil
}

var errClosed = errors.New("the body is closed")

// Close removes the temporary file. Safe to call twice and from any goroutine.
func (s *spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.path != "" {
		err = errors.Join(err, os.Remove(s.path))
	}
	s.file, s.path = nil, ""
	return err
}

// spooledBody is a stream that is held and can be sent again.
type spooledBody struct {
	*spool
	chunked bool
}

func (b *spooledBody) Open() (io.ReadCloser, int64, error) {
	r, err := b.open()
	return r, b.size, err
}

func (b *spooledBody) Replay() error { return nil }

// SendChunked implements Chunker.
func (b *spooledBody) SendChunked() bool { return b.chunked }

// onceBody is a stream that is sent as it comes, once. Until its first byte is
// read it can still be opened anew: a connection that was refused has cost nothing.
type onceBody struct {
	what string

	mu   sync.Mutex
	r    io.ReadCloser // nil once closed
	used bool
}

// Open gives the stream, whose length is not known. Once it has been read from
// it fails with retry.ErrNotReplayable.
func (b *onceBody) Open() (io.ReadCloser, int64, error) {
	if err := b.Replay(); err != nil {
		return nil, 0, err
	}
	return io.NopCloser(onceReader{b}), -1, nil
}

func (b *onceBody) Replay() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used || b.r == nil {
		return inputError("%w: %s was streamed without a spool", retry.ErrNotReplayable, b.what)
	}
	return nil
}

// take marks the stream as used. The lock is not held while reading, which may block.
func (b *onceBody) take() io.Reader {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used = true
	return b.r
}

// SendChunked implements Chunker.
func (b *onceBody) SendChunked() bool { return true }

// Close closes the stream's file; standard input stays open.
func (b *onceBody) Close() error {
	b.mu.Lock()
	r := b.r
	b.r = nil
	b.mu.Unlock()
	if r == nil {
		return nil
	}
	return r.Close()
}

type onceReader struct{ b *onceBody }

func (o onceReader) Read(p []byte) (int, error) {
	r := o.b.take()
	if r == nil {
		return 0, errClosed
	}
	return r.Read(p)
}
