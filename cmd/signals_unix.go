//go:build unix

package cmd

import (
	"os"
	"os/signal"
	"syscall"
)

// ignoreBrokenPipes makes a write to a closed pipe an EPIPE that is reported
// and cleaned up after (R10.1), instead of the process's sudden end.
func ignoreBrokenPipes() { signal.Ignore(syscall.SIGPIPE) }

// restorePipes lets commands that are run start with SIGPIPE as it is by default,
// while our own writes still fail with EPIPE: an ignored signal would be inherited.
func restorePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
