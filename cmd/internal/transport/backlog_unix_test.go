//go:build unix

package transport

import (
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// fullBacklog is the address of a listener that accepts nobody and whose queue
// is full, so that a connection to it is neither made nor refused.
func fullBacklog(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	syscall.CloseOnExec(fd)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address := "127.0.0.1:" + strconv.Itoa(name.(*syscall.SockaddrInet4).Port)
	for range 64 {
		c, err := net.DialTimeout("tcp", address, 100*time.Millisecond)
		if err != nil {
			return address
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	t.Skip("this system's listen queue does not fill up")
	return ""
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}
