package retry

import (
	"context"
	"time"
)

// Do runs an operation: it calls try for attempt 1, 2, … until the policy is
// content or says stop, and sleeps in between. Each decision is Policy.Decide's.
//
// The context that try gets ends with ctx, when the attempt's limit passes (cause
// ErrAttemptTimeout) or when the deadline does (cause ErrDeadline). A superseded
// attempt's context is canceled once discard has returned. The last attempt's
// context stays alive after Do, so that a body can still be read under the same
// limits: callers pass a ctx that can be canceled, and cancel it when they are
// done, or they call Release.
//
// discard (may be nil) gets each value that another attempt supersedes, exactly
// once, before the wait; what it leaves running in the background must not depend
// on the attempt's context. The last value is returned and is the caller's, also
// beside an error; it is the zero T when no attempt was made and when the
// operation was stopped after a wait had begun.
//
// The Record is never nil. The error is nil whenever there is a complete answer to
// show, whatever its status: Record.Reason says how it ended. Else it is an *Error
// with the same Record.
//
// A policy that fails its Check is refused with reason Usage before anything is
// tried. A Do within the context of another Do's attempt passes through: one
// attempt and no waits, so that one owner interprets what the server says and
// attempts do not multiply.
func Do[T any](ctx context.Context, l Loop, try func(ctx context.Context, n int) (T, Outcome), discard func(T)) (T, *Record, error) {
	e := newEngine(ctx, l)
	var none T
	if !e.begin() {
		return none, e.rec, e.finish(false)
	}
	for n := 1; ; n++ {
		a := e.startAttempt(n)
		var value T
		value, a.Outcome = try(e.attempt, n)
		if !e.endAttempt(a) {
			return value, e.rec, e.finish(true)
		}
		if discard != nil {
			discard(value)
		}
		e.endContext()
		if !e.pause() {
			return none, e.rec, e.finish(false)
		}
	}
}

// Release ends the context of an operation's last attempt, which Do left alive,
// for callers of many operations whose own context goes on. ctx is the context of
// one of its attempts, or one within that; where it is neither, Release does
// nothing. It may be called more than once, but not before Do has returned.
func Release(ctx context.Context) {
	if e := engineOf(ctx); e != nil {
		e.endContext()
	}
}

// Remaining is what is left of the deadline of the operation to which an
// attempt's context belongs, or of an operation around it, whichever ends first;
// bounded is false where there is no deadline.
func Remaining(ctx context.Context) (left time.Duration, bounded bool) {
	for e := engineOf(ctx); e != nil; e = engineOf(e.ctx) {
		if e.rec.Policy.Deadline <= 0 {
			continue
		}
		if mine := e.rec.Policy.Deadline - e.elapsed(); !bounded || mine < left {
			left, bounded = mine, true
		}
	}
	return left, bounded
}

// engine is the state of one Do. Only its own goroutine changes it.
type engine struct {
	ctx   context.Context // the caller's
	l     tools
	rec   *Record       // and the policy
	start time.Duration // instant

	// Of the running attempt.
	attempt   attemptContext
	stopLimit func()        // gives its time limit up; nil when there is none
	seen      time.Duration // instant of its answer, from which the wait counts

	counting counting

	first tiedContext // of attempt 1: mostly there is no other
}

// story is a Record with room for the first of its attempts.
type story struct {
	Record
	first [1]Attempt
}

// tools are the Loop without its Policy, which the record has.
type tools struct {
	Clock   Clock
	Rand    func() float64
	Origin  string
	Hold    Hold
	Budget  Budget
	Replay  func() error
	Observe func(Event)
}

func newEngine(ctx context.Context, l Loop) *engine {
	if l.Policy == nil {
		l.Policy = new(DefaultPolicy())
	}
	if engineOf(ctx) != nil { // a Do within an attempt of another one
		l.Policy = new(*l.Policy)
		l.Policy.Attempts = 1
		l.Hold, l.Budget, l.Replay = nil, nil, nil
	}
	s := &story{Record: Record{Policy: l.Policy, StartedAt: l.Clock.Wall()}}
	s.Attempts = s.first[:0]
	e := &engine{ctx: ctx, rec: &s.Record, start: l.Clock.Mono()}
	e.l = tools{l.Clock, l.Rand, l.Origin, l.Hold, l.Budget, l.Replay, l.Observe}
	e.counting.base, e.counting.held = l.Held, l.Held
	return e
}

func (e *engine) elapsed() time.Duration { return e.l.Clock.Mono() - e.start }

// startAttempt begins the record of attempt n and makes its context.
func (e *engine) startAttempt(n int) *Attempt {
	var offset time.Duration // the first attempt begins with the operation
	if n > 1 || e.rec.InitialWait > 0 {
		offset = e.elapsed()
	}
	e.rec.Attempts = append(e.rec.Attempts, Attempt{Number: n, Counted: true, Offset: offset})
	e.observe(EventAttempt)
	ctx := e.newContext(n)
	e.attempt, e.stopLimit = ctx, nil
	if limit, cause := e.limit(offset); limit > 0 {
		e.stopLimit = e.after(ctx, limit, func() { ctx.Cancel(cause) })
	}
	return e.current()
}

