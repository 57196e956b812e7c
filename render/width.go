package render

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// columns is how many terminal columns s takes: two for wide East Asian
// characters, none for combining marks. s has passed Text.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// clip cuts s to at most most columns; what is cut ends with dots.
func clip(s string, most int, ascii bool) string {
	if columns(s) <= most {
		return s
	}
	dots := "…"
	if ascii {
		dots = "..."
	}
	if most < columns(dots) {
		return strings.Repeat(".", max(most, 0))
	}
	n := most - columns(dots)
	for i, r := range s {
		if n -= runeColumns(r); n < 0 {
			return s[:i] + dots
		}
	}
	return s
}

func pad(s string, to int) string {
	return s + strings.Repeat(" ", max(to-columns(s), 0))
}

// plainASCII replaces what a plain terminal cannot show.
func plainASCII(s string) string {
	if printable(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		b.WriteByte('?')
	}
	return b.String()
}
