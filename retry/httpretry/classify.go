package httpretry

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/bidehttp/bide/retry"
)

// Classify gives the class (contract §3) of an error of http.RoundTripper,
// http.Client or of reading a response's body. An error that knows its class
// (retry.Classified) is asked first, then a *retry.Error for its last attempt;
// else the errors of net, crypto/tls, net/http and HTTP/2 are found with errors.Is
// and errors.As, and by their text where they have no type (R3.4).
//
// It sees the error alone: an io.EOF of a TLS handshake is ClassClosed to it.
// Describer.Outcome, which also knows how far the exchange came, tells more. An
// error that nobody knows is ClassProtocol, which is not worth another attempt.
// Of nil it is ClassNone.
func Classify(err error) retry.Class {
	if err == nil {
		return retry.ClassNone
	}
	var known retry.Classified
	if errors.As(err, &known) && known.RetryClass() != retry.ClassNone {
		return known.RetryClass()
	}
	if o, ok := innerOutcome(err); ok {
		return o.Class
	}
	for _, ask := range [...]func(error) retry.Class{
		ended, badRequest, resolving, handshake, proxied, dialed, timedOut, stream, answered, lost,
	} {
		if c := ask(err); c != retry.ClassNone {
			return c
		}
	}
	return retry.ClassProtocol
}

// root is the innermost error, where the texts without a type stand.
func root(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

func ended(err error) retry.Class {
	if errors.Is(err, context.Canceled) || isCanceledText(root(err).Error()) {
		return retry.ClassCanceled
	}
	return retry.ClassNone
}

// badRequest knows what is refused before anything is sent.
func badRequest(err error) retry.Class {
	var parse *url.Error
	var address *net.AddrError
	switch text := root(err).Error(); {
	case errors.As(err, &parse) && parse.Op == "parse", errors.As(err, &address), isRequestText(text):
		return retry.ClassRequest
	case isBodyLengthText(text):
		return retry.ClassInput
	}
	return retry.ClassNone
}

func resolving(err error) retry.Class {
	var dns *net.DNSError
	switch {
	case !errors.As(err, &dns):
		return retry.ClassNone
	case dns.IsNotFound:
		return retry.ClassNXDomain
	}
	return retry.ClassResolve
}

// proxied knows what comes of the way through a proxy.
func proxied(err error) retry.Class {
	var op *net.OpError
	if errors.As(err, &op) {
		switch {
		case op.Op == "proxyconnect":
			return retry.ClassProxy
		case isSOCKS(op):
			return socks(op)
		}
	}
	return connectRefusal(err)
}

// dialed knows a connection that was not made.
func dialed(err error) retry.Class {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return retry.ClassConnect
	}
	return retry.ClassNone
}

func timedOut(err error) retry.Class {
	var limit net.Error
	if errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &limit) && limit.Timeout()) {
		return retry.ClassTimeout
	}
	return retry.ClassNone
}

// answered knows what is wrong with an answer that came.
func answered(err error) retry.Class {
	var corrupt flate.CorruptInputError
	var size *http.MaxBytesError
	switch {
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return retry.ClassDecode
	case errors.As(err, &size):
		return retry.ClassSize
	case isRedirectText(root(err).Error()):
		return retry.ClassRedirect
	}
	return retry.ClassNone
}

// lost knows a connection that broke in an exchange.
func lost(err error) retry.Class {
	var op *net.OpError
	var asked *url.Error
	switch text := root(err).Error(); {
	case isTruncatedText(text):
		return retry.ClassTruncated
	case errors.Is(err, io.ErrUnexpectedEOF) && !errors.As(err, &asked):
		return retry.ClassTruncated // of a body: http.Client wraps what comes before
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.As(err, &op), isLostText(text), nothingWritten(err):
		return retry.ClassClosed
	}
	return retry.ClassNone
}
