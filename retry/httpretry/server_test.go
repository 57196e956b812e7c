package httpretry_test

import (
	"net/textproto"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/httpretry"
)

var serverNow = time.Date(2026, 7, 15, 10, 0, 0, 0, time.UTC)

// readServer reads header lines given as name, value, name, value.
func readServer(rateLimit bool, lines ...string) (retry.Server, bool) {
	h := textproto.MIMEHeader{}
	for i := 0; i < len(lines); i += 2 {
		h.Add(lines[i], lines[i+1])
	}
	return httpretry.ReadServer(h.Values, serverNow, rateLimit)
}

func TestReadServer(t *testing.T) {
	const in30, minuteAgo = "Wed, 15 Jul 2026 10:00:30 GMT", "Wed, 15 Jul 2026 09:59:00 GMT"
	for _, c := range []struct {
		name  string
		lines []string
		want  retry.Server
	}{
		{"R5.1_seconds", []string{"retry-after", "3", "Date", minuteAgo},
			retry.Server{Header: "Retry-After", Raw: "3", Kind: "seconds", Minimum: 3 * time.Second, Valid: true}},
		{"R5.3_invalid", []string{"Retry-After", "soon"},
			retry.Server{Header: "Retry-After", Raw: "soon", Kind: "invalid"}},
		{"R5.3_absent", []string{"X-Other", "1"}, retry.Server{}},
		{"R5.4_server_date", []string{"Retry-After", in30, "Date", minuteAgo},
			retry.Server{Header: "Retry-After", Raw: in30, Kind: "date", Minimum: 90 * time.Second, Valid: true, Clock: "server_date", Skew: -time.Minute, HasSkew: true}},
		{"R5.4a_age_and_skew", []string{"Retry-After", in30, "Date", minuteAgo, "Age", "60"},
			retry.Server{Header: "Retry-After", Raw: in30, Kind: "date", Minimum: 30 * time.Second, Valid: true, Clock: "local", Skew: -time.Minute, HasSkew: true}},
		{"R5.4_no_date", []string{"Retry-After", in30},
			retry.Server{Header: "Retry-After", Raw: in30, Kind: "date", Minimum: 30 * time.Second, Valid: true, Clock: "local"}},
		{"R5.4a_two_dates_are_not_trusted", []string{"Retry-After", in30, "Date", minuteAgo, "Date", minuteAgo},
			retry.Server{Header: "Retry-After", Raw: in30, Kind: "date", Minimum: 30 * time.Second, Valid: true, Clock: "local"}},
		{"R5.4a_no_skew_beside_seconds", []string{"Retry-After", "3", "Date", minuteAgo},
			retry.Server{Header: "Retry-After", Raw: "3", Kind: "seconds", Minimum: 3 * time.Second, Valid: true}},
		{"R5.5a_no_valid_line_tells_the_first", []string{"Retry-After", "soon", "Retry-After", "later"},
			retry.Server{Header: "Retry-After", Raw: "soon", Kind: "invalid"}},
		{"R5.5_lines", []string{"Retry-After", "2", "Retry-After", "9", "Retry-After", "x"},
			retry.Server{Header: "Retry-After", Raw: "9", Kind: "seconds", Minimum: 9 * time.Second, Valid: true}},
		{"R5.7_is_off_by_default", []string{"retry-after-ms", "250", "RateLimit-Reset", "3", "RateLimit-Remaining", "0"}, retry.Server{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, limited := readServer(false, c.lines...)
			if got != c.want || limited {
				t.Errorf("got %+v, %v, want %+v", got, limited, c.want)
			}
		})
	}
}

