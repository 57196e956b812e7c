// Package urlglob is curl's URL globbing: {a,b,c}, [1-9], [001-100:5] and
// [a-z:2], several in one URL, and #1 in names for what stood in the first.
package urlglob

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"net/netip"
	"strconv"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// Error is a URL whose globs cannot be read.
type Error struct {
	Err error
	URL string // as given: it may hold secrets, the message does not
	Pos int    // of the byte in URL where it went wrong, from 1
}

func (e *Error) Error() string { return fmt.Sprintf("%v in URL position %d", e.Err, e.Pos) }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// RetryClass implements retry.Classified: nothing is sent.
func (e *Error) RetryClass() retry.Class { return retry.ClassRequest }

// ExitCode is curl's for a malformed URL.
func (e *Error) ExitCode() exitcode.Code { return exitcode.BadURL }

var (
	errBrace      = errors.New("unmatched brace")
	errNested     = errors.New("nested brace")
	errEmpty      = errors.New("empty string within braces")
	errBracket    = errors.New("unexpected close bracket")
	errClose      = errors.New("unmatched close brace/bracket")
	errRange      = errors.New("bad range")
	errNoRange    = errors.New("bad range specification")
	errTooManyAll = errors.New("range overflow")
)

// Pattern is a URL with its globs. It keeps what was written and not what comes
// out: a pattern of a thousand million URLs is as small as one of two.
type Pattern struct {
	parts []part
	globs int
	count uint64
}

// part is a literal text or a glob. A glob's i-th value is computed.
type part struct {
	literal string   // when count is 0
	set     []string // {a,b}
	first   uint64   // of a range; a character's code when char
	step    uint64
	width   int // of numbers with leading zeros, 0 none
	char    bool
	count   uint64
}

// Parse reads a URL's globs. An IPv6 literal in brackets and an empty pair of
// brackets are text; a backslash before one of {}[] makes that text, too, and
// within braces it does so for every character. The error is an *Error.
func Parse(url string) (*Pattern, error) {
	if IsLiteral(url) {
		return Literal(url), nil
	}
	s := scanner{url: url, p: &Pattern{count: 1}}
	if err := s.scan(); err != nil {
		return nil, &Error{Err: err, URL: url, Pos: s.at + 1}
	}
	return s.p, nil
}

