//go:build unix

package transport

import (
	"net"
	"syscall"
)

// peek reports whether bytes wait on an idle socket, and whether it is open at
// all. It neither waits nor takes anything.
func peek(c net.Conn) (pending, open bool) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return false, false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false, false
	}
	var n int
	var peekErr error
	err = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		for {
			n, _, peekErr = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
			if peekErr != syscall.EINTR {
				return true
			}
		}
	})
	switch {
	case err != nil:
		return false, false
	case peekErr == syscall.EAGAIN:
		return false, true
	case peekErr != nil || n == 0:
		return false, false
	}
	return true, true
}
