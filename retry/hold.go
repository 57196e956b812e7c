package retry

import (
	"sync"
	"time"
)

// MemoryHold is a Hold for the operations of one process. The zero value is
// ready; it is safe for concurrent use. It keeps one instant per origin that ever
// asked for silence.
type MemoryHold struct {
	mu    sync.Mutex
	until map[string]time.Duration
}

// Until implements Hold.
func (h *MemoryHold) Until(origin string) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.until[origin]
}

// Tell implements Hold. The latest instant counts: nothing shortens a hold.
func (h *MemoryHold) Tell(origin string, until time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.until == nil {
		h.until = map[string]time.Duration{}
	}
	h.until[origin] = max(h.until[origin], until)
}
