package httpretry

import (
	"math"
	"strings"
	"time"

	"github.com/bidehttp/bide/httpdate"
	"github.com/bidehttp/bide/retry"
)

const (
	kindMilliseconds = "milliseconds"
	fieldRetryAfter  = "Retry-After"
)

// ReadServer reads from a response's fields when the server wants to see its
// client again (contract §5): Retry-After (RFC 9110, section 10.2.3), with Date and
// Age where it names a date. values gives the lines of a field, whose name it
// compares without regard to case; now is the wall clock at receipt.
//
// With rateLimit (contract R5.7) the usual rate-limit fields stand in where
// Retry-After is absent, and limited says that a 403 with these fields is a
// limit, hence transient: a valid Retry-After, or a remaining count of 0.
//
// Only a minimum is read here; whether to come back is the policy's business.
func ReadServer(values func(name string) []string, now time.Time, rateLimit bool) (s retry.Server, limited bool) {
	f := fields{values: values, now: now}
	if named := values(fieldRetryAfter); len(named) > 0 { // mostly it is absent
		if delay := httpdate.RetryAfter(named, f.reference()); delay.Kind != httpdate.Absent {
			s = f.server(fieldRetryAfter, delay)
		}
	}
	if !rateLimit {
		return s, false
	}
	if s.Header == "" {
		s = f.rateLimit()
	}
	return s, (s.Header == fieldRetryAfter && s.Valid) || f.exhausted()
}

// fields is one response as the readers below see it.
type fields struct {
	values func(name string) []string
	now    time.Time
}

func (f fields) reference() httpdate.Reference {
	return httpdate.NewReference(f.now, f.values("Date"), len(f.values("Age")) > 0)
}

// server puts a delay into the engine's words.
func (f fields) server(name string, d httpdate.Delay) retry.Server {
	s := retry.Server{Header: name, Raw: d.Raw, Kind: string(d.Kind), Minimum: d.Delay, Valid: d.Kind != httpdate.Invalid}
	if d.Kind == httpdate.Date {
		ref := f.reference()
		s.Clock, s.Skew, s.HasSkew = ref.Clock, ref.Skew, ref.HasSkew
	}
	return s
}

// rateLimit reads the fields of R5.7 in its order: the first that names a delay
// decides. Without one, the first that was there but not understood is told.
func (f fields) rateLimit() retry.Server {
	readers := [...]struct {
		name      string
		remaining string // its count must be 0; "" needs none
		read      func(string) httpdate.Delay
	}{
		{"retry-after-ms", "", milliseconds},
		{"x-ms-retry-after-ms", "", milliseconds},
		{"RateLimit", "", rateLimitItems},
		{"RateLimit-Reset", "RateLimit-Remaining", wholeSeconds},
		{"X-RateLimit-Reset-After", "X-RateLimit-Remaining", decimalSeconds},
		{"X-RateLimit-Reset", "X-RateLimit-Remaining", f.epochOrSeconds},
	}
	var told retry.Server
	for _, r := range readers {
		if r.remaining != "" && !f.zero(r.remaining) {
			continue
		}
		best := httpdate.Delay{Kind: httpdate.Absent}
		for _, line := range f.values(r.name) {
			d := r.read(strings.Trim(line, " \t"))
			d.Raw = line
			if best.Kind == httpdate.Absent || better(d, best) {
				best = d
			}
		}
		switch best.Kind {
		case httpdate.Absent:
		case httpdate.Invalid:
			if told.Header == "" {
				told = f.server(r.name, best)
			}
		default:
			return f.server(r.name, best)
		}
	}
	return told
}

// better reports whether a counts before b: valid before invalid, then the longer.
func better(a, b httpdate.Delay) bool {
	switch {
	case a.Kind == httpdate.Absent || a.Kind == httpdate.Invalid:
		return false
	case b.Kind == httpdate.Absent || b.Kind == httpdate.Invalid:
		return true
	}
	return a.Delay > b.Delay
}

// exhausted reports whether a remaining count of 0 is there.
func (f fields) exhausted() bool {
	if f.zero("RateLimit-Remaining") || f.zero("X-RateLimit-Remaining") {
		return true
	}
	for _, line := range f.values("RateLimit") {
		for _, item := range splitOutsideQuotes(line, ',') {
			if p := parameters(item); p.hasRemaining && p.remaining == 0 {
				return true
			}
		}
	}
	return false
}

