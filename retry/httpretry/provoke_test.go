package httpretry_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/httpretry"
	"github.com/bidehttp/bide/retry/retrytest"
)

// exchange is one attempt with net/http alone: what httpretry makes of it.
func exchange(t *testing.T, rt http.RoundTripper, req *http.Request) (retry.Outcome, error) {
	t.Helper()
	req = req.WithContext(httpretry.Watch(req.Context()))
	resp, err := rt.RoundTrip(req)
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
	}
	d := httpretry.Describer{Policy: retry.DefaultPolicy(), Clock: quick()}
	return d.Outcome(req, resp, err), err
}

// fault is one way to fail, provoked for real.
type fault struct {
	name   string
	method string // "" is POST
	script string
	opts   []retrytest.Option
	h2     bool
	setup  func(t *testing.T, s *retrytest.Server, tr *http.Transport, req *http.Request) *http.Request
	class  retry.Class
	sent   retry.Sent
	phase  retry.Phase
	alone  retry.Class // what Classify sees in the error alone, when that is less
}

func (f fault) run(t *testing.T) {
	script := f.script
	if script == "" {
		script = "200"
	}
	s := retrytest.Serve(t, script, f.opts...)
	tr := base(t, s)
	if f.h2 {
		http2Only(tr)
	}
	method, body := f.method, ""
	if method == "" {
		method, body = http.MethodPost, "payload"
	}
	req := request(t, method, s.URL+"/p", body)
	req.GetBody = nil
	if f.setup != nil {
		req = f.setup(t, s, tr, req)
	}
	o, err := exchange(t, tr, req)
	if o.Class != f.class || o.Sent != f.sent || o.Phase != f.phase {
		t.Errorf("%v (%T)\nis class %s, sent %s, phase %s\nwant %s, %s, %s", err, err, o.Class, o.Sent, o.Phase, f.class, f.sent, f.phase)
	}
	alone := f.alone
	if alone == "" {
		alone = f.class
	}
	// A reset shows as such or as an end, whichever the reader meets first.
	reset := f.class == retry.ClassClosed && httpretry.Classify(err) == f.class
	if c := httpretry.Classify(err); c != alone && !reset {
		t.Errorf("Classify(%v) is %s, want %s", err, c, alone)
	}
	if c := httpretry.Classify(&url.Error{Op: "Post", URL: s.URL, Err: err}); c != alone && c != f.class && alone != retry.ClassTruncated {
		t.Errorf("Classify of the error in a *url.Error is %s, want %s", c, alone)
	}
	if o.Method != method || o.Keyed || o.Err == nil {
		t.Errorf("method %q, keyed %v, error %v", o.Method, o.Keyed, o.Err)
	}
}

// resolver asks a scripted name server.
func resolver(t *testing.T, tr *http.Transport, zone string, timeout time.Duration) {
	t.Helper()
	dns := retrytest.ServeDNS(t, zone)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel) // net's look-ups outlive who asked for them
	r := &net.Resolver{PreferGo: true, Dial: func(_ context.Context, network, _ string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, dns.Addr)
		if err == nil {
			context.AfterFunc(ctx, func() { _ = c.Close() })
		}
		return c, err
	}}
	tr.DialContext = (&net.Dialer{Resolver: r, Timeout: timeout}).DialContext
}

// named sends the request to a name that a scripted name server knows.
func named(zone string, timeout time.Duration) func(*testing.T, *retrytest.Server, *http.Transport, *http.Request) *http.Request {
	return func(t *testing.T, s *retrytest.Server, tr *http.Transport, req *http.Request) *http.Request {
		resolver(t, tr, zone, timeout)
		req.URL.Host = "api.test.:" + s.Port
		return req
	}
}

func TestR3_4_NameService(t *testing.T) {
	for _, f := range []fault{
		{name: "nxdomain", setup: named("api.test: nxdomain", 5*time.Second), class: retry.ClassNXDomain},
		{name: "no_address", setup: named("api.test: empty", 5*time.Second), class: retry.ClassNXDomain},
		{name: "server_failure", setup: named("api.test: servfail", 5*time.Second), class: retry.ClassResolve},
		{name: "refused", setup: named("api.test: refused", 5*time.Second), class: retry.ClassResolve},
		{name: "silent", setup: named("api.test: silent", 100*time.Millisecond), class: retry.ClassResolve},
	} {
		f.sent, f.phase = retry.SentNothing, retry.PhaseResolve
		t.Run(f.name, f.run)
	}
}

// closedPort is an address that is taken, but on which nobody listens: no other
// test gets it meanwhile.
func closedPort(t *testing.T) string {
	t.Helper()
	s := retrytest.Serve(t, "200", retrytest.WithListenDelay(time.Hour))
	return net.JoinHostPort(s.Host, s.Port)
}

