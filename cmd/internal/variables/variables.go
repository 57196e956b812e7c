// Package variables is curl's --variable and --expand-OPTION (curl 8.3): names
// with contents, and {{name}} or {{name:function:...}} for them in a value.
package variables

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/bounded"
)

// Source is what a definition may ask of the world.
type Source struct {
	// Lookup is an environment variable; false where there is none.
	Lookup func(name string) (string, bool)
	// Open opens a file, "-" being standard input.
	Open func(name string) (io.ReadCloser, error)
}

// Set holds variables. The zero value is empty and ready.
type Set struct{ values map[string][]byte }

const (
	maxName = 128 // bytes of a name, one less
)

// Define carries out one --variable: NAME=TEXT, NAME@FILE, %NAME for one of the
// environment, %NAME=TEXT and %NAME@FILE with a default for it; after NAME there
// may be a range of bytes, [START-END] or [START-]. A name that is there
// already gets the new content. The error of Open comes back as it is.
func (s *Set) Define(text string, from Source) error {
	rest, imported := strings.CutPrefix(text, "%")
	n := nameLength(rest)
	if n == 0 || n >= maxName {
		return fmt.Errorf("a variable needs a name of letters, digits and _ (at most %d): NAME=TEXT, NAME@FILE or %%NAME", maxName-1)
	}
	name, rest := rest[:n], rest[n:]
	cut, rest, err := cutRange(rest)
	if err != nil {
		return fmt.Errorf("variable %s: %w", name, err)
	}
	content, err := read(name, rest, imported, from)
	if err != nil {
		return err
	}
	if s.values == nil {
		s.values = make(map[string][]byte)
	}
	s.values[name] = cut.of(content)
	return nil
}

func read(name, rest string, imported bool, from Source) ([]byte, error) {
	if imported {
		if value, ok := from.Lookup(name); ok {
			return []byte(value), nil
		}
		if rest == "" {
			return nil, fmt.Errorf("variable %s: it is not set in the environment; %%%s=TEXT gives a default", name, name)
		}
	}
	switch {
	case strings.HasPrefix(rest, "="):
		return []byte(rest[1:]), nil
	case strings.HasPrefix(rest, "@"):
		return readFile(rest[1:], from)
	case rest == "":
		return nil, fmt.Errorf("variable %s: it has no content: %s=TEXT or %s@FILE", name, name, name)
	}
	return nil, fmt.Errorf("variable %s: after the name comes = or @", name)
}

func readFile(name string, from Source) ([]byte, error) {
	r, err := from.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // read only
	content, err := bounded.ReadAll(r, bounded.Text)
	if err != nil {
		return nil, &ReadError{Name: name, Err: err}
	}
	return content, nil
}

// ReadError is a file that was opened and could not be read.
type ReadError struct {
	Name string
	Err  error
}

func (e *ReadError) Error() string {
	return "cannot read " + strconv.Quote(e.Name) + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *ReadError) Unwrap() error { return e.Err }

func nameLength(text string) int {
	for i := range len(text) {
		c := text[i]
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return i
		}
	}
	return len(text)
}

// byteRange is [first-last], both included.
type byteRange struct{ first, last uint64 }

var errRange = errors.New("a range of bytes is [START-END] or [START-], START not after END")

func cutRange(text string) (byteRange, string, error) {
	whole := byteRange{0, math.MaxUint64}
	inside, found := strings.CutPrefix(text, "[")
	if !found {
		return whole, text, nil
	}
	inside, rest, closed := strings.Cut(inside, "]")
	from, to, dashed := strings.Cut(inside, "-")
	if !closed || !dashed || from == "" || strings.Trim(from+to, "0123456789") != "" {
		return whole, "", errRange
	}
	r := byteRange{last: math.MaxUint64}
	var err, errTo error
	r.first, err = strconv.ParseUint(from, 10, 63)
	if to != "" {
		r.last, errTo = strconv.ParseUint(to, 10, 63)
	}
	if err != nil || errTo != nil || r.first > r.last {
		return whole, "", errRange
	}
	return r, rest, nil
}

