package retrytest

import (
	"math"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"
)

// fault reads w as a fault, alone or after a status, and reports whether it is one.
func (p *parser) fault(s *step, w word) bool {
	name, value, hasValue := strings.Cut(w.text, "=")
	var end ending
	switch name {
	case "close", "reset", "garbage", "refuse-stream":
		if hasValue {
			return false
		}
		end = wordFault(name)
	case "close-after":
		end, s.endBytes = endCloseAfter, p.bytes(w, value)
	case "truncate":
		end, s.endBytes = endTruncate, p.bytes(w, value)
	case "goaway":
		end = endGoAway
		if hasValue {
			s.lastStream = int64(p.number(w, value, math.MaxInt32))
		}
	case "rst-stream":
		end, s.code = endRST, uint32(http2.ErrCodeInternal)
		if hasValue {
			s.code = p.errorCode(w, value)
		}
	case "raw":
		end, s.raw = endRaw, value
	case "stall":
		s.stall = p.duration(w, value, true)
		return true
	case "drip":
		p.drip(s, w, value)
		return true
	default:
		return false
	}
	if s.end != endNone {
		p.failWord(w, "one fault in a step")
	}
	s.end = end
	return true
}

// wordFault is the ending of a fault that takes no value.
func wordFault(name string) ending {
	switch name {
	case "close":
		return endClose
	case "reset":
		return endReset
	case "garbage":
		return endGarbage
	default:
		return endRefuse
	}
}

// drip reads "10B/100ms".
func (p *parser) drip(s *step, w word, value string) {
	size, every, ok := strings.Cut(value, "/")
	if !ok {
		p.failWord(w, "drip=BYTES/DURATION such as drip=10B/100ms")
		return
	}
	s.dripBytes, s.dripEvery = p.bytes(w, size), p.duration(w, every, false)
	if s.dripBytes == 0 {
		p.failWord(w, "at least 1B in drip=...")
	}
}

// option reads w as an option and reports whether it is one.
func (p *parser) option(s *step, w word) bool {
	name, value, hasValue := strings.Cut(w.text, "=")
	if !hasValue {
		return p.flag(s, w)
	}
	switch name {
	case "delay":
		s.delay = p.duration(w, value, false)
	case "read":
		s.read = p.bytes(w, value)
	case "reason":
		s.reason = value
		if strings.ContainsAny(value, "\r\n") {
			p.failWord(w, "a status text of one line")
		}
	case "http":
		s.http10 = value == "1.0"
		if value != "1.0" && value != "1.1" {
			p.failWord(w, "http=1.0 or http=1.1")
		}
	case "body", "size":
		p.bodyOption(s, w, name, value)
	default:
		return p.fieldOption(s, w, name, value)
	}
	return true
}

func (p *parser) bodyOption(s *step, w word, name, value string) {
	if name == "size" {
		s.size = p.bytes(w, value)
		return
	}
	s.hasBody = true
	if file, ok := strings.CutPrefix(value, "@"); ok {
		s.bodyFile = file
		if file == "" {
			p.failWord(w, "a file's name after body=@")
		}
		return
	}
	s.body = value
}

// fieldOption reads the options that make header fields.
func (p *parser) fieldOption(s *step, w word, name, value string) bool {
	switch name {
	case "retry-after":
		s.retryAfter = append(s.retryAfter, p.when(w, value))
	case "date":
		p.dateOption(s, w, value)
	case "age":
		s.header = append(s.header, Field{"Age", strconv.Itoa(p.number(w, value, math.MaxInt32))})
	case "location":
		s.header = append(s.header, p.field(w, "Location: "+value))
	case "etag":
		s.etag = p.field(w, "ETag: "+value).Value
	case "header":
		s.header = append(s.header, p.field(w, value))
	case "trailer":
		s.trailer = append(s.trailer, p.field(w, value))
	default:
		return false
	}
	return true
}

