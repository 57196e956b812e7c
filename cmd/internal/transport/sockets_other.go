//go:build !linux

package transport

import "syscall"

// abstractSockets: only Linux has names for unix sockets that are no paths.
const abstractSockets = false

// bindToDevice does nothing: elsewhere the address alone is bound.
func bindToDevice(string) func(network, address string, c syscall.RawConn) error { return nil }
