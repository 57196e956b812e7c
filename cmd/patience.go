package cmd

import (
	"sync"
	"time"

	"github.com/bidehttp/bide/retry"
)

// patience is how long notices wait for somebody who reads standard error: up to
// the deadline of the operations, and then a little for a reader who reads. With
// an operation that has no deadline there is no end to it.
type patience struct {
	clock retry.Clock

	mu      sync.Mutex
	bounded bool
	until   time.Duration // instant; valid while bounded
	grace   time.Duration // instant up to which a write has waited beyond it; 0 none has
}

// forOperation takes the place of what was, or with others at the same time
// extends it. The operation began at that instant.
func (p *patience) forOperation(began, deadline time.Duration, others bool) {
	until := began + deadline
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !others || p.until == 0:
		p.bounded, p.until, p.grace = deadline > 0, until, 0
	default:
		p.bounded, p.until = p.bounded && deadline > 0, max(p.until, until)
	}
}

// ended is why a write does not wait any longer; nil where it may.
func (p *patience) ended() error {
	now := p.clock.Mono()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.bounded || now < p.until:
		return nil
	case p.grace == 0:
		p.grace = now + signalGrace
	}
	if now < p.grace {
		return nil
	}
	return retry.ErrDeadline
}
