//go:build unix

package cmd

import (
	"os"

	"golang.org/x/sys/unix"
)

// background reports whether the shell runs the process in the background of
// the terminal on standard error.
func background() bool {
	foreground, err := unix.IoctlGetInt(int(os.Stderr.Fd()), unix.TIOCGPGRP)
	return err == nil && foreground != unix.Getpgrp()
}
