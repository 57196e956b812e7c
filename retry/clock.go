package retry

import (
	"context"
	"time"
)

// Timers is what a Clock may offer beside: a call after d, without a goroutine
// that waits for it. Do uses it for the limits of attempts; without it, it sleeps
// in a goroutine of its own.
type Timers interface {
	// AfterFunc calls f once, in any goroutine, when d has passed. stop prevents
	// that and reports whether it did; it may be called more than once.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// SystemClock is the real clock: the wall clock, and the monotonic clock counted
// from the call of SystemClock. Instants of two SystemClocks must not be mixed.
func SystemClock() Clock { return systemClock{start: time.Now()} }

type systemClock struct{ start time.Time }

func (c systemClock) Wall() time.Time     { return time.Now().Round(0) }
func (c systemClock) Mono() time.Duration { return time.Since(c.start) }

func (c systemClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c systemClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}
