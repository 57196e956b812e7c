package flags

import (
	"math"
	"strings"
	"time"

	"github.com/bidehttp/bide/retry"
)

// buildPolicy applies the policy settings, the strongest source first.
func (p *parser) buildPolicy() error {
	if err := p.settleSpellings(); err != nil {
		return err
	}
	pol := p.preset()
	p.curlSpellings(&pol)
	p.durations(&pol)
	p.words(&pol)
	p.raiseCap(&pol)
	p.vouchers(&pol)
	if pol.MaxTime > 0 && !p.wait && !p.patienceGiven() {
		pol.Deadline = pol.MaxTime // R6.4
	}
	if err := p.checkBounds(&pol); err != nil {
		return err
	}
	if err := pol.Check(); err != nil {
		return usagef("%v", err)
	}
	p.g.Policy = pol
	return nil
}

// counterparts are curl's spellings and what they set here.
var counterparts = [...][2]string{{"retry", "attempts"}, {"retry-delay", "base"}, {"retry-delay", "backoff"}}

// settleSpellings drops the weaker of two spellings of one setting; within one
// source they are a usage error. --retry-delay stays for what it still sets.
func (p *parser) settleSpellings() error {
	for _, pair := range counterparts {
		curl, hasCurl := p.settings[pair[0]]
		own, hasOwn := p.settings[pair[1]]
		if !hasCurl || !hasOwn {
			continue
		}
		if curl.src == own.src {
			return usagef("%s and %s set the same thing; give one of them", curl.name, own.name)
		}
		if curl.src > own.src {
			delete(p.settings, pair[1])
		} else if pair[0] == "retry" {
			delete(p.settings, "retry")
		}
	}
	return nil
}

func (p *parser) has(name string) bool { _, ok := p.settings[name]; return ok }

// curlSpellings applies --as-curl, --retry and --retry-delay.
func (p *parser) curlSpellings(pol *retry.Policy) {
	if s, ok := p.settings["retry"]; ok {
		n, _ := parseCount(s.text) // checked by keep, as are all below
		pol.Attempts = n + 1
	}
	if s, ok := p.settings["attempts"]; ok {
		if s.text == "unlimited" {
			pol.Attempts = retry.Unlimited
		} else {
			pol.Attempts, _ = parseCount(s.text)
		}
	}
	if p.asCurlRules() {
		pol.Attempts = 1
	}
	s, ok := p.settings["retry-delay"]
	if !ok {
		return
	}
	d, _ := parseDuration(s.text)
	if d == 0 {
		return
	}
	pol.Base, pol.Backoff = d, retry.Fixed
}

// asCurlRules reports whether --as-curl decides the number of attempts: it
// beats what was not said on the same command line.
func (p *parser) asCurlRules() bool {
	if !p.g.AsCurl {
		return false
	}
	for _, name := range [...]string{"attempts", "retry"} {
		s, ok := p.settings[name]
		if ok && (s.src == srcFlag || s.src == srcFile || s.src >= p.asCurl) {
			return false
		}
	}
	return true
}

func (p *parser) durations(pol *retry.Policy) {
	for _, t := range [...]struct {
		name string
		to   *time.Duration
	}{
		{"base", &pol.Base}, {"cap", &pol.Cap}, {"deadline", &pol.Deadline}, {"attempt-reserve", &pol.AttemptReserve},
		{"max-time", &pol.MaxTime}, {"retry-max-time", &pol.RetryMaxTime}, {"connect-timeout", &p.g.ConnectTimeout},
	} {
		if s, ok := p.settings[t.name]; ok {
			*t.to, _ = parseDuration(s.text)
		}
	}
}

// words applies the settings that are words, lists and numbers.
func (p *parser) words(pol *retry.Policy) {
	if s, ok := p.settings["jitter"]; ok {
		pol.Jitter, _ = parseRatio(s.text)
	}
	if s, ok := p.settings["jitter-mode"]; ok {
		pol.JitterMode = retry.JitterMode(s.text)
	}
	if s, ok := p.settings["backoff"]; ok {
		pol.Backoff = retry.Backoff(s.text)
	}
	if s, ok := p.settings["retry-after-mode"]; ok {
		pol.RetryAfterMode = retry.RetryAfterMode(s.text)
	}
	if s, ok := p.settings["max-resumes"]; ok {
		pol.MaxResumes, _ = parseCount(s.text)
	}
	if s, ok := p.settings["retry-on"]; ok {
		pol.RetryOn, _ = retry.ParseRetryOn(s.text, pol.RetryOn)
	}
}

