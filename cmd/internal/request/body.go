package request

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/bidehttp/bide/retry"
)

// Bytes is a body held in memory.
type Bytes []byte

// Open gives the bytes.
func (b Bytes) Open() (io.ReadCloser, int64, error) {
	return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
}

// Replay is always possible.
func (b Bytes) Replay() error { return nil }

// Close does nothing.
func (b Bytes) Close() error { return nil }

// fileBody is a regular file, sent as it is. It is opened anew each time and
// must be what it was when the request was frozen (R7.3).
type fileBody struct {
	file frozen
}

// Open gives the *os.File itself, so that it can go by sendfile. No more than
// the returned length may be read from it.
func (b *fileBody) Open() (io.ReadCloser, int64, error) {
	f, err := b.file.open()
	if err != nil {
		return nil, 0, err
	}
	return f, b.file.info.Size(), nil
}

func (b *fileBody) Replay() error { return b.file.check() }

func (b *fileBody) Close() error { return nil }

// frozen is a regular file with what it looked like at the start.
type frozen struct {
	files *Files
	name  string
	info  fs.FileInfo
}

// open opens the file if it is still the same.
func (z *frozen) open() (*os.File, error) {
	f, err := z.files.openFile(z.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, inputError("%w: %w", retry.ErrBodyChanged, err)
	case err != nil:
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = z.compare(info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (z *frozen) check() error {
	f, err := z.open()
	if err != nil {
		return err
	}
	return f.Close()
}

// compare holds the file against its frozen self: size, mtime, inode (R7.3).
func (z *frozen) compare(now fs.FileInfo) error {
	what := ""
	switch {
	case !os.SameFile(z.info, now):
		what = "it is another file now"
	case z.info.Size() != now.Size():
		what = fmt.Sprintf("its size went from %d to %d bytes", z.info.Size(), now.Size())
	case !z.info.ModTime().Equal(now.ModTime()):
		what = "it was written to"
	default:
		return nil
	}
	return inputError("%w: %s: %s", retry.ErrBodyChanged, z.name, what)
}
