package cmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/outfile"
)

// headerFiles are the files of -D: emptied by the first operation of each group
// that writes to them, appended to by the next ones.
type headerFiles struct {
	mu    sync.Mutex
	open  map[string]*os.File
	owner map[string]*flags.Group
}

func (h *headerFiles) write(ctx context.Context, g *prepared, blocks []string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	name := g.DumpHeader
	f := h.open[name]
	if f == nil || h.owner[name] != g.Group {
		if f != nil {
			_ = f.Close() // what it holds is dropped
		}
		var err error
		if f, err = createHeaderFile(ctx, g); err != nil {
			return err
		}
		if h.open == nil {
			h.open, h.owner = make(map[string]*os.File), make(map[string]*flags.Group)
		}
		h.open[name], h.owner[name] = f, g.Group
	}
	if err := writeBlocks(f, blocks); err != nil {
		return &outfile.Error{Path: name, Err: err}
	}
	return nil
}

func createHeaderFile(ctx context.Context, g *prepared) (*os.File, error) {
	if g.CreateDirs {
		// 0750 as curl makes them.
		if err := os.MkdirAll(filepath.Dir(g.DumpHeader), 0o750); err != nil {
			return nil, &outfile.Error{Path: g.DumpHeader, Err: err}
		}
	}
	return outfile.Create(ctx, g.DumpHeader)
}

func (h *headerFiles) close() error {
	var errs []error
	for name, f := range h.open {
		if err := f.Close(); err != nil {
			errs = append(errs, &outfile.Error{Path: name, Err: err})
		}
	}
	return errors.Join(errs...)
}

// errEnough ends a delivery of which no more is wanted.
var errEnough = errors.New("enough of the body was read")

// excerptWriter keeps the start of what passes; with no writer behind it, it
// stops when it has enough.
type excerptWriter struct {
	w   io.Writer
	out *output
}

func (e *excerptWriter) Write(p []byte) (int, error) {
	room := excerptLimit - len(e.out.excerpt)
	e.out.excerpt = append(e.out.excerpt, p[:min(room, len(p))]...)
	if e.w != nil {
		return e.w.Write(p)
	}
	if len(p) >= room {
		return 0, errEnough
	}
	return len(p), nil
}

// errBinary refuses a binary body on a terminal, as curl does.
var errBinary = errors.New("the body is binary and would garble the terminal; use -o FILE to save it, or -o - to print it all the same")

// terminalGuard looks at the first bytes of a body for a terminal, and at the
// last one: what follows on the terminal starts on a line of its own.
type terminalGuard struct {
	w       io.Writer
	out     *output
	checked bool
}

func (g *terminalGuard) Write(p []byte) (int, error) {
	if !g.checked {
		g.checked = true
		if bytes.IndexByte(p[:min(len(p), 2000)], 0) >= 0 {
			return 0, &outfile.Error{Path: "stdout", Err: errBinary}
		}
	}
	if len(p) > 0 {
		g.out.midLine = p[len(p)-1] != '\n'
	}
	return g.w.Write(p)
}

// outfileBroken reports whether err says that nobody reads the output any more.
func outfileBroken(err error) bool {
	var output *outfile.Error
	return errors.As(err, &output) && outfile.IsBrokenPipe(err)
}
