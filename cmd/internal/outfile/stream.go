package outfile

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bidehttp/bide/retry"
)

// Stream is a Sink whose bytes cannot be taken back once written: stdout, a
// FIFO, a device, an inherited descriptor. It holds them until Commit, up to
// HoldLimit; beyond that they are committed (R9.3), or go to a temporary file
// where all of them are to be held (R9.3a).
type Stream struct {
	name string
	// open gives the target at the first byte; it must return when done is
	// closed. The closer is nil for what is not ours to close. Without it, the
	// target is w, in its turn.
	open  func(done <-chan struct{}) (io.Writer, io.Closer, error)
	turn  Turn   // nil: nobody else writes there
	spool *spool // of what is held beyond HoldLimit; nil where it is passed on

	mu       sync.Mutex
	w        io.Writer
	closer   io.Closer
	within   context.Context // bounds the wait for a reader; nil does not
	callOff  func()          // ends that wait; nil while there is none
	held     []byte
	attached bool // w may be written to
	hold     bool
	holds    bool // hold, at the start of each body
	finished bool // Commit succeeded
	void     bool // the null device: nothing written there is ever missed

	abandoned bool
	committed atomic.Bool
}

// StreamOptions says how a Stream behaves.
type StreamOptions struct {
	// Unheld passes every byte on at once: -N, a terminal.
	Unheld bool
	// Whole holds a body of any size until Commit, beyond HoldLimit in a file in
	// TempDir. It goes before Unheld.
	Whole   bool
	TempDir string
	// Turn, when not nil, is taken before the first byte.
	Turn Turn
}

// Turn is the right to write to what others write to as well. One goroutine asks
// for it; who has it keeps it.
type Turn interface {
	// Free takes it where that need not wait, and reports whether it has.
	Free() bool
	// Take waits for it; it must return when done is closed. Its error stops the
	// output.
	Take(done <-chan struct{}) error
}

// Stdout is the sink for standard output. w is not closed.
func Stdout(w io.Writer, opts StreamOptions) *Stream {
	s := newStream("stdout", opts, nil)
	s.w, s.turn = w, opts.Turn
	return s
}

func newStream(name string, opts StreamOptions, open func(<-chan struct{}) (io.Writer, io.Closer, error)) *Stream {
	hold := opts.Whole || !opts.Unheld
	s := &Stream{name: name, open: open, hold: hold, holds: hold}
	if opts.Whole {
		s.spool = &spool{dir: opts.TempDir}
	}
	return s
}

// Within makes the end of ctx call off a wait for somebody who reads the
// target, from now on. The error of the opening has class canceled, that of a
// write is the cause: what was written until then is told exactly, so that
// another attempt may go on from there. On Windows a write that blocks is not
// woken.
func (s *Stream) Within(ctx context.Context) {
	s.mu.Lock()
	s.within = ctx
	s.mu.Unlock()
}

// ended is why a write does not wait any longer; nil where it may.
func (s *Stream) ended() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.abandoned:
		return ErrAbandoned
	case s.within != nil && s.within.Err() != nil:
		return context.Cause(s.within)
	}
	return nil
}

// waitError is the end of a wait for a reader, or for the turn. It implements retry.Classified
// with class canceled: whoever ended the wait knows why.
type waitError struct {
	what  string // was not to be had
	cause error
}

func unread(name string, cause error) error { return &waitError{"nobody reads " + name, cause} }

func (e *waitError) Error() string           { return e.what + ": " + e.cause.Error() }
func (e *waitError) Unwrap() error           { return e.cause }
func (e *waitError) RetryClass() retry.Class { return retry.ClassCanceled }

// Unhold passes the bytes on at once from now on: the answer turned out to be
// an event stream. What is held goes out with the next byte or Commit. A body
// that is to be held whole stays held.
func (s *Stream) Unhold() {
	s.mu.Lock()
	s.hold = s.spool != nil
	s.mu.Unlock()
}

// Write holds p, or passes it on with everything held before it.
func (s *Stream) Write(p []byte) (int, error) {
	if kept, err := s.keep(p); kept || err != nil {
		return len(p), err
	}
	w, err := s.release()
	if err != nil {
		return 0, err
	}
	n, err := w.Write(p)
	return n, wrap(s.name, err)
}

