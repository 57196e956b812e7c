package retry_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
	"github.com/bidehttp/bide/retry/tied"
)

// withCallers runs test under each kind of context that a caller may have.
func withCallers(t *testing.T, test func(t *testing.T, ctx context.Context, cancel context.CancelCauseFunc)) {
	t.Run("plain", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		test(t, ctx, cancel)
	})
	t.Run("tied", func(t *testing.T) {
		c := tied.New(context.Background())
		defer c.End()
		test(t, c, c.Cancel)
	})
	t.Run("tied_to_plain", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		c := tied.New(ctx)
		defer c.End()
		test(t, c, cancel)
	})
}

func TestR10_1_CanceledBeforeTheStart(t *testing.T) {
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	r := newRig(plain, ok)
	n, rec, err := r.run(ctx)
	r.want(t, rec, retry.Canceled)
	if n != 0 || !errors.Is(err, cause) {
		t.Errorf("value %d, error %v", n, err)
	}
}

func TestR10_1_CanceledDuringAWait(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r := newRig(plain, told(429, 7*sec), ok)
	r.clock.AutoAdvance(false)
	done := make(chan error, 1)
	var rec *retry.Record
	go func() {
		var err error
		_, rec, err = r.run(ctx)
		done <- err
	}()
	r.clock.AwaitSleepers(1)
	cancel()
	err := <-done
	r.clock.Advance(time.Hour) // the clock moves past the wait: no further request
	r.want(t, rec, retry.Canceled, 0)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if r.clock.Timers() != 0 || r.clock.Sleepers() != 0 {
		t.Error("a timer is left")
	}
	if d := rec.Attempts[0].Decision; d.Retry || d.Reason != retry.Canceled || d.Wait != 7*sec {
		t.Errorf("decision is %+v", d)
	}
	if !rec.NextAttemptAt.Equal(noon.Add(7 * sec)) {
		t.Errorf("next attempt at %v", rec.NextAttemptAt)
	}
}

func TestR6_2_CancellationIsAskedBeforeTheDeadline(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r := newRig(with(func(p *retry.Policy) { p.Deadline = 5 * sec }), status(503), ok)
	r.clock.Oversleep(time.Hour)
	r.loop.Observe = func(ev retry.Event) {
		if ev.Kind == retry.EventWait {
			r.clock.AfterFunc(time.Minute, cancel)
		}
	}
	_, rec, _ := r.run(ctx)
	r.want(t, rec, retry.Canceled, 0)
}

func TestR10_1_CanceledInAnAttempt(t *testing.T) {
	for name, class := range map[string]retry.Class{"as_seen": retry.ClassCanceled, "seen_as_a_reset": retry.ClassClosed, "seen_as_503": retry.ClassStatus} {
		t.Run(name, func(t *testing.T) {
			withCallers(t, func(t *testing.T, ctx context.Context, cancel context.CancelCauseFunc) {
				o := failure(class)
				if class == retry.ClassStatus {
					o.Status = 503
				}
				r := newRig(plain, o, ok)
				r.during = func(context.Context, int) { cancel(nil) }
				n, rec, err := r.run(ctx)
				r.want(t, rec, retry.Canceled, 0)
				if n != 1 || !errors.Is(err, context.Canceled) {
					t.Errorf("value %d, error %v", n, err)
				}
				if len(r.discarded) != 0 {
					t.Error("the last value is the caller's")
				}
			})
		})
	}
}

func TestR10_1a_AnAnswerIsNotLostToACancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r := newRig(plain, ok)
	r.during = func(context.Context, int) { cancel() }
	_, rec, err := r.run(ctx)
	r.want(t, rec, retry.Success, 0)
	if err != nil {
		t.Error(err)
	}
}

func TestR10_1a_AnOutputErrorIsNotBlamedOnTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r := newRig(plain, failure(retry.ClassOutput))
	r.during = func(context.Context, int) { cancel() }
	_, rec, _ := r.run(ctx)
	r.want(t, rec, retry.OutputError, 0)
}