// raiseCap makes room for --retry-delay and its jitter, unless a cap was given
// by a source as strong.
func (p *parser) raiseCap(pol *retry.Policy) {
	delay, ok := p.settings["retry-delay"]
	if cap, given := p.settings["cap"]; !ok || given && cap.src >= delay.src || pol.Cap == 0 {
		return
	}
	room := math.Ceil(float64(pol.Base) * (1 + pol.Jitter))
	if room >= math.MaxInt64 {
		pol.Cap = math.MaxInt64
	} else {
		pol.Cap = max(pol.Cap, time.Duration(room))
	}
}

// vouchers applies what the user says about the request and the server.
func (p *parser) vouchers(pol *retry.Policy) {
	pol.AllErrors = p.settings["retry-all-errors"].text == "true"
	pol.Idempotent = p.settings["idempotent"].text == "true"
	p.g.RateLimitHeaders = p.settings["rate-limit-headers"].text == "true"
	p.g.IdempotencyHeader = "Idempotency-Key"
	if s, ok := p.settings["idempotency-header"]; ok {
		p.g.IdempotencyHeader = s.text
	}
	if s, ok := p.settings["safe-on"]; ok {
		pol.SafeOn, _ = retry.ParseStatuses(s.text)
	}
}

// patienceGiven reports whether the user said anything about attempts, waits or
// deadlines: then -m bounds an attempt only (R6.4). What says only that a
// request may be repeated, or what changes nothing, does not count.
func (p *parser) patienceGiven() bool {
	for name := range p.settings {
		switch name {
		case "max-time", "connect-timeout", "idempotent", "safe-on", "idempotency-header",
			"rate-limit-headers", "retry-connrefused":
		default:
			return true
		}
	}
	return false
}

// checkBounds refuses what Policy.Check would, with the flags' names and a hint.
func (p *parser) checkBounds(pol *retry.Policy) error {
	switch {
	case pol.Attempts == retry.Unlimited && pol.Deadline == 0 && pol.RetryMaxTime == 0:
		if !p.has("attempts") {
			return usagef("%s 0 leaves bide wait without an end; give it --attempts or --retry-max-time", p.settings["deadline"].name)
		}
		return usagef("%s: unlimited needs a time bound; add --deadline or --retry-max-time", p.settings["attempts"].name)
	case pol.Cap > 0 && pol.Base > pol.Cap:
		name := "--base"
		if s, ok := p.settings["retry-delay"]; ok && !p.has("base") {
			name = s.name
		}
		return usagef("%s (%v) is longer than --cap (%v)", name, pol.Base, pol.Cap)
	}
	return nil
}

func checkRetryOn(v string) error {
	_, err := retry.ParseRetryOn(v, retry.DefaultRetryOn())
	return err
}

func checkStatuses(v string) error {
	_, err := retry.ParseStatuses(v)
	return err
}

// takeKeyHeader makes a -H with the idempotency header the same as the flag
// (R7.1), and refuses a key that two operations would share (R7.2).
func (p *parser) takeKeyHeader() error {
	kept := p.g.Headers[:0]
	fromHeader := ""
	for i, line := range p.g.Headers {
		name, value, isSet := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		isKey := strings.EqualFold(name, p.g.IdempotencyHeader) || strings.EqualFold(name, "Idempotency-Key")
		if !isSet || !isKey || value == "" {
			kept = append(kept, line)
			continue
		}
		if i < p.shared {
			return usagef("the default config file gives the header %s; an idempotency key belongs to one command line", printable(name))
		}
		if p.g.IdempotencyKey != "" {
			if fromHeader != "" {
				return usagef("-H gives two idempotency keys (%s, %s)", printable(fromHeader), printable(name))
			}
			return usagef("--idempotency-key and -H '%s: ...' both give the key; leave one out", printable(name))
		}
		if err := setIdempotencyKey(p, value); err != nil {
			return usagef("-H %s: %v", printable(name), err)
		}
		fromHeader = name
	}
	p.g.Headers = kept
	if fromHeader != "" {
		p.g.IdempotencyHeader = fromHeader
	}
	return nil
}
