package retrytest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry/retrytest"
)

var noon = time.Date(2026, 7, 15, 12, 0, 0, 0, time.UTC)

func TestFakeClockMovesOnlyWhenTold(t *testing.T) {
	c := retrytest.NewFakeClock(noon)
	done := make(chan error, 1)
	go func() { done <- c.Sleep(context.Background(), 2*time.Second) }()
	c.AwaitSleepers(1)
	c.Advance(2*time.Second - 1)
	if c.Sleepers() != 1 {
		t.Fatal("a sleeper woke one nanosecond early")
	}
	c.Advance(1)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := c.Mono() - retrytest.FakeStart; got != 2*time.Second {
		t.Errorf("Mono moved by %v, want 2s", got)
	}
	if got := c.Wall(); !got.Equal(noon.Add(2 * time.Second)) {
		t.Errorf("Wall is %v", got)
	}
}

func TestFakeClockCanceledSleepLeavesNothing(t *testing.T) {
	c := retrytest.NewFakeClock(noon)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Sleep(ctx, time.Hour) }()
	c.AwaitSleepers(1)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Sleep gave %v, want context.Canceled", err)
	}
	if c.Sleepers() != 0 {
		t.Error("a canceled sleeper was kept")
	}
	if err := c.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("Sleep on a canceled context gave %v", err)
	}
}

func TestFakeClockTimersFireInOrder(t *testing.T) {
	c := retrytest.NewFakeClock(noon)
	var fired []time.Duration
	note := func() { fired = append(fired, c.Mono()-retrytest.FakeStart) }
	c.AfterFunc(3*time.Second, note)
	c.AfterFunc(time.Second, note)
	stop := c.AfterFunc(2*time.Second, note)
	if !stop() || stop() {
		t.Error("stop must report true once")
	}
	c.Advance(5 * time.Second)
	if len(fired) != 2 || fired[0] != time.Second || fired[1] != 3*time.Second {
		t.Errorf("timers fired at %v, want 1s and 3s", fired)
	}
	if c.Timers() != 0 {
		t.Errorf("%d timers left", c.Timers())
	}
}

func TestFakeClockAutoAdvance(t *testing.T) {
	c := retrytest.NewFakeClock(noon)
	c.AutoAdvance(true)
	fired := false
	c.AfterFunc(time.Second, func() { fired = true })
	c.Oversleep(time.Minute)
	if err := c.Sleep(context.Background(), time.Second); err != nil {
		t.Fatal(err)
	}
	if got := c.Mono() - retrytest.FakeStart; got != time.Minute+time.Second {
		t.Errorf("the clock moved by %v, want 1m1s", got)
	}
	if !fired {
		t.Error("a timer that fell due on the way did not fire")
	}
	if got := c.Slept(); len(got) != 1 || got[0] != time.Second {
		t.Errorf("Slept is %v, want the 1s that was asked for", got)
	}
}

func TestFakeClockWallJumpLeavesMonoAlone(t *testing.T) {
	c := retrytest.NewFakeClock(noon)
	c.SetWall(noon.Add(-24 * time.Hour))
	if c.Mono() != retrytest.FakeStart {
		t.Error("SetWall moved the monotonic clock")
	}
	c.Advance(time.Second)
	if !c.Wall().Equal(noon.Add(-24*time.Hour + time.Second)) {
		t.Errorf("Wall is %v", c.Wall())
	}
}

func TestFakeClockStopsWhereTheContextEnds(t *testing.T) {
	c := retrytest.NewFakeClock(noon)
	c.AutoAdvance(true)
	ctx, cancel := context.WithCancel(context.Background())
	c.AfterFunc(2*time.Second, cancel)
	if err := c.Sleep(ctx, time.Minute); err == nil {
		t.Error("a sleep whose context ended gave no error")
	}
	if got := c.Mono() - retrytest.FakeStart; got != 2*time.Second {
		t.Errorf("the clock stands at %v, the context ended at 2s", got)
	}
}

func TestFakeClockAdvanceToTimer(t *testing.T) {
	c := retrytest.NewFakeClock(noon)
	if c.AdvanceToTimer() {
		t.Error("nothing was pending")
	}
	var fired []int
	c.AfterFunc(3*time.Second, func() { fired = append(fired, 3) })
	c.AfterFunc(time.Second, func() { fired = append(fired, 1) })
	if !c.AdvanceToTimer() || !slices.Equal(fired, []int{1}) || c.Mono()-retrytest.FakeStart != time.Second {
		t.Errorf("fired %v at %v, want the first alone at 1s", fired, c.Mono()-retrytest.FakeStart)
	}
}