func TestR3_4_Connect(t *testing.T) {
	for _, f := range []fault{
		{name: "refused", setup: func(t *testing.T, _ *retrytest.Server, _ *http.Transport, req *http.Request) *http.Request {
			req.URL.Host = closedPort(t)
			return req
		}},
		{name: "all_addresses_refused", setup: func(t *testing.T, _ *retrytest.Server, tr *http.Transport, req *http.Request) *http.Request {
			resolver(t, tr, "api.test: 127.0.0.1 127.0.0.2", 5*time.Second)
			_, port, _ := net.SplitHostPort(closedPort(t))
			req.URL.Host = "api.test.:" + port
			return req
		}},
		{name: "dial_timeout", setup: func(_ *testing.T, _ *retrytest.Server, tr *http.Transport, req *http.Request) *http.Request {
			tr.DialContext = (&net.Dialer{Timeout: time.Nanosecond}).DialContext
			return req
		}},
		{name: "no_such_socket", setup: func(t *testing.T, _ *retrytest.Server, tr *http.Transport, req *http.Request) *http.Request {
			path := t.TempDir() + "/none.sock"
			tr.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", path)
			}
			return req
		}},
	} {
		f.class, f.sent, f.phase = retry.ClassConnect, retry.SentNothing, retry.PhaseConnect
		t.Run(f.name, f.run)
	}
}

// leaf is a certificate of another CA than the one the client trusts, or of it.
func leaf(t *testing.T, l retrytest.Leaf) (*retrytest.CA, retrytest.Option) {
	t.Helper()
	ca, err := retrytest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue(l)
	if err != nil {
		t.Fatal(err)
	}
	return ca, retrytest.WithCertificate(cert)
}

func TestR3_4_Handshake(t *testing.T) {
	expired, withExpired := leaf(t, retrytest.Leaf{NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-24 * time.Hour)})
	other, withOther := leaf(t, retrytest.Leaf{Hosts: []string{"other.test"}})
	_, withUnknown := leaf(t, retrytest.Leaf{})
	trust := func(ca *retrytest.CA) func(*testing.T, *retrytest.Server, *http.Transport, *http.Request) *http.Request {
		return func(_ *testing.T, _ *retrytest.Server, tr *http.Transport, req *http.Request) *http.Request {
			tr.TLSClientConfig = &tls.Config{RootCAs: ca.Pool()}
			return req
		}
	}
	edit := func(f func(*tls.Config)) func(*testing.T, *retrytest.Server, *http.Transport, *http.Request) *http.Request {
		return func(_ *testing.T, _ *retrytest.Server, tr *http.Transport, req *http.Request) *http.Request {
			f(tr.TLSClientConfig)
			return req
		}
	}
	opts := func(o ...retrytest.Option) []retrytest.Option { return append(o, retrytest.WithTLS()) }
	overHTTPS := func(_ *testing.T, _ *retrytest.Server, _ *http.Transport, req *http.Request) *http.Request {
		req.URL.Scheme = "https"
		return req
	}
	for _, f := range []fault{
		{name: "untrusted", opts: opts(withUnknown), class: retry.ClassCert},
		{name: "expired", opts: opts(withExpired), setup: trust(expired), class: retry.ClassCert},
		{name: "wrong_name", opts: opts(withOther), setup: trust(other), class: retry.ClassCert},
		{name: "plain_text_server", opts: []retrytest.Option{retrytest.WithConnections("garbage")}, setup: overHTTPS, class: retry.ClassProtocol},
		{name: "garbage", opts: opts(retrytest.WithConnections("garbage")), class: retry.ClassProtocol},
		{name: "protocol_version", opts: opts(retrytest.WithTLSConfig(func(c *tls.Config) { c.MinVersion = tls.VersionTLS13 })),
			setup: edit(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), class: retry.ClassCert},
		{name: "version_too_old_for_us", opts: opts(retrytest.WithTLSConfig(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 })),
			setup: edit(func(c *tls.Config) { c.MinVersion = tls.VersionTLS13 }), class: retry.ClassCert},
		{name: "certificate_required_TLS1.2", opts: opts(retrytest.WithTLSConfig(func(c *tls.Config) { c.ClientAuth, c.MaxVersion = tls.RequireAnyClientCert, tls.VersionTLS12 })), class: retry.ClassCert},
		{name: "cut", opts: opts(retrytest.WithConnections("close")), class: retry.ClassTLS, alone: retry.ClassClosed},
		{name: "reset", opts: opts(retrytest.WithConnections("reset")), class: retry.ClassTLS, alone: retry.ClassClosed},
		{name: "timed_out", opts: opts(retrytest.WithConnections("stall")), setup: func(_ *testing.T, _ *retrytest.Server, tr *http.Transport, req *http.Request) *http.Request {
			tr.TLSHandshakeTimeout = 50 * time.Millisecond
			return req
		}, class: retry.ClassTLS},
	} {
		f.sent, f.phase = retry.SentNothing, retry.PhaseTLS
		t.Run(f.name, f.run)
	}
}

