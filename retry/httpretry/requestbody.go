package httpretry

import (
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/bidehttp/bide/retry"
)

// bodySource gives each attempt the same request body.
type bodySource interface {
	// open gives the body for the next attempt; the one before is not read any more.
	open() (io.ReadCloser, error)
	// replay reports whether another attempt can have it: nil or retry.ErrNotReplayable.
	replay() error
	// finish says that no further attempt comes.
	finish()
}

// newBodySource is nil for a request without a body. keep is how many bytes of a
// body that cannot be had anew are kept.
func newBodySource(req *http.Request, keep int64) bodySource {
	switch {
	case req.Body == nil || req.Body == http.NoBody:
		return nil
	case req.GetBody != nil:
		return &repeatable{first: req.Body, again: req.GetBody}
	}
	return &spool{src: req.Body, limit: keep}
}

// repeatable is a body with GetBody.
type repeatable struct {
	first io.ReadCloser // nil once it was given out
	again func() (io.ReadCloser, error)
}

func (r *repeatable) open() (io.ReadCloser, error) {
	if body := r.first; body != nil {
		r.first = nil
		return body, nil
	}
	return r.again()
}

func (r *repeatable) replay() error { return nil }

func (r *repeatable) finish() {
	if r.first != nil {
		_ = r.first.Close()
	}
}

// spool is a body without GetBody. It is read as the first attempt sends it, and
// what was read is kept, up to a limit, for the others. net/http may still be
// reading the body of an attempt that is over: then that reader is cut off, and
// what it has read is not lost.
type spool struct {
	limit int64

	reading sync.Mutex // held during a Read of src, which may block
	src     io.ReadCloser

	mu      sync.Mutex // guards what follows, never held for long
	kept    []byte
	read    int64 // from src
	lost    bool  // it was more than limit
	err     error // of src, io.EOF included
	current *spoolReader
	final   bool
}

// errSuperseded is for readers that are still at work when their attempt is over.
var errSuperseded = errors.New("the attempt is over")

func (s *spool) open() (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = &spoolReader{s: s}
	return s.current, nil
}

func (s *spool) replay() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost {
		return retry.ErrNotReplayable
	}
	return nil
}

func (s *spool) finish() {
	s.mu.Lock()
	s.final = true
	idle := s.current == nil || s.current.closed
	s.mu.Unlock()
	if idle {
		_ = s.src.Close()
	}
}

// keep takes down what was read of src.
func (s *spool) keep(p []byte, err error) {
	s.read += int64(len(p))
	s.err = err
	switch {
	case s.lost:
	case s.read > s.limit:
		s.lost, s.kept = true, nil
	default:
		s.kept = append(s.kept, p...)
	}
}

// spoolReader is the body of one attempt.
type spoolReader struct {
	s      *spool
	at     int64
	closed bool
}

func (r *spoolReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if n, done, err := r.fromKept(p); done {
			return n, err
		}
		r.s.reading.Lock()
		if r.behind() { // another reader was faster
			r.s.reading.Unlock()
			continue
		}
		n, err := r.s.src.Read(p)
		r.s.mu.Lock()
		r.s.keep(p[:n], err)
		r.at += int64(n)
		r.s.mu.Unlock()
		r.s.reading.Unlock()
		return n, err
	}
}

// fromKept answers a Read without asking the source, if that is possible.
func (r *spoolReader) fromKept(p []byte) (n int, done bool, err error) {
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r != s.current || r.closed:
		return 0, true, errSuperseded
	case r.at < s.read && s.lost:
		return 0, true, retry.ErrNotReplayable
	case r.at < s.read:
		n = copy(p, s.kept[r.at:])
		r.at += int64(n)
		return n, true, nil
	case s.err != nil:
		return 0, true, s.err
	}
	return 0, false, nil
}

// behind reports whether fromKept has an answer by now.
func (r *spoolReader) behind() bool {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r != r.s.current || r.closed || r.at < r.s.read || r.s.err != nil
}

// Close closes the source only when no further attempt can need it.
func (r *spoolReader) Close() error {
	s := r.s
	s.mu.Lock()
	last := s.final && r == s.current && !r.closed
	r.closed = true
	s.mu.Unlock()
	if last {
		return s.src.Close()
	}
	return nil
}

// watchedBody remembers what went wrong with the source, so that it is not
// taken for the connection's fault.
type watchedBody struct {
	io.ReadCloser
	mu  sync.Mutex
	err error
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF && err != errSuperseded {
		b.mu.Lock()
		b.err = err
		b.mu.Unlock()
	}
	return n, err
}

// fault is the source's error; nil for none, and of no body.
func (b *watchedBody) fault() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}