// ReadFrom holds what r gives while there is room; the rest goes straight to
// the target, without copying where r can do that.
func (s *Stream) ReadFrom(r io.Reader) (int64, error) {
	if s.spool != nil {
		return copyTo(s.name, struct{ io.Writer }{s}, r)
	}
	n, whole, err := s.fill(r)
	if whole || err != nil {
		return n, err
	}
	if !s.void {
		more, err := s.overflow(r)
		n += more
		if more == 0 || err != nil {
			return n, err
		}
	}
	w, err := s.release()
	if err != nil {
		return n, err
	}
	rest, err := copyTo(s.name, w, r)
	return n + rest, err
}

// overflow passes on the first bytes that are not to be held. A body that breaks
// off before them has not outgrown the hold, and nothing of it leaves.
func (s *Stream) overflow(r io.Reader) (int64, error) {
	piece := make([]byte, nextPiece)
	n, err := readSome(r, piece)
	if n == 0 {
		return 0, err
	}
	w, werr := s.release()
	if werr != nil {
		return 0, werr
	}
	n, werr = w.Write(piece[:n])
	if werr != nil {
		return int64(n), wrap(s.name, werr)
	}
	return int64(n), err
}

// nextPiece is how much is looked for beyond the hold.
const nextPiece = 32 << 10

// readSome reads at least a byte, unless r ends, for which err is nil, or fails.
func readSome(r io.Reader, p []byte) (int, error) {
	for {
		n, err := r.Read(p)
		if err == io.EOF {
			return n, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// keep appends p to what is held, if it is to be held and fits.
func (s *Stream) keep(p []byte) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.abandoned {
		return false, wrap(s.name, ErrAbandoned)
	}
	switch full := len(s.held)+len(p) > HoldLimit || s.spool.current() != nil; {
	case !s.hold || full && s.spool == nil:
		return false, nil
	case full:
		if err := s.spool.add(&s.held, p); err != nil {
			return false, wrap(s.name, err)
		}
		return true, nil
	}
	s.held = append(s.held, p...)
	return true, nil
}

// fill reads r into the hold until it is full or r ends (whole).
func (s *Stream) fill(r io.Reader) (n int64, whole bool, err error) {
	want := smallBody
	if known, ok := r.(interface{ Left() int64 }); ok && known.Left() >= 0 {
		want = int(min(known.Left(), mostRoom)) + 1 // to see the end
	}
	room, err := s.room(0, want)
	for err == nil && len(room) > 0 {
		m, end := r.Read(room)
		n += int64(m)
		if room, err = s.room(m, min(max(m, smallBody), mostRoom)); err != nil {
			return n - int64(m), false, err
		}
		if end == io.EOF {
			return n, true, nil
		}
		if end != nil {
			return n, false, end
		}
	}
	return n, false, err
}

// The room for what a body brings: mostly it is small; it grows with what comes,
// up to so much at a time.
const (
	smallBody = 512
	mostRoom  = 64 << 10
)

// room holds the n bytes that were read into the room before, and gives the next
// one: what there is behind what is held or, where that is full, room for want
// bytes or more. It is empty where no more is to be held.
func (s *Stream) room(n, want int) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.abandoned {
		return nil, wrap(s.name, ErrAbandoned)
	}
	s.held = s.held[:len(s.held)+n]
	left := HoldLimit - len(s.held)
	if !s.hold || left <= 0 {
		return nil, nil
	}
	if len(s.held) == cap(s.held) {
		s.held = slices.Grow(s.held, min(want, left))
	}
	return s.held[len(s.held):min(cap(s.held), HoldLimit)], nil
}

// release opens the target, sends what is held and ends the holding. Of a write
// that was called off the rest stays held, for the next one: it counts as
// written to those who gave it.
func (s *Stream) release() (io.Writer, error) {
	s.mu.Lock()
	if err := s.attach(); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	w, held, spooled := s.w, s.held, s.spool.current()
	s.held, s.hold = nil, false
	if !s.void {
		s.committed.Store(true)
	}
	s.mu.Unlock()
	if len(held) > 0 {
		// Outside of the lock: a pipe that nobody reads must not block Abandon.
		if n, err := w.Write(held); err != nil {
			s.mu.Lock()
			s.held = held[n:]
			s.mu.Unlock()
			return nil, wrap(s.name, err)
		}
	}
	if spooled != nil {
		if err := sendSpooled(w, spooled); err != nil {
			return nil, wrap(s.name, err)
		}
	}
	return w, nil
}

// attach opens the target, unless Abandon comes first. It wants the lock, which
// it lets go of while it waits.
func (s *Stream) attach() error {
	if s.abandoned {
		return wrap(s.name, ErrAbandoned)
	}
	if s.attached {
		return nil
	}
	within := s.within
	s.mu.Unlock()
	target, closer, err := s.wait(within)
	s.mu.Lock()
	switch {
	case err == nil:
	case within == nil || within.Err() == nil:
		return wrap(s.name, err)
	case s.open == nil:
		return &waitError{err.Error(), context.Cause(within)}
	case errors.Is(err, ErrAbandoned):
		return unread(s.name, context.Cause(within))
	default:
		return wrap(s.name, err)
	}
	if s.abandoned {
		if closer != nil {
			_ = closer.Close()
		}
		return wrap(s.name, ErrAbandoned)
	}
	s.w, s.closer, s.attached = s.bounded(target), closer, true
	return nil
}

// bounded is w in a form whose writes wait for room only while ended is nil.
func (s *Stream) bounded(w io.Writer) io.Writer {
	known := Know(w)
	if known.kind == prompt {
		return known.Writer
	}
	return Bounded(known, s.ended)
}

// wait opens the target; where that may take time, within's end and Abandon call
// it off.
func (s *Stream) wait(within context.Context) (io.Writer, io.Closer, error) {
	if s.open == nil && (s.turn == nil || s.turn.Free()) {
		return s.w, nil, nil
	}
	life, end := context.WithCancel(context.Background())
	defer end()
	if within != nil {
		defer context.AfterFunc(within, end)()
	}
	s.mu.Lock()
	if s.callOff = end; s.abandoned {
		end()
	}
	s.mu.Unlock()
	if s.open == nil {
		return s.w, nil, s.turn.Take(life.Done())
	}
	return s.open(life.Done())
}

// Reset drops what is held.
func (s *Stream) Reset() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.committed.Load() {
		return wrap(s.name, ErrCommitted)
	}
	s.held = s.held[:0]
	return wrap(s.name, s.spool.drop())
}

