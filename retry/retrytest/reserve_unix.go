//go:build unix

package retrytest

import (
	"net/netip"
	"syscall"
)

// reserve keeps addr's port from being given to anybody else, while connections
// to it are refused: a socket that is bound and does not listen. release must be
// called before the port is listened on. Where it cannot be had, nothing is kept.
func reserve(addr string) (release func()) {
	nothing := func() {}
	ap, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nothing
	}
	family, sa := syscall.AF_INET6, syscall.Sockaddr(&syscall.SockaddrInet6{Port: int(ap.Port()), Addr: ap.Addr().As16()})
	if ap.Addr().Is4() {
		family, sa = syscall.AF_INET, &syscall.SockaddrInet4{Port: int(ap.Port()), Addr: ap.Addr().As4()}
	}
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nothing
	}
	if syscall.Bind(fd, sa) != nil {
		_ = syscall.Close(fd)
		return nothing
	}
	return func() { _ = syscall.Close(fd) }
}
