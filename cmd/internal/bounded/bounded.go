// Package bounded reads files of settings. They are small: one that does not
// end (/dev/zero, a pipe from yes) is an error, and not all of the memory.
package bounded

import (
	"fmt"
	"io"
	"os"
)

// Size of the files that users name: Text is for what people write, Bundle for
// collections of certificates.
const (
	Text   = 16 << 20
	Bundle = 64 << 20
)

// TooLargeError says that a file has more bytes than it may have.
type TooLargeError struct{ Limit int64 }

func (e *TooLargeError) Error() string {
	const unit = 1 << 20
	if e.Limit%unit != 0 {
		return fmt.Sprintf("it is larger than %d bytes", e.Limit)
	}
	return fmt.Sprintf("it is larger than %d MiB", e.Limit/unit)
}

// Reader gives r's bytes, and a *TooLargeError in place of the one behind limit.
func Reader(r io.Reader, limit int64) io.Reader {
	return &reader{r: r, left: limit, limit: limit}
}

type reader struct {
	r           io.Reader
	left, limit int64
}

func (b *reader) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // with room to see the end
	}
	n, err := b.r.Read(p)
	if int64(n) > b.left {
		n, err = int(b.left), &TooLargeError{b.limit}
	}
	b.left -= int64(n)
	return n, err
}

// ReadAll reads r to its end, or fails with a *TooLargeError.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	return io.ReadAll(Reader(r, limit))
}

// ReadFile reads a file to its end, or fails with a *TooLargeError.
func ReadFile(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}
