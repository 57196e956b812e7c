package httpdate_test

import (
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/httpdate"
)

// FuzzParseAgainstNetHTTP compares Parse with net/http.ParseTime. What net/http
// accepts and we do not must be one of the intended differences, and what both
// accept must be the same instant but for the century of a two-digit year.
func FuzzParseAgainstNetHTTP(f *testing.F) {
	for _, s := range []string{
		"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
		"Mon, 06 Nov 1994 08:49:37 GMT", "sun, 06 nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 PST",
		"Sat, 31 Dec 2016 23:59:60 GMT", "Sun Nov 6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37.5 GMT",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ours, err := httpdate.Parse(s, now)
		theirs, theirErr := http.ParseTime(s)
		switch {
		case err != nil && theirErr == nil:
			if why := stricter(s, theirs); why == "" {
				t.Errorf("%q is refused, net/http reads %v", s, theirs)
			}
		case err == nil && theirErr != nil:
			// The one thing that net/http refuses and the RFC allows: second 60.
			leap, leapErr := http.ParseTime(strings.Replace(s, ":60 ", ":59 ", 1))
			if leapErr != nil || !sameButCentury(ours, leap.Add(time.Second)) {
				t.Errorf("%q is read as %v, net/http refuses it", s, ours)
			}
		case err == nil && !sameButCentury(ours, theirs):
			t.Errorf("%q is %v, net/http reads %v", s, ours, theirs)
		}
	})
}

// TestDifferencesFromNetHTTP lists every intended difference from
// net/http.ParseTime, each with its reason in the RFC's grammar or rules.
func TestDifferencesFromNetHTTP(t *testing.T) {
	for _, c := range []struct {
		name, text   string
		ours, theirs bool // read
	}{
		{"R5.2_wrong_weekday", "Mon, 06 Nov 1994 08:49:37 GMT", false, true},
		{"R5.2_weekday_case", "sun, 06 Nov 1994 08:49:37 GMT", false, true},
		{"R5.2_month_case", "Sun, 06 nov 1994 08:49:37 GMT", false, true},
		{"R5.2_fraction_of_a_second", "Sun, 06 Nov 1994 08:49:37.5 GMT", false, true},
		{"R5.2_asctime_unpadded_day", "Sun Nov 6 08:49:37 1994", false, true},
		{"R5.2_rfc850_other_zone", "Sunday, 06-Nov-94 08:49:37 PST", false, true},
		{"R5.2_two_digit_year_70_is_2070", "Tuesday, 15-Jul-70 10:00:00 GMT", true, true},
		{"R5.2_two_digit_year_70_is_not_1970", "Wednesday, 15-Jul-70 10:00:00 GMT", false, true},
		{"R5.2_leap_second", "Sat, 31 Dec 2016 23:59:60 GMT", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ours, err := httpdate.Parse(c.text, now)
			theirs, theirErr := http.ParseTime(c.text)
			if (err == nil) != c.ours || (theirErr == nil) != c.theirs {
				t.Fatalf("we read it: %v, net/http: %v; want %v, %v", err == nil, theirErr == nil, c.ours, c.theirs)
			}
			if c.ours && c.theirs && ours.Equal(theirs) {
				t.Errorf("both read %v, so this is no difference", ours)
			}
		})
	}
}

// stricter names the rule by which Parse refuses what net/http reads as at.
func stricter(s string, at time.Time) string {
	canonical := func(layout string) bool { return at.Format(layout) == s }
	imf, rfc850, asctime := "Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC
	switch {
	case !canonical(imf) && !canonical(rfc850) && !canonical(asctime):
		// Wrong weekday, other case, other spacing, a fraction of a second, a
		// one-digit day or another zone: none of these is what the instant looks
		// like in the form's own layout.
		return "not canonical"
	case canonical(rfc850) && !canonical(imf):
		return "the century, hence the weekday, is another" // net/http splits at 69
	}
	return ""
}

func sameButCentury(a, b time.Time) bool {
	return a.Equal(b) || (a.Year()-b.Year())%100 == 0 && a.Format("01-02 15:04:05") == b.UTC().Format("01-02 15:04:05")
}

// FuzzFormatRoundTrip: every second from year 0 to 9999 survives Format and Parse.
func FuzzFormatRoundTrip(f *testing.F) {
	for _, sec := range []int64{0, 784111777, -1, 253402300799, -62167219200, 4102444800} {
		f.Add(sec)
	}
	f.Fuzz(func(t *testing.T, sec int64) {
		at := time.Unix(sec, 0).UTC()
		if at.Year() < 0 || at.Year() > 9999 {
			t.Skip("beyond four digits")
		}
		text := httpdate.Format(at)
		for _, s := range []string{text, at.Format(time.ANSIC)} {
			if got, err := httpdate.Parse(s, now); err != nil || !got.Equal(at) {
				t.Errorf("%q is %v, %v, want %v", s, got, err, at)
			}
		}
		// The two-digit form survives within its window around the reference.
		short := at.Format("Monday, 02-Jan-06 15:04:05 GMT")
		if got, err := httpdate.Parse(short, at.AddDate(-20, 0, 0)); err != nil || !got.Equal(at) {
			t.Errorf("%q is %v, %v, want %v", short, got, err, at)
		}
	})
}

// FuzzRetryAfter: digits are seconds in exact arithmetic, nothing is negative,
// and the decision does not depend on blanks around the value.
func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"0", "120", "9223372036", "9223372037", "-1", "1.5", "soon", "Wed, 15 Jul 2026 10:00:30 GMT", ""} {
		f.Add(s)
	}
	ref := httpdate.NewReference(now, nil, false)
	largest := big.NewInt(int64(^uint64(0) >> 1))
	f.Fuzz(func(t *testing.T, s string) {
		got := httpdate.RetryAfter([]string{s}, ref)
		if got.Delay < 0 || got.Raw != s {
			t.Fatalf("%q gives %+v", s, got)
		}
		if padded := httpdate.RetryAfter([]string{" \t" + s + "\t "}, ref); padded.Kind != got.Kind || padded.Delay != got.Delay {
			t.Errorf("%q: blanks change %+v to %+v", s, got, padded)
		}
		value := strings.Trim(s, " \t")
		digits := value != "" && strings.Trim(value, "0123456789") == ""
		if digits != (got.Kind == httpdate.Seconds) {
			t.Fatalf("%q is %s", s, got.Kind)
		}
		if !digits {
			return
		}
		want, _ := new(big.Int).SetString(value, 10)
		if want.Mul(want, big.NewInt(int64(time.Second))); want.Cmp(largest) > 0 {
			want = largest
		}
		if want.Int64() != int64(got.Delay) {
			t.Errorf("%q is %d ns, want %v", s, got.Delay, want)
		}
	})
}
