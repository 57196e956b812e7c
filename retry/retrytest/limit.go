package retrytest

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// limit is a route's reference limiter as the script gives it.
type limit struct {
	src   string        // as written, for the log; "" no limiter
	fixed bool          // a fixed window; else a token bucket
	n     int           // requests per per
	per   time.Duration //
	burst int           // tokens that a full bucket holds
}

// limiter is the state of a limit. Instants are those of the log's clock. The
// zero value is a full bucket, or an unused window.
type limiter struct {
	bucket Bucket
	window int64 // number of the window that used counts in
	used   int
}

// take asks for one request at the instant now. When there is none left, wait
// is the time until there will be one.
func (l *limiter) take(c *limit, now time.Duration) (wait time.Duration, ok bool) {
	if c.fixed {
		window := int64(now / c.per)
		if window != l.window {
			l.window, l.used = window, 0
		}
		if l.used < c.n {
			l.used++
			return 0, true
		}
		return time.Duration(window+1)*c.per - now, false
	}
	l.bucket.Token, l.bucket.Burst = c.per/time.Duration(c.n), c.burst
	return l.bucket.Take(now)
}

// Bucket is the reference token bucket: it holds Burst tokens at most, is full
// at first, and gets a token back every Token. It is not safe for concurrent use.
type Bucket struct {
	Token time.Duration
	Burst int
	// due is when the bucket will be full again: the generic cell rate algorithm,
	// which is a token bucket without a fraction that could drift.
	due time.Duration
}

// Take asks for a token at the instant now, which never goes back. When there is
// none left, wait is the time until there will be one.
func (b *Bucket) Take(now time.Duration) (wait time.Duration, ok bool) {
	due := max(b.due, now)
	if wait = due + b.Token - time.Duration(b.Burst)*b.Token - now; wait > 0 {
		return wait, false
	}
	b.due = due + b.Token
	return 0, true
}

// RetryAfter is what a limiter tells who has to wait so long: whole seconds, one
// at least, rounded up so that who keeps to it is let through.
func RetryAfter(wait time.Duration) time.Duration {
	return max(1, (wait+time.Second-1)/time.Second) * time.Second
}

// limited is the answer of a limiter: 429 with the wait.
func limited(c *limit, wait time.Duration) step {
	st := builtin(http.StatusTooManyRequests, c.src)
	st.retryAfter = []when{{text: strconv.FormatInt(int64(RetryAfter(wait)/time.Second), 10)}}
	return st
}

// limitOption reads "bucket=5/s" and "window=100/10s", and "burst=10" after the first.
func (p *parser) limitOption(r *route, w word) bool {
	name, value, _ := strings.Cut(w.text, "=")
	switch {
	case name == "burst" && r.limit.src != "" && !r.limit.fixed:
		if r.limit.burst = p.number(w, value, maxBurst); r.limit.burst == 0 {
			p.failWord(w, "at least burst=1")
		}
		r.limit.src += " " + w.text
	case name == "burst":
		p.failWord(w, "bucket=N/TIME before burst=")
	case name != "bucket" && name != "window":
		return false
	case r.limit.src != "":
		p.failWord(w, "one limiter on a route")
	default:
		r.limit = p.rate(w, value)
		r.limit.src, r.limit.fixed = w.text, name == "window"
	}
	return true
}

const (
	maxLimit = 1_000_000 // a token takes a nanosecond at least
	maxBurst = 10_000    // tokens times their time stay within an int64
	maxPer   = 24 * time.Hour
)

// rate reads "5/s", "100/10s" or "1/500ms".
func (p *parser) rate(w word, value string) limit {
	digits, unit, _ := strings.Cut(value, "/")
	if unit == "s" || unit == "m" || unit == "h" {
		unit = "1" + unit
	}
	per, err := time.ParseDuration(unit)
	n, err2 := strconv.ParseUint(digits, 10, 31)
	if err != nil || err2 != nil || n == 0 || n > maxLimit || per < time.Millisecond || per > maxPer {
		p.failWord(w, "a rate such as 5/s, 100/10s or 30/m")
		return limit{n: 1, per: time.Second}
	}
	return limit{n: int(n), per: per, burst: int(n)}
}
