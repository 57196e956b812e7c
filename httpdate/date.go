// Package httpdate reads and writes the dates of HTTP (RFC 9110, section 5.6.7)
// and the Retry-After field (section 10.2.3). It is strict: what the grammar does
// not allow is invalid, never guessed at. All functions are pure and safe for
// concurrent use.
package httpdate

import (
	"errors"
	"time"
)

// ErrInvalid is returned for a text that is none of the three forms of HTTP-date.
var ErrInvalid = errors.New("not an HTTP-date")

const imfFixdate = "Mon, 02 Jan 2006 15:04:05 GMT"

// Format writes t as an IMF-fixdate, the only form that may be sent
// (RFC 9110, section 5.6.7). The fraction of a second is dropped. The year must lie
// in 0 to 9999, since the form has four digits for it.
func Format(t time.Time) string { return t.UTC().Format(imfFixdate) }

// AppendFormat appends Format(t) to b.
func AppendFormat(b []byte, t time.Time) []byte { return t.UTC().AppendFormat(b, imfFixdate) }

// Parse reads an HTTP-date in one of its three forms (RFC 9110, section 5.6.7):
// IMF-fixdate, rfc850-date and asctime-date. Case and spacing must be exact, the
// zone GMT and the weekday right. Second 60 is a leap second and gives the first
// second of the next minute. A two-digit year is the latest one for which the
// timestamp is at most 50 years after ref. Surrounding blanks are not accepted.
// The only error is ErrInvalid.
func Parse(s string, ref time.Time) (time.Time, error) {
	var f fields
	var ok bool
	switch {
	case len(s) == len(imfFixdate) && s[3] == ',':
		ok = f.imf(s)
	case len(s) == len("Mon Jan  2 15:04:05 2006") && s[3] == ' ':
		ok = f.asctime(s)
	default:
		ok = f.rfc850(s)
	}
	if !ok {
		return time.Time{}, ErrInvalid
	}
	if f.shortYear {
		f.expandYear(ref.UTC())
	}
	return f.time()
}

// fields are the parts of a date as written.
type fields struct {
	weekday                         time.Weekday
	year, day, hour, minute, second int
	month                           time.Month
	shortYear                       bool
}

// imf reads "Sun, 06 Nov 1994 08:49:37 GMT"; the caller has checked the length.
func (f *fields) imf(s string) bool {
	return f.shortDay(s[:3]) && s[3:5] == ", " &&
		digits(s[5:7], &f.day) && s[7] == ' ' && f.monthName(s[8:11]) && s[11] == ' ' &&
		digits(s[12:16], &f.year) && s[16] == ' ' && f.clock(s[17:25]) && s[25:] == " GMT"
}

// asctime reads "Sun Nov  6 08:49:37 1994"; the caller has checked the length.
func (f *fields) asctime(s string) bool {
	day := s[8:10]
	if day[0] == ' ' {
		day = day[1:]
	}
	return f.shortDay(s[:3]) && s[3] == ' ' && f.monthName(s[4:7]) && s[7] == ' ' &&
		digits(day, &f.day) && s[10] == ' ' && f.clock(s[11:19]) && s[19] == ' ' && digits(s[20:], &f.year)
}

// rfc850 reads "Sunday, 06-Nov-94 08:49:37 GMT".
func (f *fields) rfc850(s string) bool {
	const rest = ", 06-Nov-94 08:49:37 GMT"
	if len(s) < len(rest) {
		return false
	}
	name, s := s[:len(s)-len(rest)], s[len(s)-len(rest):]
	f.shortYear = true
	return f.longDay(name) && s[:2] == ", " && digits(s[2:4], &f.day) && s[4] == '-' &&
		f.monthName(s[5:8]) && s[8] == '-' && digits(s[9:11], &f.year) && s[11] == ' ' &&
		f.clock(s[12:20]) && s[20:] == " GMT"
}

func (f *fields) shortDay(s string) bool {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if d.String()[:3] == s {
			f.weekday = d
			return true
		}
	}
	return false
}

func (f *fields) longDay(s string) bool {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if d.String() == s {
			f.weekday = d
			return true
		}
	}
	return false
}

func (f *fields) monthName(s string) bool {
	for m := time.January; m <= time.December; m++ {
		if m.String()[:3] == s {
			f.month = m
			return true
		}
	}
	return false
}

// clock reads "08:49:37".
func (f *fields) clock(s string) bool {
	return digits(s[:2], &f.hour) && s[2] == ':' && digits(s[3:5], &f.minute) && s[5] == ':' &&
		digits(s[6:], &f.second) && f.hour <= 23 && f.minute <= 59 && f.second <= 60
}

// expandYear gives a two-digit year its century: the latest one that puts the
// timestamp, not just the year, at most 50 years after ref.
func (f *fields) expandYear(ref time.Time) {
	limit := ref.AddDate(50, 0, 0)
	f.year += (limit.Year()/100 + 1) * 100
	for f.date().After(limit) {
		f.year -= 100
	}
}

func (f *fields) date() time.Time {
	return time.Date(f.year, f.month, f.day, f.hour, f.minute, f.second, 0, time.UTC)
}

func (f *fields) time() (time.Time, error) {
	day := time.Date(f.year, f.month, f.day, 0, 0, 0, 0, time.UTC)
	if day.Day() != f.day || day.Weekday() != f.weekday {
		return time.Time{}, ErrInvalid // no such day in this month, or not that weekday
	}
	return f.date(), nil
}

// digits reads s, which must be ASCII digits only.
func digits(s string, n *int) bool {
	v := 0
	for i := range len(s) {
		c := s[i]
		if c < '0' || c > '9' {
			return false
		}
		v = v*10 + int(c-'0')
	}
	*n = v
	return len(s) > 0
}
