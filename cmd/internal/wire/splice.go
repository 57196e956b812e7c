package wire

import (
	"io"
	"os"
)

// Patient is an output over a file that may take nothing for long, whose Write
// does not block for ever. What moves bytes to the file by other means than
// Write does so without blocking, and awaits room with Await, whose error ends
// the copy.
type Patient interface {
	io.Writer
	File() *os.File
	Await() error
}

// target is where a splice goes to.
type target struct {
	io.Writer // by ordinary means
	file      *os.File
	await     func() error // for room; nil: Write does that itself
}

// spliceTarget gives w as one; false where it is no file.
func spliceTarget(w io.Writer) (target, bool) {
	switch w := w.(type) {
	case *os.File:
		return target{Writer: w, file: w}, true
	case Patient:
		return target{w, w.File(), w.Await}, true
	}
	return target{}, false
}
