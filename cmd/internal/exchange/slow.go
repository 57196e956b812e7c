package exchange

import (
	"context"
	"fmt"
	"time"

	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/tied"
)

// LowSpeed gives an attempt up that stays below Limit bytes a second for Time
// (-Y, -y): class timeout. The zero value never does.
type LowSpeed struct {
	Limit int64
	Time  time.Duration
}

const (
	slowTick    = time.Second / 4
	slowHistory = 20 // ticks over which the speed is averaged, as in curl: 5 seconds
)

// tooSlow is the cause of a context that LowSpeed ended.
type tooSlow struct{ LowSpeed }

func (t tooSlow) Error() string {
	return fmt.Sprintf("Operation too slow. Less than %d bytes/sec transferred the last %g seconds", t.Limit, t.Time.Seconds())
}

func (s LowSpeed) enabled() bool { return s.Limit > 0 && s.Time > 0 }

// watch counts along until stop is called, and ends ctx when it is too slow.
func (s LowSpeed) watch(ctx *tied.Context, clock retry.Clock, count func() int64) (stop func()) {
	watching, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		g := gauge{LowSpeed: s}
		for g.enough(clock.Mono(), count()) {
			if clock.Sleep(watching, slowTick) != nil {
				return
			}
		}
		ctx.Cancel(tooSlow{s})
	}()
	return func() {
		cancel()
		<-done
	}
}

func nothing() {}

// gauge is the speed over the last ticks, and since when it is too low.
type gauge struct {
	LowSpeed
	seen []sample
	slow bool
	from time.Duration // instant at which it became slow, while slow
}

type sample struct {
	at time.Duration
	n  int64
}

// enough takes the count at an instant; false is that it was too slow for too long.
func (g *gauge) enough(now time.Duration, n int64) bool {
	g.seen = append(g.seen, sample{now, n})
	if len(g.seen) > slowHistory+1 {
		g.seen = g.seen[1:]
	}
	first := g.seen[0]
	span := now - first.at
	switch {
	case span > 0 && float64(n-first.n) >= float64(g.Limit)*span.Seconds():
		g.slow = false
	case !g.slow:
		g.slow, g.from = true, now
	}
	return !g.slow || now-g.from < g.Time
}
