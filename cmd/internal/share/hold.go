// Package share keeps what an origin said, for all operations (R4.12).
package share

import (
	"sync"
	"time"
)

// Holds implements retry.Hold within one process. The zero value is ready; it
// is safe for concurrent use.
type Holds struct {
	mu    sync.Mutex
	until map[string]time.Duration
}

// Until is the monotonic instant before which nothing may be sent to origin; 0 is none.
func (h *Holds) Until(origin string) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.until[origin]
}

// Tell records that origin asked for silence until then; an earlier, longer
// hold stands.
func (h *Holds) Tell(origin string, until time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.until == nil {
		h.until = make(map[string]time.Duration)
	}
	h.until[origin] = max(h.until[origin], until)
}
