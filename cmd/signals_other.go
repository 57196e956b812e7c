//go:build !unix

package cmd

// ignoreBrokenPipes does nothing: there is no SIGPIPE here.
func ignoreBrokenPipes() {}

// restorePipes does nothing, for the same reason.
func restorePipes() {}
