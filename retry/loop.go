package retry

import (
	"context"
	"time"
)

// Clock gives the engine its two kinds of time, never mixed: wall time for
// dates, monotonic time for durations.
type Clock interface {
	Wall() time.Time
	Mono() time.Duration
	// Sleep returns after d, or with ctx's error; it stops its timer on every path.
	Sleep(ctx context.Context, d time.Duration) error
}

// Hold shares what an origin said among operations (R4.12). Instants are
// monotonic. Implementations are safe for concurrent use.
type Hold interface {
	// Until is the instant before which nothing may be sent to origin; 0 is none.
	Until(origin string) time.Duration
	// Tell says that origin asked for silence until then.
	Tell(origin string, until time.Duration)
}

// Budget is a shared allowance of retries; it is asked last (R4.0).
// Implementations are safe for concurrent use.
type Budget interface {
	Take(o Outcome) bool
}

// Loop is what Do needs beside the attempt itself. Clock and Rand are required;
// the others may be nil. Operations that run side by side may share all of it but
// what is theirs alone: Held, Replay and Observe.
type Loop struct {
	// Policy is DefaultPolicy where it is nil. Do leaves it as it is, and the Record
	// points to it: it must not change while that is in use.
	Policy *Policy
	Clock  Clock
	// Rand returns u in [0,1). It is asked once for each failed attempt and once for
	// each shared hold that is waited for, so that a seed repeats a run. One that is
	// shared is safe for concurrent use.
	Rand func() float64
	// Origin to which attempts are sent, for Hold.
	Origin string
	Hold   Hold
	Budget Budget
	// Held is how much of the body was there before the first attempt, which goes on
	// from it: no growth of this operation's (R2.4).
	Held int64
	// Replay reports whether the body can be sent again, before a wait and
	// after it: nil, ErrNotReplayable or ErrBodyChanged, or an error that wraps one.
	Replay func() error
	// Observe is called in order, from the goroutine that runs Do.
	Observe func(Event)
}

// EventKind names an Event.
type EventKind string

// The kinds of events, in the order in which an attempt produces them.
const (
	EventHold    EventKind = "hold"    // a shared hold delays the next attempt: Wait, Until
	EventAttempt EventKind = "attempt" // attempt Number starts
	EventOutcome EventKind = "outcome" // it ended: Outcome
	EventWait    EventKind = "wait"    // Decision says retry; the wait starts now
	EventStop    EventKind = "stop"    // Decision says stop
)

// Event is a step of the loop, for live output.
type Event struct {
	Kind     EventKind
	Number   int           // of the attempt
	Offset   time.Duration // since the operation's start
	Outcome  Outcome
	Decision Decision
	Wait     time.Duration // EventWait and EventHold: how long from now
	Until    time.Time     // wall time at which it ends
}

// State is what Decide needs to know of the past.
type State struct {
	// Failures is k: counted failures since the start or since R2.4 reset it, the
	// one that is being decided included; 1 for the first wait.
	Failures int
	// Counted is the number of attempts so far, the one that is being decided included.
	Counted int
	// Resumes is the number of attempts that turned out uncounted (R2.4).
	Resumes int
	// Misdirected is the number of 421 answers before this one.
	Misdirected int
	// Elapsed is the time from the operation's start to the instant from which the
	// wait counts (R4.6).
	Elapsed time.Duration
	// HoldFor is the time from that instant until a shared hold ends; 0 none.
	HoldFor time.Duration
	// ResumePlanned: the body broke after progress and the next attempt will ask
	// for its rest, so that this attempt may turn out uncounted.
	ResumePlanned bool
}

// Decision is the engine's answer to one outcome.
type Decision struct {
	Retry bool
	// HasWait: Local, Floor, Ceiling and Wait are valid, on a retry and on a stop for
	// which the wait was computed (then Wait is what it would have been).
	HasWait                     bool
	Reason                      Reason // of a stop; "" with Retry
	Source                      Source
	Local, Floor, Ceiling, Wait time.Duration
}

// Record is the whole story of one operation. Do has ended it when it returns it:
// from then on it is the caller's.
type Record struct {
	Policy      *Policy // that Do obeyed: the Loop's, unless it passed through; of Do's never nil
	StartedAt   time.Time
	InitialWait time.Duration // a hold before attempt 1
	Attempts    []Attempt
	Reason      Reason
	Elapsed     time.Duration
	Waited      time.Duration
	// Limit is what stopped the operation from outside its attempts: ErrDeadline,
	// the context's cause, the error of Loop.Replay; nil when an attempt did.
	Limit error
	// NextAttemptAt is when another try may succeed, where the server named it; zero otherwise.
	NextAttemptAt time.Time
}

// Attempt is one try in a Record.
type Attempt struct {
	Number   int
	Counted  bool
	Offset   time.Duration
	Duration time.Duration
	Outcome  Outcome
	Decision Decision
	Waited   time.Duration // what was really waited after it
}
