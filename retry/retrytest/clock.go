package retrytest

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/bidehttp/bide/retry"
)

// FakeStart is the monotonic instant at which a FakeClock begins. It is not 0, so
// that a duration taken for an instant shows.
const FakeStart = time.Hour

// FakeClock is a clock that moves only when told to. It implements retry.Clock and
// retry.Timers, and is safe for concurrent use.
//
// By default a Sleep lasts until Advance has moved the clock far enough. With
// AutoAdvance a Sleep moves the clock itself and returns at once, so that a loop
// runs through its waits without a second goroutine.
type FakeClock struct {
	mu        sync.Mutex
	changed   *sync.Cond // sleepers or timers came or went
	mono      time.Duration
	wall      time.Time // at mono
	auto      bool
	oversleep time.Duration
	timers    []*fakeTimer // sleepers included
	slept     []time.Duration
}

// fakeTimer is one pending call or sleeper.
type fakeTimer struct {
	at      time.Duration
	f       func()
	sleeper bool
}

var (
	_ retry.Clock  = (*FakeClock)(nil)
	_ retry.Timers = (*FakeClock)(nil)
)

// NewFakeClock returns a clock that shows wall, at the instant FakeStart.
func NewFakeClock(wall time.Time) *FakeClock {
	c := &FakeClock{mono: FakeStart, wall: wall.Round(0)}
	c.changed = sync.NewCond(&c.mu)
	return c
}

// AutoAdvance switches the mode in which a Sleep moves the clock itself.
func (c *FakeClock) AutoAdvance(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.auto = on
}

// Oversleep makes every Sleep that moves the clock itself wake late by d, as after
// a suspended process; a negative d makes it wake early.
func (c *FakeClock) Oversleep(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.oversleep = d
}

// Wall implements retry.Clock.
func (c *FakeClock) Wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wall
}

// Mono implements retry.Clock.
func (c *FakeClock) Mono() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mono
}

// SetWall sets the wall clock alone, as an administrator or NTP does.
func (c *FakeClock) SetWall(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = t.Round(0)
}

// Advance moves both clocks by d and lets everything happen that falls due on
// the way, in order. Calls of AfterFunc run in the caller's goroutine.
func (c *FakeClock) Advance(d time.Duration) { c.advance(context.Background(), d) }

// advance is Advance until ctx ends.
func (c *FakeClock) advance(ctx context.Context, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	target := c.mono + d
	for {
		t := c.nextDue(target)
		if t == nil {
			break
		}
		if c.fire(t); ctx.Err() != nil {
			return
		}
	}
	if target > c.mono {
		c.moveTo(target)
	}
}

// fire moves the clock to t and calls it. c.mu is held, but not during the call.
func (c *FakeClock) fire(t *fakeTimer) {
	c.moveTo(max(t.at, c.mono))
	c.remove(t)
	c.mu.Unlock()
	defer c.mu.Lock()
	t.f()
}

// AdvanceToTimer moves the clock to the first pending call of AfterFunc or
// sleeper and lets it happen; false is that there is none. A test that knows that
// its client waits for a silent server lets the client's time limit strike so.
func (c *FakeClock) AdvanceToTimer() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.nextDue(math.MaxInt64)
	if t == nil {
		return false
	}
	c.fire(t)
	return true
}

// nextDue is the first timer that is due by the instant target, nil for none.
func (c *FakeClock) nextDue(target time.Duration) *fakeTimer {
	var first *fakeTimer
	for _, t := range c.timers {
		if t.at <= target && (first == nil || t.at < first.at) {
			first = t
		}
	}
	return first
}

func (c *FakeClock) moveTo(mono time.Duration) {
	c.wall = c.wall.Add(mono - c.mono)
	c.mono = mono
}

func (c *FakeClock) add(t *fakeTimer) {
	c.timers = append(c.timers, t)
	c.changed.Broadcast()
}

func (c *FakeClock) remove(t *fakeTimer) bool {
	i := slices.Index(c.timers, t)
	if i < 0 {
		return false
	}
	c.timers = slices.Delete(c.timers, i, i+1)
	c.changed.Broadcast()
	return true
}

// AfterFunc implements retry.Timers.
func (c *FakeClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &fakeTimer{at: c.mono + d, f: f}
	c.add(t)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.remove(t)
	}
}

// Sleep implements retry.Clock.
func (c *FakeClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	c.slept = append(c.slept, d)
	if c.auto {
		d += c.oversleep
		c.mu.Unlock()
		c.advance(ctx, max(d, 0))
		return ctx.Err()
	}
	if d <= 0 {
		c.mu.Unlock()
		return nil
	}
	awake := make(chan struct{})
	t := &fakeTimer{at: c.mono + d, f: func() { close(awake) }, sleeper: true}
	c.add(t)
	c.mu.Unlock()
	select {
	case <-awake:
		return ctx.Err()
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		c.remove(t)
		return ctx.Err()
	}
}

// Slept lists the durations that Sleep was asked for, in order.
func (c *FakeClock) Slept() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.slept)
}

// Sleepers is the number of Sleep calls that wait now.
func (c *FakeClock) Sleepers() int { return c.count(true) }

// Timers is the number of calls of AfterFunc that are pending.
func (c *FakeClock) Timers() int { return c.count(false) }

func (c *FakeClock) count(sleepers bool) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.countLocked(sleepers)
}

func (c *FakeClock) countLocked(sleepers bool) int {
	n := 0
	for _, t := range c.timers {
		if t.sleeper == sleepers {
			n++
		}
	}
	return n
}

// AwaitSleepers blocks until n calls of Sleep wait, so that a test can advance
// the clock knowing that they are there.
func (c *FakeClock) AwaitSleepers(n int) { c.await(true, n) }

// AwaitTimers blocks until n calls of AfterFunc are pending.
func (c *FakeClock) AwaitTimers(n int) { c.await(false, n) }

func (c *FakeClock) await(sleepers bool, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.countLocked(sleepers) != n {
		c.changed.Wait()
	}
}
