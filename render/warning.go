package render

import "strings"

// warningPrefix starts each line of a warning.
const warningPrefix = "Warning: "

// Warning is a warning about the command line in curl's form: lines of at most
// columns characters (0: 79), broken after a blank, each with the prefix. There
// is no line feed at its end.
func Warning(text string, columns int) string {
	const usual, least = 79, 20
	if columns <= 0 {
		columns = usual
	}
	width := max(columns, least) - len(warningPrefix)
	var b strings.Builder
	for len(text) > width {
		cut := strings.LastIndexByte(text[:width], ' ') + 1
		if cut <= 1 {
			cut = width
		}
		b.WriteString(warningPrefix + text[:cut] + "\n")
		text = text[cut:]
	}
	b.WriteString(warningPrefix + text)
	return b.String()
}
