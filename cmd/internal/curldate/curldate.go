// Package curldate reads dates in the many notations that curl's -z takes:
// "Sun, 06 Nov 1994 08:49:37 GMT", "06 Nov 1994", "20040911 12:05:58 -0700",
// "Nov 6 08:49:37 1994", with week day, zone and time left out or in any order.
package curldate

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Parse reads a date; ok is false where it is none. What has no time is
// midnight, what has no zone is UTC.
func Parse(text string) (t time.Time, ok bool) {
	p := parser{text: text, weekday: -1, month: -1, day: -1, year: -1, hour: -1}
	const maxParts = 6
	for part := 0; p.at < len(p.text) && part < maxParts; part++ {
		p.skip()
		switch c := p.byte(0); {
		case isLetter(c):
			ok = p.name()
		case isDigit(c):
			ok = p.clock() || p.number()
		default:
			ok = true // the end
		}
		if !ok {
			return time.Time{}, false
		}
	}
	return p.date()
}

type parser struct {
	text string
	at   int

	weekday, month, day, year int // -1: not yet seen; month from 0
	hour, minute, second      int
	zone                      int // seconds to add for UTC
	hasZone                   bool
	yearNext                  bool // the next number is a year
}

// byte is the byte n behind the current one, 0 at the end.
func (p *parser) byte(n int) byte {
	if p.at+n < len(p.text) {
		return p.text[p.at+n]
	}
	return 0
}

func (p *parser) skip() {
	for p.at < len(p.text) && !isLetter(p.text[p.at]) && !isDigit(p.text[p.at]) {
		p.at++
	}
}

// maxName is the shortest word that is too long to be a name.
const maxName = 12

// name reads a week day, a month or a zone, whichever is still missing.
func (p *parser) name() bool {
	n := 0
	for isLetter(p.byte(n)) && n < maxName {
		n++
	}
	word := strings.ToLower(p.text[p.at : p.at+n])
	p.at += n
	if n == maxName {
		return false
	}
	if p.weekday < 0 {
		if p.weekday = weekdayOf(word); p.weekday >= 0 {
			return true
		}
	}
	if p.month < 0 {
		if p.month = monthOf(word); p.month >= 0 {
			return true
		}
	}
	if p.hasZone {
		return false
	}
	minutes, ok := zoneOf(word)
	p.zone, p.hasZone = minutes*60, ok
	return ok
}

// clock reads HH:MM or HH:MM:SS, once.
func (p *parser) clock() bool {
	if p.hour >= 0 {
		return false
	}
	hour, n := p.twoDigits(0)
	if hour > 23 || p.byte(n) != ':' || !isDigit(p.byte(n+1)) {
		return false
	}
	minute, m := p.twoDigits(n + 1)
	if minute > 59 {
		return false
	}
	second := 0
	n += 1 + m
	if p.byte(n) == ':' && isDigit(p.byte(n+1)) {
		second, m = p.twoDigits(n + 1)
		n += 1 + m
	}
	if second > 60 {
		return false
	}
	p.hour, p.minute, p.second = hour, minute, second
	p.at += n
	return true
}

// twoDigits reads one or two digits from n on.
func (p *parser) twoDigits(n int) (value, digits int) {
	value = int(p.byte(n) - '0')
	if isDigit(p.byte(n + 1)) {
		return 10*value + int(p.byte(n+1)-'0'), 2
	}
	return value, 1
}

// number reads a zone (+0100), YYYYMMDD, a day or a year.
func (p *parser) number() bool {
	n := 0
	for isDigit(p.byte(n)) {
		n++
	}
	value, err := strconv.ParseInt(p.text[p.at:p.at+n], 10, 64)
	if err != nil || value > math.MaxInt32 {
		return false
	}
	before := byte(0)
	if p.at > 0 {
		before = p.text[p.at-1]
	}
	p.at += n
	v := int(value)
	const maxZone = 1400
	switch {
	case !p.hasZone && n == 4 && v <= maxZone && (before == '+' || before == '-'):
		p.zone, p.hasZone = (v/100*60+v%100)*60, true
		if before == '+' {
			p.zone = -p.zone
		}
		return true
	case n == 8 && p.year < 0 && p.month < 0 && p.day < 0:
		p.year, p.month, p.day = v/10000, v%10000/100-1, v%100
		return true
	}
	if !p.yearNext && p.day < 0 {
		p.yearNext = true
		if v > 0 && v < 32 {
			p.day = v
			return true
		}
	}
	if !p.yearNext || p.year >= 0 {
		return false
	}
	p.setYear(v)
	return true
}

func (p *parser) setYear(v int) {
	switch {
	case v > 70 && v < 100:
		v += 1900
	case v <= 70:
		v += 2000
	}
	p.year = v
	if p.day < 0 {
		p.yearNext = false
	}
}

func (p *parser) date() (time.Time, bool) {
	const gregorian = 1583
	if p.day < 0 || p.month < 0 || p.year < gregorian || p.day > 31 || p.month > 11 {
		return time.Time{}, false
	}
	hour := max(p.hour, 0)
	return time.Date(p.year, time.Month(p.month+1), p.day, hour, p.minute, p.second+p.zone, 0, time.UTC), true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

func weekdayOf(word string) int {
	for d := range time.Saturday + 1 {
		name := strings.ToLower(d.String())
		if word == name || word == name[:3] {
			return int(d)
		}
	}
	return -1
}

func monthOf(word string) int {
	const months = "janfebmaraprmayjunjulaugsepoctnovdec"
	if i := strings.Index(months, word); len(word) == 3 && i%3 == 0 {
		return i / 3
	}
	return -1
}

// zoneOf is how many minutes a zone is behind UTC (RFC 822 §5 and its heirs).
func zoneOf(word string) (minutes int, ok bool) {
	for _, z := range [...]struct {
		name    string
		minutes int
	}{
		{"gmt", 0}, {"ut", 0}, {"utc", 0}, {"wet", 0}, {"z", 0}, {"bst", -60}, {"wat", 60}, {"ast", 240}, {"adt", 180},
		{"est", 300}, {"edt", 240}, {"cst", 360}, {"cdt", 300}, {"mst", 420}, {"mdt", 360}, {"pst", 480}, {"pdt", 420},
		{"yst", 540}, {"ydt", 480}, {"hst", 600}, {"hdt", 540}, {"cat", 600}, {"ahst", 600}, {"nt", 660}, {"idlw", 720},
		{"cet", -60}, {"met", -60}, {"mewt", -60}, {"mest", -120}, {"cest", -120}, {"mesz", -120}, {"fwt", -60}, {"fst", -120},
		{"eet", -120}, {"wast", -420}, {"wadt", -480}, {"cct", -480}, {"jst", -540}, {"east", -600}, {"eadt", -660},
		{"gst", -600}, {"nzt", -720}, {"nzst", -720}, {"nzdt", -780}, {"idle", -720},
	} {
		if z.name == word {
			return z.minutes, true
		}
	}
	return military(word)
}

// military zones as RFC 822 and curl count them: A to M without J behind UTC,
// N to Y ahead of it. (The military itself counts the other way round.)
func military(word string) (minutes int, ok bool) {
	if len(word) != 1 || word == "j" {
		return 0, false
	}
	switch c := int(word[0]); {
	case c <= 'i':
		return 60 * (c - 'a' + 1), true
	case c <= 'm':
		return 60 * (c - 'a'), true
	default:
		return -60 * (c - 'n' + 1), true
	}
}
