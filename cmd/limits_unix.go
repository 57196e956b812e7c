//go:build unix

package cmd

import (
	"math"
	"syscall"
)

// openFiles is how many files the process may have open, 0 any number.
func openFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || uint64(limit.Cur) > math.MaxInt32 { //nolint:unconvert // signed on some systems
		return 0
	}
	return int(limit.Cur) //nolint:gosec // bounded
}
