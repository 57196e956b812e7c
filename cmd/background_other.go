//go:build !unix

package cmd

// background: there is no such thing here.
func background() bool { return false }
