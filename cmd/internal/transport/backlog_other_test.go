//go:build !unix

package transport

import (
	"net"
	"testing"
)

func fullBacklog(t *testing.T) string {
	t.Skip("no way known to fill a listen queue here")
	return ""
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}
