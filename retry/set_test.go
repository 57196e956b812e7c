package retry_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry"
)

const defaultList = "408,425,429,500,502,503,504,resolve,connect,tls,proxy,refused,closed,timeout,truncated"

// TestAddStatuses: a range is the same set as its members one by one.
func TestAddStatuses(t *testing.T) {
	for _, r := range [][2]int{{400, 999}, {0, 0}, {999, 999}, {500, 400}, {-3, 2}, {990, 2000}, {7, 8}} {
		var one, all retry.Set
		one.RemoveStatus(450)
		all.RemoveStatus(450)
		for n := max(r[0], 0); n <= min(r[1], 999); n++ {
			one.AddStatus(n)
		}
		all.AddStatuses(r[0], r[1])
		if one != all {
			t.Errorf("%v: %v, want %v", r, all, one)
		}
	}
}

func TestParseRetryOn(t *testing.T) {
	for _, c := range []struct{ name, list, want string }{
		{"R3.3_adds", "+202", "202," + defaultList},
		{"R3.3_removes", "-503,-resolve", "408,425,429,500,502,504,connect,tls,proxy,refused,closed,timeout,truncated"},
		{"R3.3_replaces", "503,closed", "503,closed"},
		{"R3.3a_class_of_statuses", "5xx", "5xx"},
		{"R3.3_class_with_a_hole", "+5xx,-501", "408,425,429,500,502,503,504"},
		{"R3.3_every_word", "resolve,nxdomain,connect,tls,cert,proxy,proxy_refused,refused,closed,timeout,truncated,protocol,decode",
			"resolve,nxdomain,connect,tls,cert,proxy,proxy_refused,refused,closed,timeout,truncated,protocol,decode"},
		{"R3.3a_blanks", " 503 , 429 ", "429,503"},
		{"R3.3a_last_word_counts", "+404,-404,+404", "404,408,425,429,500,502,503,504,resolve,connect,tls,proxy,refused,closed,timeout,truncated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := retry.ParseRetryOn(c.list, retry.DefaultRetryOn())
			if err != nil {
				t.Fatal(err)
			}
			text := got.String()
			if c.name == "R3.3_class_with_a_hole" {
				if got.HasStatus(501) || !got.HasStatus(599) || !got.RemovedStatus(501) {
					t.Errorf("got %s", text)
				}
				return
			}
			if text != c.want {
				t.Errorf("got %s, want %s", text, c.want)
			}
		})
	}
}

func TestParseRetryOnErrors(t *testing.T) {
	for _, c := range []struct{ name, list, says string }{
		{"R3.3_mixed", "503,+429", "mixes"},
		{"R3.3_mixed_the_other_way", "+503,429", "mixes"},
		{"R3.3_unknown_word", "flaky", "resolve nxdomain connect tls cert proxy proxy_refused refused closed timeout truncated protocol decode"},
		{"R3.3_class_without_a_word", "+output", `unknown word "output"`},
		{"R3.3a_empty", "", "unknown word"},
		{"R3.3a_empty_item", "503,,429", "unknown word"},
		{"R3.3_sign_alone", "+", "unknown word"},
		{"R3.3a_too_small", "099", "100 to 999"},
		{"R3.3a_too_long", "5000", "100 to 999"},
		{"R3.3a_other_digits", "５０３", "unknown word"},
		{"R3.3a_upper_case_class", "5XX", "5xx"},
		{"R3.3_two_signs", "++503", "unknown word"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := retry.DefaultRetryOn()
			got, err := retry.ParseRetryOn(c.list, base)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error is %v, want one that says %q", err, c.says)
			}
			if got != base {
				t.Error("a list with an error changed the set")
			}
		})
	}
}

func TestParseStatuses(t *testing.T) {
	set, err := retry.ParseStatuses("429, 5xx")
	if err != nil || set.String() != "429,5xx" {
		t.Errorf("R3.2: got %s, %v", set.String(), err)
	}
	for _, list := range []string{"", "+429", "closed", "429,", "x"} {
		if _, err := retry.ParseStatuses(list); err == nil {
			t.Errorf("R3.2: %q is accepted", list)
		}
	}
}

