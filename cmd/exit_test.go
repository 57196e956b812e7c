package cmd

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
)

// TestExitCode holds contract R10.3.
func TestExitCode(t *testing.T) {
	status := func(n int) retry.Outcome { return retry.Outcome{Class: retry.ClassStatus, Status: n} }
	coded := retry.Outcome{Class: retry.ClassClosed, Err: &transport.Error{Class: retry.ClassClosed, Code: exitcode.Recv, Err: errors.New("reset")}}
	for _, tt := range []struct {
		name   string
		reason retry.Reason
		last   retry.Outcome
		noFail bool
		want   exitcode.Code
	}{
		{"success", retry.Success, retry.Outcome{}, false, 0},
		{"final status", retry.HTTPError, status(404), false, 22},
		{"final status, --no-fail", retry.HTTPError, status(404), true, 0},
		{"transient status, attempts", retry.AttemptsExhausted, status(503), false, 75},
		{"transient status, attempts, --no-fail", retry.AttemptsExhausted, status(503), true, 0},
		{"transient status, cap", retry.RetryAfterExceedsCap, status(429), false, 75},
		{"transient status, retry time", retry.RetryTimeExceeded, status(503), false, 75},
		{"transient status, deadline before a retry", retry.DeadlineBeforeRetry, status(503), false, 75},
		{"transient status, budget", retry.BudgetExhausted, status(503), false, 75},
		{"unsafe method after a status", retry.UnsafeMethod, status(503), false, 22},
		{"unsafe method after a cut", retry.UnsafeMethod, retry.Outcome{Class: retry.ClassClosed}, false, 52},
		{"attempts exhausted by refused ports", retry.AttemptsExhausted, retry.Outcome{Class: retry.ClassConnect}, false, 7},
		{"curl's own code wins over the class", retry.AttemptsExhausted, coded, false, 56},
		{"a transport error is an error, --no-fail or not", retry.AttemptsExhausted, coded, true, 56},
		{"deadline in flight", retry.DeadlineExceeded, retry.Outcome{Class: retry.ClassTimeout}, false, 28},
		{"committed output", retry.OutputCommitted, retry.Outcome{Class: retry.ClassTruncated}, false, 18},
		{"checksum", retry.ChecksumMismatch, retry.Outcome{Class: retry.ClassChecksum}, false, 1},
		{"certificate", retry.TransportError, retry.Outcome{Class: retry.ClassCert}, false, 60},
		{"a hold beyond the cap, nothing sent", retry.RetryAfterExceedsCap, retry.Outcome{}, false, 75},
		{"a hold beyond the deadline, nothing sent, --no-fail", retry.DeadlineBeforeRetry, retry.Outcome{}, true, 75},
		{"canceled", retry.Canceled, retry.Outcome{}, false, 130},
	} {
		t.Run("R10.3_"+tt.name, func(t *testing.T) {
			if got := exitCode(context.Background(), tt.reason, &tt.last, tt.noFail); got != tt.want {
				t.Errorf("exit code %d, want %d", got, tt.want)
			}
		})
	}
	for signal, want := range map[os.Signal]exitcode.Code{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129, syscall.SIGQUIT: 131} {
		t.Run("R10.1_"+signal.String(), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			cancel(signalError{signal})
			if got := exitCode(ctx, retry.Canceled, &retry.Outcome{}, false); got != want {
				t.Errorf("exit code %d, want %d", got, want)
			}
		})
	}
}
