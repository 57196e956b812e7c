package transport

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// abstractSockets: Linux has names for unix sockets that are no paths.
const abstractSockets = true

// bindToDevice keeps a socket's packets to a device, where this process may: its
// address is bound in any case.
func bindToDevice(device string) func(network, address string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			_ = unix.SetsockoptString(int(fd), unix.SOL_SOCKET, unix.SO_BINDTODEVICE, device)
		})
	}
}
