package retry_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry"
)

// TestMessages is R6.5: the limit that stopped the operation, the last real
// failure, and when another try may succeed.
func TestMessages(t *testing.T) {
	reset := failure(retry.ClassClosed)
	reset.Err = errors.New("connection reset by peer")
	committed := reset
	committed.Committed = true
	changed := fmt.Errorf("%w: order.json", retry.ErrBodyChanged)
	for _, c := range []struct {
		name   string
		change func(*retry.Policy)
		o      retry.Outcome
		replay error
		want   string
	}{
		{"success", nil, ok, nil, ""},
		{"http_error", nil, status(404), nil, "HTTP 404"},
		{"transport_error", nil, failure(retry.ClassCert), nil, "cert"},
		{"attempts_exhausted", func(p *retry.Policy) { p.Attempts = 1 }, reset, nil, "gave up after 1 attempt: connection reset by peer"},
		{"retry_after_exceeds_cap", nil, told(429, time.Hour), nil,
			"the server asks for a wait of 1h0m0s, longer than the cap of 5m0s: HTTP 429; the server named 2026-07-15T13:00:00Z for the next try"},
		{"retry_time_exceeded", func(p *retry.Policy) { p.RetryMaxTime = 1 }, status(503), nil, "no retry may start later than 1ns after the start (retry-max-time): HTTP 503"},
		{"deadline_before_retry", func(p *retry.Policy) { p.Deadline = sec }, status(503), nil, "the deadline of 1s leaves no time for another attempt: HTTP 503"},
		{"unsafe_method", nil, post(reset), nil, "the request may have been acted on and is not safe to send again without an idempotency key: connection reset by peer"},
		{"not_replayable", nil, reset, retry.ErrNotReplayable, "the request body cannot be sent again: connection reset by peer"},
		{"body_changed", nil, status(503), changed, "the request body has changed since the first attempt: order.json: HTTP 503"},
		{"output_committed", nil, committed, nil, "part of the output is already written and cannot be taken back: connection reset by peer"},
	} {
		t.Run("R6.5_"+c.name, func(t *testing.T) {
			r := newRig(plain, c.o)
			if c.change != nil {
				c.change(r.loop.Policy)
			}
			r.loop.Replay = func() error { return c.replay }
			_, rec, err := r.run(t.Context())
			if got := rec.Message(); got != c.want {
				t.Errorf("message is %q\nwant %q", got, c.want)
			}
			if err != nil && err.Error() != c.want {
				t.Errorf("error is %q\nwant %q", err, c.want)
			}
			if c.name == "success" || c.name == "transport_error" {
				return
			}
			if string(rec.Reason) != c.name {
				t.Errorf("reason is %s", rec.Reason)
			}
		})
	}
}

func TestR6_5_MessageOfABudgetAndOfAHold(t *testing.T) {
	r := newRig(plain, status(503))
	r.loop.Budget = &budget{}
	if _, rec, _ := r.run(t.Context()); rec.Message() != "the shared retry budget is used up: HTTP 503" {
		t.Errorf("message is %q", rec.Message())
	}
	r = held(with(func(p *retry.Policy) { p.Cap = sec }), 3*sec, ok)
	const want = "the origin asked for a wait longer than the cap of 1s; the server named 2026-07-15T12:00:03Z for the next try"
	if _, rec, _ := r.run(t.Context()); rec.Message() != want {
		t.Errorf("message is %q", rec.Message())
	}
}

func TestR6_5_MessageOfACancellation(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	r := newRig(plain, status(503), failure(retry.ClassCanceled))
	r.during = func(_ context.Context, n int) {
		if n == 2 {
			cancel(errors.New("interrupt"))
		}
	}
	_, rec, err := r.run(ctx)
	if want := "canceled: interrupt: HTTP 503"; err == nil || err.Error() != want || rec.Message() != want {
		t.Errorf("error is %v, want %q", err, want)
	}
}

func TestLimitsAreTimeouts(t *testing.T) {
	for _, err := range []error{retry.ErrDeadline, retry.ErrAttemptTimeout} {
		var n net.Error
		if !errors.As(err, &n) || !n.Timeout() {
			t.Errorf("%v is no timeout", err)
		}
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			t.Errorf("%v is not the context's own timeout", err)
		}
	}
	if errors.Is(retry.ErrDeadline, retry.ErrAttemptTimeout) {
		t.Error("the two limits are not told apart")
	}
}

func TestFinalReasonOfOtherClasses(t *testing.T) {
	if retry.ClassNone.FinalReason() != retry.Success || retry.Class("nonsense").FinalReason() != retry.TransportError {
		t.Error("a class without a row has no sensible reason")
	}
}

func TestMessageOfARecordWithoutPolicy(t *testing.T) {
	r := retry.Record{Reason: retry.DeadlineBeforeRetry}
	if got, want := r.Message(), "the deadline of 0s leaves no time for another attempt"; got != want {
		t.Errorf("message is %q, want %q", got, want)
	}
}
