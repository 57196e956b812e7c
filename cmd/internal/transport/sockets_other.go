//go:build !linux

package transport

// abstractSockets: only Linux has names for unix sockets that are no paths.
const abstractSockets = false
