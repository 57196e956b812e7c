package retry_test

import (
	"context"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

const origin, elsewhere = "https://a.example:443", "https://b.example:443"

func TestR4_12_TheServersWordIsTold(t *testing.T) {
	for _, c := range []struct {
		name  string
		o     retry.Outcome
		from  string
		until time.Duration // after the start; 0 none
	}{
		{"minimum", told(429, 3*sec), origin, 3 * sec},
		{"R4.12a_minimum_beyond_the_cap", told(429, time.Hour), origin, time.Hour},
		{"R4.12a_unsafe_to_repeat", post(told(503, 3*sec)), origin, 3 * sec},
		{"another_hop's_origin", told(429, 3*sec), elsewhere, 3 * sec},
		{"no_minimum", status(429), origin, 0},
		{"not_transient", told(404, 3*sec), origin, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Origin = c.from
			r, hold := newRig(plain, c.o, ok), &retry.MemoryHold{}
			r.loop.Hold = hold
			r.run(t.Context())
			want := c.until
			if want != 0 {
				want += retrytest.FakeStart
			}
			if got := hold.Until(c.from); got != want {
				t.Errorf("hold until %v, want %v", got, want)
			}
		})
	}
}

// held is a rig whose origin is held for d from its start.
func held(p retry.Policy, d time.Duration, script ...retry.Outcome) *rig {
	r, hold := newRig(p, script...), &retry.MemoryHold{}
	hold.Tell(origin, retrytest.FakeStart+d)
	r.loop.Hold = hold
	return r
}

func TestR4_12_HoldBeforeTheFirstAttempt(t *testing.T) {
	r := held(retry.DefaultPolicy(), 3*sec, ok)
	_, rec, err := r.run(t.Context())
	r.want(t, rec, retry.Success, 3300*time.Millisecond) // T plus its own spread
	if err != nil || rec.InitialWait != 3300*time.Millisecond || rec.Waited != rec.InitialWait {
		t.Errorf("initial wait %v, waited %v, error %v", rec.InitialWait, rec.Waited, err)
	}
	ev := r.events[0]
	if ev.Kind != retry.EventHold || ev.Number != 1 || ev.Wait != 3300*time.Millisecond || !ev.Until.Equal(noon.Add(ev.Wait)) || ev.Decision.Source != retry.SourceShared {
		t.Errorf("first event is %+v", ev)
	}
}

func TestR4_12a_HoldThatNothingMayFollow(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*retry.Policy)
		want   retry.Reason
	}{
		{"beyond_the_cap", func(p *retry.Policy) { p.Cap = 2 * sec }, retry.RetryAfterExceedsCap},
		{"beyond_the_deadline", func(p *retry.Policy) { p.Deadline = 3 * sec }, retry.DeadlineBeforeRetry},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := held(with(c.change), 3*sec, ok)
			n, rec, err := r.run(t.Context())
			r.want(t, rec, c.want)
			if n != 0 || err == nil || len(r.clock.Slept()) != 0 {
				t.Errorf("value %d, error %v, slept %v", n, err, r.clock.Slept())
			}
			if !rec.NextAttemptAt.Equal(noon.Add(3 * sec)) {
				t.Errorf("next attempt at %v", rec.NextAttemptAt)
			}
		})
	}
}

func TestR6_2a_TheReserveIsAboutRetries(t *testing.T) {
	p := with(func(p *retry.Policy) { p.Jitter, p.Deadline, p.AttemptReserve = 0, 4*sec, 2*sec })
	r := held(p, 3*sec, ok)
	_, rec, _ := r.run(t.Context())
	r.want(t, rec, retry.Success, 3*sec)
	r = newRig(p, told(503, 3*sec), ok)
	_, rec, _ = r.run(t.Context())
	r.want(t, rec, retry.DeadlineBeforeRetry, 0)
}