// of is the part of content that there is of the range.
func (r byteRange) of(content []byte) []byte {
	n := uint64(len(content))
	if r.first >= n {
		return nil
	}
	return content[r.first:min(n, r.last+min(1, math.MaxUint64-r.last))]
}

// Expand replaces each {{name}} and {{name:function:function}} in text. An
// unknown name is empty; \{{ is {{. What cannot be a name stays as it is, with a
// warning, since other notations have braces, too. Errors are unknown functions
// and contents that hold a NUL.
func (s *Set) Expand(text string) (expanded string, warnings []string, err error) {
	var b strings.Builder
	for {
		open := strings.Index(text, "{{")
		if open < 0 {
			b.WriteString(text)
			return b.String(), warnings, nil
		}
		if open > 0 && text[open-1] == '\\' {
			b.WriteString(text[:open-1] + "{{")
			text = text[open+2:]
			continue
		}
		end := strings.Index(text[open:], "}}")
		if end < 0 {
			b.WriteString(text)
			return b.String(), append(warnings, "}} is missing after {{"), nil
		}
		inside := text[open+2 : open+end]
		name, functions, called := strings.Cut(inside, ":")
		if n := nameLength(name); n == 0 || n != len(name) || n >= maxName {
			b.WriteString(text[:open+end+2])
			warnings = append(warnings, strconv.Quote("{{"+inside+"}}")+" is no variable and stays as it is")
		} else {
			value, err := s.value(name, functions, called)
			if err != nil {
				return "", nil, err
			}
			b.WriteString(text[:open])
			b.Write(value)
		}
		text = text[open+end+2:]
	}
}

func (s *Set) value(name, functions string, called bool) ([]byte, error) {
	value := s.values[name]
	if called {
		for f := range strings.SplitSeq(functions, ":") {
			var ok bool
			if value, ok = apply(f, value); !ok {
				return nil, fmt.Errorf("variable %s: %s is not one of the functions trim, json, url, b64, 64dec", name, strconv.Quote(f))
			}
		}
	}
	if bytes.IndexByte(value, 0) >= 0 {
		return nil, fmt.Errorf("variable %s: its content holds a NUL; {{%s:b64}} or another encoding can pass it on", name, name)
	}
	return value, nil
}

// apply is one function; ok is false where there is none of that name.
func apply(function string, v []byte) (out []byte, ok bool) {
	switch function {
	case "trim":
		return bytes.Trim(v, " \t\n\v\f\r"), true
	case "json":
		return quoteJSON(v), true
	case "url":
		return escapeURL(v), true
	case "b64":
		return base64.StdEncoding.AppendEncode(nil, v), true
	case "64dec":
		out, err := base64.StdEncoding.AppendDecode(nil, v)
		if err != nil {
			return []byte("[64dec-fail]"), true
		}
		return out, true
	}
	return nil, false
}

// quoteJSON is the inside of a JSON string. Bytes beyond ASCII stay as they are.
func quoteJSON(v []byte) []byte {
	out := make([]byte, 0, len(v)+8)
	for _, c := range v {
		switch i := strings.IndexByte("\"\\\b\f\n\r\t", c); {
		case i >= 0:
			out = append(out, '\\', `"\bfnrt`[i])
		case c < 0x20:
			out = fmt.Appendf(out, `\u%04x`, c)
		default:
			out = append(out, c)
		}
	}
	return out
}

// escapeURL leaves RFC 3986's unreserved characters alone.
func escapeURL(v []byte) []byte {
	const hex = "0123456789ABCDEF"
	out := make([]byte, 0, len(v)+8)
	for _, c := range v {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if letter || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			out = append(out, c)
			continue
		}
		out = append(out, '%', hex[c>>4], hex[c&15])
	}
	return out
}
