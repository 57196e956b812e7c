// Package configfile reads curl's config file notation (-K): one flag a line.
package configfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/bounded"
)

// Entry is one flag of a config file.
type Entry struct {
	// Name is the flag without dashes. With Short it is what followed one
	// dash, "o" as well as "sSfo": letters as on the command line.
	Name string
	// Value is what followed; HasValue tells an empty one ("") from none.
	Value string
	// Line in the file, from 1.
	Line int

	Short    bool
	HasValue bool
	// Spaced: the value ended at a blank, and what followed was left out.
	Spaced bool
}

// Error is a line that cannot be read. Its text does not hold the line, which
// may be a secret.
type Error struct {
	File string
	Line int
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// maxLine is the longest line that is read: more than any data stands in one.
const maxLine = 10 << 20

var (
	errLong     = errors.New("the line is longer than 10 MiB")
	errNUL      = errors.New("the line holds a NUL")
	errQuote    = errors.New("the closing quote is missing")
	errAfter    = errors.New("text after the closing quote")
	errUnquoted = errors.New("a value with spaces must stand in double quotes")
	errName     = errors.New("no flag name")
)

// Parse reads a config file, called name in errors (*Error). The notation is
// curl's: a flag with or without its dashes; then blanks, "=" or ":"; then a value, in
// double quotes (with \\ \" \t \n \r \v) or without (it ends at a blank). Lines
// that start with "#" are comments. Where curl would drop part of a line
// without a word, Parse refuses it.
func Parse(r io.Reader, name string) ([]Entry, error) {
	var entries []Entry
	scanner := bufio.NewScanner(bounded.Reader(r, bounded.Text))
	scanner.Buffer(nil, maxLine)
	for n := 1; ; n++ {
		if !scanner.Scan() {
			switch err := scanner.Err(); {
			case errors.Is(err, bufio.ErrTooLong):
				return nil, &Error{name, n, errLong}
			case err != nil:
				return nil, &Error{name, n, err}
			}
			return entries, nil
		}
		line := scanner.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		entry, ok, err := parseLine(string(line))
		if err != nil {
			return nil, &Error{name, n, err}
		}
		if ok {
			entry.Line = n
			if len(entries) == cap(entries) {
				entries = slices.Grow(entries, len(entries)+1) // a list may be long
			}
			entries = append(entries, entry)
		}
	}
}

const blanks = " \t\r\n\v\f"

func isBlank(c byte) bool { return strings.IndexByte(blanks, c) >= 0 }

func trimLeft(s string) string {
	for s != "" && isBlank(s[0]) {
		s = s[1:]
	}
	return s
}

func parseLine(line string) (e Entry, ok bool, _ error) {
	if strings.IndexByte(line, 0) >= 0 {
		return e, false, errNUL
	}
	line = trimLeft(line)
	for line != "" && isBlank(line[len(line)-1]) {
		line = line[:len(line)-1]
	}
	if line == "" || strings.IndexByte("#/*", line[0]) >= 0 {
		return e, false, nil
	}
	separators := "=:"
	switch {
	case strings.HasPrefix(line, "--"):
		line, separators = line[2:], "="
	case line[0] == '-':
		line, separators, e.Short = line[1:], "", true
	}
	separates := func(c byte) bool { return isBlank(c) || strings.IndexByte(separators, c) >= 0 }
	end := 0
	for end < len(line) && !separates(line[end]) {
		end++
	}
	e.Name = line[:end]
	if e.Name == "" {
		return e, false, errName
	}
	for end < len(line) && separates(line[end]) {
		end++
	}
	var err error
	e.Value, e.HasValue, err = value(line[end:])
	if e.Spaced = errors.Is(err, errUnquoted); e.Spaced {
		err = nil
	}
	return e, err == nil, err
}

// value reads what follows the separator.
func value(s string) (_ string, has bool, _ error) {
	if strings.HasPrefix(s, `"`) {
		v, rest, err := unquote(s[1:])
		if err == nil && !ignorable(rest) {
			err = errAfter
		}
		return v, true, err
	}
	end := strings.IndexAny(s, blanks)
	switch {
	case s == "#", end == 1 && s[0] == '#':
		return "", false, nil // a comment after a flag without a value
	case end < 0:
		return s, s != "", nil
	}
	if !ignorable(s[end:]) {
		return s[:end], true, errUnquoted
	}
	return s[:end], true, nil
}

// ignorable: blanks, or a comment after them.
func ignorable(s string) bool {
	t := trimLeft(s)
	return t == "" || t[0] == '#' && len(t) < len(s)
}

// unquote reads up to the closing quote. A backslash before any other
// character stands for that character.
func unquote(s string) (v, rest string, _ error) {
	if end := strings.IndexByte(s, '"'); end >= 0 && strings.IndexByte(s[:end], '\\') < 0 {
		return s[:end], s[end+1:], nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch c {
		case '"':
			return b.String(), s[i+1:], nil
		case '\\':
			i++
			if i == len(s) {
				return "", "", errQuote
			}
			c = escape(s[i])
		}
		b.WriteByte(c)
	}
	return "", "", errQuote
}

func escape(c byte) byte {
	switch c {
	case 't':
		return '\t'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 'v':
		return '\v'
	}
	return c
}
