package outfile

import (
	"context"
	"os"
)

// Create opens a file that is written as it comes: of headers, a trace, a
// timeline. It is made if it is not there, and emptied. A FIFO is waited for
// until somebody reads it, as curl does, or ctx ends; the name of an inherited
// descriptor means that descriptor. Errors are *Error, or the
// cause of ctx's end.
func Create(ctx context.Context, path string) (*os.File, error) {
	f, err := create(ctx, path)
	switch {
	case err == nil:
		return f, nil
	case ctx.Err() != nil:
		return nil, unread(path, context.Cause(ctx))
	}
	return nil, wrap(path, err)
}

func create(ctx context.Context, path string) (*os.File, error) {
	if n, ok := descriptor(path); ok {
		return dup(n, path)
	}
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		return openFIFO(path, ctx.Done())
	}
	// For writing alone: whoever has a pipe open for reading, too, would read
	// back himself what nobody else does.
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
}
