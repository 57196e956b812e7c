package render

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text makes s safe for a terminal (R11.2): every character that does not print
// (C0 and C1 controls, bidirectional and other format controls, line separators,
// private use) and every invalid byte is shown as an escape: \n, \x1b, \u202e, \xff.
func Text(s string) string {
	if printable(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(hexByte(s[0]))
		case strconv.IsPrint(r):
			b.WriteString(s[:n])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x80:
			b.WriteString(hexByte(byte(r)))
		default:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		}
		s = s[n:]
	}
	return b.String()
}

func printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func hexByte(c byte) string {
	const hex = "0123456789abcdef"
	return string([]byte{'\\', 'x', hex[c>>4], hex[c&15]})
}

// excerptBytes is how much of an error body is shown (cli.md).
const excerptBytes = 300

// Excerpt is the start of a text body on one escaped line, for the error line;
// "" when the body is empty or not text.
func Excerpt(body []byte) string {
	cut := len(body) > excerptBytes
	if cut {
		body = body[:excerptBytes]
		for i := 0; i < utf8.UTFMax && !utf8.Valid(body); i++ {
			body = body[:len(body)-1]
		}
	}
	if !utf8.Valid(body) || strings.IndexByte(string(body), 0) >= 0 {
		return ""
	}
	s := Text(strings.TrimSpace(string(body)))
	if cut && s != "" {
		s += "..."
	}
	return s
}
