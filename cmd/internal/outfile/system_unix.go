//go:build unix

package outfile

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// hasDescriptorNames: /dev/fd exists here.
const hasDescriptorNames = true

const (
	errIsDir    = syscall.EISDIR
	errLinkLoop = syscall.ELOOP
)

// brokenPipe knows nothing beyond EPIPE here.
func brokenPipe(error) bool { return false }

// dup gives a file of its own on descriptor n: closing it leaves n open.
func dup(n int, name string) (*os.File, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := syscall.Dup(n)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), name), nil
}

// fifoPoll is how often a FIFO without a reader is tried again.
const fifoPoll = 2 * time.Millisecond

// openFIFO waits for a reader, but can be called off: a blocking open cannot.
func openFIFO(path string, done <-chan struct{}) (*os.File, error) {
	t := time.NewTicker(fifoPoll)
	defer t.Stop()
	for {
		f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if !errors.Is(err, syscall.ENXIO) {
			return f, err
		}
		select {
		case <-done:
			return nil, ErrAbandoned
		case <-t.C:
		}
	}
}

// isNull reports whether a character device is the null device.
func isNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(null, info)
}

// mayWrite asks whether the target's own mode lets us write: replacing it by a
// rename would get around that. A program that runs (ETXTBSY) can be replaced.
// The file is not opened: whoever watches it would take that for a change.
func mayWrite(path string) error {
	err := unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS)
	if err == nil || errors.Is(err, syscall.ETXTBSY) {
		return nil
	}
	return err
}

// adoptOwner gives f the target's owner and group where they differ.
func adoptOwner(f *os.File, target os.FileInfo) error {
	want, ok := target.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	have, ok := info.Sys().(*syscall.Stat_t)
	if !ok || have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}
