package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
)

// replyError is an answer that is not HTTP as we accept it. code is curl's.
type replyError struct {
	code exitcode.Code
	text string
	// about is the field that is wrong, "" no single one: what stood before it
	// was an answer's head.
	about string
}

func (e *replyError) Error() string { return e.text }

// inputError marks a failure of the request's body source, apart from the
// connection's.
type inputError struct{ err error }

func (e *inputError) Error() string { return "request body: " + e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

func fault(class retry.Class, code exitcode.Code, sent retry.Sent, phase retry.Phase, err error) *transport.Error {
	return &transport.Error{Class: class, Code: code, Sent: sent, Phase: phase, Err: err}
}

// ended is the error of a context that is over: a cancellation, or else a limit.
func ended(ctx context.Context, sent retry.Sent, phase retry.Phase, where string) *transport.Error {
	cause := context.Cause(ctx)
	if errors.Is(cause, context.Canceled) {
		return fault(retry.ClassCanceled, 0, sent, phase, fmt.Errorf("canceled %s: %w", where, cause))
	}
	return fault(retry.ClassTimeout, exitcode.Timeout, sent, phase, fmt.Errorf("timed out %s: %w", where, cause))
}

// system names err as curl does: "Connection reset by peer".
func system(err error) string {
	var no syscall.Errno
	text := err.Error()
	if errors.As(err, &no) {
		text = no.Error()
	}
	if text == "" {
		return "unknown error"
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// worded prefixes curl's word to err's own and keeps err in the chain.
type worded struct {
	text string
	err  error
}

func (w *worded) Error() string { return w.text }
func (w *worded) Unwrap() error { return w.err }

func recvFailure(err error) error { return &worded{"Recv failure: " + system(err), err} }
func sendFailure(err error) error { return &worded{"Send failure: " + system(err), err} }

// beforeHead is the error of a connection that failed before a whole head came.
// gotAny says whether a byte of an answer was read.
func beforeHead(err error, sent retry.Sent, gotAny bool) *transport.Error {
	var reply *replyError
	alert := transport.Alert(err, retry.PhaseResponse)
	switch {
	case errors.As(err, &reply):
		return fault(retry.ClassProtocol, reply.code, sent, retry.PhaseResponse, err)
	case alert != nil:
		return alert
	case isRecordError(err):
		return fault(retry.ClassProtocol, exitcode.Recv, sent, retry.PhaseResponse, recvFailure(err))
	case isEOF(err) && !gotAny:
		return fault(retry.ClassClosed, exitcode.Empty, sent, retry.PhaseResponse, &worded{"Empty reply from server", err})
	case isEOF(err):
		return fault(retry.ClassClosed, exitcode.Recv, sent, retry.PhaseResponse,
			&worded{"Recv failure: connection closed in the middle of the response head", err})
	}
	return fault(retry.ClassClosed, exitcode.Recv, sent, retry.PhaseResponse, recvFailure(err))
}

// inBody is the error of a connection that failed before the body's end. left
// is what Content-Length still promised, -1 when there was none.
func inBody(err error, left int64) *transport.Error {
	var reply *replyError
	if errors.As(err, &reply) {
		return fault(retry.ClassProtocol, reply.code, retry.SentMaybe, retry.PhaseBody, err)
	}
	text := "transfer closed with outstanding read data remaining"
	if left > 0 {
		text = fmt.Sprintf("transfer closed with %d bytes remaining to read", left)
	}
	if !isEOF(err) {
		text = "Recv failure: " + system(err) + ", " + text
	}
	return fault(retry.ClassTruncated, exitcode.Truncated, retry.SentMaybe, retry.PhaseBody, &worded{text, err})
}

// isEOF includes the end of a TLS connection without close_notify, which
// crypto/tls reports as io.ErrUnexpectedEOF.
func isEOF(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// isRecordError reports bytes that are no TLS record.
func isRecordError(err error) bool {
	var rec tls.RecordHeaderError
	return errors.As(err, &rec)
}
