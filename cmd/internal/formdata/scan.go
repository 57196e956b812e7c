package formdata

import (
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
)

// scanner reads CONTENT[;type=..][;filename=..][;headers=..][;encoder=..] from
// at up to stop or the text's end.
type scanner struct {
	p    *parser
	text string
	at   int
	stop byte // 0 none

	// The content type may hold semicolons: it is text[typeFrom:typeTo] while
	// inType, and what follows a semicolon may still belong to it.
	inType           bool
	typeFrom, typeTo int
}

// part reads content and attributes into part.
func (s *scanner) part(part *Part) error {
	s.blanks()
	part.Content = s.word()
	for s.at < len(s.text) && s.text[s.at] == ';' {
		s.at++
		s.blanks()
		if err := s.attribute(part); err != nil {
			return err
		}
	}
	s.endType(part)
	return nil
}

func (s *scanner) attribute(part *Part) error {
	switch {
	case !s.inType && s.keyword("type="):
		return s.contentType()
	case s.keyword("filename="):
		s.endType(part)
		part.Filename = s.value()
	case s.keyword("headers="):
		s.endType(part)
		return s.headers(part)
	case s.keyword("encoder="):
		s.endType(part)
		part.Encoder = s.value()
	case s.inType:
		s.extendType()
	default:
		if unknown := s.word(); unknown != "" {
			s.p.warn("skip unknown form field: " + unknown)
		}
	}
	return nil
}

// keyword passes over word, in any case of letters.
func (s *scanner) keyword(word string) bool {
	rest := s.text[s.at:]
	if len(rest) < len(word) || !strings.EqualFold(rest[:len(word)], word) {
		return false
	}
	s.at += len(word)
	return true
}

func (s *scanner) value() *string {
	s.blanks()
	v := s.word()
	return &v
}

// maxTypeHalf is how long each half of a content type may be.
const maxTypeHalf = 127

// contentType reads MAJOR/MINOR; parameters are added by extendType.
func (s *scanner) contentType() error {
	s.blanks()
	rest := s.text[s.at:]
	major := span(rest, "/ ")
	minor := 0
	if major > 0 && major < len(rest) && rest[major] == '/' {
		minor = span(rest[major+1:], ";, \n")
	}
	if minor == 0 {
		return usageError("a form field's type is written MAJOR/MINOR, as in type=text/plain")
	}
	s.inType, s.typeFrom = true, s.at
	s.at += major + 1 + minor
	s.extendType()
	return nil
}

// span is how many of s's bytes come before the first one in set, up to maxTypeHalf.
func span(s, set string) int {
	n := strings.IndexAny(s, set)
	if n < 0 {
		n = len(s)
	}
	return min(n, maxTypeHalf)
}

// extendType takes all up to the next semicolon, but for blanks at the end.
func (s *scanner) extendType() {
	for s.typeTo = s.at; !s.ended(); s.at++ {
		if !isSpace(s.text[s.at]) {
			s.typeTo = s.at + 1
		}
	}
}

func (s *scanner) endType(part *Part) {
	if s.inType {
		t := s.text[s.typeFrom:s.typeTo]
		part.Type, s.inType = &t, false
	}
}

// headers reads one header, or a file of them after @ or <.
func (s *scanner) headers(part *Part) error {
	if s.at >= len(s.text) || s.text[s.at] != '@' && s.text[s.at] != '<' {
		part.Headers = append(part.Headers, *s.value())
		return nil
	}
	s.at++
	name := *s.value()
	f, err := s.p.env.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	lines, err := readHeaders(f)
	if err != nil {
		return &Error{Reason: "cannot read " + name + ": " + err.Error(), Code: exitcode.Input}
	}
	part.Headers = append(part.Headers, lines...)
	return nil
}

func (s *scanner) blanks() {
	for s.at < len(s.text) && isSpace(s.text[s.at]) {
		s.at++
	}
}

func (s *scanner) ended() bool {
	return s.at >= len(s.text) || s.text[s.at] == ';' || s.stop != 0 && s.text[s.at] == s.stop
}

// word reads up to the next separator. In double quotes separators are text
// and \" and \\ stand for " and \; a quote that is not closed is text itself.
func (s *scanner) word() string {
	if s.at < len(s.text) && s.text[s.at] == '"' {
		if w, end, ok := unquote(s.text[s.at+1:]); ok {
			s.at += 1 + end
			s.trailing()
			return w
		}
	}
	from := s.at
	for !s.ended() {
		s.at++
	}
	return strings.TrimRightFunc(s.text[from:s.at], func(r rune) bool { return r < 0x80 && isSpace(byte(r)) })
}

// trailing passes over what stands between a closing quote and a separator.
func (s *scanner) trailing() {
	from := s.at
	for !s.ended() {
		s.at++
	}
	if strings.Trim(s.text[from:s.at], spaces) != "" {
		s.p.warn("Trailing data after quoted form parameter")
	}
}

// unquote reads up to the closing quote; end is behind it.
func unquote(s string) (word string, end int, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '\\' || s[i+1] == '"'):
			i++
		case s[i] == '"':
			return b.String(), i + 1, true
		}
		b.WriteByte(s[i])
	}
	return "", 0, false
}

const spaces = " \t\n\v\f\r"

func isSpace(c byte) bool { return strings.IndexByte(spaces, c) >= 0 }
