package request

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/bounded"
	"github.com/bidehttp/bide/cmd/internal/header"
)

// ParseHeaders reads -H texts in order: "Name: value", "Name:" (take a default
// away), "Name;" (send it empty), and "@file" ("@-" is stdin) with one such text per line.
// Everything after the colon but one space is the value, as written. An empty
// text is nothing, as in curl. A line break or NUL anywhere, a name that is no
// token (RFC 9110 §5.1), or a text of no such form is an *Error of class
// request, exit 2; an unreadable file is one of class input.
func ParseHeaders(texts []string, files *Files) ([]HeaderLine, error) {
	return parseHeaders(texts, files, parseHeader)
}

// ParseHeadersAsCurl is ParseHeaders, but names may hold what no token does, and
// a text of no such form is left out.
func ParseHeadersAsCurl(texts []string, files *Files) ([]HeaderLine, error) {
	return parseHeaders(texts, files, parseHeaderAsCurl)
}

// headerParser reads one text; ok is false where it is nothing.
type headerParser func(text string) (line HeaderLine, ok bool, err error)

func parseHeaders(texts []string, files *Files, parse headerParser) ([]HeaderLine, error) {
	var lines []HeaderLine
	for _, text := range texts {
		if name, ok := strings.CutPrefix(text, "@"); ok {
			more, err := headersFromFile(name, files, parse)
			if err != nil {
				return nil, err
			}
			lines = append(lines, more...)
			continue
		}
		line, ok, err := parse(text)
		if err != nil {
			return nil, err
		}
		if ok {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// maxHeaderFile bounds a file of header lines; no server takes a tenth of it.
const maxHeaderFile = 1 << 20

func headersFromFile(name string, files *Files, parse headerParser) ([]HeaderLine, error) {
	f, err := files.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := bounded.ReadAll(f, maxHeaderFile)
	if err != nil {
		return nil, sourceError(name, err)
	}
	var lines []HeaderLine
	scanner := bufio.NewScanner(bytes.NewReader(text))
	scanner.Buffer(nil, maxHeaderFile+1)
	for scanner.Scan() {
		line, ok, err := parse(scanner.Text())
		if err != nil {
			return nil, err
		}
		if ok {
			lines = append(lines, line)
		}
	}
	return lines, scanner.Err()
}

// parseHeader never puts the value into an error: it may be a secret.
func parseHeader(text string) (_ HeaderLine, ok bool, _ error) {
	if strings.Trim(text, " \t") == "" {
		return HeaderLine{}, false, nil
	}
	if strings.ContainsAny(text, "\r\n\x00") {
		return HeaderLine{}, false, usageError("a header holds a line break or NUL")
	}
	name, value, colon := strings.Cut(text, ":")
	if !colon {
		var rest string
		var semicolon bool
		if name, rest, semicolon = strings.Cut(text, ";"); !semicolon || strings.Trim(rest, " \t") != "" {
			return HeaderLine{}, false, usageError("a header is neither \"Name: value\", \"Name:\" nor \"Name;\"")
		}
	}
	if !IsToken(name) {
		return HeaderLine{}, false, usageError("a header's name holds a character that is not allowed")
	}
	if !colon {
		return HeaderLine{Name: name}, true, nil
	}
	if strings.Trim(value, " \t") == "" {
		return HeaderLine{Name: name, Remove: true}, true, nil
	}
	value, spaced := strings.CutPrefix(value, " ")
	return HeaderLine{Name: name, Value: value, Tight: !spaced}, true, nil
}

// parseHeaderAsCurl takes what could stand on a line of its own.
func parseHeaderAsCurl(text string) (_ HeaderLine, ok bool, _ error) {
	name, value, colon := strings.Cut(text, ":")
	if IsToken(name) && colon || strings.ContainsAny(text, "\r\n\x00") {
		return parseHeader(text)
	}
	if !colon {
		name, ok = strings.CutSuffix(text, ";")
		return HeaderLine{Name: name}, ok && name != "" && !strings.Contains(name, ";"), nil
	}
	if strings.Trim(value, " \t") == "" {
		return HeaderLine{Name: name, Remove: true}, name != "", nil
	}
	value, spaced := strings.CutPrefix(value, " ")
	return HeaderLine{Name: name, Value: value, Tight: !spaced}, name != "", nil
}

// IsToken reports whether s is a token of RFC 9110 §5.6.2: a header name, a method.
func IsToken(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isAlnum(s[i]) && strings.IndexByte("!#$%&'*+-.^_`|~", s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

// JSONHeaders adds what --json adds: Content-Type and Accept of
// application/json, each unless the user gave one.
func JSONHeaders(lines []HeaderLine) []HeaderLine {
	out := append([]HeaderLine(nil), lines...)
	for _, name := range [...]string{"Content-Type", "Accept"} {
		if !given(lines, name) {
			out = append(out, HeaderLine{Name: name, Value: "application/json"})
		}
	}
	return out
}

// given reports whether the user named this header, be it to remove it.
func given(lines []HeaderLine, name string) bool {
	_, ok := lookup(lines, name)
	return ok
}

// lookup finds the first line of that name.
func lookup(lines []HeaderLine, name string) (HeaderLine, bool) {
	for i := range lines {
		if header.Same(lines[i].Name, name) {
			return lines[i], true
		}
	}
	return HeaderLine{}, false
}

// pathless takes the path out of a *fs.PathError: the caller names the file itself.
func pathless(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
