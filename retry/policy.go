package retry

import (
	"errors"
	"fmt"
	"time"
)

// Unlimited as Policy.Attempts puts no bound on their number (R2.1).
const Unlimited = 0

// JitterMode is how a wait is spread (contract §4).
type JitterMode string

// The jitter modes.
const (
	Spread JitterMode = "spread"
	Full   JitterMode = "full"
)

// Backoff is how the local wait grows.
type Backoff string

// The backoff kinds.
const (
	Exponential Backoff = "exponential"
	Fixed       Backoff = "fixed"
)

// RetryAfterMode is what a server's minimum does to the local wait (R4.10).
type RetryAfterMode string

// The Retry-After modes.
const (
	Minimum RetryAfterMode = "minimum"
	Replace RetryAfterMode = "replace"
)

// Policy is one operation's retry policy: plain data that can be printed,
// compared and put in the timeline. Durations of 0 mean "none", except Base.
type Policy struct {
	Attempts       int // total, the first included; Unlimited
	Base           time.Duration
	Cap            time.Duration
	Jitter         float64
	JitterMode     JitterMode
	Backoff        Backoff
	RetryAfterMode RetryAfterMode
	Deadline       time.Duration // the whole operation (R6.1)
	RetryMaxTime   time.Duration // no retry starts later (curl's)
	AttemptReserve time.Duration // R6.2
	MaxTime        time.Duration // one attempt (R6.3)
	RetryOn        Set           // what is transient (R3.3)
	AllErrors      bool          // curl's --retry-all-errors
	Idempotent     bool          // the user vouches for the request
	SafeOn         Set           // statuses on which the server did nothing
	MaxResumes     int           // uncounted attempts at most (R2.4)
}

// DefaultPolicy is what holds when the user said nothing (contract §2 to §4).
func DefaultPolicy() Policy {
	return Policy{
		Attempts: 3, Base: time.Second, Cap: 5 * time.Minute, Jitter: 0.2,
		JitterMode: Spread, Backoff: Exponential, RetryAfterMode: Minimum,
		RetryOn: DefaultRetryOn(), MaxResumes: 100,
	}
}

// Check reports the first setting that makes no sense (contract R2.1, R4.8).
// Do and Decide stay safe with a policy that fails it, but need not be useful.
func (p Policy) Check() error {
	for _, d := range [...]struct {
		name  string
		value time.Duration
	}{
		{"base", p.Base}, {"cap", p.Cap}, {"deadline", p.Deadline}, {"retry-max-time", p.RetryMaxTime},
		{"attempt-reserve", p.AttemptReserve}, {"max-time", p.MaxTime},
	} {
		if d.value < 0 {
			return fmt.Errorf("%s %v is negative", d.name, d.value)
		}
	}
	switch {
	case p.Attempts < 0:
		return fmt.Errorf("attempts %d is not a number from 1 on", p.Attempts)
	case p.Attempts == Unlimited && p.Deadline == 0 && p.RetryMaxTime == 0:
		return errors.New("attempts unlimited needs a time bound: deadline or retry-max-time")
	case p.Cap != 0 && p.Base > p.Cap:
		return fmt.Errorf("base %v is longer than cap %v", p.Base, p.Cap)
	case !(p.Jitter >= 0 && p.Jitter <= 1): // also refuses NaN
		return fmt.Errorf("jitter %v is not a ratio from 0 to 1", p.Jitter)
	case p.MaxResumes < 0:
		return fmt.Errorf("max-resumes %d is negative", p.MaxResumes)
	}
	return p.checkWords()
}

func (p Policy) checkWords() error {
	switch {
	case p.JitterMode != Spread && p.JitterMode != Full:
		return fmt.Errorf("jitter-mode %q is not one of spread, full", p.JitterMode)
	case p.Backoff != Exponential && p.Backoff != Fixed:
		return fmt.Errorf("backoff %q is not one of exponential, fixed", p.Backoff)
	case p.RetryAfterMode != Minimum && p.RetryAfterMode != Replace:
		return fmt.Errorf("retry-after-mode %q is not one of minimum, replace", p.RetryAfterMode)
	}
	return nil
}

// StatusClass is the class of a complete answer with this status: ClassStatus
// for a failure and for a status that the user asked to retry on (polling,
// "+202"), else ClassNone.
func (p Policy) StatusClass(status int) Class {
	if status >= 400 || p.RetryOn.HasStatus(status) {
		return ClassStatus
	}
	return ClassNone
}
