//go:build unix

package testscripts

import (
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// signal sends a signal to a program in the background.
func signal(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "signal NAME SIGNAL")
	sig, ok := map[string]syscall.Signal{
		"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT,
		"HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL, "QUIT": syscall.SIGQUIT,
	}[args[1]]
	want(ts, ok, "signal NAME INT|TERM|HUP|QUIT|KILL|STOP|CONT")
	ts.Check(background(ts, args[0]).Process.Signal(sig))
}
