package render

import (
	"strconv"
	"time"
)

// MS is a duration in milliseconds with up to three decimals in JSON.
type MS time.Duration

// MarshalJSON writes 12.204 for 12,204 µs.
func (m MS) MarshalJSON() ([]byte, error) {
	us := (int64(m) + 500) / 1000
	return strconv.AppendFloat(nil, float64(us)/1000, 'f', -1, 64), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *MS) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(b), 64)
	*m = MS(f * float64(time.Millisecond))
	return err
}

// Time is an RFC 3339 instant in UTC with milliseconds.
type Time struct{ time.Time }

// MarshalJSON writes "2026-07-15T10:00:00.000Z".
func (t Time) MarshalJSON() ([]byte, error) {
	return t.UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z"`), nil
}
