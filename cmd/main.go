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
}

// commands are the sub-commands; flags.Subcommands has their help.
func commands() []command {
	return []command{
		{"wait", runWait},
		{"plan", runPlan},
		{"timeline", runTimeline},
		{"demo", runDemo},
		{"completion", runCompletion},
		{"version", runVersion},
		{"help", runHelp},
	}
}

// Main is the whole process: it returns the exit code. Env's signals cancel
// what is under way (R10.1).
func Main(ctx context.Context, env Env) int {
	return int(underSignals(ctx, env.Signals, func(ctx context.Context) exitcode.Code {
		return dispatch(ctx, env)
	}))
}

func dispatch(ctx context.Context, env Env) exitcode.Code {
	if len(env.Args) > 0 {
		if flags.IsCompletionRequest(env.Args) {
			return printed(env, func(w io.Writer) error { return flags.Complete(w, env.Args) })
		}
		for _, c := range commands() {
			if c.name == env.Args[0] {
				return c.run(ctx, env, env.Args[1:])
			}
		}
	}
	return runRequests(ctx, env)
}

// complain prints one clear line of a usage error.
func complain(env Env, message string) {
	fmt.Fprintf(env.Stderr, "bide: %s\n", message)
}
