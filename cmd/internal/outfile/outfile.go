// Package outfile stages an output and commits it when its attempt has
// succeeded; until then what was there before is untouched.
//
// A Sink is opened by its first byte (or by Commit), so an operation that
// fails before it has a body leaves nothing behind. What it does not do: it
// does not fsync (the rename is atomic towards other processes, not towards a
// power failure), and replacing a file cuts it off from its hard links. A
// process that is killed leaves its temporary file behind, where the next run
// for the same target finds and removes it.
package outfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/bidehttp/bide/retry"
)

// Sink is where a final body goes. Write is only called between Reset (or the
// opening) and Commit or Abandon. One goroutine writes; Abandon and Committed
// may be called from any other at any time, so that a signal can clean up.
//
// The sinks of this package implement io.ReaderFrom, too: it hands the bare
// *os.File to the source's WriteTo where nothing has to be held, which is what
// zero copy needs. Its errors are the source's own when they implement
// retry.Classified, else an *Error.
type Sink interface {
	io.Writer
	// Reset drops what a failed attempt wrote. It fails with ErrCommitted
	// when bytes are already beyond recall.
	Reset() error
	// Commit makes what was written the output.
	Commit() error
	// Abandon leaves the output as it was before; safe after Commit, safe twice.
	Abandon() error
	// Committed reports whether bytes are beyond recall (R9.3).
	Committed() bool
}

// HoldLimit is how much of a body is held back from a stream until it is
// complete (R9.3).
const HoldLimit = 1 << 20

// The errors a Sink's methods give beside those of the system; both come
// wrapped in an *Error.
var (
	// ErrCommitted: bytes are beyond recall, nothing can be taken back.
	ErrCommitted = errors.New("output already written")
	// ErrAbandoned: the output was given up (by a signal).
	ErrAbandoned = errors.New("output given up")
)

// Error is a failure of the output: its path, or "stdout", and the cause. It
// implements retry.Classified with class output.
type Error struct {
	Path string
	Err  error
}

func (e *Error) Error() string {
	return "cannot write " + e.Path + ": " + bare(e.Err).Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// RetryClass is output: nothing that is sent again would help.
func (e *Error) RetryClass() retry.Class { return retry.ClassOutput }

// IsBrokenPipe reports whether err says that nobody reads the output any more
// (`| head`): the run ends quietly (R10.1).
func IsBrokenPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) || brokenPipe(err)
}

// bare strips the operation and path that the system's errors carry: Error
// names the path that the user gave.
func bare(err error) error {
	for {
		switch e := err.(type) { //nolint:errorlint // outermost layers only
		case *fs.PathError:
			err = e.Err
		case *os.LinkError:
			err = e.Err
		case *os.SyscallError:
			err = e.Err
		default:
			return err
		}
	}
}

// wrap makes err an *Error unless it is one.
func wrap(path string, err error) error {
	if err == nil {
		return nil
	}
	if e := (*Error)(nil); errors.As(err, &e) {
		return err
	}
	return &Error{Path: path, Err: err}
}

// writeSide wraps an error of a copy that ran inside the source: a source that
// knows its class tells so, everything else came from the output.
func writeSide(path string, err error) error {
	if c := retry.Classified(nil); err == nil || errors.As(err, &c) {
		return err
	}
	return wrap(path, err)
}

// copyBuffer is the size of the one buffer of a copy that looks at the bytes.
const copyBuffer = 128 << 10

// copyTo copies src to w by src's own means where it has some (zero copy), else
// through one large buffer. A read error of src is passed on as it is.
func copyTo(path string, w io.Writer, src io.Reader) (int64, error) {
	if wt, ok := src.(io.WriterTo); ok {
		n, err := wt.WriteTo(w)
		return n, writeSide(path, err)
	}
	buf := make([]byte, copyBuffer)
	var n int64
	for {
		m, err := src.Read(buf)
		if m > 0 {
			k, werr := w.Write(buf[:m])
			n += int64(k)
			if werr != nil {
				return n, wrap(path, werr)
			}
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}
