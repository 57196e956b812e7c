package outfile

import (
	"io"
	"os"
)

// patient is an output that may take nothing for a long time: a pipe, a socket,
// a terminal. Its writes can be called off all the same, and tell exactly how
// much went out. The descriptor's mode is left as it is: O_NONBLOCK belongs to
// the open file description, which the process that started this one shares.
type patient struct {
	file  *os.File
	ended func() error
}

// Bounded gives w in a form whose writes wait for room only while ended is nil,
// and give its error then, where that is needed and the platform has a way; else
// w itself.
func Bounded(w io.Writer, ended func() error) io.Writer {
	file, ok := w.(*os.File)
	if !ok || !canWait {
		return w
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket|os.ModeCharDevice) == 0 {
		return w
	}
	if info.Mode()&os.ModeCharDevice != 0 && isNull(info) {
		return w
	}
	return &patient{file: file, ended: ended}
}

// Write writes all of p, or as much as went out before it was called off.
func (w *patient) Write(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		m, again, err := writeSome(w.file, p[n:])
		n += m
		if err == nil && again {
			err = w.Await()
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// File and Await are for a source that moves its bytes to the file past the
// process: it does so without blocking, and awaits room with Await.
func (w *patient) File() *os.File { return w.file }

// Await returns when the file may take more, or with the reason not to wait.
func (w *patient) Await() error {
	for {
		if err := w.ended(); err != nil {
			return err
		}
		if ready, err := awaitRoom(w.file); ready || err != nil {
			return err
		}
	}
}