// TLS 1.3 refuses a client only after the client's handshake: the request may be
// out already, but was not acted on.
func TestR3_4_HandshakeRefusedLate(t *testing.T) {
	s := retrytest.Serve(t, "200", retrytest.WithTLSConfig(func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }))
	o, err := exchange(t, base(t, s), request(t, "POST", s.URL, "x"))
	if o.Class != retry.ClassCert || o.Sent == retry.SentMaybe || httpretry.Classify(err) != retry.ClassCert {
		t.Errorf("%v: class %s, sent %s", err, o.Class, o.Sent)
	}
	if n := len(s.Log().Records); n != 0 {
		t.Errorf("the server saw %d requests", n)
	}
}

func TestR3_4_Exchange(t *testing.T) {
	const maybe, response, inBody = retry.SentMaybe, retry.PhaseResponse, retry.PhaseBody
	limit := func(set func(*http.Transport)) func(*testing.T, *retrytest.Server, *http.Transport, *http.Request) *http.Request {
		return func(_ *testing.T, _ *retrytest.Server, tr *http.Transport, req *http.Request) *http.Request {
			set(tr)
			return req
		}
	}
	bodyOf := func(body string, length int64) func(*testing.T, *retrytest.Server, *http.Transport, *http.Request) *http.Request {
		return func(_ *testing.T, _ *retrytest.Server, _ *http.Transport, req *http.Request) *http.Request {
			req.Body, req.ContentLength = io.NopCloser(strings.NewReader(body)), length
			return req
		}
	}
	for _, f := range []fault{
		{name: "closed/reset", script: "reset", class: retry.ClassClosed, sent: maybe, phase: response},
		{name: "closed/before_the_head", script: "close", class: retry.ClassClosed, sent: maybe, phase: response},
		{name: "closed/in_the_head", script: "200 close-after=12B", class: retry.ClassClosed, sent: maybe, phase: response, alone: retry.ClassTruncated},
		{name: "closed/h2_reset", h2: true, opts: []retrytest.Option{retrytest.WithHTTP2()}, script: "reset", class: retry.ClassClosed, sent: maybe, phase: response, alone: retry.ClassTruncated},
		{name: "closed/h2_stream", h2: true, opts: []retrytest.Option{retrytest.WithHTTP2()}, script: "rst-stream=INTERNAL_ERROR", class: retry.ClassClosed, sent: maybe, phase: response},
		{name: "closed/h2_protocol_error_is_no_promise", h2: true, opts: []retrytest.Option{retrytest.WithHTTP2()}, script: "rst-stream=PROTOCOL_ERROR", class: retry.ClassClosed, sent: maybe, phase: response},
		{name: "refused/stream", h2: true, opts: []retrytest.Option{retrytest.WithHTTP2()}, script: "refuse-stream", class: retry.ClassRefused, sent: retry.SentUnprocessed, phase: response},
		{name: "refused/goaway", h2: true, opts: []retrytest.Option{retrytest.WithHTTP2()}, script: "goaway", class: retry.ClassRefused, sent: retry.SentUnprocessed, phase: response},
		{name: "closed/goaway_that_covers_the_stream", h2: true, opts: []retrytest.Option{retrytest.WithHTTP2()}, script: "goaway=1", class: retry.ClassClosed, sent: maybe, phase: response},
		{name: "protocol/http_1.1_required", h2: true, opts: []retrytest.Option{retrytest.WithHTTP2()}, script: "rst-stream=HTTP_1_1_REQUIRED", class: retry.ClassProtocol, sent: maybe, phase: response},
		{name: "closed/h2_garbage", h2: true, opts: []retrytest.Option{retrytest.WithHTTP2()}, script: "garbage", class: retry.ClassClosed, sent: maybe, phase: response, alone: retry.ClassTruncated},
		{name: "truncated/content_length", script: "200 size=100B truncate=20B", class: retry.ClassTruncated, sent: maybe, phase: inBody},
		{name: "truncated/chunked", script: "200 size=100B chunked truncate=20B", class: retry.ClassTruncated, sent: maybe, phase: inBody},
		{name: "truncated/reset", script: "200 size=3MB reset", class: retry.ClassTruncated, sent: maybe, phase: inBody, alone: retry.ClassClosed},
		{name: "truncated/h2_stream", h2: true, opts: []retrytest.Option{retrytest.WithHTTP2()}, script: "200 size=100B rst-stream=INTERNAL_ERROR", class: retry.ClassTruncated, sent: maybe, phase: inBody, alone: retry.ClassClosed},
		{name: "truncated/h2_connection", h2: true, opts: []retrytest.Option{retrytest.WithHTTP2()}, script: "200 size=100B truncate=20B", class: retry.ClassTruncated, sent: maybe, phase: inBody},
		{name: "protocol/garbage", script: "garbage", class: retry.ClassProtocol, sent: maybe, phase: response},
		{name: "protocol/chunk", script: "200 size=100B chunked garbage", class: retry.ClassProtocol, sent: maybe, phase: inBody},
		{name: "protocol/head_too_large", script: "200", setup: limit(func(tr *http.Transport) { tr.MaxResponseHeaderBytes = 10 }), class: retry.ClassProtocol, sent: maybe, phase: response},
		{name: "timeout/head", script: "stall=inf", setup: limit(func(tr *http.Transport) { tr.ResponseHeaderTimeout = 30 * time.Millisecond }), class: retry.ClassTimeout, sent: maybe, phase: response},
		{name: "timeout/h2_head", h2: true, opts: []retrytest.Option{retrytest.WithHTTP2()}, script: "stall=inf", setup: limit(func(tr *http.Transport) { tr.ResponseHeaderTimeout = 30 * time.Millisecond }), class: retry.ClassTimeout, sent: maybe, phase: response},
		{name: "decode/header", script: "200 header='Content-Encoding: gzip' body=nonsense-that-is-no-gzip", class: retry.ClassDecode, sent: maybe, phase: inBody},
		{name: "input/short_body", setup: bodyOf("abc", 5), class: retry.ClassInput, sent: retry.SentNothing, phase: retry.PhaseSend},
	} {
		t.Run(f.name, f.run)
	}
}

