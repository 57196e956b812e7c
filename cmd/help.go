package cmd

import (
	"context"
	"io"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/outfile"
)

// runHelp prints help for a command, a flag or a category.
func runHelp(_ context.Context, env Env, args []string) exitcode.Code {
	if len(args) > 1 {
		complain(env, "help takes one topic")
		return exitcode.Usage
	}
	topic := ""
	if len(args) == 1 {
		topic = args[0]
	}
	return printHelp(env, topic)
}

func printHelp(env Env, topic string) exitcode.Code {
	return printed(env, func(w io.Writer) error { return flags.WriteHelp(w, topic) })
}

func printCommandHelp(env Env, name string) exitcode.Code {
	return printed(env, func(w io.Writer) error { return flags.WriteCommandHelp(w, name) })
}

// runCompletion prints the completion script of a shell.
func runCompletion(_ context.Context, env Env, args []string) exitcode.Code {
	if len(args) != 1 {
		complain(env, "completion takes one shell: bash, zsh, fish or powershell")
		return exitcode.Usage
	}
	return printed(env, func(w io.Writer) error { return flags.WriteCompletion(w, args[0]) })
}

// printed runs a writer on stdout and reports its error: a usage error with its
// own code, a broken pipe quietly, any other as an output error.
func printed(env Env, write func(io.Writer) error) exitcode.Code {
	out := outfile.Stdout(env.Stdout, outfile.StreamOptions{})
	err := write(out)
	if err == nil {
		err = out.Commit()
	}
	switch {
	case err == nil:
		return exitcode.OK
	case outfileBroken(err):
		return exitcode.Output
	}
	return reportUsage(context.Background(), env, err)
}
