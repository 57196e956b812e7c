package cmd

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/bidehttp/bide/cmd/internal/auth"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
)

// credentials completes what -u, -U and --aws-sigv4 say: passwords that are
// missing are asked for on the terminal, as curl does.
func (r *run) credentials(g *prepared) error {
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
			if g.password, err = r.askFor("-u", "host", g.user); err != nil {
				return err
			}
			g.User = g.user + ":" + g.password
		}
	}
	if g.ProxyUser != "" && !strings.Contains(g.ProxyUser, ":") {
		password, err := r.askFor("-U", "proxy", g.ProxyUser)
		if err != nil {
			return err
		}
		g.ProxyUser += ":" + password
	}
	return nil
}

func (r *run) askFor(flag, side, user string) (string, error) {
	if r.env.Password != nil {
		password, ok, err := r.env.Password(fmt.Sprintf("Enter %s password for user '%s':", side, printableUser(user)))
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

// askPassword asks on the controlling terminal: standard input may be a body.
func askPassword(prompt string) (string, bool, error) {
	tty, err := os.OpenFile(terminalDevice, os.O_RDWR, 0)
	if err != nil {
		return "", false, nil //nolint:nilerr // no terminal is no failure
	}
	defer tty.Close()
	if !term.IsTerminal(int(tty.Fd())) {
		return "", false, nil
	}
	fmt.Fprint(tty, prompt)
	password, err := term.ReadPassword(int(tty.Fd()))
	fmt.Fprintln(tty)
	return string(password), true, err
}