func TestR3_4_BadRequest(t *testing.T) {
	for name, edit := range map[string]func(*http.Request){
		"scheme":  func(r *http.Request) { r.URL.Scheme = "htps" },
		"method":  func(r *http.Request) { r.Method = "GE T" },
		"no_host": func(r *http.Request) { r.URL.Host = "" },
		"no_URL":  func(r *http.Request) { r.URL = nil },
		"header":  func(r *http.Request) { r.Header = http.Header{"X Y": {"1"}} },
		"value":   func(r *http.Request) { r.Header = http.Header{"X": {"a\nb"}} },
		"trailer": func(r *http.Request) { r.Trailer = http.Header{"X": {"a\nb"}} },
		"port":    func(r *http.Request) { r.URL.Host = "127.0.0.1:99999" },
		"no_head": func(r *http.Request) { r.Header = nil },
	} {
		t.Run(name, func(t *testing.T) {
			req := request(t, "GET", "http://127.0.0.1/", "")
			edit(req)
			o, err := exchange(t, base(t, nil), req)
			if o.Class != retry.ClassRequest || o.Sent != retry.SentNothing || httpretry.Classify(err) != retry.ClassRequest {
				t.Errorf("%v: class %s, sent %s", err, o.Class, o.Sent)
			}
		})
	}
	_, err := url.Parse(strings.Repeat("http://[::1", 1)) // no closing bracket
	if c := httpretry.Classify(err); c != retry.ClassRequest {
		t.Errorf("%v is %s", err, c)
	}
}

// TestR3_4_HTTP2Package: the errors of golang.org/x/net/http2, which are of other
// types than those bundled with net/http.
func TestR3_4_HTTP2Package(t *testing.T) {
	for script, want := range map[string]retry.Class{
		"refuse-stream": retry.ClassRefused, "rst-stream=CANCEL": retry.ClassClosed, "goaway": retry.ClassRefused,
	} {
		t.Run(script, func(t *testing.T) {
			s := retrytest.Serve(t, script, retrytest.WithHTTP2())
			//lint:ignore SA1019 programs still use it, and its errors are what is looked at
			tr := &http2.Transport{AllowHTTP: true, DialTLSContext: func(ctx context.Context, network, addr string, _ *tls.Config) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, addr)
			}}
			defer tr.CloseIdleConnections() //lint:ignore SA1019 as above
			req := request(t, "POST", s.URL, "x")
			req.GetBody = nil
			o, err := exchange(t, tr, req)
			if o.Class != want {
				t.Errorf("%v (%T) is %s, want %s", err, err, o.Class, want)
			}
		})
	}
}

