package cmd

import (
	"context"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
)

// TestSignals holds R10.1 where the run does not hear of its context: before
// the first request, and in a write that is stuck.
func TestSignals(t *testing.T) {
	stuck := func(t *testing.T) io.Reader {
		r, w := io.Pipe()
		t.Cleanup(func() { w.Close() })
		return r
	}
	for _, args := range [][]string{
		{"-K", "-"}, {"-H", "@-"}, {"-b", "-"}, {"-w", "@-"}, {"-d", "@-"}, {"-T", "-"}, {"--data-urlencode", "@-"},
	} {
		t.Run("R10.1_reading_"+args[0], func(t *testing.T) {
			signals := make(chan os.Signal, 1)
			env, _, _ := testEnv(append(args, "http://127.0.0.1:1/")...)
			env.Stdin, env.Signals = stuck(t), signals
			signals <- syscall.SIGHUP
			if code := Main(t.Context(), env); code != 129 {
				t.Errorf("exit code %d, want 129", code)
			}
		})
	}
	run := func(signals chan os.Signal) exitcode.Code {
		return underSignals(t.Context(), signals, func(ctx context.Context) exitcode.Code {
			<-t.Context().Done()
			return exitcode.OK
		})
	}
	t.Run("R10.1b_stuck", func(t *testing.T) {
		signals := make(chan os.Signal, 1)
		signals <- syscall.SIGTERM
		if code := run(signals); code != 143 {
			t.Errorf("exit code %d, want 143", code)
		}
	})
	t.Run("R10.1b_second_signal", func(t *testing.T) {
		signals := make(chan os.Signal, 2)
		signals <- syscall.SIGINT
		signals <- syscall.SIGTERM
		if code := run(signals); code != 130 {
			t.Errorf("exit code %d, want that of the first signal, 130", code)
		}
	})
	t.Run("R10.1_last_words", func(t *testing.T) {
		signals := make(chan os.Signal, 1)
		signals <- syscall.SIGINT
		code := underSignals(t.Context(), signals, func(ctx context.Context) exitcode.Code {
			<-ctx.Done()
			time.Sleep(10 * time.Millisecond) // a timeline is printed
			return exitcode.Output
		})
		if code != exitcode.Output {
			t.Errorf("exit code %d, want the run's own", code)
		}
	})
}
