// Package header has what those share who compose the head of a request, write
// it, and read that of the answer.
package header

import "strings"

// Line is one line of a request's head, in the order and case of the wire.
type Line struct {
	Name, Value string
	Tight       bool // no space stands after the colon (HTTP/1 only)
}

// Value is that of the first line of that name, "" none.
func Value(lines []Line, name string) string {
	for i := range lines {
		if Same(lines[i].Name, name) {
			return lines[i].Value
		}
	}
	return ""
}

// Same reports whether two names are those of one field: case does not matter.
func Same(a, b string) bool {
	return len(a) == len(b) && strings.EqualFold(a, b)
}
