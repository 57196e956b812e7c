package retry

import "time"

// Decide answers one outcome: another attempt and when, or stop and why. It is
// pure: the same policy, state, outcome and u in [0,1) give the same decision.
// The questions come in the order of contract R4.0; whether the body can be sent
// again and whether the shared budget has room are left to the loop, which asks
// them last.
func (p Policy) Decide(s State, o Outcome, u float64) Decision { return p.decide(&s, &o, u) }

func (p *Policy) decide(s *State, o *Outcome, u float64) Decision {
	switch {
	case o.Stop != "":
		return Decision{Reason: o.Stop}
	case !p.transient(o, s):
		return Decision{Reason: o.Class.FinalReason()}
	case !p.safe(o):
		return Decision{Reason: UnsafeMethod}
	case !p.attemptsLeft(s):
		if o.Class == ClassChecksum {
			return Decision{Reason: ChecksumMismatch}
		}
		return Decision{Reason: AttemptsExhausted}
	}
	server := o.minimum()
	if max(server, s.HoldFor) > p.limit() {
		return Decision{Reason: RetryAfterExceedsCap}
	}
	var d Decision
	p.window(&d, s.Failures, server, max(s.HoldFor, 0), o.Polling || p.RetryAfterMode == Replace)
	d.draw(u)
	switch {
	case !p.retryTimeLeft(s.Elapsed, d.Wait):
		d.Reason = RetryTimeExceeded
	case !p.deadlineLeft(s.Elapsed, d.Wait, p.AttemptReserve):
		d.Reason = DeadlineBeforeRetry
	case o.Committed && !o.Resumable:
		d.Reason = OutputCommitted
	default:
		d.Retry = true
	}
	return d
}

// DecideHop decides the pause before a followed redirect whose answer named a
// minimum (contract R5.6): the server's word alone, spread, under the cap and
// the deadline. elapsed is counted from the operation's start. Without a minimum
// the hop goes on at once: Retry with a Wait of 0.
func (p Policy) DecideHop(server Server, elapsed time.Duration, u float64) Decision {
	return p.decidePause(server.minimum(), elapsed, u, SourceServer)
}

// decidePause is a wait in which the local backoff plays no part: a hop's, or
// that of a shared hold.
func (p *Policy) decidePause(minimum, elapsed time.Duration, u float64, source Source) Decision {
	if minimum <= 0 {
		return Decision{Retry: true}
	}
	if minimum > p.limit() {
		return Decision{Reason: RetryAfterExceedsCap}
	}
	d := Decision{Source: source, Floor: minimum, Ceiling: min(p.ratio().grow(minimum), p.limit())}
	d.draw(u)
	if !p.deadlineLeft(elapsed, d.Wait, 0) {
		d.Reason = DeadlineBeforeRetry
		return d
	}
	d.Retry = true
	return d
}

// minimum is the delay that the answer asks of the next attempt: a complete one,
// or a proxy's refusal, not one whose body broke off (R5.6).
func (o *Outcome) minimum() time.Duration {
	if o.Class != ClassStatus && o.Class != ClassProxy {
		return 0
	}
	return o.Server.minimum()
}

// minimum is the delay the server named, 0 for none beyond now (R4.3).
func (s *Server) minimum() time.Duration {
	if !s.Valid {
		return 0
	}
	return max(s.Minimum, 0)
}

// attemptsLeft: a body that grew and will be continued does not use up an
// attempt (R2.4), but a policy of one attempt never continues.
func (p *Policy) attemptsLeft(s *State) bool {
	return p.Attempts == Unlimited || s.Counted < p.Attempts || p.mayResume(s)
}

func (p *Policy) mayResume(s *State) bool {
	return s.ResumePlanned && p.Attempts != 1 && s.Resumes < p.MaxResumes
}

// retryTimeLeft: a retry may start up to and including RetryMaxTime (R6.1).
func (p *Policy) retryTimeLeft(elapsed, wait time.Duration) bool {
	return p.RetryMaxTime <= 0 || addSaturating(max(elapsed, 0), wait) <= p.RetryMaxTime
}

// deadlineLeft is R6.2: after the wait something must remain, and at least the reserve.
func (p *Policy) deadlineLeft(elapsed, wait, reserve time.Duration) bool {
	if p.Deadline <= 0 {
		return true
	}
	left := p.Deadline - max(elapsed, 0)
	return wait < left && left-wait >= reserve
}
