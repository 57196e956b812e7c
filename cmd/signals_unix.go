//go:build unix

package cmd

import (
	"os/signal"
	"syscall"
)

// ignoreBrokenPipes makes a write to a closed pipe an EPIPE that is reported
// and cleaned up after (R10.1), instead of the process's sudden end.
func ignoreBrokenPipes() { signal.Ignore(syscall.SIGPIPE) }
