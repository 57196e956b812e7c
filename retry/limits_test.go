package retry_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

// broken is what an exchange reports whose context ended under it.
func broken(ctx context.Context) retry.Outcome {
	o := failure(retry.ClassTimeout)
	o.Err = context.Cause(ctx)
	return o
}

// slow runs a loop whose attempts take the given times, or until their context
// ends; an attempt that lives through its time gives the outcome of the script.
func slow(r *rig, takes ...time.Duration) (*retry.Record, []error, error) {
	var causes []error
	_, rec, err := retry.Do(context.Background(), r.loop, func(ctx context.Context, n int) (int, retry.Outcome) {
		r.tries = append(r.tries, r.clock.Mono()-retrytest.FakeStart)
		// In steps, as time passes while bytes come: the context ends in between.
		for left := takes[min(n, len(takes))-1]; left > 0 && ctx.Err() == nil; left -= 100 * time.Millisecond {
			r.clock.Advance(min(left, 100*time.Millisecond))
		}
		causes = append(causes, context.Cause(ctx))
		if ctx.Err() != nil {
			return n, broken(ctx)
		}
		return n, r.script[min(n, len(r.script))-1]
	}, nil)
	return rec, causes, err
}

func TestR6_3_DeadlineCutsTheAttemptInFlight(t *testing.T) {
	r := newRig(with(func(p *retry.Policy) { p.Jitter, p.Attempts, p.Deadline = 0, 5, sec }), ok)
	rec, causes, err := slow(r, time.Hour)
	r.want(t, rec, retry.DeadlineExceeded, 0)
	if rec.Elapsed != sec {
		t.Errorf("B1: ended after %v, want 1s", rec.Elapsed)
	}
	if causes[0] != retry.ErrDeadline || !errors.Is(err, retry.ErrDeadline) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cause %v, error %v", causes[0], err)
	}
	var e *retry.Error
	if !errors.As(err, &e) || e.Reason != retry.DeadlineExceeded || e.Record.Elapsed != sec {
		t.Errorf("error is %#v", err)
	}
}

func TestR6_3_EachAttemptHasItsOwnLimit(t *testing.T) {
	r := newRig(with(func(p *retry.Policy) { p.Jitter, p.MaxTime, p.Deadline = 0, 300*time.Millisecond, 5*sec }), ok)
	rec, causes, err := slow(r, time.Hour, 200*time.Millisecond)
	r.want(t, rec, retry.Success, 0, 1300*time.Millisecond)
	if causes[0] != retry.ErrAttemptTimeout || causes[1] != nil || err != nil {
		t.Errorf("B3: causes %v, error %v", causes, err)
	}
	if got := rec.Attempts[0].Outcome.Class; got != retry.ClassTimeout {
		t.Errorf("the first attempt's class is %s", got)
	}
}

func TestR6_3_TheNearerLimitIsTheCause(t *testing.T) {
	for _, c := range []struct {
		name              string
		maxTime, deadline time.Duration
		want              error
	}{
		{"max-time_first", sec, 2 * sec, retry.ErrAttemptTimeout},
		{"deadline_first", 2 * sec, sec, retry.ErrDeadline},
		{"R6.3a_equal", sec, sec, retry.ErrDeadline},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(with(func(p *retry.Policy) { p.MaxTime, p.Deadline, p.Attempts = c.maxTime, c.deadline, 1 }), ok)
			_, causes, _ := slow(r, time.Hour)
			if causes[0] != c.want {
				t.Errorf("cause is %v, want %v", causes[0], c.want)
			}
		})
	}
}

func TestR6_5a_DeadlineMessageShowsTheLimitAndTheEarlierAnswer(t *testing.T) {
	r := newRig(with(func(p *retry.Policy) { p.Jitter, p.Deadline = 0, 3*sec }), told(503, 2*sec), ok)
	rec, _, err := slow(r, 0, time.Hour)
	r.want(t, rec, retry.DeadlineExceeded, 0, 2*sec)
	var s *retry.StatusError
	if !errors.As(err, &s) || s.Status != 503 || !errors.Is(err, retry.ErrDeadline) {
		t.Fatalf("B5: error %v must join the limit and the 503", err)
	}
	for _, word := range []string{"3s", "HTTP 503"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("B5: %q does not mention %s", err, word)
		}
	}
}

