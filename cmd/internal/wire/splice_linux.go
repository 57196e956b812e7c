package wire

import (
	"io"
	"net"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// pipeSize is asked of the kernel: its usual limit for an ordinary user.
const pipeSize = 1 << 20

// spliceBody moves left bytes (-1: all up to the end, then rerr is io.EOF) from
// src to dst through a pipe, without copying them into the process. All results
// zero but total mean that splice does not serve here: the caller goes on by
// other means. rerr is src's error, werr dst's.
func spliceBody(dst target, src *net.TCPConn, left int64, count *atomic.Int64) (total int64, rerr, werr error) {
	var ends [2]int
	if unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK) != nil {
		return 0, nil, nil
	}
	defer func() { _ = unix.Close(ends[0]); _ = unix.Close(ends[1]) }()
	room, err := unix.FcntlInt(uintptr(ends[1]), unix.F_SETPIPE_SZ, pipeSize)
	if err != nil || room <= 0 {
		room = 16 * os.Getpagesize()
	}
	in, err := src.SyscallConn()
	if err != nil {
		return 0, nil, nil
	}
	var got, want int
	fill := func(fd uintptr) bool {
		got, err = splice(int(fd), ends[1], want)
		return err != unix.EAGAIN
	}
	for left != 0 {
		want = room
		if left > 0 {
			want = int(min(int64(room), left))
		}
		if rerr = in.Read(fill); rerr != nil {
			return total, rerr, nil
		}
		switch {
		case err == unix.EINVAL && total == 0:
			return 0, nil, nil
		case err != nil:
			return total, os.NewSyscallError("splice", err), nil
		case got == 0:
			return total, io.EOF, nil
		}
		count.Add(int64(got))
		n, done, werr := drainPipe(dst, ends[0], got)
		total += int64(n)
		if werr != nil || !done {
			return total, nil, werr
		}
		if left > 0 {
			left -= int64(got)
		}
	}
	return total, nil, nil
}

// drainPipe moves n bytes from the pipe to dst; done is false when dst takes no
// splice and the bytes went by an ordinary write.
func drainPipe(dst target, pipe, n int) (moved int, done bool, err error) {
	out, err := dst.file.SyscallConn()
	if err != nil {
		return 0, false, err
	}
	var werr error
	step := func(fd uintptr) {
		for moved < n {
			k, err := splice(pipe, int(fd), n-moved)
			switch {
			case err == unix.EAGAIN && dst.await != nil:
				werr = dst.await()
			case err != nil:
				werr = err
			default:
				moved += k
			}
			if werr != nil {
				return
			}
		}
	}
	if err := out.Control(step); err != nil {
		return moved, false, err
	}
	if werr == unix.EINVAL || werr == unix.EAGAIN {
		return writePipe(dst, pipe, n, moved)
	}
	if errno, ok := werr.(unix.Errno); ok {
		werr = &os.PathError{Op: "write", Path: dst.file.Name(), Err: errno}
	}
	return moved, werr == nil, werr
}

// writePipe copies what is left in the pipe by hand: files opened for
// appending and terminals take no splice.
func writePipe(dst io.Writer, pipe, n, moved int) (int, bool, error) {
	buf := make([]byte, n-moved)
	for moved < n {
		k, err := unix.Read(pipe, buf[:n-moved])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return moved, false, os.NewSyscallError("read", err)
		}
		k, err = dst.Write(buf[:k])
		moved += k
		if err != nil {
			return moved, false, err
		}
	}
	return moved, false, nil
}

func splice(from, to, n int) (int, error) {
	for {
		k, err := unix.Splice(from, nil, to, nil, n, unix.SPLICE_F_MOVE|unix.SPLICE_F_NONBLOCK)
		if err != unix.EINTR {
			return int(k), err
		}
	}
}
