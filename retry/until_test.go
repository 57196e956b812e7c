package retry_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry"
)

// TestDecideUnmet holds R3.3e: an answer that is not the one that is waited for
// is transient whatever its status, and the method gate holds.
func TestDecideUnmet(t *testing.T) {
	p := retry.DefaultPolicy()
	for _, c := range []struct {
		name    string
		o       retry.Outcome
		counted int
		reason  retry.Reason // "" another attempt
	}{
		{"R3.3e_get_200", retry.Outcome{Status: 200, Method: "GET"}, 1, ""},
		{"R3.3e_get_404", retry.Outcome{Status: 404, Method: "GET"}, 1, ""},
		{"R3.3e_counts", retry.Outcome{Status: 200, Method: "GET"}, 3, retry.AttemptsExhausted},
		{"R3.2_post", retry.Outcome{Status: 200, Method: "POST"}, 1, retry.UnsafeMethod},
		{"R3.2_post_with_key", retry.Outcome{Status: 200, Method: "POST", Keyed: true}, 1, ""},
		{"R3.3e_replayed", retry.Outcome{Status: 200, Method: "POST", Keyed: true, Replayed: true}, 1, retry.HTTPError},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Class, c.o.Unmet, c.o.Sent = retry.ClassStatus, true, retry.SentMaybe
			d := p.Decide(retry.State{Failures: c.counted, Counted: c.counted}, c.o, 0)
			if d.Retry != (c.reason == "") || d.Reason != c.reason {
				t.Errorf("%+v", d)
			}
		})
	}
	p.RetryOn = retry.Set{}
	if d := p.Decide(retry.State{Failures: 1, Counted: 1}, retry.Outcome{Class: retry.ClassStatus, Status: 200, Unmet: true, Method: "GET"}, 0); !d.Retry {
		t.Errorf("--retry-on has no say: %+v", d)
	}
}

// TestDoPolling holds R2.1b, R4.4b and R4.12f.
func TestDoPolling(t *testing.T) {
	poll := retry.Outcome{Class: retry.ClassStatus, Status: 202, Method: "POST", Sent: retry.SentMaybe, Polling: true}
	busy := retry.Outcome{Class: retry.ClassStatus, Status: 503, Method: "GET", Sent: retry.SentMaybe}
	done := retry.Outcome{Status: 200, Method: "GET"}
	for _, c := range []struct {
		name    string
		script  []retry.Outcome
		reason  retry.Reason
		counted []bool
		k       []int // of the waits, in base
	}{
		{"R2.1b_more_polls_than_attempts", []retry.Outcome{poll, poll, poll, poll, done}, retry.Success,
			[]bool{false, false, false, false, true}, []int{1, 2, 3, 4}},
		{"R2.1b_attempts_bound_failures_in_a_row", []retry.Outcome{poll, busy, busy, busy}, retry.AttemptsExhausted,
			[]bool{false, true, true, true}, []int{1, 1, 2}},
		{"R2.1b_failures_before_a_poll_are_forgotten", []retry.Outcome{poll, busy, busy, poll, busy, busy, done}, retry.Success,
			[]bool{false, true, true, false, true, true, true}, []int{1, 1, 2, 2, 1, 2}},
		{"R4.4b_failures_before_the_first", []retry.Outcome{busy, busy, poll, poll, done}, retry.Success,
			[]bool{true, true, false, false, true}, []int{1, 2, 1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := retry.DefaultPolicy()
			p.Base, p.Jitter = time.Second, 0
			r := newRig(p, c.script...)
			_, rec, _ := r.run(t.Context())
			var counted []bool
			var waits []time.Duration
			for _, a := range rec.Attempts {
				counted = append(counted, a.Counted)
				if a.Decision.Retry {
					waits = append(waits, a.Decision.Wait)
				}
			}
			var want []time.Duration
			for _, k := range c.k {
				want = append(want, p.Base<<(k-1))
			}
			if rec.Reason != c.reason || !slices.Equal(counted, c.counted) || !slices.Equal(waits, want) {
				t.Errorf("%s, counted %v, waits %v; want %s, %v, %v", rec.Reason, counted, waits, c.reason, c.counted, want)
			}
		})
	}
	t.Run("R2.1b_one_attempt_is_enough", func(t *testing.T) {
		p := retry.DefaultPolicy()
		p.Attempts = 1
		if _, rec, _ := newRig(p, poll, poll, done).run(t.Context()); rec.Reason != retry.Success {
			t.Error(rec.Reason)
		}
	})
	t.Run("R4.4b_the_server_sets_the_pace", func(t *testing.T) {
		p := retry.DefaultPolicy()
		p.Jitter = 0
		told := poll
		told.Server = retry.Server{Header: "Retry-After", Kind: "seconds", Valid: true, Minimum: 2 * time.Second}
		zero := poll
		zero.Server = retry.Server{Header: "Retry-After", Kind: "seconds", Valid: true}
		_, rec, _ := newRig(p, told, told, told, zero, done).run(t.Context())
		for i, want := range []time.Duration{2, 2, 2, 8} { // 0 names no minimum (R4.3): base·2^3
			if got := rec.Attempts[i].Decision.Wait; got != want*time.Second {
				t.Errorf("wait %d is %v, want %ds", i+1, got, want)
			}
		}
	})
	t.Run("R4.12f_is_not_shared", func(t *testing.T) {
		told := poll
		told.Server = retry.Server{Header: "Retry-After", Kind: "seconds", Valid: true, Minimum: time.Minute}
		unmet := told
		unmet.Polling, unmet.Unmet, unmet.Method, unmet.Status = false, true, "GET", 200
		gone := unmet
		gone.Status = 429
		for want, script := range map[bool][]retry.Outcome{false: {told, unmet, done}, true: {gone, done}} {
			r := newRig(retry.DefaultPolicy(), script...)
			hold := &retry.MemoryHold{}
			r.loop.Hold = hold
			_, rec, _ := r.run(t.Context())
			if held := hold.Until(r.loop.Origin) > 0; held != want || rec.Attempts[0].Decision.Wait < time.Minute {
				t.Errorf("%v: held %v, waited %v", script[0].Status, held, rec.Attempts[0].Decision.Wait)
			}
		}
	})
}
