package retry

import (
	"context"
	"errors"
	"time"
)

// begin reports whether attempt 1 may start, after the hold that may delay it.
func (e *engine) begin() bool {
	if err := e.rec.Policy.Check(); err != nil {
		e.rec.Limit = err
		e.stop(Usage)
		return false
	}
	reason := e.holdOn(true, e.start)
	e.rec.Waited = e.rec.InitialWait
	if reason != "" {
		e.stop(reason)
		return false
	}
	return true
}

// pause waits as decided and reports whether the next attempt may start.
func (e *engine) pause() bool {
	from := e.l.Clock.Mono()
	reason := e.sleepUntil(e.target())
	if reason == "" {
		reason = e.holdOn(false, e.l.Clock.Mono())
	}
	if reason == "" {
		reason = e.replay()
	}
	a := e.current()
	a.Waited = e.l.Clock.Mono() - from
	e.rec.Waited += a.Waited
	if reason != "" {
		a.Decision.Retry, a.Decision.Reason = false, reason
		e.stop(reason)
		return false
	}
	return true
}

// holdOn asks, before anything is sent, whether that is still allowed now: not
// canceled, within the time limits (R6.2), and no shared hold on the origin, for
// whose end it waits (R4.12). It asks again after each waking.
func (e *engine) holdOn(first bool, now time.Duration) Reason {
	for {
		if reason := e.mayStart(first, now, 0); reason != "" {
			return reason
		}
		if e.l.Hold == nil {
			return ""
		}
		left := e.l.Hold.Until(e.l.Origin) - now
		if left <= 0 {
			return ""
		}
		d := e.rec.Policy.decidePause(left, now-e.start, e.l.Rand(), SourceShared)
		if !d.Retry {
			e.rec.NextAttemptAt = e.l.Clock.Wall().Add(left)
			return d.Reason
		}
		if reason := e.mayStart(first, now, d.Wait); reason != "" {
			return reason
		}
		e.observeWait(EventHold, &d, d.Wait)
		reason := e.sleepUntil(addSaturating(now, d.Wait))
		woken := e.l.Clock.Mono()
		if first {
			e.rec.InitialWait += woken - now
		}
		now = woken
		if reason != "" {
			return reason
		}
	}
}

// mayStart is R6.2 for an attempt that starts after wait, from now: cancellation
// first. The reserve and retry-max-time are about retries, not about the first attempt.
func (e *engine) mayStart(first bool, now, wait time.Duration) Reason {
	p, elapsed := e.rec.Policy, now-e.start
	reserve := p.AttemptReserve
	if first {
		reserve = 0
	}
	switch {
	case e.ctx.Err() != nil:
		return e.canceled()
	case !first && !p.retryTimeLeft(elapsed, wait):
		return RetryTimeExceeded
	case !p.deadlineLeft(elapsed, wait, reserve):
		return DeadlineBeforeRetry
	}
	return ""
}

// sleepUntil returns at instant on the monotonic clock, never earlier (R4.6), or
// with the reason that ended the sleep.
func (e *engine) sleepUntil(instant time.Duration) Reason {
	for {
		left := instant - e.l.Clock.Mono()
		if left <= 0 {
			return e.canceled()
		}
		if err := e.l.Clock.Sleep(e.ctx, left); err != nil {
			if reason := e.canceled(); reason != "" {
				return reason
			}
			e.rec.Limit = err // a clock that fails: nothing may be sent early
			return Canceled
		}
	}
}

func (e *engine) canceled() Reason {
	if e.ctx.Err() == nil {
		return ""
	}
	e.rec.Limit = context.Cause(e.ctx)
	return Canceled
}

// replay asks whether the body can be sent again (R7.3).
func (e *engine) replay() Reason {
	if e.l.Replay == nil {
		return ""
	}
	err := e.l.Replay()
	if err == nil {
		return ""
	}
	e.rec.Limit = err
	switch {
	case errors.Is(err, ErrBodyChanged):
		return BodyChanged
	case errors.Is(err, ErrNotReplayable):
		return NotReplayable
	}
	return InputError
}

// stop ends the record.
func (e *engine) stop(reason Reason) {
	e.rec.Reason = reason
	if reason == Success { // it ends with its last attempt
		last := e.current()
		e.rec.Elapsed = last.Offset + last.Duration
	} else {
		e.rec.Elapsed = e.elapsed()
	}
	switch {
	case reason == DeadlineExceeded || reason == DeadlineBeforeRetry:
		e.rec.Limit = ErrDeadline
	case reason == Canceled && e.rec.Limit == nil:
		e.rec.Limit = context.Cause(e.ctx)
	}
	if n := len(e.rec.Attempts); n > 0 && reason != Success {
		if o := &e.rec.Attempts[n-1].Outcome; o.Server.Valid {
			ago := e.l.Clock.Mono() - e.seen
			if at := e.l.Clock.Wall().Add(o.Server.minimum() - ago); at.After(e.rec.NextAttemptAt) {
				e.rec.NextAttemptAt = at
			}
		}
	}
	e.observe(EventStop)
}

// finish is the error of Do; answer says that the last value is still there.
func (e *engine) finish(answer bool) error {
	r := e.rec
	if answer && r.Reason != Canceled {
		switch e.current().Outcome.Class {
		case ClassNone, ClassStatus:
			return nil
		}
	}
	return &Error{Reason: r.Reason, Record: r, Limit: r.Limit, Last: r.Failure()}
}

// observe tells of the last attempt.
func (e *engine) observe(kind EventKind) {
	if e.l.Observe == nil {
		return
	}
	ev := Event{Kind: kind, Offset: e.elapsed()}
	if len(e.rec.Attempts) > 0 {
		a := e.current()
		ev.Number, ev.Outcome, ev.Decision = a.Number, a.Outcome, a.Decision
		switch kind { // the instants of its record
		case EventAttempt:
			ev.Offset = a.Offset
		case EventOutcome:
			ev.Offset = a.Offset + a.Duration
		}
	}
	e.l.Observe(ev)
}

// observeWait tells of a wait that was decided and begins now.
func (e *engine) observeWait(kind EventKind, d *Decision, wait time.Duration) {
	if e.l.Observe == nil {
		return
	}
	ev := Event{Kind: kind, Offset: e.elapsed(), Decision: *d, Wait: wait, Until: e.l.Clock.Wall().Add(wait)}
	ev.Number = len(e.rec.Attempts)
	if kind == EventHold {
		ev.Number++ // of the attempt before which it is
	} else {
		ev.Outcome = e.current().Outcome
	}
	e.l.Observe(ev)
}
