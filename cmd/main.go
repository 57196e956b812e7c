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

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
)

// command is one sub-command: it counts only when the first argument is exactly its name.
type command struct {
	name string
	run  func(ctx context.Context, env Env, args []string) exitcode.Code
	// signals: it handles env.Signals itself; otherwise the first one cancels ctx.
	signals bool
}

// commands are the sub-commands; flags.Subcommands has their help.
func commands() []command {
	return []command{
		{name: "wait", run: runWait},
		{name: "plan", run: runPlan},
		{name: "simulate", run: runSimulate},
		{name: "timeline", run: runTimeline},
		{name: "mock", run: runMock, signals: true},
		{name: "demo", run: runDemo},
		{name: "completion", run: runCompletion},
		{name: "version", run: runVersion},
		{name: "help", run: runHelp},
	}
}

// Main is the whole process: it returns the exit code. Env's signals cancel
// what is under way (R10.1).
func Main(ctx context.Context, env Env) int {
	sub := subcommand(env.Args)
	if sub != nil && sub.signals {
		return int(sub.run(ctx, env, env.Args[1:]))
	}
	return int(underSignals(ctx, env.Signals, func(ctx context.Context) exitcode.Code {
		switch {
		case flags.IsCompletionRequest(env.Args):
			return printed(env, func(w io.Writer) error { return flags.Complete(w, env.Args) })
		case sub != nil:
			return sub.run(ctx, env, env.Args[1:])
		}
		return runRequests(ctx, env)
	}))
}

// subcommand is the one that args name, or nil.
func subcommand(args []string) *command {
	if len(args) == 0 {
		return nil
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return &c
		}
	}
	return nil
}

// complain prints one clear line of a usage error.
func complain(env Env, message string) {
	fmt.Fprintf(env.Stderr, "bide: %s\n", message)
}