// TestAttemptContexts: a superseded attempt's context ends after its value was
// discarded, the last one's lives on under the same limits.
func TestAttemptContexts(t *testing.T) {
	withCallers(t, func(t *testing.T, ctx context.Context, cancel context.CancelCauseFunc) {
		clock := retrytest.NewFakeClock(noon)
		clock.AutoAdvance(true)
		loop := retry.Loop{Policy: new(with(func(p *retry.Policy) { p.MaxTime = 10 * sec })), Clock: clock, Rand: func() float64 { return 0 }}
		script := []retry.Outcome{status(503), status(503), ok}
		superseded := 0
		last, _, err := retry.Do(ctx, loop, func(ctx context.Context, n int) (context.Context, retry.Outcome) {
			return ctx, script[n-1]
		}, func(given context.Context) {
			superseded++
			if given.Err() != nil {
				t.Error("a context ended before its value was discarded")
			}
			t.Cleanup(func() {
				if context.Cause(given) != context.Canceled {
					t.Errorf("a superseded attempt's context: %v", context.Cause(given))
				}
			})
		})
		if err != nil || last.Err() != nil || superseded != 2 {
			t.Fatalf("the last attempt's context has ended: %v, %v", err, last.Err())
		}
		if clock.Timers() != 1 {
			t.Errorf("%d timers pending, want the last attempt's", clock.Timers())
		}
		clock.Advance(10 * sec)
		if context.Cause(last) != retry.ErrAttemptTimeout || last.Err() != context.Canceled {
			t.Errorf("the body is read without a limit: %v", context.Cause(last))
		}
	})
}

func TestTheLastContextEndsWithTheCaller(t *testing.T) {
	withCallers(t, func(t *testing.T, ctx context.Context, cancel context.CancelCauseFunc) {
		why := errors.New("why")
		clock := retrytest.NewFakeClock(noon)
		loop := retry.Loop{Policy: new(with(func(p *retry.Policy) { p.MaxTime = 10 * sec })), Clock: clock, Rand: func() float64 { return 0 }}
		last, _, _ := retry.Do(ctx, loop, func(ctx context.Context, _ int) (context.Context, retry.Outcome) { return ctx, ok }, nil)
		cancel(why)
		<-last.Done()
		if context.Cause(last) != why {
			t.Errorf("cause %v", context.Cause(last))
		}
		clock.AwaitTimers(0)
	})
}

func TestRelease(t *testing.T) {
	withCallers(t, func(t *testing.T, ctx context.Context, _ context.CancelCauseFunc) {
		retry.Release(ctx)
		clock := retrytest.NewFakeClock(noon)
		clock.AutoAdvance(true)
		loop := retry.Loop{
			Policy: new(with(func(p *retry.Policy) { p.MaxTime = 10 * sec })), Clock: clock, Rand: func() float64 { return 0 },
		}
		script := []retry.Outcome{status(503), ok}
		last, _, _ := retry.Do(ctx, loop, func(ctx context.Context, n int) (context.Context, retry.Outcome) {
			return ctx, script[n-1]
		}, nil)
		if last.Err() != nil || ctx.Err() != nil {
			t.Fatalf("%v, the caller's %v", last.Err(), ctx.Err())
		}
		within, cancel := context.WithCancel(last)
		defer cancel()
		retry.Release(within)
		retry.Release(last)
		if last.Err() == nil || ctx.Err() != nil {
			t.Errorf("%v, the caller's %v", last.Err(), ctx.Err())
		}
		clock.AwaitTimers(0)
	})
}

// sleepOnly is a clock without AfterFunc.
type sleepOnly struct{ retry.Clock }

