package cmd

import (
	"context"
	"os"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
)

// signalGrace is what a canceled run has for its last words. It needs
// milliseconds; the rest is for a machine that is busy.
const signalGrace = 250 * time.Millisecond

// underSignals gives run a context that the first signal cancels, with the
// signal as the cause. A run that is stuck all the same, in a write to a pipe
// that nobody reads or the open of a FIFO, is left behind after signalGrace or
// at the second signal (R10.1b): it ends with the process.
func underSignals(ctx context.Context, signals <-chan os.Signal, run func(context.Context) exitcode.Code) exitcode.Code {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(context.Canceled)
	if signals == nil {
		return run(ctx)
	}
	done := make(chan exitcode.Code, 1)
	go func() { done <- run(ctx) }()
	select {
	case code := <-done:
		return code
	case s := <-signals:
		cancel(signalError{s})
	}
	grace := time.NewTimer(signalGrace)
	defer grace.Stop()
	select {
	case code := <-done:
		return code
	case <-signals:
	case <-grace.C:
	}
	return signalCode(ctx)
}

// abandonable runs f until ctx ends. It is for what is read before the first
// request and knows no context, such as standard input: there is nothing to
// clean up yet, so a read that blocks is left behind.
func abandonable[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
