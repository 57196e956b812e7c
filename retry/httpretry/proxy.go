package httpretry

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/bidehttp/bide/retry"
)

// ProxyError is a proxy's refusal of a CONNECT: its class is known by the status,
// whatever the reason phrase says, and it may name a time. It implements
// retry.Classified. The text holds nothing that the proxy sent.
type ProxyError struct {
	Status int
	Header http.Header
}

// Error gives "proxy answered CONNECT with HTTP 503".
func (e *ProxyError) Error() string {
	return "proxy answered CONNECT with HTTP " + strconv.Itoa(e.Status)
}

// RetryClass is ClassProxy for 429, 502, 503 and 504, else ClassProxyRefused.
func (e *ProxyError) RetryClass() retry.Class { return connectClass(e.Status) }

// OnProxyConnectResponse is meant for the field of that name of http.Transport.
// With it a refused CONNECT is a *ProxyError, and its Retry-After is read; without
// it http.Transport keeps the reason phrase alone, of which the usual ones are
// known.
func OnProxyConnectResponse(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &ProxyError{Status: resp.StatusCode, Header: resp.Header}
}

// proxy reads when a proxy wants to see its client again.
func (d Describer) proxy(o *retry.Outcome, err error) {
	var refused *ProxyError
	if errors.As(err, &refused) {
		o.Server, _ = ReadServer(refused.Header.Values, d.Clock.Wall(), false)
	}
}