// endContext ends the context of the last attempt, and its time limit.
func (e *engine) endContext() {
	if e.stopLimit != nil {
		e.stopLimit()
	}
	e.attempt.End()
}

// limit is what the attempt may take, min(MaxTime, what is left of the
// deadline), and the cause with which it ends; 0 is no limit (R6.3).
func (e *engine) limit(offset time.Duration) (time.Duration, error) {
	p := e.rec.Policy
	left := p.Deadline - offset
	switch {
	case p.Deadline > 0 && (p.MaxTime <= 0 || left <= p.MaxTime):
		return max(left, 1), ErrDeadline
	case p.MaxTime > 0:
		return p.MaxTime, ErrAttemptTimeout
	}
	return 0, nil
}

// after calls f after d unless ctx has ended; stop gives the timer up early.
func (e *engine) after(ctx context.Context, d time.Duration, f func()) (stop func()) {
	timers, ok := e.l.Clock.(Timers)
	if !ok {
		go func() {
			if e.l.Clock.Sleep(ctx, d) == nil {
				f()
			}
		}()
		return func() {}
	}
	stopTimer := timers.AfterFunc(d, f)
	forget := context.AfterFunc(ctx, func() { stopTimer() })
	return func() { forget(); stopTimer() }
}

// endAttempt completes the record of an attempt, decides, and reports whether
// another one follows.
func (e *engine) endAttempt(a *Attempt) (again bool) {
	o := &a.Outcome
	now := e.l.Clock.Mono()
	a.Duration = now - e.start - a.Offset
	if o.SeenAt == 0 || o.SeenAt > now {
		o.SeenAt = now
	}
	e.seen = max(o.SeenAt, e.start+a.Offset)
	e.attribute(o)
	e.observe(EventOutcome)
	a.Decision = e.decide(o)
	if !a.Decision.Retry {
		e.stop(a.Decision.Reason)
		return false
	}
	wait := max(e.target()-now, 0)
	e.observeWait(EventWait, &a.Decision, wait)
	return true
}

// attribute puts the blame for a broken attempt right: an exchange that was cut
// because its context ended reports what it saw, the engine knows who ended it.
func (e *engine) attribute(o *Outcome) {
	if o.Stop != "" || !o.Class.endsWithContext() {
		return
	}
	cause := context.Cause(e.attempt)
	if cause == nil {
		cause = context.Cause(e.ctx) // of which the attempt may not have heard yet
	}
	switch cause {
	case nil:
		return
	case ErrDeadline:
		o.Stop = DeadlineExceeded
	case ErrAttemptTimeout:
	default:
		o.Class = ClassCanceled
		return
	}
	if o.Class == ClassCanceled {
		o.Class = ClassTimeout
	}
	if o.Err == nil {
		o.Err = cause
	}
}

// endsWithContext: an ended context may show as a failure of this class.
func (c Class) endsWithContext() bool {
	switch c {
	case ClassResolve, ClassConnect, ClassTLS, ClassProxy, ClassRefused, ClassClosed,
		ClassTimeout, ClassTruncated, ClassCanceled:
		return true
	}
	return false
}

// decide asks the policy, then what only the loop can ask: cancellation, the
// body, the shared budget (R4.0).
func (e *engine) decide(o *Outcome) Decision {
	p := e.rec.Policy
	s := e.counting.next(p, o, e.rec.Attempts)
	s.Elapsed = e.seen - e.start
	if o.Class == ClassNone && o.Stop == "" {
		return Decision{Reason: Success}
	}
	s.HoldFor = e.shareHold(o, &s)
	d := p.decide(&s, o, e.l.Rand())
	if !d.Retry {
		return d
	}
	// The policy counted from the answer; its body may have outlasted the wait.
	reason := e.mayStart(false, e.l.Clock.Mono(), 0)
	if reason == "" {
		reason = e.replay()
	}
	if reason == "" && e.l.Budget != nil && !e.l.Budget.Take(*o) {
		reason = BudgetExhausted
	}
	d.Retry, d.Reason = reason == "", reason
	return d
}

// shareHold tells the other operations what the server said, and gives the time
// from the answer until a hold on our origin ends (R4.12).
func (e *engine) shareHold(o *Outcome, s *State) time.Duration {
	if e.l.Hold == nil {
		return 0
	}
	// What a server says of a result that is not there yet is about that alone.
	alone := o.Polling || o.Unmet && o.Status < 400
	if minimum := o.minimum(); minimum > 0 && !alone && e.rec.Policy.transient(o, s) {
		origin := o.Origin
		if origin == "" {
			origin = e.l.Origin
		}
		e.l.Hold.Tell(origin, addSaturating(e.seen, minimum))
	}
	return max(e.l.Hold.Until(e.l.Origin)-e.seen, 0)
}

func (e *engine) current() *Attempt { return &e.rec.Attempts[len(e.rec.Attempts)-1] }

// target is the earliest instant of the next attempt (R4.6).
func (e *engine) target() time.Duration { return addSaturating(e.seen, e.current().Decision.Wait) }
