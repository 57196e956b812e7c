package cookies

import (
	"strconv"
	"strings"
	"time"
)

// parseDate reads a cookie-date in Unix seconds: the lenient algorithm of RFC
// 6265 §5.1.1, and a date alone, which it would refuse, as midnight (curl). A
// date at or before 1970 gives 1, since 0 is a session cookie's.
func parseDate(s string) (int64, bool) {
	d := dateParts{day: -1, month: -1, year: -1}
	for _, token := range strings.FieldsFunc(s, isDelimiter) {
		d.take(token)
	}
	if d.day < 1 || d.day > 31 || d.month < 0 || d.year < 1601 || d.hour > 23 || d.minute > 59 || d.second > 60 {
		return 0, false
	}
	t := time.Date(d.year, time.Month(d.month+1), d.day, d.hour, d.minute, d.second, 0, time.UTC)
	if t.Day() != d.day && d.second < 60 {
		return 0, false // the 31st of a month that has none
	}
	return max(t.Unix(), 1), true
}

type dateParts struct {
	day, month, year     int
	hour, minute, second int
	hasTime              bool
}

func isDelimiter(r rune) bool {
	switch {
	case r == '\t', r >= 0x20 && r <= 0x2f, r >= 0x3b && r <= 0x40, r >= 0x5b && r <= 0x60, r >= 0x7b && r <= 0x7e:
		return true
	}
	return false
}

func (d *dateParts) take(token string) {
	if !d.hasTime && d.takeTime(token) {
		return
	}
	n, digits := leadingNumber(token)
	switch {
	case d.day < 0 && (digits == 1 || digits == 2):
		d.day = n
	case d.month < 0 && monthOf(token) >= 0:
		d.month = monthOf(token)
	case d.year < 0 && digits >= 2 && digits <= 4:
		switch {
		case digits == 2 && n >= 70:
			n += 1900
		case digits == 2:
			n += 2000
		}
		d.year = n
	}
}

func (d *dateParts) takeTime(token string) bool {
	parts := strings.SplitN(token, ":", 3)
	if len(parts) != 3 {
		return false
	}
	var v [3]int
	for i, p := range parts {
		n, digits := leadingNumber(p)
		if digits < 1 || digits > 2 || i < 2 && digits != len(p) {
			return false
		}
		v[i] = n
	}
	d.hour, d.minute, d.second, d.hasTime = v[0], v[1], v[2], true
	return true
}

func leadingNumber(s string) (n, digits int) {
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	if digits == 0 || digits > 4 {
		return 0, digits
	}
	n, _ = strconv.Atoi(s[:digits])
	return n, digits
}

func monthOf(token string) int {
	const months = "janfebmaraprmayjunjulaugsepoctnovdec"
	if len(token) < 3 {
		return -1
	}
	i := strings.Index(months, strings.ToLower(token[:3]))
	if i < 0 || i%3 != 0 {
		return -1
	}
	return i / 3
}
