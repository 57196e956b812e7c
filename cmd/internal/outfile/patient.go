package outfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"time"
)

// patient is an output that may take nothing for a long time: a pipe or a socket.
// Its writes can be called off all the same, and tell exactly how
// much went out. The descriptor's mode is left as it is: O_NONBLOCK belongs to
// the open file description, which the process that started this one shares.
type patient struct {
	file  *os.File
	ended func() error
}

// Known is a Writer of which Bounded knows what it is, for those that ask often.
type Known struct {
	io.Writer
	file *os.File
	kind kind
}

// kind is how a file may keep a write waiting.
type kind int

const (
	prompt kind = iota // it does not
	piped              // a pipe or a socket
	device             // a terminal or another device
)

// Know looks at what w is, unless that is Known.
func Know(w io.Writer) *Known {
	if k, ok := w.(*Known); ok {
		return k
	}
	k := &Known{Writer: w}
	file, ok := w.(*os.File)
	if !ok || !canWait {
		return k
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0:
		k.file, k.kind = file, piped
	case info.Mode()&os.ModeCharDevice != 0 && !isNull(info):
		k.file, k.kind = file, device
	}
	return k
}

// Bounded gives w, or the Writer that is Known, in a form whose writes wait for
// room only while ended is nil, and give its error then, where that is needed and
// the platform has a way; else the Writer itself.
func Bounded(w io.Writer, ended func() error) io.Writer {
	switch k := Know(w); k.kind {
	case piped:
		return &patient{file: k.file, ended: ended}
	case device:
		return &aside{file: k.file, ended: ended}
	default:
		return k.Writer
	}
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

// aside is a terminal, or another device: none tells how much it takes without
// blocking. It is written to beside, and a write that is called off is left
// behind, with an unknown part of it out: nothing may follow it.
type aside struct {
	file  *os.File
	ended func() error
	stuck bool
}

// lookAside is how often a write that lasts asks whether to.
const lookAside = 20 * time.Millisecond

// asideMost is how much is written at a time: what is left behind keeps that much.
const asideMost = 32 << 10

// Write writes all of p, or as much as is surely out before it was called off.
func (w *aside) Write(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		m, err := w.some(p[n:min(len(p), n+asideMost)])
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func (w *aside) some(p []byte) (int, error) {
	if w.stuck {
		return 0, errStuck
	}
	type result struct {
		n   int
		err error
	}
	done, own := make(chan result, 1), bytes.Clone(p)
	go func() {
		n, err := w.file.Write(own)
		done <- result{n, err}
	}()
	look := time.NewTicker(lookAside)
	defer look.Stop()
	for {
		select {
		case r := <-done:
			return r.n, r.err
		case <-look.C:
			if err := w.ended(); err != nil {
				w.stuck = true
				return 0, err
			}
		}
	}
}

// errStuck is why nothing more is written.
var errStuck = errors.New("an earlier write is stuck")
