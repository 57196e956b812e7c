package retry

import "time"

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
