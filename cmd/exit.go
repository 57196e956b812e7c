package cmd

import (
	"context"
	"errors"
	"os"
	"syscall"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// signalError is the cause of a context that a signal canceled.
type signalError struct{ signal os.Signal }

func (e signalError) Error() string { return "stopped by " + e.signal.String() }

// Is makes it a cancellation to everyone who asks for the cause's kind.
func (e signalError) Is(target error) bool { return target == context.Canceled }

// signalCode is 128 plus the signal's number (R10.1).
func signalCode(ctx context.Context) exitcode.Code {
	var stopped signalError
	if errors.As(context.Cause(ctx), &stopped) {
		if number, ok := stopped.signal.(syscall.Signal); ok {
			return exitcode.Code(128 + int(number))
		}
	}
	return exitcode.Interrupted
}

// exitCode is R10.3: what the process says of one finished operation. noFail
// makes an answer that could be shown a success: callers give it only where
// there is one (R2.3). An operation that a limit stopped before its first
// request has no last outcome.
func exitCode(ctx context.Context, reason retry.Reason, last *retry.Outcome, noFail bool) exitcode.Code {
	complete := last.Class == retry.ClassNone || last.Class == retry.ClassStatus
	switch reason {
	case retry.Success:
		return exitcode.OK
	case retry.Canceled:
		return signalCode(ctx)
	case retry.DeadlineExceeded:
		return exitcode.Timeout
	case retry.OutputCommitted:
		return exitcode.Truncated
	case retry.ChecksumMismatch:
		return exitcode.BadProtocol
	}
	if complete && noFail && last.Status != 0 {
		return exitcode.OK
	}
	if complete && stoppedByLimit(reason) {
		return exitcode.Temporary
	}
	return failureCode(last)
}

// stoppedByLimit reports whether a later run may succeed: the answer was
// transient, and only our own limits ended the operation.
func stoppedByLimit(reason retry.Reason) bool {
	switch reason {
	case retry.AttemptsExhausted, retry.RetryAfterExceedsCap, retry.RetryTimeExceeded,
		retry.DeadlineBeforeRetry, retry.BudgetExhausted:
		return true
	}
	return false
}

// failureCode is the failure's own code: what its error says, else its class's.
func failureCode(o *retry.Outcome) exitcode.Code {
	var coder exitcode.Coder
	if errors.As(o.Err, &coder) && coder.ExitCode() != exitcode.OK {
		return coder.ExitCode()
	}
	if o.Class == retry.ClassNone {
		return exitcode.HTTPError
	}
	return exitcode.ForClass(o.Class)
}
