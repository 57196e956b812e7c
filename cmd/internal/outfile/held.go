package outfile

import (
	"bytes"
	"io"
	"sync"
)

// Held is a Sink that keeps a body of any size to be looked at: HoldLimit of it
// in memory, more of it in a temporary file that Abandon removes.
type Held struct {
	mu        sync.Mutex
	spool     spool
	memory    []byte
	size      int64
	abandoned bool
}

// Hold is a Held whose file would be in dir.
func Hold(dir string) *Held { return &Held{spool: spool{dir: dir}} }

// Write keeps p.
func (h *Held) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.abandoned {
		return 0, wrap("the body that is held", ErrAbandoned)
	}
	if h.spool.file == nil && len(h.memory)+len(p) <= HoldLimit {
		h.memory = append(h.memory, p...)
	} else if err := h.spool.add(&h.memory, p); err != nil {
		return 0, wrap("a temporary file", err)
	}
	h.size += int64(len(p))
	return len(p), nil
}

// Content reads what is kept, until the next Write, Reset or Abandon.
func (h *Held) Content() *io.SectionReader {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.spool.file != nil {
		return io.NewSectionReader(h.spool.file, 0, h.size)
	}
	return io.NewSectionReader(bytes.NewReader(h.memory), 0, h.size)
}

// Reset forgets the body.
func (h *Held) Reset() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.memory, h.size = h.memory[:0], 0
	return wrap("a temporary file", h.spool.drop())
}

// Commit has nothing to do: Content is the output.
func (h *Held) Commit() error { return nil }

// Abandon forgets the body and refuses more of it.
func (h *Held) Abandon() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.memory, h.size, h.abandoned = nil, 0, true
	return wrap("a temporary file", h.spool.drop())
}

// Committed is false: what is held can always be taken back.
func (h *Held) Committed() bool { return false }
