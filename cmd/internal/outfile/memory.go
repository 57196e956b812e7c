package outfile

import (
	"fmt"
	"sync"

	"github.com/bidehttp/bide/retry"
)

// SizeError says that a body does not fit where it has to be kept. It
// implements retry.Classified with class size.
type SizeError struct{ Limit int64 }

func (e *SizeError) Error() string {
	return fmt.Sprintf("the body is over the size for timeline (%d bytes); use -o to save it", e.Limit)
}

// RetryClass is size.
func (e *SizeError) RetryClass() retry.Class { return retry.ClassSize }

// Memory keeps a body for the timeline document.
type Memory struct {
	limit int64

	mu        sync.Mutex
	body      []byte
	abandoned bool
}

// Capture is a sink that keeps up to limit bytes; one more is a *SizeError.
func Capture(limit int64) *Memory { return &Memory{limit: limit} }

// Write keeps p, or fails without keeping any of it.
func (m *Memory) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.abandoned {
		return 0, wrap("the timeline", ErrAbandoned)
	}
	if int64(len(m.body))+int64(len(p)) > m.limit {
		return 0, &SizeError{Limit: m.limit}
	}
	m.body = append(m.body, p...)
	return len(p), nil
}

// Bytes is what was kept; it is valid until the next Write or Reset.
func (m *Memory) Bytes() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.body
}

// Reset forgets the body.
func (m *Memory) Reset() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.body = m.body[:0]
	return nil
}

// Commit has nothing to do: Bytes is the output.
func (m *Memory) Commit() error { return nil }

// Abandon refuses further bytes; those that are kept stay readable, since an
// operation that was interrupted still prints its timeline.
func (m *Memory) Abandon() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.abandoned = true
	return nil
}

// Committed is false: memory can always be taken back.
func (m *Memory) Committed() bool { return false }
