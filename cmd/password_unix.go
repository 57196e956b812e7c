//go:build !windows

package cmd

// terminalDevice is the controlling terminal.
const terminalDevice = "/dev/tty"
