package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/mock"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry/retrytest"
)

// runMock is bide mock. It handles the signals itself: they are for the command
// that it runs.
func runMock(ctx context.Context, env Env, args []string) exitcode.Code {
	o, err := flags.ParseMock(args, parseEnv(env))
	if err != nil {
		return reportUsage(ctx, env, err)
	}
	if o.Global.Help {
		return printHelp(env, "mock")
	}
	options := mock.Options{
		Script: o.Script, Routes: o.Routes, Expect: o.Expect, GroupBy: o.GroupBy, LogFile: o.LogFile, JUnitFile: o.JUnitFile,
		JSON: o.Format == flags.FormatJSON, Linger: o.Linger, TLS: o.TLS, Listen: o.Listen, Conformance: o.Conformance,
		Jobs: o.Jobs, Timeout: o.Timeout, Command: o.Command,
	}
	if err := checkMock(options); err != nil {
		complain(env, render.Text("mock: "+err.Error()))
		return exitcode.Usage
	}
	var environ []string
	if env.Environ != nil {
		environ = env.Environ()
	}
	_, terminal := env.Terminal(env.Stdin)
	_, watched := env.Terminal(env.Stderr)
	restorePipes()
	return mock.Run(ctx, mock.Process{
		Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr, Environ: environ, Signals: env.Signals, Terminal: terminal, Watched: watched,
		Now: env.Clock.Wall, Version: version, Redactor: &render.Redactor{NoRedact: o.Global.NoRedact},
	}, options)
}

// checkMock finds what is wrong with scripts and checks before anything is run.
func checkMock(o mock.Options) error {
	if o.Script != "" {
		if err := retrytest.ParseScript(o.Script); err != nil {
			return fmt.Errorf("--script: %w", err)
		}
	}
	for _, r := range o.Routes {
		if err := retrytest.ParseRoute(r); err != nil {
			return fmt.Errorf("--route: %w", err)
		}
	}
	for _, c := range o.Expect {
		if err := retrytest.ParseCheck(c); err != nil {
			return fmt.Errorf("--expect: %w", err)
		}
	}
	if err := retrytest.ParseCheck("group-by=" + o.GroupBy); err != nil {
		return fmt.Errorf("--group-by: %w", err)
	}
	if o.Documents() > 1 {
		return errors.New("only one of --format json, --log - and --junit - can go to standard output")
	}
	return nil
}
