// Package outfile stages an output and commits it when its attempt has
// succeeded; until then what was there before is untouched.
package outfile

import "io"

// Sink is where a final body goes. Write is only called between Reset (or the
// opening) and Commit or Abandon.
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
