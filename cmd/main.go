// Package cmd is the process: arguments to options, options to operations,
// operations to output and exit code. Main is all of it.
//
// What goes where:
//   - stdout: the final response body, or what -i, -I, -w and --timeline json
//     put there; nothing of attempts that were given up.
//   - stderr: notices, errors, -v, the human timeline.
package cmd

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
)

// command is one sub-command: it counts only when the first argument is exactly its name.
type command struct {
	name string
	run  func(ctx context.Context, env Env, args []string) exitcode.Code
}

// commands are the sub-commands; flags.Subcommands has their help.
func commands() []command {
	return []command{
		{"demo", runDemo},
		{"completion", runCompletion},
		{"version", runVersion},
		{"help", runHelp},
	}
}

// Main is the whole process: it returns the exit code. Env's signals cancel
// what is under way (R10.1).
func Main(ctx context.Context, env Env) int {
	ctx, stop := withSignals(ctx, env.Signals)
	defer stop()
	if len(env.Args) > 0 {
		if flags.IsCompletionRequest(env.Args) {
			return int(printed(env, func(w io.Writer) error { return flags.Complete(w, env.Args) }))
		}
		for _, c := range commands() {
			if c.name == env.Args[0] {
				return int(c.run(ctx, env, env.Args[1:]))
			}
		}
	}
	return int(runRequests(ctx, env))
}

// withSignals cancels the context, with the signal as the cause, when one arrives.
func withSignals(ctx context.Context, signals <-chan os.Signal) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if signals == nil {
		return ctx, func() { cancel(context.Canceled) }
	}
	done := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		select {
		case s := <-signals:
			cancel(signalError{s})
		case <-done:
		}
	}()
	return ctx, func() {
		close(done)
		<-finished
		cancel(context.Canceled)
	}
}

// complain prints one clear line of a usage error.
func complain(env Env, message string) {
	fmt.Fprintf(env.Stderr, "bide: %s\n", message)
}