// Commit sends what is held and closes a target that is ours, so that a reader
// of a FIFO sees its end. A target that no byte was written to is opened all the same.
func (s *Stream) Commit() error {
	s.mu.Lock()
	finished := s.finished
	s.mu.Unlock()
	if finished {
		return nil
	}
	if _, err := s.release(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished = true
	return wrap(s.name, errors.Join(s.spool.drop(), s.close()))
}

// Abandon drops what is held and wakes a writer that waits for a reader.
// Bytes that are committed stay.
func (s *Stream) Abandon() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finished || s.abandoned {
		return nil
	}
	s.abandoned = true
	s.held = nil
	if s.callOff != nil {
		s.callOff()
	}
	// A failure to close what is given up tells nobody anything.
	_ = s.close()
	return wrap(s.name, s.spool.drop())
}

func (s *Stream) close() error {
	if s.closer == nil {
		return nil
	}
	c := s.closer
	s.closer = nil
	return c.Close()
}

// Committed reports whether a byte may have left.
func (s *Stream) Committed() bool { return s.committed.Load() }

var _ interface {
	Sink
	io.ReaderFrom
} = (*Stream)(nil)

// opening makes a Stream's open of a function that gives a file of ours.
func opening(open func(done <-chan struct{}) (*os.File, error)) func(<-chan struct{}) (io.Writer, io.Closer, error) {
	return func(done <-chan struct{}) (io.Writer, io.Closer, error) {
		f, err := open(done)
		if err != nil {
			return nil, nil, err
		}
		return f, f, nil
	}
}
