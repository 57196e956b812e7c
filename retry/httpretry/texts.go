package httpretry

import (
	"errors"
	"net"
	"net/http"
	"reflect"
	"strings"

	"github.com/bidehttp/bide/retry"
)

// The functions of this file know errors for which net/http exports neither a
// value nor a type: their text is all there is (R3.4). Each takes the text of
// the innermost error.

func isCanceledText(text string) bool {
	switch text {
	case "net/http: request canceled", "net/http: request canceled while waiting for connection",
		"http2: canceling request":
		return true
	}
	return false
}

// isRequestText: net/http would not send this request.
func isRequestText(text string) bool {
	for _, prefix := range [...]string{
		"http: nil Request.", "http: no Host in request URL", "http: Request.RequestURI can't be set",
		"http: Request.Write on Request with no Host", "http: invalid Host header",
		"net/http: can't write control character in Request.URL", "net/http: invalid header ",
		"net/http: invalid trailer ", "net/http: invalid method ", "unsupported protocol scheme ",
		"http2: unsupported scheme", "http2: invalid header field", "http2: invalid trailer field",
		"invalid HTTP header name ", "invalid HTTP header value ",
	} {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}

// isBodyLengthText: the request's body is not as long as its Content-Length says.
func isBodyLengthText(text string) bool {
	return strings.HasPrefix(text, "http: ContentLength=") ||
		text == "http2: request body larger than specified content length"
}

func isHandshakeTimeoutText(text string) bool { return text == "net/http: TLS handshake timeout" }

// isTLSText: crypto/tls's own refusal of what the server said.
func isTLSText(text string) bool { return strings.HasPrefix(text, "tls: ") }

func isRedirectText(text string) bool {
	return (strings.HasPrefix(text, "stopped after ") && strings.HasSuffix(text, " redirects")) ||
		strings.HasPrefix(text, "failed to parse Location header ")
}

// isIdleText: the server closed a connection in the pool before this request
// was written to it. net/http closes the connection before it says so, and only
// while no answer was awaited on it: no byte of the request left.
func isIdleText(text string) bool { return text == "http: server closed idle connection" }

// nothingWritten finds net/http's mark of a connection that broke before a byte
// of this request was written to it. The mark hides the error within, so its
// type's name is all there is.
func nothingWritten(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if t := reflect.TypeOf(err); t.PkgPath() == "net/http" && t.Name() == "nothingWrittenError" {
			return true
		}
	}
	return false
}

// isLostText: the connection ended under an exchange.
func isLostText(text string) bool {
	switch text {
	case "http: CloseIdleConnections called", "http: persistConn.readLoop exiting", "http: idle connection timeout",
		"http2: client connection lost", "http2: client conn is closed", "http2: client conn not usable",
		"http2: client conn could not be established", "http2: client connection force closed via ClientConn.Close":
		return true
	}
	return isIdleText(text) || strings.HasPrefix(text, "http2: server sent GOAWAY and closed the connection")
}

func isTruncatedText(text string) bool { return text == "http: unexpected EOF reading trailer" }

// isRefusedText: HTTP/2's server said that it did not process the stream, in
// GOAWAY or with REFUSED_STREAM. The longer text stands for either, of a request
// whose body net/http cannot rewind.
func isRefusedText(text string) bool {
	if inner, ok := strings.CutPrefix(text, "http2: Transport: cannot retry err ["); ok {
		text, _, _ = strings.Cut(inner, "] after Request.Body was written")
		if strings.HasPrefix(text, "stream error: ") && strings.Contains(text, "; REFUSED_STREAM") {
			return true
		}
	}
	return text == "http2: Transport received Server's graceful shutdown GOAWAY" ||
		strings.HasPrefix(text, "http2: Transport received GOAWAY from server ErrCode:")
}

// isUnrewoundText: a stream error that net/http would have answered with
// another request, if it could rewind the body.
func isUnrewoundText(text string) bool {
	return strings.HasPrefix(text, "http2: Transport: cannot retry err [")
}

// isConnectionErrorText: HTTP/2's own refusal of what the server sent.
func isConnectionErrorText(text string) bool { return strings.HasPrefix(text, "connection error: ") }

// connectRefusal knows the answers to CONNECT: of these http.Transport leaves the
// reason phrase alone. One that is not RFC 9110's is not known here; see
// OnProxyConnectResponse.
func connectRefusal(err error) retry.Class {
	err = root(err)
	if reflect.TypeOf(err) != reflect.TypeOf(errors.New("")) {
		return retry.ClassNone
	}
	for status := 201; status < 600; status++ {
		if text := http.StatusText(status); text != "" && text == err.Error() {
			return connectClass(status)
		}
	}
	return retry.ClassNone
}

// connectClass is the class of a CONNECT that was answered with status.
func connectClass(status int) retry.Class {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return retry.ClassProxy
	}
	return retry.ClassProxyRefused
}

func isSOCKS(op *net.OpError) bool { return strings.HasPrefix(op.Op, "socks") }

// socks tells a SOCKS proxy's refusal, of which there is a text only, from a
// connection to it that broke.
func socks(op *net.OpError) retry.Class {
	if timedOut(op.Err) != retry.ClassNone || lost(op.Err) != retry.ClassNone {
		return retry.ClassProxy
	}
	return retry.ClassProxyRefused
}
