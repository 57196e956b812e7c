package retry_test

import (
	"testing"

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
