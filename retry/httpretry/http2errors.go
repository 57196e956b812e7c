package httpretry

import (
	"errors"
	"reflect"
	"strings"

	"github.com/bidehttp/bide/retry"
)

// HTTP/2's error codes that say more than "broken" (RFC 9113, section 7).
const (
	codeRefusedStream   = 0x7
	codeHTTP11Required  = 0xd
	http2TypeName       = "StreamError"
	receivedFromPeer    = "received from peer"
	http2TransportsPath = "golang.org/x/net/http2"
)

// streamError has the shape that net/http's stream error lets errors.As fill in.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return "stream error" }

// stream knows the errors of HTTP/2 streams and connections.
func stream(err error) retry.Class {
	text := root(err).Error()
	if isRefusedText(text) {
		return retry.ClassRefused
	}
	s, ok := findStreamError(err)
	switch {
	case !ok && isConnectionErrorText(text):
		return retry.ClassProtocol
	case !ok && isUnrewoundText(text):
		return retry.ClassClosed
	case !ok:
		return retry.ClassNone
	case s.Code == codeRefusedStream:
		return retry.ClassRefused
	case s.Code == codeHTTP11Required || !s.fromPeer():
		return retry.ClassProtocol
	}
	return retry.ClassClosed
}

// fromPeer tells the server's RST_STREAM from the client's own objection to
// what it received.
func (e streamError) fromPeer() bool {
	return e.Cause == nil || strings.Contains(e.Cause.Error(), receivedFromPeer)
}

// findStreamError finds net/http's error of an HTTP/2 stream, and that of
// golang.org/x/net/http2, whose type is compared by name: this package does not
// import it.
func findStreamError(err error) (streamError, bool) {
	var s streamError
	if errors.As(err, &s) {
		return s, true
	}
	for ; err != nil; err = errors.Unwrap(err) {
		v := reflect.ValueOf(err)
		t := v.Type()
		if t.Kind() != reflect.Struct || t.Name() != http2TypeName || t.PkgPath() != http2TransportsPath {
			continue
		}
		code, cause := v.FieldByName("Code"), v.FieldByName("Cause")
		if !code.IsValid() || !code.CanUint() {
			return s, false
		}
		s.Code = uint32(code.Uint())
		if cause.IsValid() {
			s.Cause, _ = cause.Interface().(error)
		}
		return s, true
	}
	return s, false
}
