package cmd

import (
	"context"
	crand "crypto/rand"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"

	"github.com/bidehttp/bide/retry"
)

// Env is the process as a value: all that a command may ask of the world.
// Tests hand in their own.
type Env struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	// Environ is the whole environment, for commands that are run; nil: an empty one.
	Environ func() []string
	Clock   retry.Clock
	// Rand returns jitter's u in [0,1). It is not safe for secrets.
	Rand func() float64
	// Random gives the bytes of UUIDs.
	Random io.Reader
	// Signals delivers SIGINT, SIGTERM, SIGHUP and SIGQUIT; nil for none.
	Signals <-chan os.Signal
	// Terminal reports whether f is a terminal, and its width in columns.
	Terminal func(f any) (columns int, ok bool)
	// AskSecret asks the user for a line that is not shown; nil when nobody is asked.
	AskSecret func(ctx context.Context, prompt string) (string, error)
	// Background reports whether the shell runs the process in the background of
	// its terminal. nil: it does not.
	Background func() bool
	// Location is the time zone of notices.
	Location *time.Location
	// Argv is the process's own argument vector without the program's name, whose
	// secrets are overwritten (R11.3); nil leaves it alone.
	Argv []string
}

// lookup is an environment variable, if only an empty one.
func (e Env) lookup(name string) (string, bool) {
	if e.Environ != nil {
		for _, pair := range e.Environ() {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value, true
			}
		}
	}
	value := e.Getenv(name)
	return value, value != ""
}

// SystemEnv is the real process. It takes over the signals that Main handles,
// and turns SIGPIPE into write errors.
func SystemEnv() Env {
	signals := make(chan os.Signal, 4)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) { // as nohup and a script's background jobs want it
			signal.Notify(signals, s)
		}
	}
	ignoreBrokenPipes()
	return Env{
		Args:       os.Args[1:],
		Stdin:      os.Stdin,
		Stdout:     os.Stdout,
		Stderr:     os.Stderr,
		Getenv:     os.Getenv,
		Environ:    os.Environ,
		Clock:      retry.SystemClock(),
		Rand:       rand.Float64,
		Random:     crand.Reader,
		Signals:    signals,
		Terminal:   terminal,
		AskSecret:  askSecret,
		Background: background,
		Location:   time.Local,
		Argv:       os.Args[1:],
	}
}

func terminal(f any) (int, bool) {
	file, ok := f.(*os.File)
	if !ok || !isatty.IsTerminal(file.Fd()) {
		return 0, false
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil || columns <= 0 {
		columns = 80
	}
	return columns, true
}