func TestR4_12_HoldExtendedWhileWaiting(t *testing.T) {
	r := held(plain, 3*sec, ok)
	r.loop.Observe = func(ev retry.Event) {
		if ev.Kind == retry.EventHold && ev.Wait == 3*sec {
			r.loop.Hold.Tell(origin, retrytest.FakeStart+5*sec)
		}
	}
	_, rec, _ := r.run(t.Context())
	r.want(t, rec, retry.Success, 5*sec)
}

func TestR4_12a_HoldToldByAnotherDuringARetrysWait(t *testing.T) {
	r := held(plain, 0, status(503), ok)
	r.loop.Observe = func(ev retry.Event) {
		if ev.Kind == retry.EventWait {
			r.loop.Hold.Tell(origin, retrytest.FakeStart+4*sec)
		}
	}
	_, rec, _ := r.run(t.Context())
	r.want(t, rec, retry.Success, 0, 4*sec)
	if got := rec.Attempts[0].Waited; got != 4*sec {
		t.Errorf("waited %v", got)
	}
}

func TestR4_12a_HoldRefusesTheRetryAfterItsWait(t *testing.T) {
	r := held(with(func(p *retry.Policy) { p.Jitter, p.RetryMaxTime = 0, 3*sec }), 0, status(503), ok)
	r.loop.Observe = func(ev retry.Event) {
		if ev.Kind == retry.EventWait {
			r.loop.Hold.Tell(origin, retrytest.FakeStart+4*sec)
		}
	}
	_, rec, _ := r.run(t.Context())
	r.want(t, rec, retry.RetryTimeExceeded, 0)
}

func TestR4_11_HoldDecidesARetrysWait(t *testing.T) {
	r := held(plain, 0, status(503), ok)
	r.during = func(_ context.Context, n int) {
		if n == 1 {
			r.loop.Hold.Tell(origin, retrytest.FakeStart+4*sec)
		}
	}
	_, rec, _ := r.run(t.Context())
	r.want(t, rec, retry.Success, 0, 4*sec)
	if got := rec.Attempts[0].Decision.Source; got != retry.SourceShared {
		t.Errorf("source is %s", got)
	}
}

// TestR4_12_SeveralOperationsOfOneOrigin is A15: while one is told to wait, the
// others hold, each with its own spread.
func TestR4_12_SeveralOperationsOfOneOrigin(t *testing.T) {
	clock, hold := retrytest.NewFakeClock(noon), &retry.MemoryHold{}
	clock.AutoAdvance(true)
	first := newRig(retry.DefaultPolicy(), told(429, sec), ok)
	first.loop.Clock, first.loop.Hold = clock, hold
	first.clock = clock
	var starts []time.Duration
	first.loop.Observe = func(ev retry.Event) {
		if ev.Kind != retry.EventWait {
			return
		}
		// The others begin while the first one waits.
		for _, u := range []float64{0, 0.25, 0.5, 0.75} {
			other := newRig(retry.DefaultPolicy(), ok)
			other.loop.Clock, other.loop.Hold, other.clock = clock, hold, clock
			other.loop.Rand = func() float64 { return u }
			if until := hold.Until(origin); until != retrytest.FakeStart+sec {
				t.Fatalf("hold until %v", until)
			}
			other.run(t.Context())
			starts = append(starts, other.tries...)
		}
	}
	_, rec, _ := first.run(t.Context())
	if rec.Reason != retry.Success {
		t.Fatal(rec.Reason)
	}
	for _, at := range append(starts, first.tries[1]) {
		if at < sec {
			t.Errorf("a request was sent at %v, within the second", at)
		}
	}
	if starts[0] != sec {
		t.Errorf("the one without spread started at %v", starts[0])
	}
}

func TestMemoryHold(t *testing.T) {
	var h retry.MemoryHold
	h.Tell("a", 5*sec)
	h.Tell("a", 3*sec)
	if h.Until("a") != 5*sec || h.Until("b") != 0 {
		t.Errorf("a until %v, b until %v", h.Until("a"), h.Until("b"))
	}
}