// IsLiteral reports whether there is nothing in a URL for Parse to read.
func IsLiteral(url string) bool { return !strings.ContainsAny(url, `{}[]\`) }

// Literal is a URL that is taken as it is (--globoff).
func Literal(url string) *Pattern {
	return &Pattern{parts: []part{{literal: url}}, count: 1}
}

// Count is the number of URLs, at least 1.
func (p *Pattern) Count() uint64 { return p.count }

// Match is one URL that came out of a Pattern.
type Match struct {
	URL   string
	of    *Pattern
	index uint64 // among them all, from 0
}

// Expand replaces #1 to #N in a file name by what the globs stand for in this
// URL. A number that no glob has stays as it is.
func (m Match) Expand(name string) string {
	if m.of.globs == 0 || strings.IndexByte(name, '#') < 0 {
		return name
	}
	var b []byte
	for {
		head, rest, found := strings.Cut(name, "#")
		b = append(b, head...)
		if !found {
			return string(b)
		}
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.Atoi(rest[:digits])
		if err == nil && n >= 1 && n <= m.of.globs {
			b = m.appendValue(b, n)
			name = rest[digits:]
			continue
		}
		b = append(b, '#')
		name = rest
	}
}

// appendValue adds what the n-th glob, from 1, stands for.
func (m Match) appendValue(b []byte, n int) []byte {
	at := m.of.places(m.index)
	for i := range m.of.parts {
		g := &m.of.parts[i]
		if g.count == 0 {
			continue
		}
		if n--; n == 0 {
			return g.appendValue(b, at[i])
		}
	}
	return b
}

// All gives every URL in order, the last glob counting fastest. Only one exists
// at a time.
func (p *Pattern) All() iter.Seq[Match] {
	return func(yield func(Match) bool) {
		at := p.places(0)
		var text []byte
		for i := range p.count {
			text = p.appendURL(text[:0], at)
			if !yield(Match{URL: string(text), of: p, index: i}) {
				return
			}
			p.advance(at)
		}
	}
}

// places are the values' numbers, by part, of the URL of that index.
func (p *Pattern) places(index uint64) []uint64 {
	at := make([]uint64, len(p.parts))
	for i := len(at) - 1; i >= 0; i-- {
		if n := p.parts[i].count; n > 0 {
			at[i], index = index%n, index/n
		}
	}
	return at
}

// advance counts one up.
func (p *Pattern) advance(at []uint64) {
	for i := len(at) - 1; i >= 0; i-- {
		if at[i]++; at[i] < p.parts[i].count {
			return
		}
		at[i] = 0
	}
}

func (p *Pattern) appendURL(b []byte, at []uint64) []byte {
	for i := range p.parts {
		if g := &p.parts[i]; g.count > 0 {
			b = g.appendValue(b, at[i])
		} else {
			b = append(b, g.literal...)
		}
	}
	return b
}

func (g *part) appendValue(b []byte, i uint64) []byte {
	switch {
	case g.set != nil:
		return append(b, g.set[i]...)
	case g.char:
		return append(b, byte(g.first+i*g.step))
	}
	var digits [20]byte
	text := strconv.AppendUint(digits[:0], g.first+i*g.step, 10)
	for range g.width - len(text) {
		b = append(b, '0')
	}
	return append(b, text...)
}

// scanner reads a URL from left to right. When it fails, at is where.
type scanner struct {
	url string
	at  int
	p   *Pattern
}

func (s *scanner) scan() error {
	for s.at < len(s.url) {
		s.text()
		if s.at == len(s.url) {
			return nil
		}
		var err error
		switch s.url[s.at] {
		case '{':
			err = s.set()
		case '[':
			err = s.rangeOf()
		default:
			err = errClose
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// text takes what stands before the next glob.
func (s *scanner) text() {
	var b strings.Builder
	for s.at < len(s.url) {
		c := s.url[s.at]
		if c == '[' {
			if n := literalBrackets(s.url[s.at:]); n > 0 {
				b.WriteString(s.url[s.at : s.at+n])
				s.at += n
				continue
			}
		}
		if isSpecial(c) {
			break
		}
		if c == '\\' && s.at+1 < len(s.url) && isSpecial(s.url[s.at+1]) {
			s.at++
		}
		b.WriteByte(s.url[s.at])
		s.at++
	}
	if b.Len() > 0 {
		s.p.parts = append(s.p.parts, part{literal: b.String()})
	}
}

func isSpecial(c byte) bool { return c == '{' || c == '}' || c == '[' || c == ']' }

// literalBrackets is the length of an IPv6 literal or an empty pair of brackets
// at the start of text, 0 where there is neither.
func literalBrackets(text string) int {
	end := strings.IndexByte(text, ']')
	if end == 1 {
		return 2
	}
	if end < 0 {
		return 0
	}
	host, _, _ := strings.Cut(text[1:end], "%")
	if ip, err := netip.ParseAddr(host); err != nil || !ip.Is6() {
		return 0
	}
	return end + 1
}

// set reads {a,b,c}.
func (s *scanner) set() error {
	open := s.at
	g := part{}
	var b strings.Builder
	for s.at++; s.at < len(s.url); s.at++ {
		switch c := s.url[s.at]; c {
		case '{', '[':
			return errNested
		case ']':
			return errBracket
		case ',', '}':
			if c == '}' && s.at == open+1 {
				return errEmpty
			}
			g.set = append(g.set, b.String())
			b.Reset()
			if c == '}' {
				s.at++
				g.count = uint64(len(g.set))
				return s.add(g)
			}
		case '\\':
			if s.at+1 < len(s.url) {
				s.at++
			}
			b.WriteByte(s.url[s.at])
		default:
			b.WriteByte(c)
		}
	}
	s.at = open
	return errBrace
}

func (s *scanner) add(g part) error {
	s.p.parts = append(s.p.parts, g)
	s.p.globs++
	high, low := bits.Mul64(s.p.count, g.count)
	if high != 0 || low > math.MaxInt64 {
		return errTooManyAll
	}
	s.p.count = low
	return nil
}

// rangeOf reads [1-9], [001-100:5], [a-z:2].
func (s *scanner) rangeOf() error {
	s.at++
	switch c := s.peek(); {
	case isLetter(c):
		return s.letters()
	case isDigit(c):
		return s.numbers()
	}
	return errNoRange
}

func (s *scanner) letters() error {
	first := s.peek()
	if len(s.url) < s.at+4 || s.url[s.at+1] != '-' {
		return errRange
	}
	last := s.url[s.at+2]
	s.at += 3
	step, ok := s.step()
	if !ok || last < first || last-first > 'z'-'a' || !fits(step, uint64(last-first)) {
		return errRange
	}
	return s.add(part{char: true, first: uint64(first), step: step, count: uint64(last-first)/step + 1})
}

func (s *scanner) numbers() error {
	g := part{}
	begin := s.at
	first, ok := s.number()
	if s.url[begin] == '0' {
		g.width = s.at - begin
	}
	if !ok || s.peek() != '-' {
		return errRange
	}
	s.at++
	last, ok := s.number()
	if !ok {
		return errRange
	}
	step, ok := s.step()
	if !ok || last < first || !fits(step, last-first) || (last-first)/step == math.MaxUint64 {
		return errRange
	}
	g.first, g.step, g.count = first, step, (last-first)/step+1
	return s.add(g)
}

// fits: a step longer than the range is an error of the user's; a range of one
// value has no step.
func fits(step, span uint64) bool { return step <= max(span, 1) }

// step reads ":N]" or "]".
func (s *scanner) step() (uint64, bool) {
	step, ok := uint64(1), true
	if s.peek() == ':' {
		s.at++
		step, ok = s.number()
	}
	if !ok || step == 0 || s.peek() != ']' {
		return 0, false
	}
	s.at++
	return step, true
}

// number reads digits, with blanks before them.
func (s *scanner) number() (uint64, bool) {
	for s.peek() == ' ' || s.peek() == '\t' {
		s.at++
	}
	begin := s.at
	for isDigit(s.peek()) {
		s.at++
	}
	n, err := strconv.ParseUint(s.url[begin:s.at], 10, 64)
	return n, err == nil
}

// peek is the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.at < len(s.url) {
		return s.url[s.at]
	}
	return 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { c |= 0x20; return c >= 'a' && c <= 'z' }
