package outfile

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// hasDescriptorNames: there is no /dev/fd here.
const hasDescriptorNames = false

var (
	errIsDir    = errors.New("is a directory")
	errLinkLoop = errors.New("too many levels of symbolic links")
)

// errNoData is ERROR_NO_DATA: the pipe is being closed.
const errNoData = syscall.Errno(232)

func brokenPipe(err error) bool {
	return errors.Is(err, syscall.ERROR_BROKEN_PIPE) || errors.Is(err, errNoData)
}

func dup(int, string) (*os.File, error) { return nil, os.ErrInvalid }

// canWait: a write that blocks is not woken here.
const canWait = false

func awaitRoom(*os.File) (bool, error) { return true, nil }

func writeSome(f *os.File, p []byte) (n int, again bool, err error) {
	n, err = f.Write(p)
	return n, false, err
}

// openFIFO need not wait here: a pipe that exists has somebody at its other end.
func openFIFO(path string, _ <-chan struct{}) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY, 0)
}

// removesOpen: a file that is open keeps its name.
const removesOpen = false

// lockFile locks f for this process, until it is closed or the process ends: a
// byte far behind its end, since locks here keep others from writing.
func lockFile(f *os.File) error {
	far := &windows.Overlapped{Offset: ^uint32(0), OffsetHigh: ^uint32(0) >> 1}
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, far)
}

// isLocked reports whether err says that somebody else has the lock.
func isLocked(err error) bool { return errors.Is(err, windows.ERROR_LOCK_VIOLATION) }

// openLeft opens a file that is there.
func openLeft(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR, 0) }

// isNull reports whether a character device is the null device.
func isNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(null, info)
}

// mayWrite asks for the read-only mark: replacing the file by a rename would
// get around it.
func mayWrite(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o200 == 0 {
		return syscall.ERROR_ACCESS_DENIED
	}
	return err
}

// adoptOwner: files here take their owner and access list from the folder.
func adoptOwner(*os.File, os.FileInfo) error { return nil }
