package request

import (
	"context"
	"io"
	"io/fs"
	"os"
)

// Files is how this package reaches what is outside: injected, so that tests
// need no real standard input.
type Files struct {
	// Stdin is what "-" means; nil reads as empty.
	Stdin io.Reader
	// Open opens a file by name; nil is os.Open.
	Open func(name string) (*os.File, error)
	// TempDir is where large streams are spooled; "" is os.TempDir().
	TempDir string
	// NoSpool streams what is no regular file once (--no-spool).
	NoSpool bool
	// Context ends what waits for a stream (R10.1): opening a FIFO, reading
	// standard input. The error is then of class canceled. nil never ends it.
	Context context.Context
	// MayReplay is whether any second sending is possible: more than one
	// attempt, a redirect that keeps the body, a challenge. Without it an
	// upload from a stream is not spooled.
	MayReplay bool
	// limit is how much of a stream there may be; 0 is as much as there is.
	limit int64
}

// open opens a file or, for "-", standard input (whose Close does nothing).
func (f *Files) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return f.guard(io.NopCloser(f.stdin())), nil
	}
	file, err := f.openFile(name)
	if err != nil {
		return nil, err
	}
	return f.guard(file), nil
}

// OpenText opens a file of text, or for "-" standard input, to be read once.
// Errors are *Error of class input.
func (f *Files) OpenText(name string) (io.ReadCloser, error) { return f.open(name) }

func (f *Files) stdin() io.Reader {
	if f == nil || f.Stdin == nil {
		return eofReader{}
	}
	return f.Stdin
}

func (f *Files) openFile(name string) (*os.File, error) {
	open := os.Open
	if f != nil && f.Open != nil {
		open = f.Open
	}
	file, err := f.interruptible(open, name)
	if err != nil {
		return nil, sourceError(name, err)
	}
	return file, nil
}

// source opens what a data flag names and tells a regular file (whose info is
// returned, and which is closed again) from a stream to be read now.
func (f *Files) source(name string) (fs.FileInfo, io.ReadCloser, error) {
	if name == "-" {
		return nil, f.guard(io.NopCloser(f.stdin())), nil
	}
	file, err := f.openFile(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		file.Close()
		return nil, nil, sourceError(name, err)
	case info.IsDir():
		file.Close()
		return nil, nil, inputError("cannot read %s: it is a directory", name)
	case info.Mode().IsRegular() && info.Size() > 0 || info.Mode().IsRegular() && !unsized(file):
		return info, nil, file.Close()
	}
	return nil, f.guard(file), nil
}

// unsized reports whether a file whose size is said to be zero gives bytes all
// the same (/proc): it is then read like a stream.
func unsized(f *os.File) bool {
	var b [1]byte
	n, _ := f.ReadAt(b[:], 0)
	return n > 0
}

type eofReader struct{}

func (eofReader) Read([]byte) (int, error) { return 0, io.EOF }

func (f *Files) tempDir() string {
	if f == nil {
		return ""
	}
	return f.TempDir
}
