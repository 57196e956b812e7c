package retry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Errors of Loop.Replay (contract R7.3, R8.1); they may be wrapped with evidence.
var (
	ErrNotReplayable = errors.New("the request body cannot be sent again")
	ErrBodyChanged   = errors.New("the request body has changed since the first attempt")
)

// The causes (context.Cause) with which Do ends an attempt's context. Both are
// context.DeadlineExceeded to errors.Is, and timeouts in the sense of net.Error.
var (
	ErrAttemptTimeout error = limitError("the attempt's time limit has passed")
	ErrDeadline       error = limitError("the operation's deadline has passed")
)

type limitError string

func (e limitError) Error() string   { return string(e) }
func (e limitError) Timeout() bool   { return true }
func (e limitError) Temporary() bool { return true }

// Is makes the limits known to programs that ask for the context's own error.
func (e limitError) Is(target error) bool { return target == context.DeadlineExceeded }

// StatusError is a final status as evidence in an Error.
type StatusError struct{ Status int }

// Error gives "HTTP 503".
func (e *StatusError) Error() string { return "HTTP " + strconv.Itoa(e.Status) }

// Error says that an operation ended without a usable answer.
type Error struct {
	Reason Reason
	Record *Record
	// Limit is Record.Limit.
	Limit error
	// Last is the last real failure of an attempt (a *StatusError for a status);
	// nil when there was none.
	Last error
}

// Error is the record's message: the limit, the last failure and, where the
// server named one, the time of the next chance (contract R6.5).
func (e *Error) Error() string { return e.Record.Message() }

// Unwrap gives the limit and the last failure to errors.Is and errors.As.
func (e *Error) Unwrap() []error {
	var errs []error
	for _, err := range []error{e.Limit, e.Last} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// Failure is the last real failure of an attempt: its error, or a *StatusError.
// An attempt that the deadline cut short comes last: what failed before it says
// more (contract R6.5). A cancellation is no failure. nil when nothing failed.
func (r *Record) Failure() error {
	var cut error
	for i := len(r.Attempts) - 1; i >= 0; i-- {
		o := &r.Attempts[i].Outcome
		switch {
		case o.Class == ClassCanceled, o.Class == ClassNone && o.Stop == "":
		case o.Stop != DeadlineExceeded:
			return o.failure()
		case cut == nil:
			cut = o.failure()
		}
	}
	return cut
}

func (o *Outcome) failure() error {
	switch {
	case o.Err != nil:
		return o.Err
	case o.Status != 0:
		return &StatusError{o.Status}
	case o.Class != ClassNone:
		return errors.New(string(o.Class))
	}
	return nil
}

// Message says in one sentence why the operation stopped: the limit that
// stopped it, the last real failure, and when another try may succeed. It is
// empty after a success.
func (r *Record) Message() string {
	if r.Reason == Success {
		return ""
	}
	var parts []string
	why, limit := r.why(), r.Limit
	if limit != nil && limit != ErrDeadline && limit != context.Canceled { // those are in why
		if !strings.Contains(limit.Error(), why) {
			parts = append(parts, why)
		}
		parts = append(parts, limit.Error())
	} else if why != "" {
		parts = append(parts, why)
	}
	if last := r.Failure(); last != nil && last != limit {
		parts = append(parts, last.Error())
	}
	text := strings.Join(parts, ": ")
	if !r.NextAttemptAt.IsZero() {
		text += "; the server named " + r.NextAttemptAt.UTC().Format(time.RFC3339) + " for the next try"
	}
	return text
}

// why names the limit; "" where the failure speaks for itself.
func (r *Record) why() string {
	p := cmp.Or(r.Policy, &Policy{})
	var o Outcome
	if n := len(r.Attempts); n > 0 {
		o = r.Attempts[n-1].Outcome
	}
	switch r.Reason {
	case AttemptsExhausted:
		return "gave up after " + plural(len(r.Attempts), "attempt")
	case RetryAfterExceedsCap:
		if o.Server.Valid {
			return fmt.Sprintf("the server asks for a wait of %v, longer than the cap of %v", o.Server.Minimum, p.Cap)
		}
		return fmt.Sprintf("the origin asked for a wait longer than the cap of %v", p.Cap)
	case RetryTimeExceeded:
		return fmt.Sprintf("no retry may start later than %v after the start (retry-max-time)", p.RetryMaxTime)
	case DeadlineBeforeRetry:
		return fmt.Sprintf("the deadline of %v leaves no time for another attempt", p.Deadline)
	case DeadlineExceeded:
		return fmt.Sprintf("the deadline of %v passed in attempt %d", p.Deadline, len(r.Attempts))
	case UnsafeMethod:
		return "the request may have been acted on and is not safe to send again without an idempotency key"
	case NotReplayable:
		return ErrNotReplayable.Error()
	case BodyChanged:
		return ErrBodyChanged.Error()
	case BudgetExhausted:
		return "the shared retry budget is used up"
	case OutputCommitted:
		return "part of the output is already written and cannot be taken back"
	case Canceled:
		return "canceled"
	}
	return ""
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}
