package httpdate

import (
	"math"
	"time"
)

// Kind is the form in which a server said when to come back.
type Kind string

// The kinds of a Retry-After value.
const (
	Absent  Kind = "absent"
	Invalid Kind = "invalid"
	Seconds Kind = "seconds"
	Date    Kind = "date"
)

// The clocks that can decide what a date means.
const (
	ClockServer = "server_date"
	ClockLocal  = "local"
)

// Delay is what a Retry-After field says.
type Delay struct {
	Kind Kind
	// Raw is the line that decided, as received.
	Raw string
	// Delay is never negative and saturates at the largest Duration; it is
	// meaningful for Seconds and Date.
	Delay time.Duration
}

// Valid reports whether the field named a delay (which may be zero).
func (d Delay) Valid() bool { return d.Kind == Seconds || d.Kind == Date }

// Reference is the clock against which the dates of one response are read.
type Reference struct {
	// Time is now on the clock that decides.
	Time time.Time
	// Clock is ClockServer or ClockLocal.
	Clock string
	// Skew is the response's Date minus the wall clock; valid when HasSkew.
	Skew    time.Duration
	HasSkew bool
}

// NewReference chooses the clock for a response received at now (wall clock):
// the server's own Date where it is valid and no cache has held the response
// (aged: an Age field is there), else the wall clock. Its lines are the values
// of the Date field; more than one makes them untrustworthy. Comparing the two
// stamps of one server makes a skewed client clock harmless.
func NewReference(now time.Time, dates []string, aged bool) Reference {
	ref := Reference{Time: now, Clock: ClockLocal}
	if len(dates) != 1 {
		return ref
	}
	date, err := Parse(trim(dates[0]), now)
	if err != nil {
		return ref
	}
	ref.Skew, ref.HasSkew = date.Sub(now), true
	if !aged {
		ref.Time, ref.Clock = date, ClockServer
	}
	return ref
}

// Until is the time from the reference to t: never negative, saturating.
func (r Reference) Until(t time.Time) time.Duration { return max(t.Sub(r.Time), 0) }

// RetryAfter reads the lines of a Retry-After field (RFC 9110, section 10.2.3).
// With several the longest valid one counts, the first among equals. A field
// without any valid line is Invalid, with the first line as Raw; no line is Absent.
func RetryAfter(lines []string, ref Reference) Delay {
	if len(lines) == 0 {
		return Delay{Kind: Absent}
	}
	best := Delay{Kind: Invalid, Raw: lines[0]}
	for _, line := range lines {
		d := retryAfter(line, ref)
		if d.Valid() && (!best.Valid() || d.Delay > best.Delay) {
			best = d
		}
	}
	return best
}

func retryAfter(line string, ref Reference) Delay {
	value := trim(line)
	if d, ok := ParseSeconds(value); ok {
		return Delay{Kind: Seconds, Raw: line, Delay: d}
	}
	t, err := Parse(value, ref.Time)
	if err != nil {
		return Delay{Kind: Invalid, Raw: line}
	}
	return Delay{Kind: Date, Raw: line, Delay: ref.Until(t)}
}

// ParseSeconds reads delay-seconds (RFC 9110, section 10.2.3): one or more
// ASCII digits and nothing else. It saturates at the largest Duration.
func ParseSeconds(s string) (time.Duration, bool) { return ParseUnits(s, time.Second) }

// ParseUnits reads one or more ASCII digits as a number of units, saturating
// at the largest Duration. The unit must be positive.
func ParseUnits(s string, unit time.Duration) (time.Duration, bool) {
	if s == "" {
		return 0, false
	}
	most := int64(math.MaxInt64 / unit)
	var n int64
	over := false
	for i := range len(s) {
		c := s[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		if n > (math.MaxInt64-9)/10 {
			over = true // from here on only the syntax matters
			continue
		}
		n = n*10 + int64(c-'0')
	}
	if over || n > most {
		return math.MaxInt64, true
	}
	return time.Duration(n) * unit, true
}

// trim takes optional whitespace (RFC 9110, section 5.6.3) off both ends.
func trim(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}