func TestReadServerRateLimit(t *testing.T) {
	const minuteAgo = "Wed, 15 Jul 2026 09:59:00 GMT" // 1784109540
	secs := func(header, raw string, d time.Duration) retry.Server {
		return retry.Server{Header: header, Raw: raw, Kind: "seconds", Minimum: d, Valid: true}
	}
	for _, c := range []struct {
		name    string
		lines   []string
		want    retry.Server
		limited bool
	}{
		{"R5.7_retry-after_goes_first", []string{"Retry-After", "4", "retry-after-ms", "250"}, secs("Retry-After", "4", 4*time.Second), true},
		{"R5.7a_invalid_retry-after_is_not_absent", []string{"Retry-After", "soon", "retry-after-ms", "250"}, retry.Server{Header: "Retry-After", Raw: "soon", Kind: "invalid"}, false},
		{"R5.7_retry-after-ms", []string{"retry-after-ms", " 250", "RateLimit-Reset", "3", "RateLimit-Remaining", "0"},
			retry.Server{Header: "retry-after-ms", Raw: " 250", Kind: "milliseconds", Minimum: 250 * time.Millisecond, Valid: true}, true},
		{"R5.7_x-ms-retry-after-ms", []string{"x-ms-retry-after-ms", "1500"},
			retry.Server{Header: "x-ms-retry-after-ms", Raw: "1500", Kind: "milliseconds", Minimum: 1500 * time.Millisecond, Valid: true}, false},
		{"R5.7a_an_invalid_one_is_passed_over", []string{"retry-after-ms", "1e3", "x-ms-retry-after-ms", "20"},
			retry.Server{Header: "x-ms-retry-after-ms", Raw: "20", Kind: "milliseconds", Minimum: 20 * time.Millisecond, Valid: true}, false},
		{"R5.7a_only_an_invalid_one_is_told", []string{"retry-after-ms", "1e3"}, retry.Server{Header: "retry-after-ms", Raw: "1e3", Kind: "invalid"}, false},
		{"R5.7_ratelimit", []string{"RateLimit", `"default";r=0;t=30`}, secs("RateLimit", `"default";r=0;t=30`, 30*time.Second), true},
		{"R5.7a_ratelimit_longest_exhausted_policy", []string{"RateLimit", `"a,b;c";r=0;t=5, "day";r=7;t=900, "hour" ; r=0 ; t=60`}, secs("RateLimit", `"a,b;c";r=0;t=5, "day";r=7;t=900, "hour" ; r=0 ; t=60`, time.Minute), true},
		{"R5.7_ratelimit_escaped_quote", []string{"RateLimit", `"a\",;r=5";r=0;t=30`}, secs("RateLimit", `"a\",;r=5";r=0;t=30`, 30*time.Second), true},
		{"R5.7_ratelimit_with_room", []string{"RateLimit", `"default";r=5;t=30`}, retry.Server{}, false},
		{"R5.7_ratelimit-reset", []string{"RateLimit-Reset", "3", "RateLimit-Remaining", "0"}, secs("RateLimit-Reset", "3", 3*time.Second), true},
		{"R5.7_ratelimit-reset_with_room", []string{"RateLimit-Reset", "3", "RateLimit-Remaining", "1"}, retry.Server{}, false},
		{"R5.7a_longest_of_several_lines", []string{"retry-after-ms", "20", "retry-after-ms", "900"},
			retry.Server{Header: "retry-after-ms", Raw: "900", Kind: "milliseconds", Minimum: 900 * time.Millisecond, Valid: true}, false},
		{"R5.7a_reset_needs_the_matching_count", []string{"X-RateLimit-Reset", "3", "RateLimit-Remaining", "0"}, retry.Server{}, true},
		{"R5.7a_reset-after_with_decimals", []string{"X-RateLimit-Reset-After", "1.25", "X-RateLimit-Remaining", "0"}, secs("X-RateLimit-Reset-After", "1.25", 1250*time.Millisecond), true},
		{"R5.7a_reset-after_rounds_up", []string{"X-RateLimit-Reset-After", "0.0000000001", "X-RateLimit-Remaining", "0"}, secs("X-RateLimit-Reset-After", "0.0000000001", 1), true},
		{"R5.7_x-reset_delta", []string{"X-RateLimit-Reset", "999999999", "X-RateLimit-Remaining", "0"}, secs("X-RateLimit-Reset", "999999999", 999999999*time.Second), true},
		{"R5.7a_x-reset_epoch_seconds", []string{"X-RateLimit-Reset", "1784109630", "X-RateLimit-Remaining", "0"},
			retry.Server{Header: "X-RateLimit-Reset", Raw: "1784109630", Kind: "date", Minimum: 30 * time.Second, Valid: true, Clock: "local"}, true},
		{"R5.7_x-reset_epoch_milliseconds", []string{"X-RateLimit-Reset", "1784109630500", "X-RateLimit-Remaining", "0"},
			retry.Server{Header: "X-RateLimit-Reset", Raw: "1784109630500", Kind: "date", Minimum: 30500 * time.Millisecond, Valid: true, Clock: "local"}, true},
		{"R5.7_x-reset_epoch_corrected_by_date", []string{"X-RateLimit-Reset", "1784109630", "X-RateLimit-Remaining", "0", "Date", minuteAgo},
			retry.Server{Header: "X-RateLimit-Reset", Raw: "1784109630", Kind: "date", Minimum: 90 * time.Second, Valid: true, Clock: "server_date", Skew: -time.Minute, HasSkew: true}, true},
		{"R5.7_x-reset_in_the_past", []string{"X-RateLimit-Reset", "1000000000", "X-RateLimit-Remaining", "0"},
			retry.Server{Header: "X-RateLimit-Reset", Raw: "1000000000", Kind: "date", Valid: true, Clock: "local"}, true},
		{"R5.7b_remaining_0_alone_limits", []string{"X-RateLimit-Remaining", "0"}, retry.Server{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, limited := readServer(true, c.lines...)
			if got != c.want || limited != c.limited {
				t.Errorf("got %+v, %v\nwant %+v, %v", got, limited, c.want, c.limited)
			}
		})
	}
}

func FuzzReadServer(f *testing.F) {
	f.Add("3", "250", `"default";r=0;t=30`, "1784109630", "0")
	f.Add("soon", "1e3", `"a\";r=0`, "1.5", "")
	f.Add("", "99999999999999999999", `;r=0;t=99999999999999999999`, "9223372036854775807.9999999999", "00")
	f.Fuzz(func(t *testing.T, retryAfter, ms, limit, reset, remaining string) {
		for _, with := range []bool{true, false} {
			lines := []string{"retry-after-ms", ms, "RateLimit", limit, "X-RateLimit-Reset", reset,
				"X-RateLimit-Reset-After", reset, "RateLimit-Reset", reset, "X-RateLimit-Remaining", remaining, "RateLimit-Remaining", remaining}
			if with {
				lines = append(lines, "Retry-After", retryAfter)
			}
			s, _ := readServer(true, lines...)
			if s.Minimum < 0 {
				t.Fatalf("negative minimum: %+v", s)
			}
			if s.Valid == (s.Kind == "invalid" || s.Kind == "") {
				t.Fatalf("valid and kind disagree: %+v", s)
			}
			if with && s.Header != "Retry-After" {
				t.Fatalf("Retry-After is there and %q decided", s.Header)
			}
		}
	})
}
