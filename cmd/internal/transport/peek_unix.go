//go:build unix

package transport

import (
	"net"
	"syscall"
)

// probe looks at one socket; it keeps what it needs for that from one look to
// the next.
type probe struct {
	raw  syscall.RawConn
	look func(fd uintptr) bool
	b    [1]byte
	n    int
	err  error
}

// peek reports whether bytes wait on the idle socket c, which is always the
// same, and whether it is open at all. It neither waits nor takes anything.
func (p *probe) peek(c net.Conn) (pending, open bool) {
	if p.raw == nil && !p.open(c) {
		return false, false
	}
	err := p.raw.Read(p.look)
	switch {
	case err != nil:
		return false, false
	case p.err == syscall.EAGAIN:
		return false, true
	case p.err != nil || p.n == 0:
		return false, false
	}
	return true, true
}

func (p *probe) open(c net.Conn) bool {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	p.raw, p.look = raw, p.receive
	return true
}

func (p *probe) receive(fd uintptr) bool {
	for {
		p.n, _, p.err = syscall.Recvfrom(int(fd), p.b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		if p.err != syscall.EINTR {
			return true
		}
	}
}
