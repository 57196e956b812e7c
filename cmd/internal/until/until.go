// Package until holds the expressions of --until: jq, by gojq, over an answer.
// Importing it costs a process gojq's own initialization; compiling and running
// happen only where an expression was given.
package until

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"
)

// BodyLimit is the longest body, decoded, that an expression sees.
const BodyLimit = 1 << 20

// Expr is a compiled expression. It is not changed by its use, and safe for
// concurrent use.
type Expr struct{ code *gojq.Code }

// SyntaxError is an expression that cannot be compiled.
type SyntaxError struct {
	Position int // of the character where it shows, from 1
	Message  string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("at character %d: %s", e.Position, e.Message)
}

// Compile reads a jq expression. It sees no environment, no other input than
// the answer and no modules. The error is a *SyntaxError.
func Compile(text string) (*Expr, error) {
	query, err := gojq.Parse(text)
	if err != nil {
		var parse *gojq.ParseError
		offset := len(text)
		if errors.As(err, &parse) {
			offset = parse.Offset - len(parse.Token)
		}
		return nil, syntaxError(text, offset, err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, syntaxError(text, place(text, err.Error()), err)
	}
	return &Expr{code}, nil
}

func syntaxError(text string, offset int, err error) *SyntaxError {
	offset = min(max(offset, 0), len(text))
	return &SyntaxError{Position: utf8.RuneCountInString(text[:offset]) + 1, Message: err.Error()}
}

// place finds what a compiler's error is about: "function not defined: f/0" and
// "variable not defined: $x" name it, and nothing else tells where it stands.
func place(text, message string) int {
	_, name, ok := strings.Cut(message, ": ")
	if i := strings.LastIndexByte(name, '/'); i > 0 {
		name = name[:i]
	}
	if at := strings.Index(text, name); ok && name != "" && at >= 0 {
		return at
	}
	return 0
}

// Answer is what an expression is asked about.
type Answer struct {
	Status int
	Header []Field
	Body   []byte // decoded
	// Whole: Body is all of it. Otherwise the expression sees none.
	Whole bool
}

// Field is one header field.
type Field struct{ Name, Value string }

// Holds reports whether the expression is true of a: as with jq -e, its last
// value is neither false nor null. An error is the expression's own at run time,
// a limit of Run's, or ctx's.
func (e *Expr) Holds(ctx context.Context, a Answer) (bool, error) {
	return e.run(ctx, a.input())
}

// Wants reports whether an expression that is true of a asks for a's status
// itself: with another one it would not be true.
func (e *Expr) Wants(ctx context.Context, a Answer) bool {
	for _, other := range [...]int{200, 599} {
		input := a.input() // a run that was given up may still read its own
		input["status"] = other
		if holds, err := e.run(ctx, input); err == nil && !holds {
			return true
		}
	}
	return false
}

// input is the answer as gojq's values.
func (a Answer) input() map[string]any {
	headers := make(map[string]any, len(a.Header))
	for _, f := range a.Header {
		name, value := strings.ToLower(f.Name), strings.ToValidUTF8(f.Value, "\uFFFD")
		if before, several := headers[name].(string); several {
			value = before + ", " + value // RFC 9110, section 5.3
		}
		headers[name] = value
	}
	input := map[string]any{"status": a.Status, "headers": headers, "body": nil, "text": nil}
	if a.Whole {
		input["body"], input["text"] = parsed(a.Body), strings.ToValidUTF8(string(a.Body), "\uFFFD")
	}
	return input
}

// parsed is the one JSON value that body is, else nil. Numbers keep their digits.
func parsed(body []byte) any {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	if _, err := d.Token(); err != io.EOF {
		return nil
	}
	return v
}

// isTrue is jq's truth.
func isTrue(v any) bool { return v != nil && v != false }
