package render

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry"
)

func TestNoticeWait(t *testing.T) {
	n := Notices{Location: time.FixedZone("", 7200), Redactor: &Redactor{Secrets: []string{"hunter22"}}, Attempts: 3}
	until := epoch().Add(3312 * time.Millisecond)
	server := retry.Server{Header: "Retry-After", Raw: "3", Kind: "seconds", Minimum: 3 * time.Second, Valid: true}
	for _, c := range []struct {
		e    retry.Event
		want string
	}{
		{
			retry.Event{Number: 1, Outcome: retry.Outcome{Class: retry.ClassStatus, Status: 429, Origin: "https://api.example.com:443", Server: server}, Decision: retry.Decision{Source: retry.SourceServer}},
			"bide: 429 from https://api.example.com, server asks for 3s; waiting 3.3s until 12:00:03 (attempt 2 of 3)",
		},
		{
			retry.Event{Number: 2, Outcome: retry.Outcome{Class: retry.ClassStatus, Status: 503, Origin: "http://h:80"}, Decision: retry.Decision{Source: retry.SourceBackoff}},
			"bide: 503 from http://h; backoff, waiting 3.3s until 12:00:03 (attempt 3 of 3)",
		},
		{
			retry.Event{Number: 1, Outcome: retry.Outcome{Class: retry.ClassStatus, Status: 503, Origin: "http://h:80", Server: retry.Server{Header: "Retry-After", Raw: "so\x1bon", Kind: "invalid"}}, Decision: retry.Decision{Source: retry.SourceBackoff}},
			`bide: 503 from http://h, Retry-After "so\x1bon" is not valid; backoff, waiting 3.3s until 12:00:03 (attempt 2 of 3)`,
		},
		{
			retry.Event{Number: 3, Outcome: retry.Outcome{Class: retry.ClassConnect, Origin: "http://h:8080", Err: fmt.Errorf("get: %w", errors.New("refused hunter22 at http://h/?a=b"))}, Decision: retry.Decision{Source: retry.SourceShared}},
			"bide: connect error from http://h:8080 (refused *** at http://h/?a=***), shared hold on this origin; waiting 3.3s until 12:00:03 (attempt 4)",
		},
	} {
		c.e.Wait, c.e.Until = 3300*time.Millisecond, until
		if got := n.NoticeWait(c.e); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	hold := retry.Event{Kind: retry.EventHold, Number: 1, Wait: time.Second, Until: until}
	if got, want := n.NoticeHold("https://u:p@h/x?y", hold), "bide: https://h asked another request to wait; holding 1s until 12:00:03 (attempt 1 of 3)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCountdownText(t *testing.T) {
	n := Notices{Attempts: 3}
	e := retry.Event{Kind: retry.EventWait, Number: 1, Until: epoch(), Outcome: retry.Outcome{Class: retry.ClassStatus, Status: 429, Server: retry.Server{Minimum: 3 * time.Second}}, Decision: retry.Decision{Source: retry.SourceServer}}
	if got, want := n.Countdown(e, 2100*time.Millisecond), "bide: 3s left until 10:00:00Z (attempt 2 of 3): server asks for 3s, 429"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	e.Kind = retry.EventHold
	if got, want := n.Countdown(e, 0), "bide: 0s left until 10:00:00Z (attempt 1 of 3): shared hold"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestMessage(t *testing.T) {
	for name, want := range map[string]string{
		"exhausted": "bide: (75) 429 Too Many Requests from https://api.example.com; gave up after 3 attempts; another try may succeed at 10:02:04Z",
		"deadline":  "bide: (28) Operation timed out after 639 milliseconds with 0 bytes received (https://api.example.com), after 503 Service Unavailable from https://api.example.com in attempt 1; --deadline 2s was reached during attempt 2",
		"cap":       "bide: (75) 429 Too Many Requests from https://api.example.com; the server asks for 1d (Retry-After: 86400), more than --cap 5m; another try may succeed at 2026-07-16 10:00:01Z; allow it with a larger --cap",
		"unsafe":    "bide: (22) 502 Bad Gateway from https://api.example.com; not retried, since POST may have been acted on; make it safe to repeat with --idempotency-key auto where the server knows keys, or vouch for it with --idempotent",
		"connect":   "bide: (7) Failed to connect to api.example.com port 443 after 0 ms: Couldn't connect to server; failed after 3 attempts",
		"hostile":   "bide: (22) 404 Not Found from https://例え.example; not retried",
		"retried":   "",
	} {
		if got := StopLine(samples()[name], nil); got != want {
			t.Errorf("R6.5 %s:\ngot  %s\nwant %s", name, got, want)
		}
	}
	d := samples()["exhausted"]
	d.Operation.IdempotencyKey = ptr("it's")
	if got := Message(d, nil); !strings.HasSuffix(got, `; to run the same operation again: --idempotency-key 'it'\''s'`) {
		t.Errorf("R7.4 %s", got)
	}
}

// With one attempt allowed the line is curl's own.
func TestMessageOfASingleAttempt(t *testing.T) {
	for name, want := range map[string]string{
		"unsafe":  "bide: (22) The requested URL returned error: 502",
		"connect": "bide: (7) Failed to connect to api.example.com port 443 after 0 ms: Couldn't connect to server",
	} {
		d := samples()[name]
		d.Attempts, d.Policy.Attempts = d.Attempts[len(d.Attempts)-1:], ptr(1)
		if got := StopLine(d, nil); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
	}
}

// Every reason that the failure itself does not tell has its own words; all are
// one line that names the last failure.
func TestMessageOfEveryReason(t *testing.T) {
	seen := map[string]string{}
	for _, r := range reasons() {
		d := sample("POST", api, r, 1, try{status: 503, class: "status", took: time.Second})
		d.Policy.DeadlineMS, d.Policy.RetryMaxTimeMS = Millis(time.Minute), Millis(time.Minute)
		got := Message(d, nil)
		if r == "success" {
			if got != "" {
				t.Error(got)
			}
			continue
		}
		evident := map[string]bool{"transport_error": true, "redirect_error": true, "input_error": true, "output_error": true, "usage": true}
		if other := seen[got]; other != "" && !evident[r] {
			t.Errorf("%s and %s say the same: %s", r, other, got)
		}
		seen[got] = r
		if !strings.Contains(got, "503 Service Unavailable") || strings.Contains(got, "\n") || strings.HasPrefix(got, r+":") {
			t.Errorf("%s: %s", r, got)
		}
		if r == "unsafe_method" && !strings.Contains(got, "--idempotency-key") {
			t.Errorf("R3.2 %s", got)
		}
	}
	c := sample("GET", api, "canceled", 130, try{status: 503, class: "status", took: time.Second, would: time.Second})
	if got := Message(c, nil); !strings.HasSuffix(got, "; canceled while waiting for attempt 2") || !strings.HasPrefix(got, "503 ") {
		t.Error(got)
	}
	if got := Message(sample("GET", api, "canceled", 130), nil); got != "canceled before the first attempt" {
		t.Error(got)
	}
}

// TestMessageKeepsAdvice: the last line leaves room for what an error says at
// its end; that of a wait does not.
func TestMessageKeepsAdvice(t *testing.T) {
	long := strings.Repeat("x", 130) + " decrypt it first"
	d := sample("GET", "https://h/", "transport_error", 58, try{class: "request", err: long})
	if got := Message(d, nil); !strings.Contains(got, "decrypt it first") {
		t.Errorf("got %s", got)
	}
	huge := sample("GET", "https://h/", "transport_error", 58, try{class: "request", err: strings.Repeat("x", 5000)})
	if got := Message(huge, nil); len(got) > 450 {
		t.Errorf("%d bytes", len(got))
	}
}

// TestMessageOfAnOutput: the error of an output names the file itself.
func TestMessageOfAnOutput(t *testing.T) {
	d := sample("GET", "https://h/", "output_error", 23, try{status: 200, class: "output", err: "cannot write f: disk full"})
	if got, want := Message(d, nil), "cannot write f: disk full"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNextTryLiesAhead: a time that has passed when the operation ends is not
// named as the next one (R6.5).
func TestNextTryLiesAhead(t *testing.T) {
	d := sample("GET", "https://h/", "canceled", 130, try{status: 503, class: "status", header: "5", minimum: 5 * time.Second})
	if got := Message(d, nil); !strings.Contains(got, "another try may succeed at 10:00:05") {
		t.Errorf("R6.5: %s", got)
	}
	d.Outcome.ElapsedMS = MS(6 * time.Second)
	if got := Message(d, nil); strings.Contains(got, "another try") {
		t.Errorf("R6.5: %s", got)
	}
}
