package plan

import (
	"time"

	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

// warnings are what a reviewer should stop at.
func (r *Request) warnings(doc *render.Plan) []render.PlanRule {
	var b book
	p := &r.Policy
	retries := p.Attempts != 1
	switch {
	case !retries:
	case p.Jitter == 0 && p.JitterMode == retry.Spread:
		b.say("R4.2", "Without jitter all clients that failed together come back together.")
	case p.JitterMode == retry.Full:
		b.say("R4.2", "With full jitter a retry may follow almost at once.")
	}
	if retries && p.Base == 0 {
		b.say("§4", "--base 0 asks a server in trouble again at once.")
	}
	r.noRoom(&b)
	if r.Seed != nil && retries {
		b.say("R4.9", "Clients with the same --seed come back together: it is for tests.")
	}
	if p.Deadline == 0 && p.MaxTime == 0 {
		b.say("R6.1", "Nothing bounds an attempt once it is connected, so nothing bounds the operation: set --deadline or -m.")
	}
	r.unsafe(&b)
	r.cutOff(&b, doc)
	return b
}

// noRoom: above a server's minimum of nearly the cap there is little room to
// spread (R4.2).
func (r *Request) noRoom(b *book) {
	seen := map[time.Duration]bool{}
	for _, g := range r.Given {
		if !g.Named || seen[g.Minimum] {
			continue
		}
		seen[g.Minimum] = true
		p := r.Policy
		d := p.DecideHop(retry.Server{Valid: true, Minimum: g.Minimum}, 0, 0)
		p.Cap = 0
		free := p.DecideHop(retry.Server{Valid: true, Minimum: g.Minimum}, 0, 0)
		if d.Ceiling > 0 && d.Ceiling < free.Ceiling {
			b.say("R4.2", "Above a minimum of %s, --cap %s leaves %s to spread over instead of %s.",
				exact(g.Minimum), exact(r.Policy.Cap), exact(d.Ceiling-d.Floor), exact(free.Ceiling-free.Floor))
		}
	}
}

func (r *Request) unsafe(b *book) {
	o := r.outcome(Outcome{Status: 503})
	if r.Policy.Attempts != 1 && r.Policy.Transient(o, retry.State{}) && !r.Policy.Safe(o) {
		b.say("R3.2", "%s is not sent again after an answer such as 503: give it --idempotency-key auto where the server knows keys, or vouch for it with --idempotent or --safe-on.", r.Method)
	}
}

// cutOff: limits that end the operation before its attempts are used up, and
// outcomes that are never reached.
func (r *Request) cutOff(b *book, doc *render.Plan) {
	stop := doc.StopLatest
	if stop == nil {
		return
	}
	switch reason := retry.Reason(stop.Reason); reason {
	case retry.DeadlineBeforeRetry, retry.DeadlineExceeded, retry.RetryTimeExceeded:
		if early := doc.StopEarliest; r.Policy.Attempts == retry.Unlimited {
			break
		} else if early != nil && early.Attempts == stop.Attempts {
			b.say("R6.2", "Time for %d of %d attempts at most: %s.", stop.Attempts, r.Policy.Attempts, reason)
		} else {
			b.say("R6.2", "With the longest waits there is time for %d of %d attempts only: %s.", stop.Attempts, r.Policy.Attempts, reason)
		}
	}
	if early := doc.StopEarliest; early != nil && early.Attempts < len(r.Given) {
		b.say("R4.0", "It ends with attempt %d: what is given beyond that is never reached.", early.Attempts)
	}
}
