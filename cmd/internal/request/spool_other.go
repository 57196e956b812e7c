//go:build windows || plan9

package request

// unlinkEarly: an open file keeps its name here until it is closed.
const unlinkEarly = false
