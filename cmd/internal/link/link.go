// Package link reads Link header fields (RFC 8288).
package link

import "strings"

// Link is one link of a field.
type Link struct {
	Target string // as written: a reference, mostly relative
	Rel    string // relation types, separated by blanks, as written
	// Anchor is what the link starts from, if not the page itself: a reference.
	Anchor    string
	HasAnchor bool
}

// Parse reads all lines of a field, each by RFC 8288, Appendix B.2. What is wrong
// in a line ends that line; the links before it count.
func Parse(lines []string) []Link {
	var links []Link
	for _, line := range lines {
		links = parseLine(line, links)
	}
	return links
}

// HasRel reports whether the link is of that relation type; case does not matter.
func (l Link) HasRel(rel string) bool {
	for r := range strings.FieldsSeq(l.Rel) {
		if strings.EqualFold(r, rel) {
			return true
		}
	}
	return false
}

func parseLine(rest string, links []Link) []Link {
	for {
		rest = skip(rest)
		if strings.HasPrefix(rest, ",") { // an empty list element (RFC 9110, section 5.6.1)
			rest = rest[1:]
			continue
		}
		if !strings.HasPrefix(rest, "<") {
			return links
		}
		target, after, closed := strings.Cut(rest[1:], ">")
		if !closed {
			return links
		}
		l := Link{Target: strings.Trim(target, blanks)}
		rest = l.parameters(after)
		links = append(links, l)
		rest = skip(rest)
		if !strings.HasPrefix(rest, ",") {
			return links
		}
		rest = rest[1:]
	}
}

// parameters reads those of one link, and gives what follows it. Of rel and
// anchor, the first counts (RFC 8288, section 3.3 and Appendix B.2).
func (l *Link) parameters(rest string) string {
	hasRel := false
	for {
		rest = skip(rest)
		if !strings.HasPrefix(rest, ";") {
			return rest
		}
		var name, value string
		name, value, rest = parameter(skip(rest[1:]))
		switch {
		case strings.EqualFold(name, "rel") && !hasRel:
			l.Rel, hasRel = value, true
		case strings.EqualFold(name, "anchor") && !l.HasAnchor:
			l.Anchor, l.HasAnchor = value, true
		}
	}
}

// parameter reads one, its value in quotes or not (Appendix B.3).
func parameter(s string) (name, value, rest string) {
	end := strings.IndexAny(s, blanks+"=;,")
	if end < 0 {
		return s, "", ""
	}
	name, rest = s[:end], skip(s[end:])
	if !strings.HasPrefix(rest, "=") {
		return name, "", rest
	}
	rest = skip(rest[1:])
	if strings.HasPrefix(rest, `"`) {
		value, rest = quoted(rest[1:])
		return name, value, rest
	}
	end = strings.IndexAny(rest, ";,")
	if end < 0 {
		end = len(rest)
	}
	return name, strings.TrimRight(rest[:end], blanks), rest[end:]
}

// quoted reads a quoted string behind its first quote (Appendix B.4). One that
// does not end goes to the end of the line.
func quoted(s string) (value, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:]
		case '\\':
			i++
			if i == len(s) {
				return b.String(), ""
			}
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}

const blanks = " \t"

func skip(s string) string { return strings.TrimLeft(s, blanks) }
