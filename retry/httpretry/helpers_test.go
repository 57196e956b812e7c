package httpretry_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/httpretry"
	"github.com/bidehttp/bide/retry/retrytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// base is an http.Transport of its own for a test. It trusts the server's
// throw-away CA, if there is one, and ends all its connections with the test.
func base(t testing.TB, s *retrytest.Server) *http.Transport {
	t.Helper()
	tr := &http.Transport{DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext, OnProxyConnectResponse: httpretry.OnProxyConnectResponse}
	if s != nil && s.CACert() != nil {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(s.CACert())
		tr.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

// http2Only makes a base speak HTTP/2, without TLS by prior knowledge.
func http2Only(tr *http.Transport) *http.Transport {
	tr.Protocols = new(http.Protocols)
	tr.Protocols.SetHTTP2(true)
	tr.Protocols.SetUnencryptedHTTP2(true)
	return tr
}

// quick waits in no real time.
func quick() *retrytest.FakeClock {
	c := retrytest.NewFakeClock(time.Date(2026, 7, 15, 12, 0, 0, 0, time.UTC))
	c.AutoAdvance(true)
	return c
}

func zero() float64 { return 0 }

// policy is the default one without jitter, edited.
func policy(edit func(*retry.Policy)) retry.Policy {
	p := retry.DefaultPolicy()
	p.Jitter = 0
	if edit != nil {
		edit(&p)
	}
	return p
}

func request(t testing.TB, method, url, body string) *http.Request {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, r)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// read takes a response to its end.
func read(t testing.TB, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("body: %v", err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	return string(b)
}
