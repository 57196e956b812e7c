package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/bidehttp/bide/cmd/internal/auth"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/retry"
)

// credentials completes what -u, -U and --aws-sigv4 say: passwords that are
// missing are asked for on the terminal, as curl does.
func (r *run) credentials(ctx context.Context, g *prepared) error {
	if g.HasAWSSigV4 {
		s, err := auth.ParseSigV4(g.AWSSigV4)
		if err != nil {
			return err // flags has checked it
		}
		g.sigV4 = &s
	}
	if g.HasUser {
		var given bool
		if g.user, g.password, given = strings.Cut(g.User, ":"); !given && g.Bearer == "" {
			var err error
			if g.password, err = r.askFor(ctx, "-u", "host", g.user); err != nil {
				return err
			}
			g.User = g.user + ":" + g.password
		}
	}
	if g.ProxyUser != "" && !strings.Contains(g.ProxyUser, ":") {
		password, err := r.askFor(ctx, "-U", "proxy", g.ProxyUser)
		if err != nil {
			return err
		}
		g.ProxyUser += ":" + password
	}
	return nil
}

func (r *run) askFor(ctx context.Context, flag, side, user string) (string, error) {
	if r.env.Password != nil {
		password, ok, err := r.env.Password(ctx, fmt.Sprintf("Enter %s password for user '%s':", side, printableUser(user)))
		if err != nil && ctx.Err() != nil {
			err = canceledError{context.Cause(ctx), signalCode(ctx)}
		}
		if ok || err != nil {
			return password, err
		}
	}
	return "", &flags.UsageError{
		Message: flag + " has no password, and there is no terminal to ask on; write USER: for an empty one",
		Code:    exitcode.Usage,
	}
}

// printableUser keeps control characters away from the terminal.
func printableUser(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return '?'
		}
		return c
	}, s)
}

// canceledError is a question that a signal ended.
type canceledError struct {
	cause error
	code  exitcode.Code
}

func (e canceledError) Error() string           { return "canceled: " + e.cause.Error() }
func (e canceledError) Unwrap() error           { return e.cause }
func (e canceledError) RetryClass() retry.Class { return retry.ClassCanceled }
func (e canceledError) ExitCode() exitcode.Code { return e.code }

// askPassword asks on the controlling terminal: standard input may be a body.
// When ctx ends first, the terminal gets its echo back.
func askPassword(ctx context.Context, prompt string) (string, bool, error) {
	tty, err := os.OpenFile(terminalDevice, os.O_RDWR, 0)
	if err != nil {
		return "", false, nil //nolint:nilerr // no terminal is no failure
	}
	defer tty.Close()
	if !term.IsTerminal(int(tty.Fd())) {
		return "", false, nil
	}
	state, err := term.GetState(int(tty.Fd()))
	if err != nil {
		return "", false, nil //nolint:nilerr // no terminal that we can use
	}
	fmt.Fprint(tty, prompt)
	type answer struct {
		password []byte
		err      error
	}
	answers := make(chan answer, 1)
	go func() {
		password, err := term.ReadPassword(int(tty.Fd()))
		answers <- answer{password, err}
	}()
	defer fmt.Fprintln(tty)
	select {
	case a := <-answers:
		return string(a.password), true, a.err
	case <-ctx.Done():
		return "", true, errors.Join(context.Cause(ctx), term.Restore(int(tty.Fd()), state))
	}
}
