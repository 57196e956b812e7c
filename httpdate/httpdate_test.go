package httpdate_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/bidehttp/bide/httpdate"
)

var now = time.Date(2026, 7, 15, 10, 0, 0, 0, time.UTC)

// retryAfterCase is one line of testdata/retry-after.jsonl.
type retryAfterCase struct {
	Value   string    `json:"value"`
	Now     time.Time `json:"now"`
	Date    *string   `json:"date"`
	Age     *string   `json:"age"`
	Kind    string    `json:"kind"`
	DelayNS *int64    `json:"delay_ns"`
	Clock   *string   `json:"clock"`
	Note    *string   `json:"note"`
}

func (c *retryAfterCase) name(line int) string {
	if c.Note != nil {
		return fmt.Sprintf("R5_line_%d_%s", line, *c.Note)
	}
	return fmt.Sprintf("R5_line_%d_%s", line, c.Value)
}

func retryAfterCases(t *testing.T) []retryAfterCase {
	t.Helper()
	f, err := os.Open("testdata/retry-after.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []retryAfterCase
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c retryAfterCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	if len(cases) < 70 {
		t.Fatalf("only %d cases read", len(cases))
	}
	return cases
}

func TestRetryAfter(t *testing.T) {
	for i, c := range retryAfterCases(t) {
		t.Run(c.name(i+1), func(t *testing.T) {
			var dates []string
			if c.Date != nil {
				dates = []string{*c.Date}
			}
			ref := httpdate.NewReference(c.Now, dates, c.Age != nil)
			got := httpdate.RetryAfter([]string{c.Value}, ref)
			if string(got.Kind) != c.Kind {
				t.Fatalf("kind of %q is %s, want %s", c.Value, got.Kind, c.Kind)
			}
			if got.Raw != c.Value {
				t.Errorf("raw is %q, want the value as received", got.Raw)
			}
			if got.Valid() != (c.DelayNS != nil) {
				t.Fatalf("valid is %v", got.Valid())
			}
			if c.DelayNS != nil && int64(got.Delay) != *c.DelayNS {
				t.Errorf("delay is %d ns, want %d", got.Delay, *c.DelayNS)
			}
			if c.Clock != nil && ref.Clock != *c.Clock {
				t.Errorf("clock is %s, want %s", ref.Clock, *c.Clock)
			}
		})
	}
}

func TestRetryAfterLines(t *testing.T) {
	local := httpdate.NewReference(now, nil, false)
	for _, c := range []struct {
		name  string
		lines []string
		kind  httpdate.Kind
		raw   string
		delay time.Duration
	}{
		{"R5.5_the_longest_counts", []string{"3", "7", "5"}, httpdate.Seconds, "7", 7 * time.Second},
		{"R5.5_a_date_may_be_the_longest", []string{"3", "Wed, 15 Jul 2026 10:00:30 GMT"}, httpdate.Date, "Wed, 15 Jul 2026 10:00:30 GMT", 30 * time.Second},
		{"R5.5_invalid_lines_do_not_count", []string{"soon", "2", "later"}, httpdate.Seconds, "2", 2 * time.Second},
		{"R5.5_zero_beats_invalid", []string{"soon", "0"}, httpdate.Seconds, "0", 0},
		{"R5.5_all_invalid_tells_the_first", []string{"soon", "later"}, httpdate.Invalid, "soon", 0},
		{"R5.5_equals_tell_the_first", []string{"02", "2"}, httpdate.Seconds, "02", 2 * time.Second},
		{"R5.3_no_line_is_absent", nil, httpdate.Absent, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := httpdate.RetryAfter(c.lines, local)
			if got != (httpdate.Delay{Kind: c.kind, Raw: c.raw, Delay: c.delay}) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestReference(t *testing.T) {
	const minuteAgo = "Wed, 15 Jul 2026 09:59:00 GMT"
	for _, c := range []struct {
		name  string
		dates []string
		aged  bool
		want  httpdate.Reference
	}{
		{"R5.4_server_date_decides", []string{minuteAgo}, false, httpdate.Reference{Time: now.Add(-time.Minute), Clock: "server_date", Skew: -time.Minute, HasSkew: true}},
		{"R5.4_age_makes_the_wall_clock_decide", []string{minuteAgo}, true, httpdate.Reference{Time: now, Clock: "local", Skew: -time.Minute, HasSkew: true}},
		{"R5.4_no_date", nil, false, httpdate.Reference{Time: now, Clock: "local"}},
		{"R5.4_invalid_date", []string{"now"}, false, httpdate.Reference{Time: now, Clock: "local"}},
		{"R5.4_two_dates_are_not_trusted", []string{minuteAgo, minuteAgo}, false, httpdate.Reference{Time: now, Clock: "local"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := httpdate.NewReference(now, c.dates, c.aged); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestParse(t *testing.T) {
	want := time.Date(1994, 11, 6, 8, 49, 37, 0, time.UTC)
	for _, c := range []struct {
		name, text string
		ref, want  time.Time
	}{
		{"R5.2_imf_fixdate", "Sun, 06 Nov 1994 08:49:37 GMT", now, want},
		{"R5.2_rfc850", "Sunday, 06-Nov-94 08:49:37 GMT", now, want},
		{"R5.2_asctime", "Sun Nov  6 08:49:37 1994", now, want},
		{"R5.2_asctime_two_digits", "Sun Nov 06 08:49:37 1994", now, want},
		{"R5.2_leap_second", "Sat, 31 Dec 2016 23:59:60 GMT", now, time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"R5.2_leap_day", "Thu, 29 Feb 2024 00:00:00 GMT", now, time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)},
		{"R5.2_two_digits_near_the_century's_end", "Wednesday, 01-Jan-10 00:00:00 GMT", time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2110, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"R5.2_two_digit_leap_day", "Tuesday, 29-Feb-00 00:00:00 GMT", time.Date(2060, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}},
		{"R5.2_reference_in_another_zone", "Wednesday, 15-Jul-76 10:00:00 GMT", now.In(time.FixedZone("", 3600)), now.AddDate(50, 0, 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.want.IsZero() { // 2100 has no 29 February, and 2000 is not the year meant
				if got, err := httpdate.Parse(c.text, c.ref); err == nil {
					t.Errorf("got %v, want an error", got)
				}
				return
			}
			got, err := httpdate.Parse(c.text, c.ref)
			if err != nil || !got.Equal(c.want) {
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestFormat(t *testing.T) {
	at := time.Date(1994, 11, 6, 9, 49, 37, 999, time.FixedZone("", 3600))
	const want = "Sun, 06 Nov 1994 08:49:37 GMT"
	if got := httpdate.Format(at); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := string(httpdate.AppendFormat([]byte("Date: "), at)); got != "Date: "+want {
		t.Errorf("got %q", got)
	}
}

func TestParseUnits(t *testing.T) {
	for _, c := range []struct {
		name, text string
		unit, want time.Duration
	}{
		{"R5.1_largest_second", "9223372036", time.Second, 9223372036 * time.Second},
		{"R5.1_saturates_in_seconds", "9223372037", time.Second, math.MaxInt64},
		{"R5.1_largest_nanosecond", "9223372036854775807", 1, math.MaxInt64},
		{"R5.1_saturates_in_nanoseconds", "92233720368547758080", 1, math.MaxInt64},
		{"R5.1_leading_zeros", "00000000000000000000000000012", time.Second, 12 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, ok := httpdate.ParseUnits(c.text, c.unit); !ok || got != c.want {
				t.Errorf("got %d, %v, want %d", got, ok, c.want)
			}
		})
	}
}

func TestSecondsPathAllocatesNothing(t *testing.T) {
	ref := httpdate.NewReference(now, nil, false)
	lines := []string{" 120 "}
	if n := testing.AllocsPerRun(100, func() { httpdate.RetryAfter(lines, ref) }); n != 0 {
		t.Errorf("%v allocations per call", n)
	}
}

func BenchmarkRetryAfterSeconds(b *testing.B) {
	ref := httpdate.NewReference(now, nil, false)
	lines := []string{"120"}
	b.ReportAllocs()
	for b.Loop() {
		httpdate.RetryAfter(lines, ref)
	}
}

func BenchmarkRetryAfterDate(b *testing.B) {
	ref := httpdate.NewReference(now, nil, false)
	lines := []string{"Wed, 15 Jul 2026 10:00:30 GMT"}
	b.ReportAllocs()
	for b.Loop() {
		httpdate.RetryAfter(lines, ref)
	}
}
