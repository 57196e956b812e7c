//go:build !unix

package transport

import (
	"errors"
	"net"
	"os"
	"time"
)

// probe looks at one socket.
type probe struct{}

// peek reports whether bytes wait on the idle socket c, and whether it is open at
// all. Without a non-blocking peek it reads for a millisecond; a byte that it
// takes is no loss, since a socket with unasked bytes is not used again.
func (*probe) peek(c net.Conn) (pending, open bool) {
	if c.SetReadDeadline(time.Now().Add(time.Millisecond)) != nil {
		return false, false
	}
	var b [1]byte
	n, err := c.Read(b[:])
	if c.SetReadDeadline(time.Time{}) != nil {
		return false, false
	}
	return n > 0, errors.Is(err, os.ErrDeadlineExceeded)
}
