package retry_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

// TestLoopProperties runs random policies over random answers and checks what
// must hold for every run, whatever the decisions were.
func TestLoopProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 15))
	for range 3000 {
		p := retry.DefaultPolicy()
		p.Attempts, p.Jitter = 1+r.IntN(6), someJitter(r)
		p.Base = time.Duration(r.IntN(3000)) * time.Millisecond
		p.Cap = p.Base + time.Duration(r.IntN(20))*sec + 1
		if r.IntN(2) == 0 {
			p.Deadline = time.Duration(1 + r.IntN(30_000_000_000))
		}
		if r.IntN(2) == 0 {
			p.RetryMaxTime = time.Duration(1 + r.IntN(30_000_000_000))
		}
		var script []retry.Outcome
		for range p.Attempts {
			script = append(script, someOutcome(r))
		}
		rig := newRig(p, script...)
		rig.loop.Rand = func() float64 { return someU(r) }
		rig.clock.Oversleep(time.Duration(r.IntN(3)) * 500 * time.Millisecond)
		rig.during = func(context.Context, int) { rig.clock.Advance(time.Duration(r.IntN(2000)) * time.Millisecond) }
		n, rec, err := rig.run(t.Context())
		checkRun(t, rig, n, rec, err)
		if t.Failed() {
			t.Fatalf("policy %+v, outcomes %+v", p, script)
		}
	}
}

func someOutcome(r *rand.Rand) retry.Outcome {
	switch r.IntN(6) {
	case 0:
		return failure(retry.ClassClosed)
	case 1:
		return post(status(503))
	case 2:
		return ok
	case 3:
		return told(429, time.Duration(r.IntN(25))*sec)
	}
	return status(500 + r.IntN(5))
}

func checkRun(t *testing.T, r *rig, n int, rec *retry.Record, err error) {
	t.Helper()
	p := rec.Policy
	if len(rec.Attempts) != len(r.tries) || len(r.tries) > p.Attempts || len(r.tries) == 0 {
		t.Errorf("R2.1: %d attempts recorded, %d made, %d allowed", len(rec.Attempts), len(r.tries), p.Attempts)
	}
	var waited time.Duration
	for i, a := range rec.Attempts {
		last := i == len(rec.Attempts)-1
		waited += a.Waited
		if a.Number != i+1 || a.Offset != r.tries[i] {
			t.Errorf("attempt %d is recorded as %d at %v", i+1, a.Number, a.Offset)
		}
		if a.Decision.Retry == last {
			t.Errorf("attempt %d: decision %+v, last: %v", i+1, a.Decision, last)
		}
		if last {
			continue
		}
		seen, next := a.Outcome.SeenAt-retrytest.FakeStart, r.tries[i+1]
		if next < seen+a.Decision.Wait || next < seen+a.Outcome.Server.Minimum {
			t.Errorf("R4.6: attempt %d at %v, the answer before it at %v, wait %v", i+2, next, seen, a.Decision.Wait)
		}
		if p.Deadline > 0 && next >= p.Deadline {
			t.Errorf("R6.2: attempt %d at %v, the deadline is %v", i+2, next, p.Deadline)
		}
		if p.RetryMaxTime > 0 && next > p.RetryMaxTime {
			t.Errorf("R6.1: attempt %d at %v, no retry may start after %v", i+2, next, p.RetryMaxTime)
		}
	}
	if waited != rec.Waited {
		t.Errorf("waited %v, the attempts' waits add up to %v", rec.Waited, waited)
	}
	final := rec.Attempts[len(rec.Attempts)-1]
	if final.Decision.Reason != rec.Reason || rec.Reason == "" {
		t.Errorf("R10.2: reason %q, the last decision says %q", rec.Reason, final.Decision.Reason)
	}
	// Each value is either the result or discarded once.
	kept := len(r.tries)
	if n == 0 {
		kept++
	}
	if len(r.discarded) != kept-1 {
		t.Errorf("R9.1: value %d, discarded %v of %d", n, r.discarded, len(r.tries))
	}
	answered := final.Outcome.Class == retry.ClassStatus || final.Outcome.Class == retry.ClassNone
	if (err == nil) != (n != 0 && answered) {
		t.Errorf("R2.3: value %d, class %q, error %v", n, final.Outcome.Class, err)
	}
	if r.clock.Sleepers() != 0 || r.clock.Timers() > 1 {
		t.Errorf("%d sleepers and %d timers left", r.clock.Sleepers(), r.clock.Timers())
	}
}
