package plan

import (
	"math"
	"math/bits"
	"time"

	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

// longest is how long the operation can take. Without --deadline it has a bound
// only where each attempt has one.
func (r *Request) longest() render.PlanBound {
	p := &r.Policy
	var b render.PlanBound
	attempts, finite := r.attempts()
	if finite {
		b.WaitsMS = render.Millis(r.allWaits(attempts-1, 0))
		if p.Cap > 0 {
			b.WaitsAtCap = render.Millis(r.allWaits(attempts-1, p.Cap))
		}
	}
	bound := func(d time.Duration, by string) {
		if b.OperationMS == nil || d < b.OperationMS.Duration() {
			b.OperationMS, b.BoundedBy = render.Millis(d), &by
		}
	}
	if p.Deadline > 0 {
		bound(p.Deadline, "deadline")
	}
	if p.MaxTime > 0 {
		if p.RetryMaxTime > 0 && attempts != 1 {
			bound(saturated(p.RetryMaxTime, p.MaxTime), "retry_max_time")
		}
		if b.WaitsAtCap != nil {
			bound(saturated(times(p.MaxTime, attempts), b.WaitsAtCap.Duration()), "attempts")
		}
	}
	if quiet := b.OperationMS; quiet != nil {
		b.QuietMS = quiet
		if finite {
			b.QuietMS = render.Millis(min(quiet.Duration(), saturated(times(p.MaxTime, attempts), b.WaitsMS.Duration())))
		}
	}
	if p.Attempts != 1 && (b.BoundedBy == nil || *b.BoundedBy == "attempts") {
		b.Uncounted = p.MaxResumes
	}
	if p.MaxTime == 0 && b.BoundedBy != nil { // attempts without a limit of their own fill the deadline
		b.QuietMS = b.OperationMS
	}
	return b
}

// attempts is how many there are when all fail; 1 where nothing is retried.
func (r *Request) attempts() (n int, finite bool) {
	if o := r.outcome(r.assumed()); !r.Policy.Transient(o, retry.State{}) || !r.Policy.Safe(o) {
		return 1, true
	}
	return r.Policy.Attempts, r.Policy.Attempts != retry.Unlimited
}

// allWaits is the sum of the longest waits, the server naming that minimum each
// time; limits in time and number aside.
func (r *Request) allWaits(waits int, minimum time.Duration) time.Duration {
	p := r.Policy
	p.Attempts, p.Deadline, p.RetryMaxTime = retry.Unlimited, 0, 0
	o := r.named(minimum)
	const settled = 64 // doublings reach the end of an int64 before
	var sum, last time.Duration
	for k := 1; k <= min(waits, settled); k++ {
		last = p.Decide(retry.State{Failures: k, Counted: k}, o, 1).Wait
		sum = saturated(sum, last)
	}
	return saturated(sum, times(last, max(waits-settled, 0)))
}

// named is a failure that is retried and names that minimum. Where no status is
// retried it is the answer of a proxy, which may name one, too (R5.6).
func (r *Request) named(minimum time.Duration) retry.Outcome {
	o := r.outcome(r.assumed())
	if o.Status == 0 && minimum > 0 {
		if proxy := r.outcome(failure(retry.ClassProxy)); r.Policy.Transient(proxy, retry.State{}) {
			o = proxy
		}
	}
	o.Server = retry.Server{Valid: minimum > 0, Minimum: minimum}
	return o
}

// times is d·n, saturating.
func times(d time.Duration, n int) time.Duration {
	hi, lo := bits.Mul64(uint64(d), uint64(n)) //nolint:gosec // neither is negative
	if hi > 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(lo) //nolint:gosec // bounded
}
