package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"

	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/render"
)

// errNobody: there is no terminal to ask on.
var errNobody = errors.New("no terminal")

// askPasswords completes -u and -U that name a user only, as curl does. Where
// there is nobody to ask the password is empty. Nothing has been sent yet.
func askPasswords(ctx context.Context, env Env, options *flags.Options) error {
	if env.AskSecret == nil {
		return nil
	}
	for i := range options.Groups {
		g := &options.Groups[i]
		for _, c := range []struct {
			whose string
			pair  *string
		}{{"host", &g.User}, {"proxy", &g.ProxyUser}} {
			if *c.pair == "" || strings.Contains(*c.pair, ":") {
				continue
			}
			secret, err := env.AskSecret(ctx, fmt.Sprintf("Enter %s password for user '%s': ", c.whose, render.Text(*c.pair)))
			if errors.Is(err, errNobody) {
				continue
			}
			if err != nil {
				return fmt.Errorf("cannot read the %s password: %w", c.whose, err)
			}
			*c.pair += ":" + secret
		}
	}
	return nil
}

// askSecret reads a line from the process's terminal without showing it. It
// gives up, and shows what is typed again, when ctx ends.
func askSecret(ctx context.Context, prompt string) (string, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err == nil {
		defer tty.Close()
		return readSecret(ctx, tty, tty, prompt)
	}
	if !isatty.IsTerminal(os.Stdin.Fd()) {
		return "", errNobody
	}
	return readSecret(ctx, os.Stdin, os.Stderr, prompt)
}

func readSecret(ctx context.Context, from *os.File, to io.Writer, prompt string) (string, error) {
	fd := int(from.Fd())
	shown, err := term.GetState(fd)
	if err != nil {
		return "", errNobody
	}
	if _, err := io.WriteString(to, prompt); err != nil {
		return "", err
	}
	secret, err := abandonable(ctx, func() (string, error) {
		b, err := term.ReadPassword(fd)
		return string(b), err
	})
	if ctx.Err() != nil {
		// The reader still sleeps, and would show nothing again only after it.
		_ = term.Restore(fd, shown)
	}
	// The line's end was not shown either.
	_, _ = io.WriteString(to, "\n")
	return secret, err
}