func TestR6_1_RetryMaxTimeLetsATransferFinish(t *testing.T) {
	r := newRig(with(func(p *retry.Policy) { p.RetryMaxTime = sec }), ok)
	rec, _, err := slow(r, 4*sec)
	r.want(t, rec, retry.Success, 0)
	if err != nil {
		t.Errorf("B7: %v", err)
	}
}

func TestR4_6_WaitsCountFromTheAnswer(t *testing.T) {
	r := newRig(plain, told(503, 3*sec), ok)
	r.script[0].SeenAt = retrytest.FakeStart + sec
	r.during = func(_ context.Context, n int) {
		if n == 1 {
			r.clock.Advance(2 * sec) // its body takes a second longer
		}
	}
	_, rec, _ := r.run(t.Context())
	r.want(t, rec, retry.Success, 0, 4*sec)
	if got := rec.Attempts[0].Waited; got != 2*sec {
		t.Errorf("waited %v after the body, want 2s", got)
	}
	// A body that takes longer than the wait leaves nothing to sleep.
	r = newRig(plain, told(503, 3*sec), ok)
	r.script[0].SeenAt = retrytest.FakeStart + sec
	r.during = func(_ context.Context, n int) {
		if n == 1 {
			r.clock.Advance(9 * sec)
		}
	}
	_, rec, _ = r.run(t.Context())
	r.want(t, rec, retry.Success, 0, 9*sec)
	if len(r.clock.Slept()) != 0 {
		t.Errorf("slept %v", r.clock.Slept())
	}
}

func TestR4_6a_EarlyWakingSleepsAgain(t *testing.T) {
	r := newRig(plain, status(503), ok)
	r.clock.Oversleep(-300 * time.Millisecond)
	r.during = func(_ context.Context, n int) {
		if n == 2 && r.clock.Mono() < retrytest.FakeStart+sec {
			t.Errorf("attempt 2 came at %v", r.clock.Mono()-retrytest.FakeStart)
		}
	}
	// The clock wakes 0.3 s early each time, but never less than a step.
	r.loop.Clock = stepClock{r.clock}
	_, rec, _ := r.run(t.Context())
	r.want(t, rec, retry.Success, 0, sec)
	if len(r.clock.Slept()) < 2 {
		t.Error("the clock did not wake early, the test shows nothing")
	}
}

// stepClock wakes early, but makes progress: the last step is exact.
type stepClock struct{ *retrytest.FakeClock }

func (c stepClock) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 300*time.Millisecond {
		c.Oversleep(0)
	}
	return c.FakeClock.Sleep(ctx, d)
}

func TestR4_6a_A11_WallClockJumpsDoNotMatter(t *testing.T) {
	for name, jump := range map[string]time.Duration{"back": -24 * time.Hour, "forward": 24 * time.Hour} {
		r := newRig(plain, told(429, 3*sec), ok)
		r.loop.Observe = func(ev retry.Event) {
			if ev.Kind == retry.EventWait {
				r.clock.SetWall(noon.Add(jump))
			}
		}
		_, rec, _ := r.run(t.Context())
		if rec.Reason != retry.Success || r.tries[1] != 3*sec {
			t.Errorf("wall clock set %s: attempts at %v, %s", name, r.tries, rec.Reason)
		}
	}
}

