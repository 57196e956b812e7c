package render

import (
	"strings"

	"github.com/fatih/color"
)

// style is what a piece of a line means; colour only repeats what its text says.
type style int

const (
	plain style = iota
	dim
	bold
	good
	bad
	warn
	accent
)

type span struct {
	text string
	style
}

// row is one line of spans.
type row []span

func (r row) columns() int {
	n := 0
	for _, s := range r {
		n += columns(s.text)
	}
	return n
}

// clip cuts r to most columns.
func (r row) clip(most int, ascii bool) row {
	if r.columns() <= most {
		return r
	}
	var out row
	for _, s := range r {
		n := columns(s.text)
		if n > most || n == most && len(out) < len(r)-1 {
			return append(out, span{clip(s.text+" …", most, ascii), s.style})
		}
		out, most = append(out, s), most-n
	}
	return out
}

// painter turns rows into text.
type painter struct {
	color bool
	ascii bool
}

func (p painter) line(b *strings.Builder, r row) {
	var line strings.Builder
	for i, s := range r {
		text := s.text
		if p.ascii {
			text = plainASCII(text)
		}
		if i == len(r)-1 {
			text = strings.TrimRight(text, " ")
		}
		if attrs := s.attributes(); p.color && attrs != nil && strings.TrimSpace(text) != "" {
			c := color.New(attrs...)
			c.EnableColor() // the package's own guess about the terminal does not count
			text = c.Sprint(text)
		}
		line.WriteString(text)
	}
	b.WriteString(strings.TrimRight(line.String(), " "))
	b.WriteByte('\n')
}

func (s style) attributes() []color.Attribute {
	switch s {
	case dim:
		return []color.Attribute{color.Faint}
	case bold:
		return []color.Attribute{color.Bold}
	case good:
		return []color.Attribute{color.FgGreen}
	case bad:
		return []color.Attribute{color.FgRed}
	case warn:
		return []color.Attribute{color.FgYellow}
	case accent:
		return []color.Attribute{color.FgCyan}
	}
	return nil
}

// wrap breaks words over lines of most columns; lines after the first start
// with indent. A word longer than a line is cut.
func wrap(s string, most int, indent string, ascii bool) []string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(s) {
		switch {
		case line == "":
			line = w
		case columns(line)+1+columns(w) <= most:
			line += " " + w
		default:
			lines = append(lines, clip(line, most, ascii))
			line = indent + w
		}
	}
	return append(lines, clip(line, most, ascii))
}
