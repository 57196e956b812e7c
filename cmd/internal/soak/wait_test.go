package soak

import (
	"math/big"
	"strconv"
	"strings"
	"time"
)

// window is where a wait may lie (contract §4).
type window struct{ floor, ceiling time.Duration }

// draw is ⌊(ceiling − floor)·u⌋ above the floor, clamped.
func (w window) draw(u float64) time.Duration {
	room := w.ceiling - w.floor
	return w.floor + max(0, min(time.Duration(float64(room)*u), room))
}

// between is the window of the k-th wait under the server's minimum and a shared
// hold (0: none).
func (g *settings) between(k int, server, hold time.Duration) window {
	minimum := max(server, hold)
	more := new(big.Rat).Add(big.NewRat(1, 1), g.jitter)
	local, limit := g.local(k), g.limit()
	bound := min(local, g.bound())
	switch {
	case g.replace && server > 0: // R4.10a
		return window{minimum, min(times(minimum, more), limit)}
	case g.full:
		return window{minimum, min(limit, max(local, times(minimum, more)))}
	}
	floor := max(bound, minimum)
	return window{floor, min(times(floor, more), limit)}
}

// source is R4.11: whose word decides the k-th wait.
func (g *settings) source(k int, server, hold time.Duration) string {
	minimum := max(server, hold)
	bound := min(g.local(k), g.bound())
	replaced := g.replace && server > 0
	switch {
	case minimum == 0, !g.full && !replaced && minimum < bound:
		return "backoff"
	case hold > server:
		return "shared"
	}
	return "server"
}

// local is base · 2^(k-1), or base; it saturates.
func (g *settings) local(k int) time.Duration {
	if g.fixed {
		return g.base
	}
	return rounded(new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(int64(g.base)), uint(k-1))))
}

// bound is cap/(1+R).
func (g *settings) bound() time.Duration {
	more := new(big.Rat).Add(big.NewRat(1, 1), g.jitter)
	return times(g.limit(), more.Inv(more))
}

// limit is the cap; 0 is none (R4.8).
func (g *settings) limit() time.Duration {
	if g.cap == 0 {
		return 1<<63 - 1
	}
	return g.cap
}

// pause is the window before the hop after a 3xx that named a minimum (R5.6).
func (g *settings) pause(minimum time.Duration) window {
	more := new(big.Rat).Add(big.NewRat(1, 1), g.jitter)
	return window{minimum, min(times(minimum, more), g.limit())}
}

// guidance is what an answer says about when to come back.
type guidance struct {
	minimum        time.Duration
	valid          bool
	fromRetryAfter bool
	exhausted      bool // a remaining count of 0 (R5.7)
}

// read takes the guidance from an answer that came at the wall time now.
func (g *settings) read(r *reply, now time.Time) guidance {
	var told guidance
	ref := reference(r, now)
	lines := r.values("Retry-After")
	for _, line := range lines {
		if d, ok := retryAfter(line, ref); ok {
			told.minimum, told.valid, told.fromRetryAfter = max(told.minimum, d), true, true
		}
	}
	if !g.rateLimit {
		return told
	}
	told.exhausted = r.value("RateLimit-Remaining") == "0" || r.value("X-RateLimit-Remaining") == "0"
	if len(lines) == 0 { // an invalid one is not an absent one (R5.7a)
		told.minimum, told.valid = limits(r, ref)
	}
	return told
}

// limits reads the fields of R5.7, the first valid one counts.
func limits(r *reply, ref time.Time) (time.Duration, bool) {
	for _, f := range []struct {
		name, remaining string
		unit            time.Duration
	}{
		{"retry-after-ms", "", time.Millisecond},
		{"x-ms-retry-after-ms", "", time.Millisecond},
		{"RateLimit-Reset", "RateLimit-Remaining", time.Second},
		{"X-RateLimit-Reset-After", "X-RateLimit-Remaining", time.Second},
		{"X-RateLimit-Reset", "X-RateLimit-Remaining", time.Second},
	} {
		text := r.value(f.name)
		if text == "" || f.remaining != "" && r.value(f.remaining) != "0" {
			continue
		}
		n, ok := new(big.Rat).SetString(text)
		decimals := f.name == "X-RateLimit-Reset-After"
		if !ok || n.Sign() < 0 || !decimals && !onlyDigits(text) {
			continue
		}
		if f.name == "X-RateLimit-Reset" && n.Cmp(big.NewRat(1e9, 1)) >= 0 {
			return max(time.Unix(n.Num().Int64(), 0).Sub(ref), 0), true
		}
		return rounded(n.Mul(n, big.NewRat(int64(f.unit), 1))), true
	}
	return 0, false
}

func onlyDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// reference is the clock against which a date counts (R5.4, R5.4a).
func reference(r *reply, now time.Time) time.Time {
	dates := r.values("Date")
	if len(dates) != 1 || len(r.values("Age")) > 0 {
		return now
	}
	if t, ok := date(dates[0], now); ok {
		return t
	}
	return now
}

// retryAfter reads one line (R5.1 to R5.4); a past date is no minimum (R4.3).
func retryAfter(text string, ref time.Time) (time.Duration, bool) {
	text = strings.Trim(text, " \t")
	if onlyDigits(text) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n > (1<<63-1)/int64(time.Second) {
			return 1<<63 - 1, true
		}
		return time.Duration(n) * time.Second, true
	}
	t, ok := date(text, ref)
	return max(t.Sub(ref), 0), ok
}

// date reads the three forms of RFC 9110 section 5.6.7: what is written back
// as it was read is right in weekday, case and spacing.
func date(text string, ref time.Time) (time.Time, bool) {
	for _, layout := range []string{
		"Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 GMT", "Mon Jan _2 15:04:05 2006",
	} {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		if strings.Contains(layout, "-06") {
			t = century(t, ref)
		}
		if t.Format(layout) == text {
			return t, true
		}
	}
	return time.Time{}, false
}

// century gives a two-digit year the latest one that lies at most 50 years ahead (R5.2).
func century(t, ref time.Time) time.Time {
	t = t.AddDate((ref.Year()/100+1-t.Year()/100)*100, 0, 0)
	for t.After(ref.AddDate(50, 0, 0)) {
		t = t.AddDate(-100, 0, 0)
	}
	return t
}
