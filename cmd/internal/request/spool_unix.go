//go:build !windows && !plan9

package request

// unlinkEarly: an open file may lose its name, so no path leaves it behind.
const unlinkEarly = true
