package render

import "strings"

// The prefixes of each line of a warning and of a note.
const (
	warningPrefix = "Warning: "
	notePrefix    = "Note: "
)

// Warning is a warning about the command line in curl's form: lines of at most
// columns characters (0: 79), broken after a blank, each with the prefix. There
// is no line feed at its end.
func Warning(text string, columns int) string { return wrapped(warningPrefix, text, columns) }

// Note is a remark that -v makes on the command line, in the same form.
func Note(text string, columns int) string { return wrapped(notePrefix, text, columns) }

func wrapped(prefix, text string, columns int) string {
	const usual, least = 79, 20
	if columns <= 0 {
		columns = usual
	}
	width := max(columns, least) - len(prefix)
	var b strings.Builder
	for len(text) > width {
		cut := strings.LastIndexByte(text[:width], ' ') + 1
		if cut <= 1 {
			cut = width
		}
		b.WriteString(prefix + text[:cut] + "\n")
		text = text[cut:]
	}
	b.WriteString(prefix + text)
	return b.String()
}
