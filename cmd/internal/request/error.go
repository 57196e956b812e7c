package request

import (
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

// malformed is a URL that cannot be read, in class request; Resolve turns the
// class into redirect.
func malformed(why string) *Error {
	return &Error{Class: retry.ClassRequest, Code: exitcode.BadURL, Err: fmt.Errorf("bad URL: %s", why)}
}

func unsupported(scheme string) *Error {
	return &Error{Class: retry.ClassRequest, Code: exitcode.BadProtocol,
		Err: fmt.Errorf("unsupported URL scheme %q (http and https are supported)", scheme)}
}