func TestR6_2_A16_WokenLateBeyondTheDeadline(t *testing.T) {
	r := newRig(with(func(p *retry.Policy) { p.Jitter, p.Deadline = 0, 5*sec }), status(503), ok)
	r.clock.Oversleep(time.Hour)
	n, rec, err := r.run(t.Context())
	r.want(t, rec, retry.DeadlineBeforeRetry, 0)
	if n != 0 || len(r.discarded) != 1 {
		t.Errorf("value %d, discarded %v", n, r.discarded)
	}
	var s *retry.StatusError
	if !errors.Is(err, retry.ErrDeadline) || !errors.As(err, &s) {
		t.Errorf("error is %v", err)
	}
	if d := rec.Attempts[0].Decision; d.Retry || d.Reason != retry.DeadlineBeforeRetry || d.Wait != sec {
		t.Errorf("decision is %+v", d)
	}
	if rec.Waited != time.Hour+sec || rec.Attempts[0].Waited != rec.Waited {
		t.Errorf("waited %v", rec.Waited)
	}
}

func TestR6_2_RecheckedWithoutASleep(t *testing.T) {
	zero := with(func(p *retry.Policy) { p.Base, p.Deadline, p.AttemptReserve = 0, 5*sec, sec })
	r := newRig(zero, status(503), ok)
	r.script[0].SeenAt = retrytest.FakeStart + 1
	r.during = func(_ context.Context, n int) { r.clock.Advance(4*sec + 1) } // the body ate the reserve
	n, rec, err := r.run(t.Context())
	r.want(t, rec, retry.DeadlineBeforeRetry, 0)
	if len(r.clock.Slept()) != 0 {
		t.Error("slept for a wait of zero")
	}
	if n != 1 || err != nil || len(r.discarded) != 0 {
		t.Errorf("value %d, error %v, discarded %v: the answer must be there to be shown", n, err, r.discarded)
	}
}

func TestR6_2a_WokenLateBeyondRetryMaxTime(t *testing.T) {
	r := newRig(with(func(p *retry.Policy) { p.RetryMaxTime = 5 * sec }), status(503), ok)
	r.clock.Oversleep(time.Hour)
	_, rec, _ := r.run(t.Context())
	r.want(t, rec, retry.RetryTimeExceeded, 0)
}

func TestFailureIsSeenNoLaterThanItsReport(t *testing.T) {
	r := newRig(plain, status(503), ok)
	r.script[0].SeenAt = retrytest.FakeStart + time.Hour // a clock of another kind
	_, rec, _ := r.run(t.Context())
	r.want(t, rec, retry.Success, 0, sec)
}

func TestRemaining(t *testing.T) {
	if _, bounded := retry.Remaining(t.Context()); bounded {
		t.Error("bounded outside an operation")
	}
	r := newRig(with(func(p *retry.Policy) { p.Jitter, p.Deadline = 0, 10*sec }), status(503), ok)
	var left []time.Duration
	r.during = func(ctx context.Context, _ int) {
		d, bounded := retry.Remaining(ctx)
		if !bounded {
			t.Error("not bounded")
		}
		left = append(left, d)
	}
	r.run(t.Context())
	if len(left) != 2 || left[0] != 10*sec || left[1] != 9*sec {
		t.Errorf("left %v, want 10s and 9s", left)
	}
	// In a loop inside, the nearer deadline counts.
	inner, outer := newRig(plain, ok), newRig(with(func(p *retry.Policy) { p.Deadline = 10 * sec }), ok)
	inner.during = func(ctx context.Context, _ int) {
		if d, bounded := retry.Remaining(ctx); !bounded || d != 10*sec {
			t.Errorf("inside a loop: %v, %v", d, bounded)
		}
	}
	outer.during = func(ctx context.Context, _ int) { inner.run(ctx) }
	outer.run(t.Context())
	inner.loop.Policy.Deadline = 4 * sec
	inner.during = func(ctx context.Context, _ int) {
		if d, bounded := retry.Remaining(ctx); !bounded || d != 4*sec {
			t.Errorf("inside a loop with a deadline of its own: %v, %v", d, bounded)
		}
	}
	outer.run(t.Context())
	r = newRig(plain, ok)
	r.during = func(ctx context.Context, _ int) {
		if _, bounded := retry.Remaining(ctx); bounded {
			t.Error("bounded without a deadline")
		}
	}
	r.run(t.Context())
}
