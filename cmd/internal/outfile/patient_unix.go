//go:build unix

package outfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// canWait: there is poll(2).
const canWait = true

// lookEvery is how often, in milliseconds, a write that waits asks whether to.
const lookEvery = 20

// awaitRoom waits a moment for f to take more. What poll reports beside room
// (nobody reads any more) is left to the next write to tell.
func awaitRoom(f *os.File) (ready bool, err error) {
	err = withDescriptor(f, func(fd int) error {
		ready, err = hasRoom(fd, lookEvery)
		return err
	})
	return ready, err
}

func hasRoom(fd, milliseconds int) (bool, error) {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, milliseconds)
	if err == unix.EINTR {
		return false, nil
	}
	return n > 0, err
}

// writeCarefully writes no more than fits where poll sees room, so that it does
// not block: on a pipe that is PIPE_BUF bytes (POSIX, poll and write).
func writeCarefully(fd int, p []byte) (int, error) {
	room, err := hasRoom(fd, 0)
	switch {
	case err != nil:
		return 0, err
	case !room:
		return 0, unix.EAGAIN
	}
	return unix.Write(fd, p[:min(len(p), pipeBuf)])
}

// writeSome writes as much of p as f takes at once; again says that it takes
// no more for now.
func writeSome(f *os.File, p []byte) (n int, again bool, err error) {
	err = withDescriptor(f, func(fd int) error {
		n, again, err = writeNow(fd, p)
		return err
	})
	n = max(n, 0)
	switch err {
	case unix.EAGAIN:
		return n, true, nil
	case unix.EINTR:
		return n, false, nil
	case nil:
		return n, again, nil
	}
	if errno, ok := err.(unix.Errno); ok {
		err = &os.PathError{Op: "write", Path: f.Name(), Err: errno}
	}
	return n, false, err
}

// withDescriptor calls do with f's descriptor, in the mode in which it is, and
// gives its error.
func withDescriptor(f *os.File, do func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	if cerr := conn.Control(func(fd uintptr) { err = do(int(fd)) }); cerr != nil {
		return cerr
	}
	return err
}
