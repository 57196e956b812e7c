package request

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// canceled is the error of a wait for input that ctx has ended.
func canceled(ctx context.Context) *Error {
	return &Error{Class: retry.ClassCanceled, Code: exitcode.Interrupted, Err: context.Cause(ctx)}
}

// sourceError is err as this package reports it: a cancellation stays one, all
// else is an input error.
func sourceError(what string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return inputError("cannot read %s: %w", what, pathless(err))
}

// interruptible gives open's file, or an error as soon as the context ends: to open
// a FIFO blocks until somebody writes to it.
func (f *Files) interruptible(open func(string) (*os.File, error), name string) (*os.File, error) {
	if f == nil || f.Context == nil {
		return open(name)
	}
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened)
	go func() {
		file, err := open(name)
		select {
		case done <- opened{file, err}:
		case <-f.Context.Done():
			if err == nil {
				file.Close() //nolint:errcheck // nobody waits for it any more
			}
		}
	}()
	select {
	case o := <-done:
		return o.file, o.err
	case <-f.Context.Done():
		return nil, canceled(f.Context)
	}
}

// guard makes a stream's Read return when the context ends. The read that
// blocks is abandoned; it owns its buffer.
func (f *Files) guard(r io.ReadCloser) io.ReadCloser {
	if f == nil || f.Context == nil {
		return r
	}
	return &guarded{ctx: f.Context, r: r}
}

// guardBuffer is what a guarded stream reads at once.
const guardBuffer = 128 << 10

type guarded struct {
	ctx  context.Context
	r    io.ReadCloser
	buf  []byte
	rest []byte // of buf, not yet given out
	err  error
}

func (g *guarded) Read(p []byte) (int, error) {
	if len(g.rest) == 0 {
		if g.err != nil {
			return 0, g.err
		}
		if g.buf == nil {
			g.buf = make([]byte, guardBuffer)
		}
		if err := g.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// fill reads once. With nothing read it gives the error at once, else at the next call.
func (g *guarded) fill() error {
	type read struct {
		n   int
		err error
	}
	done, buf := make(chan read, 1), g.buf
	go func() {
		n, err := g.r.Read(buf)
		done <- read{n, err}
	}()
	select {
	case got := <-done:
		g.rest, g.err = buf[:got.n], got.err
	case <-g.ctx.Done():
		g.buf, g.err = nil, canceled(g.ctx)
	}
	if len(g.rest) == 0 {
		return g.err
	}
	return nil
}

// Close closes the stream. It is not called for standard input.
func (g *guarded) Close() error { return g.r.Close() }