func TestR3_4_Redirects(t *testing.T) {
	s := retrytest.Serve(t, "302 location=/again")
	c := &http.Client{Transport: base(t, s)}
	resp, err := c.Get(s.URL)
	if err == nil {
		t.Fatal("no error")
	}
	d := httpretry.Describer{Policy: retry.DefaultPolicy(), Clock: quick()}
	if o := d.Outcome(request(t, "GET", s.URL, ""), resp, err); o.Class != retry.ClassRedirect {
		t.Errorf("%v is %s", err, o.Class)
	}
	bad := retrytest.Serve(t, "302 location='http://[::1'")
	if _, err := c.Get(bad.URL); httpretry.Classify(err) != retry.ClassRedirect {
		t.Errorf("%v is %s", err, httpretry.Classify(err))
	}
}

func TestR3_4_Proxy(t *testing.T) {
	for _, c := range []struct {
		name, script string
		bare         bool // without OnProxyConnectResponse
		class        retry.Class
		alone        retry.Class
		after        time.Duration
	}{
		{name: "407", script: "407", class: retry.ClassProxyRefused},
		{name: "403", script: "403", class: retry.ClassProxyRefused},
		{name: "503_with_Retry-After", script: "503 retry-after=7", class: retry.ClassProxy, after: 7 * time.Second},
		{name: "502_with_a_word_of_its_own", script: "502 reason='Try later'", class: retry.ClassProxy},
		{name: "text/407", script: "407", bare: true, class: retry.ClassProxyRefused},
		{name: "text/503", script: "503", bare: true, class: retry.ClassProxy},
		{name: "text/429", script: "429", bare: true, class: retry.ClassProxy},
		{name: "text/unknown", script: "403 reason='No way'", bare: true, class: retry.ClassProxyRefused, alone: retry.ClassProtocol},
		{name: "closes", script: "close", class: retry.ClassProxy, alone: retry.ClassTruncated},
		{name: "resets", script: "reset", class: retry.ClassProxy, alone: retry.ClassClosed},
		{name: "garbage", script: "garbage", class: retry.ClassProxyRefused, alone: retry.ClassProtocol},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := retrytest.ServeProxy(t, c.script)
			tr := base(t, nil)
			tr.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(p.URL) }
			if c.bare {
				tr.OnProxyConnectResponse = nil
			}
			req := request(t, "POST", "https://127.0.0.1:1/", "x")
			o, err := exchange(t, tr, req)
			if o.Class != c.class || o.Sent != retry.SentNothing || o.Phase != retry.PhaseConnect || o.Server.Minimum != c.after {
				t.Errorf("%v: class %s, sent %s, phase %s, minimum %v", err, o.Class, o.Sent, o.Phase, o.Server.Minimum)
			}
			if c.alone == "" {
				c.alone = c.class
			}
			if got := httpretry.Classify(err); got != c.alone {
				t.Errorf("Classify(%v) is %s, want %s", err, got, c.alone)
			}
		})
	}
	t.Run("unreachable", func(t *testing.T) {
		tr := base(t, nil)
		tr.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: closedPort(t)})
		if o, err := exchange(t, tr, request(t, "POST", "https://127.0.0.1:1/", "x")); o.Class != retry.ClassProxy || o.Sent != retry.SentNothing {
			t.Errorf("%v: %s, %s", err, o.Class, o.Sent)
		}
	})
	for name, c := range map[string]struct {
		reply []byte
		class retry.Class
	}{
		"refuses":     {[]byte{5, 0, 5, 2, 0, 1, 0, 0, 0, 0, 0, 0}, retry.ClassProxyRefused},
		"no_method":   {[]byte{5, 0xff}, retry.ClassProxyRefused},
		"breaks_down": {nil, retry.ClassProxy},
	} {
		t.Run("socks_"+name, func(t *testing.T) {
			tr := base(t, nil)
			tr.Proxy = http.ProxyURL(&url.URL{Scheme: "socks5", Host: socksProxy(t, c.reply)})
			if o, err := exchange(t, tr, request(t, "POST", "http://127.0.0.1:1/", "x")); o.Class != c.class || o.Sent != retry.SentNothing {
				t.Errorf("%v: %s, %s", err, o.Class, o.Sent)
			}
		})
	}
}

// socksProxy answers one connection with these bytes.
func socksProxy(t *testing.T, reply []byte) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = l.Close(); <-done })
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = c.Read(make([]byte, 64))
		_, _ = c.Write(reply)
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, c)
		_ = c.Close()
	}()
	return l.Addr().String()
}
