package render

import (
	"errors"
	"math"
	"strconv"
	"time"
)

// MS is a duration in milliseconds with up to three decimals in JSON.
type MS time.Duration

// Millis gives a pointer for the fields that may be null.
func Millis(d time.Duration) *MS {
	m := MS(d)
	return &m
}

// Duration is m as time.Duration; nil is 0.
func (m *MS) Duration() time.Duration {
	if m == nil {
		return 0
	}
	return time.Duration(*m)
}

// MarshalJSON writes 12.204 for 12,204 µs, rounded half away from zero.
func (m MS) MarshalJSON() ([]byte, error) {
	us, rest := int64(m)/1000, int64(m)%1000
	switch {
	case rest >= 500:
		us++
	case rest <= -500:
		us--
	}
	b := make([]byte, 0, 24)
	if us < 0 {
		b, us = append(b, '-'), -us
	}
	b = strconv.AppendInt(b, us/1000, 10)
	if frac := us % 1000; frac != 0 {
		b = append(b, '.', byte('0'+frac/100), byte('0'+frac/10%10), byte('0'+frac%10))
		for b[len(b)-1] == '0' {
			b = b[:len(b)-1]
		}
	}
	return b, nil
}

// UnmarshalJSON reads what MarshalJSON wrote, to the microsecond; values
// beyond an int64 of nanoseconds saturate.
func (m *MS) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return err
	}
	us := math.Round(f * 1000)
	switch limit := float64(math.MaxInt64 / 1000); {
	case us >= limit:
		*m = math.MaxInt64
	case us <= -limit:
		*m = math.MinInt64
	default:
		*m = MS(int64(us) * 1000)
	}
	return nil
}

// Time is an RFC 3339 instant in UTC with milliseconds.
type Time struct{ time.Time }

const timeLayout = `"2006-01-02T15:04:05.000Z"`

// MarshalJSON writes "2026-07-15T10:00:00.000Z".
func (t Time) MarshalJSON() ([]byte, error) {
	return t.UTC().AppendFormat(nil, timeLayout), nil
}

// UnmarshalJSON reads an RFC 3339 instant and puts it in UTC.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	at, err := time.Parse(`"`+time.RFC3339Nano+`"`, string(b))
	if err != nil {
		return err
	}
	t.Time = at.UTC()
	return nil
}

// Epoch is the instant in seconds since 1970, to the millisecond.
func (t Time) Epoch() float64 { return float64(t.UnixMilli()) / 1000 }

// Duration shows d to a person with three significant digits at most, and in
// whole units from a minute on: 850µs, 12.2ms, 3.3s, 1m30s, 2h5m, 3d4h. With
// ascii the micro sign is u.
func Duration(d time.Duration, ascii bool) string {
	if d < 0 {
		return "-" + Duration(-max(d, -math.MaxInt64), ascii)
	}
	switch {
	case d == 0:
		return "0s"
	case d < 999500*time.Nanosecond:
		micro := "µs"
		if ascii {
			micro = "us"
		}
		return digits3(float64(d)/1e3) + micro
	case d < 999500*time.Microsecond:
		return digits3(float64(d)/1e6) + "ms"
	case d < 59950*time.Millisecond:
		return digits3(float64(d)/1e9) + "s"
	case d < time.Hour-500*time.Millisecond:
		return pair(d, time.Minute, "m", time.Second, "s")
	case d < 24*time.Hour-30*time.Second:
		return pair(d, time.Hour, "h", time.Minute, "m")
	}
	return pair(d, 24*time.Hour, "d", time.Hour, "h")
}

func pair(d, big time.Duration, b string, small time.Duration, s string) string {
	n := int64(d / small)
	if d%small >= small/2 {
		n++
	}
	per := int64(big / small)
	out := strconv.FormatInt(n/per, 10) + b
	if n%per != 0 {
		out += strconv.FormatInt(n%per, 10) + s
	}
	return out
}

// digits3 shows f (0 ≤ f < 1000) with three significant digits and no trailing zeros.
func digits3(f float64) string {
	prec := 2
	switch {
	case f >= 99.95:
		prec = 0
	case f >= 9.995:
		prec = 1
	}
	s := strconv.FormatFloat(f, 'f', prec, 64)
	if prec == 0 {
		return s
	}
	for s[len(s)-1] == '0' {
		s = s[:len(s)-1]
	}
	if s[len(s)-1] == '.' {
		s = s[:len(s)-1]
	}
	return s
}

// Bytes shows n to a person in binary units: 512 B, 1.5 KiB, 10.0 MiB.
func Bytes(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	f, units := float64(n)/1024, "KMGTPE"
	i := 0
	for f >= 1023.95 && i < len(units)-1 {
		f, i = f/1024, i+1
	}
	return strconv.FormatFloat(f, 'f', 1, 64) + " " + units[i:i+1] + "iB"
}
