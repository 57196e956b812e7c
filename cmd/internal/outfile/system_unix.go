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

// removesOpen: a file that is open can lose its name.
const removesOpen = true

// lockFile locks f for this process, until it is closed or the process ends.
func lockFile(f *os.File) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var lerr error
	err = c.Control(func(fd uintptr) { lerr = unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB) })
	return errors.Join(err, lerr)
}

// isLocked reports whether err says that somebody else has the lock.
func isLocked(err error) bool { return errors.Is(err, unix.EWOULDBLOCK) }

// openLeft opens a file that is there, but not what a link leads to.
func openLeft(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
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