// flag reads the options without a value, and "xN".
func (p *parser) flag(s *step, w word) bool {
	switch w.text {
	case "chunked":
		s.chunked = true
	case "no-length":
		s.noLength = true
	case "ranges":
		s.ranges = true
	case "effect":
		s.effect = true
	case "lost":
		s.lost = true
	case "ignore-expect":
		s.ignoreExpect = true
	case "xinf":
		s.times = forever
	default:
		digits, ok := strings.CutPrefix(w.text, "x")
		if !ok || digits == "" || digits[0] < '0' || digits[0] > '9' {
			return false
		}
		s.times = p.number(w, digits, 1_000_000)
		if s.times == 0 {
			p.failWord(w, "at least x1")
		}
	}
	return true
}

func (p *parser) dateOption(s *step, w word, value string) {
	if value == "none" {
		s.noDate = true
		return
	}
	s.dateOffset = p.signed(w, value)
}

// when reads the value of retry-after=.
func (p *parser) when(w word, value string) when {
	if raw, ok := strings.CutPrefix(value, "raw:"); ok {
		return when{text: p.field(w, "Retry-After: "+raw).Value}
	}
	for _, f := range [...]struct {
		name string
		form whenForm
	}{{"date", whenIMF}, {"rfc850", whenRFC850}, {"asctime", whenASCTime}} {
		if offset, ok := strings.CutPrefix(value, f.name); ok {
			return when{form: f.form, after: p.signed(w, offset)}
		}
	}
	for i := range len(value) {
		if value[i] < '0' || value[i] > '9' {
			p.failWord(w, "seconds, date+2s, rfc850+2s, asctime+2s or raw:TEXT after retry-after=")
			break
		}
	}
	if value == "" {
		p.failWord(w, "a value after retry-after=")
	}
	return when{text: value}
}

// field reads "Name: value" and refuses what would break the answer's lines.
func (p *parser) field(w word, line string) Field {
	name, value, ok := strings.Cut(line, ":")
	if !ok || name == "" || strings.ContainsAny(line, "\r\n") || strings.ContainsAny(name, " \t") {
		p.failWord(w, "a field such as 'Name: value' on one line")
	}
	return Field{name, textproto.TrimString(value)}
}

// bytes reads a size: 100, 100B, 10kB, 10KB, 10MB, 1GB (powers of 1000), KiB, MiB, GiB.
func (p *parser) bytes(w word, value string) int64 {
	digits := strings.TrimRight(value, "BkKMGi")
	unit := int64(0)
	switch value[len(digits):] {
	case "", "B":
		unit = 1
	case "kB", "KB":
		unit = 1000
	case "MB":
		unit = 1000 * 1000
	case "GB":
		unit = 1000 * 1000 * 1000
	case "KiB":
		unit = 1 << 10
	case "MiB":
		unit = 1 << 20
	case "GiB":
		unit = 1 << 30
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || unit == 0 {
		p.failWord(w, "a size such as 100B, 10kB, 1MiB")
		return 0
	}
	return int64(n) * unit
}

// number reads a decimal of digits only.
func (p *parser) number(w word, value string, limit int) int {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil || int(n) > limit {
		p.failWord(w, "a whole number up to "+strconv.Itoa(limit))
		return 0
	}
	return int(n)
}

// duration reads 100ms, 1m30s, 5 (seconds), and "inf" where that is allowed.
func (p *parser) duration(w word, value string, inf bool) time.Duration {
	if inf && value == "inf" {
		return forever
	}
	d, err := parseDuration(value)
	if err != nil || (d == 0 && inf) {
		p.failWord(w, "a duration such as 100ms or 5s")
		return 0
	}
	return d
}

// signed reads +2s or -90s; the sign is required.
func (p *parser) signed(w word, value string) time.Duration {
	d, err := time.ParseDuration(value)
	if err != nil || (value[0] != '+' && value[0] != '-') {
		p.failWord(w, "a signed duration such as +2s or -90s")
		return 0
	}
	return d
}

// errorCode reads an HTTP/2 error code by its name in RFC 9113 section 7.
func (p *parser) errorCode(w word, value string) uint32 {
	for c := http2.ErrCodeNo; c <= http2.ErrCodeHTTP11Required; c++ {
		if c.String() == value {
			return uint32(c)
		}
	}
	p.failWord(w, "an HTTP/2 error code such as INTERNAL_ERROR")
	return 0
}