func TestLimitsWithoutTimers(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	clock := retrytest.NewFakeClock(noon)
	loop := retry.Loop{Policy: new(with(func(p *retry.Policy) { p.MaxTime, p.Attempts = 10*sec, 1 })), Clock: sleepOnly{clock}, Rand: func() float64 { return 0 }}
	_, rec, err := retry.Do(ctx, loop, func(ctx context.Context, _ int) (int, retry.Outcome) {
		clock.AwaitSleepers(1)
		clock.Advance(10 * sec)
		<-ctx.Done()
		return 0, broken(ctx)
	}, nil)
	if rec.Reason != retry.AttemptsExhausted || !errors.Is(err, retry.ErrAttemptTimeout) {
		t.Errorf("reason %s, error %v", rec.Reason, err)
	}
}

func TestR4_12b_NestedLoopsPassThrough(t *testing.T) {
	withCallers(t, func(t *testing.T, ctx context.Context, _ context.CancelCauseFunc) { nested(t, ctx) })
}

func nested(t *testing.T, ctx context.Context) {
	t.Helper()
	inner := newRig(plain, told(503, 5*sec))
	inner.loop.Budget = &budget{left: 9}
	r := newRig(plain, status(503))
	r.during = func(ctx context.Context, n int) {
		value, rec, err := inner.run(ctx)
		if value != 1 || rec.Reason != retry.AttemptsExhausted || err != nil {
			t.Errorf("inner loop: value %d, %s, %v", value, rec.Reason, err)
		}
	}
	_, rec, _ := r.run(ctx)
	r.want(t, rec, retry.AttemptsExhausted, 0, sec, 3*sec)
	if len(inner.tries) != 3 || len(inner.clock.Slept()) != 0 {
		t.Errorf("the inner loop tried %d times for 3 and slept %v", len(inner.tries), inner.clock.Slept())
	}
	if inner.loop.Budget.(*budget).asked != 0 {
		t.Error("the inner loop took from the budget")
	}
}

// TestA17_NothingRetained: 10,000 waits on one context keep no timer, no
// goroutine and no memory.
func TestA17_NothingRetained(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	const operations, attempts = 100, 101 // 100 waits each
	r := newRig(with(func(p *retry.Policy) {
		p.Attempts, p.Backoff, p.MaxTime, p.Deadline = attempts, retry.Fixed, sec, time.Hour
	}), status(503))
	r.loop.Observe = nil
	run := func() {
		for range operations {
			opCtx, end := context.WithCancel(ctx)
			r.tries, r.discarded = nil, nil
			if _, rec, _ := r.run(opCtx); len(rec.Attempts) != attempts {
				t.Fatalf("%d attempts", len(rec.Attempts))
			}
			end()
		}
		r.clock.AwaitTimers(0)
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	run()
	before, goroutines := heap(), runtime.NumGoroutine()
	run()
	// The fake clock's own list of sleeps is all that may grow.
	if grown := int64(heap()) - int64(before); grown > 2<<20 {
		t.Errorf("%d bytes retained after 10,000 waits", grown)
	}
	if now := runtime.NumGoroutine(); now > goroutines+5 {
		t.Errorf("%d goroutines, %d before", now, goroutines)
	}
	if r.clock.Sleepers() != 0 {
		t.Error("sleepers left")
	}
}

func TestSystemClock(t *testing.T) {
	c := retry.SystemClock()
	from := c.Mono()
	if err := c.Sleep(context.Background(), 5*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if took := c.Mono() - from; took < 5*time.Millisecond {
		t.Errorf("slept %v, want at least 5ms", took)
	}
	if d := time.Since(c.Wall()); d < 0 || d > time.Minute {
		t.Errorf("the wall clock is off by %v", d)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(5*time.Millisecond, cancel)
	if err := c.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled sleep gives %v", err)
	}
	if err := c.Sleep(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a sleep on an ended context gives %v", err)
	}
	fired := make(chan struct{})
	c.(retry.Timers).AfterFunc(time.Millisecond, func() { close(fired) })
	<-fired
	if stop := c.(retry.Timers).AfterFunc(time.Hour, func() { t.Error("fired") }); !stop() {
		t.Error("a pending timer could not be stopped")
	}
}
