package retrytest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ScriptError says where a script is wrong and what was expected there.
type ScriptError struct {
	Line   int // from 1
	Column int // from 1, in characters
	// Found is the text that stands there, "" at the end of the script.
	Found string
	// Expected says what should.
	Expected string
}

// Error gives place, expectation and what was found, on one line.
func (e *ScriptError) Error() string {
	found := "the end of the script"
	if e.Found != "" {
		found = strconv.Quote(e.Found)
	}
	return fmt.Sprintf("script line %d, column %d: expected %s, found %s", e.Line, e.Column, e.Expected, found)
}

// word is one blank-delimited piece of a script with its quotes taken off.
type word struct {
	text  string
	start int // offset of its first byte
	end   int // offset after its last byte
}

// scanner cuts a script into words. The first error stays.
type scanner struct {
	src string
	pos int
	err *ScriptError
}

// fail records that something else was expected at offset at.
func (s *scanner) fail(at int, found, expected string) {
	if s.err != nil {
		return
	}
	before := s.src[:at]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	s.err = &ScriptError{Line: line, Column: column, Found: found, Expected: expected}
}

// failWord records that word w is wrong.
func (s *scanner) failWord(w word, expected string) {
	s.fail(w.start, s.src[w.start:w.end], expected)
}

// peek is the byte at the position, 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.src) {
		return s.src[s.pos]
	}
	return 0
}

// blanks skips spaces and tabs.
func (s *scanner) blanks() {
	for s.pos < len(s.src) && isBlank(s.src[s.pos]) {
		s.pos++
	}
}

// gaps skips blanks, separators and comments between items.
func (s *scanner) gaps() {
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case isBlank(c) || isSeparator(c):
			s.pos++
		case c == '#':
			for s.pos < len(s.src) && s.src[s.pos] != '\n' {
				s.pos++
			}
		default:
			return
		}
	}
}

// word reads up to the next blank, separator or bracket outside quotes. Single
// quotes keep everything as it stands; double quotes know the escapes of a Go
// string.
func (s *scanner) word() word {
	w := word{start: s.pos}
	var b strings.Builder
	for s.pos < len(s.src) && s.err == nil {
		c := s.src[s.pos]
		if isBlank(c) || isSeparator(c) || c == '[' || c == ']' {
			break
		}
		switch c {
		case '\'', '"':
			s.quoted(&b, c)
		default:
			b.WriteByte(c)
			s.pos++
		}
	}
	w.text, w.end = b.String(), s.pos
	return w
}

// quoted reads one quoted part, the opening quote included.
func (s *scanner) quoted(b *strings.Builder, quote byte) {
	open := s.pos
	s.pos++
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		if c == quote {
			s.pos++
			return
		}
		if quote == '"' && c == '\\' {
			r, multibyte, rest, err := strconv.UnquoteChar(s.src[s.pos:], quote)
			if err != nil {
				s.fail(s.pos, s.src[s.pos:min(s.pos+2, len(s.src))], "an escape of a Go string")
				return
			}
			if multibyte {
				b.WriteRune(r)
			} else {
				b.WriteByte(byte(r))
			}
			s.pos = len(s.src) - len(rest)
			continue
		}
		b.WriteByte(c)
		s.pos++
	}
	s.fail(open, s.src[open:min(open+10, len(s.src))], "a closing "+string(quote))
}

func isBlank(c byte) bool     { return c == ' ' || c == '\t' }
func isSeparator(c byte) bool { return c == ',' || c == '\n' || c == '\r' }