func TestSetIsAValue(t *testing.T) {
	a := retry.DefaultRetryOn()
	b := a
	b.RemoveClass(retry.ClassClosed)
	b.AddStatus(404)
	if a == b || a.HasStatus(404) || !a.HasClass(retry.ClassClosed) || !b.RemovedClass(retry.ClassClosed) {
		t.Error("a copy shares state with its original")
	}
	a.AddStatus(-1)
	a.AddStatus(1000)
	a.AddClass("nonsense")
	if a != retry.DefaultRetryOn() || a.HasStatus(1000) || a.HasClass("nonsense") {
		t.Error("what is not there was added")
	}
	a.RemoveStatus(999)
	a.AddStatus(999)
	c := retry.DefaultRetryOn()
	c.AddStatus(999)
	if a != c {
		t.Error("what was taken out and put back is not what was put in")
	}
	if retry.DefaultRetryOn().String() != defaultList {
		t.Errorf("the default is %s", retry.DefaultRetryOn().String())
	}
}

func FuzzParseRetryOn(f *testing.F) {
	for _, s := range []string{"503", "+202,-429", "5xx,closed", "503,+429", "", "+", "resolve", " 503 "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		base := retry.DefaultRetryOn()
		set, err := retry.ParseRetryOn(list, base)
		if err != nil {
			if set != base {
				t.Fatal("a list with an error changed the set")
			}
			return
		}
		text := set.String()
		if text == "" {
			return // everything taken out: no list says that
		}
		again, err := retry.ParseRetryOn(text, retry.DefaultRetryOn())
		if err != nil || again.String() != text {
			t.Fatalf("%q gives %q, read back as %q, %v", list, text, again.String(), err)
		}
	})
}

func TestPolicyCheck(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*retry.Policy)
		says   string // "" is no error
	}{
		{"default", func(*retry.Policy) {}, ""},
		{"R2.1_negative_attempts", func(p *retry.Policy) { p.Attempts = -1 }, "attempts"},
		{"R2.1_unlimited_alone", func(p *retry.Policy) { p.Attempts = retry.Unlimited }, "time bound"},
		{"R2.1_unlimited_with_deadline", func(p *retry.Policy) { p.Attempts, p.Deadline = retry.Unlimited, sec }, ""},
		{"R2.1_unlimited_with_retry-max-time", func(p *retry.Policy) { p.Attempts, p.RetryMaxTime = retry.Unlimited, sec }, ""},
		{"R4.8_base_over_cap", func(p *retry.Policy) { p.Base, p.Cap = 2*sec, sec }, "longer than cap"},
		{"R4.8_base_equal_to_cap", func(p *retry.Policy) { p.Base, p.Cap = sec, sec }, ""},
		{"R4.8_no_cap", func(p *retry.Policy) { p.Cap = 0 }, ""},
		{"R4.8_base_0", func(p *retry.Policy) { p.Base = 0 }, ""},
		{"R4.8_negative_base", func(p *retry.Policy) { p.Base = -1 }, "negative"},
		{"R4.8_negative_deadline", func(p *retry.Policy) { p.Deadline = -1 }, "deadline"},
		{"R4.8_negative_reserve", func(p *retry.Policy) { p.AttemptReserve = -1 }, "attempt-reserve"},
		{"R4.8_ratio_over_1", func(p *retry.Policy) { p.Jitter = 1.01 }, "0 to 1"},
		{"R4.8_ratio_negative", func(p *retry.Policy) { p.Jitter = -0.01 }, "0 to 1"},
		{"R4.8_ratio_NaN", func(p *retry.Policy) { p.Jitter = math.NaN() }, "0 to 1"},
		{"jitter_mode", func(p *retry.Policy) { p.JitterMode = "some" }, "spread, full"},
		{"backoff", func(p *retry.Policy) { p.Backoff = "" }, "exponential, fixed"},
		{"R4.10_retry-after-mode", func(p *retry.Policy) { p.RetryAfterMode = "" }, "minimum, replace"},
		{"R2.4_negative_resumes", func(p *retry.Policy) { p.MaxResumes = -1 }, "max-resumes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := with(c.change).Check()
			if c.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error is %v, want one that says %q", err, c.says)
			}
		})
	}
	if p := retry.DefaultPolicy(); p.Attempts != 3 || p.Base != sec || p.Cap != 5*time.Minute || p.Jitter != 0.2 || p.MaxResumes != 100 {
		t.Errorf("the default policy is %+v", p)
	}
}

func TestStatusClass(t *testing.T) {
	p := with(func(p *retry.Policy) { p.RetryOn.AddStatus(202) })
	for code, want := range map[int]retry.Class{200: "", 202: "status", 304: "", 404: "status", 503: "status"} {
		if got := p.StatusClass(code); got != want {
			t.Errorf("R3.3: class of %d is %q, want %q", code, got, want)
		}
	}
}
