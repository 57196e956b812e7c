package request

import (
	"errors"
	"fmt"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// Error is why a request cannot be made: a bad URL or header (class request), a
// redirect that must not be followed (redirect), or a body source that cannot be
// read (input). It implements retry.Classified. Its text holds no secret: a URL
// stands in it without its userinfo and query.
type Error struct {
	Class retry.Class
	Code  exitcode.Code
	Err   error
}

// Error gives the evidence's text.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives the evidence.
func (e *Error) Unwrap() error { return e.Err }

// RetryClass implements retry.Classified.
func (e *Error) RetryClass() retry.Class { return e.Class }

// ExitCode is the exit code that goes with the error.
func (e *Error) ExitCode() exitcode.Code { return e.Code }

func usageError(format string, args ...any) *Error {
	return &Error{Class: retry.ClassRequest, Code: exitcode.Usage, Err: fmt.Errorf(format, args...)}
}

func inputError(format string, args ...any) *Error {
	return &Error{Class: retry.ClassInput, Code: exitcode.Input, Err: fmt.Errorf(format, args...)}
}

// The words of libcurl's URL parser for what is wrong with a URL.
const (
	badInput   = "Malformed input to a URL function"
	badPort    = "Port number was not a decimal number between 0 and 65535"
	badName    = "Bad hostname"
	badIPv6    = "Bad IPv6 address"
	badSlashes = "Unsupported number of slashes following scheme"
	noHost     = "No host part in the URL"
	noScheme   = "No scheme part in the URL"
	tooLong    = "A value or data field is larger than allowed"
)

// fault is what is wrong with a URL: in libcurl's words, and more exactly.
type fault struct {
	words, why string
	redirect   bool // the URL is one that a server sent us to
}

func (f *fault) Error() string {
	text := "URL rejected: " + f.words
	if f.redirect {
		text = "The redirect target URL could not be parsed: " + f.words
	}
	if f.why != "" {
		text += "; " + f.why
	}
	return text
}

// malformed is a URL that cannot be read, in class request; Resolve turns the
// class into redirect.
func malformed(words, why string) *Error {
	return &Error{Class: retry.ClassRequest, Code: exitcode.BadURL, Err: &fault{words: words, why: why}}
}

func unsupported(scheme string) *Error {
	text := fmt.Sprintf("Protocol %q not supported", scheme)
	if near := nearestScheme(scheme); near != "" {
		text += "; did you mean " + near + "?"
	}
	return &Error{Class: retry.ClassRequest, Code: exitcode.BadProtocol, Err: errors.New(text)}
}

// nearestScheme is the supported scheme that s is a slip of, or "": all of its
// letters in their order but for one or two, and not another scheme's name.
func nearestScheme(s string) string {
	const least = 3
	if len(s) < least || s == "ftp" || s == "ftps" {
		return ""
	}
	for _, known := range [...]string{"https", "http"} {
		if abs(len(s)-len(known)) <= 1 && (within(s, known) || within(known, s)) {
			return known
		}
	}
	return ""
}

// within reports whether the letters of short stand in long in their order.
func within(short, long string) bool {
	i := 0
	for j := 0; j < len(long) && i < len(short); j++ {
		if short[i] == long[j] {
			i++
		}
	}
	return i == len(short)
}

func abs(n int) int { return max(n, -n) }