// zero reports whether one line of the field is a count of 0.
func (f fields) zero(name string) bool {
	for _, line := range f.values(name) {
		if n, ok := httpdate.ParseUnits(strings.Trim(line, " \t"), 1); ok && n == 0 {
			return true
		}
	}
	return false
}

func milliseconds(v string) httpdate.Delay {
	return delay(kindMilliseconds, v, time.Millisecond)
}

func wholeSeconds(v string) httpdate.Delay { return delay(httpdate.Seconds, v, time.Second) }

func delay(kind httpdate.Kind, v string, unit time.Duration) httpdate.Delay {
	d, ok := httpdate.ParseUnits(v, unit)
	if !ok {
		return httpdate.Delay{Kind: httpdate.Invalid}
	}
	return httpdate.Delay{Kind: kind, Delay: d}
}

// decimalSeconds reads "12" and "12.345"; what lies below a nanosecond rounds up.
func decimalSeconds(v string) httpdate.Delay {
	whole, fraction, point := strings.Cut(v, ".")
	d := wholeSeconds(whole)
	if !point || d.Kind == httpdate.Invalid {
		return d
	}
	if _, ok := httpdate.ParseUnits(fraction, 1); !ok {
		return httpdate.Delay{Kind: httpdate.Invalid}
	}
	const digits = 9 // of a nanosecond
	more := len(fraction) > digits && strings.Trim(fraction[digits:], "0") != ""
	ns, _ := httpdate.ParseUnits((fraction + "000000000")[:digits], time.Nanosecond)
	if more {
		ns++
	}
	if d.Delay > math.MaxInt64-ns {
		d.Delay = math.MaxInt64
	} else {
		d.Delay += ns
	}
	return d
}

// epochOrSeconds reads X-RateLimit-Reset: from 1e12 on it is an epoch in
// milliseconds, from 1e9 on one in seconds, below it a delay in seconds.
func (f fields) epochOrSeconds(v string) httpdate.Delay {
	whole, _, _ := strings.Cut(v, ".")
	n, ok := httpdate.ParseUnits(whole, 1)
	d := decimalSeconds(v)
	if !ok || d.Kind == httpdate.Invalid || n < 1e9 {
		return d
	}
	at := time.UnixMilli(int64(n))
	if n < 1e12 {
		at = time.Unix(int64(n), int64(d.Delay%time.Second))
	}
	return httpdate.Delay{Kind: httpdate.Date, Delay: f.reference().Until(at)}
}

// rateLimitItems reads the RateLimit field (IETF draft "RateLimit header fields
// for HTTP"): a list of policies, each with r, what remains, and t, the seconds
// until it grows again. The longest t with r=0 counts; without any r=0 the field
// says nothing.
func rateLimitItems(v string) httpdate.Delay {
	best := httpdate.Delay{Kind: httpdate.Absent}
	for _, item := range splitOutsideQuotes(v, ',') {
		p := parameters(item)
		if !p.hasRemaining || p.remaining != 0 {
			continue
		}
		d := httpdate.Delay{Kind: httpdate.Invalid}
		if p.hasReset {
			d = httpdate.Delay{Kind: httpdate.Seconds, Delay: p.reset}
		}
		if best.Kind == httpdate.Absent || better(d, best) {
			best = d
		}
	}
	return best
}

// limitParameters are the parameters of one item of RateLimit.
type limitParameters struct {
	remaining              time.Duration // a count
	reset                  time.Duration
	hasRemaining, hasReset bool
}

func parameters(item string) (p limitParameters) {
	for i, part := range splitOutsideQuotes(item, ';') {
		name, value, _ := strings.Cut(strings.Trim(part, " \t"), "=")
		switch {
		case i == 0: // the policy's name
		case name == "r":
			p.remaining, p.hasRemaining = httpdate.ParseUnits(value, 1)
		case name == "t":
			p.reset, p.hasReset = httpdate.ParseSeconds(value)
		}
	}
	return p
}

// splitOutsideQuotes splits at sep, but not within a quoted string
// (RFC 9651, section 3.3.3).
func splitOutsideQuotes(s string, sep byte) []string {
	var parts []string
	start, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == sep && !quoted:
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	return append(parts, s[start:])
}
