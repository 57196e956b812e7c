package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

// answering is a proxy that reads a CONNECT and answers with text.
func answering(t testing.TB, text string) string {
	return listen(t, func(c net.Conn) { readHead(c); _, _ = io.WriteString(c, text) })
}

func httpProxy(port string) *Proxy { return &Proxy{Scheme: "http", Host: "127.0.0.1", Port: port} }

func TestConnectAnswers(t *testing.T) {
	tests := []struct {
		name, answer string
		class        retry.Class
		text         string
		status       int
		retryAfter   []string
	}{
		{"C10_407", "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\nRetry-After: 1\r\n\r\n", retry.ClassProxyRefused, "CONNECT tunnel failed, response 407", 407, nil},
		{"C10_503", "HTTP/1.1 503 Busy\r\nRetry-After: 3\r\nretry-after: 7\r\nDate: Mon, 02 Jan 2006 15:04:05 GMT\r\n\r\nbody", retry.ClassProxy,
			"CONNECT tunnel failed, response 503", 503, []string{"3", "7"}},
		{"R3_429", "HTTP/1.1 429 \r\n\r\n", retry.ClassProxy, "CONNECT tunnel failed, response 429", 429, nil},
		{"R3_502", "HTTP/1.0 502\r\n\r\n", retry.ClassProxy, "CONNECT tunnel failed, response 502", 502, nil},
		{"R3_504", "HTTP/1.1 504 x\n\n", retry.ClassProxy, "CONNECT tunnel failed, response 504", 504, nil},
		{"R3_500", "HTTP/1.1 500 x\r\n\r\n", retry.ClassProxyRefused, "CONNECT tunnel failed, response 500", 500, nil},
		{"R3_302", "HTTP/1.1 302 x\r\nLocation: /\r\n\r\n", retry.ClassProxyRefused, "CONNECT tunnel failed, response 302", 302, nil},
		{"R3_101", "HTTP/1.1 101 x\r\n\r\n", retry.ClassProxyRefused, "CONNECT tunnel failed, response 101", 101, nil},
		{"R3_garbage", "garbage\r\n\r\n", retry.ClassProxyRefused, "Invalid response header", 0, nil},
		{"R3_cut at once", "", retry.ClassProxy, "Proxy CONNECT aborted", 0, nil},
		{"R3_cut in the head", "HTTP/1.1 200 OK\r\nX: y", retry.ClassProxy, "Proxy CONNECT aborted", 200, nil},
		{"R3_too large", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("y", maxConnectHead) + "\r\n\r\n", retry.ClassProxyRefused, "CONNECT response too large", 200, nil},
		{"R3_too many interim", strings.Repeat("HTTP/1.1 103 x\r\n\r\n", maxConnectHead/16), retry.ClassProxyRefused, "CONNECT response too large", 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code := exitcode.Recv
			if tt.name == "R3_garbage" {
				code = exitcode.BadOption // curl 8
			}
			s := &Settings{Proxy: httpProxy(answering(t, tt.answer))}
			e := mustFail(t, context.Background(), Target{"https", "a.test", "443"}, s, want{tt.class, code, retry.PhaseConnect, tt.text})
			if tt.status != 0 && e.Facts.ProxyStatus != tt.status {
				t.Errorf("status %d", e.Facts.ProxyStatus)
			}
			if !slices.Equal(e.ProxyRetryAfter, tt.retryAfter) || tt.retryAfter != nil && e.ProxyDate != "Mon, 02 Jan 2006 15:04:05 GMT" {
				t.Errorf("Retry-After %q, Date %q", e.ProxyRetryAfter, e.ProxyDate)
			}
			if tt.status != 0 && !strings.HasPrefix(tt.answer, string(e.Facts.ProxyBlocks[0])) {
				t.Errorf("block %.80q", e.Facts.ProxyBlocks[0])
			}
			if !e.Facts.ProxyUsed {
				t.Error("the facts do not tell of the proxy")
			}
		})
	}
	t.Run("R3_reset", func(t *testing.T) {
		s := &Settings{Proxy: httpProxy(listen(t, func(c net.Conn) { readHead(c); reset(c) }))}
		mustFail(t, context.Background(), Target{"https", "a.test", "443"}, s, want{retry.ClassProxy, 56, retry.PhaseConnect, "Proxy CONNECT aborted"})
	})
}

func TestConnectHead(t *testing.T) {
	base := Proxy{Scheme: "http", UserAgent: "bide/1"}
	tests := []struct {
		name   string
		change func(*Proxy)
		host   string
		want   string
	}{
		{"plain", func(*Proxy) {}, "a.test", "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\nUser-Agent: bide/1\r\nProxy-Connection: Keep-Alive\r\n\r\n"},
		{"IPv6", func(p *Proxy) { p.UserAgent = "" }, "::1", "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\nProxy-Connection: Keep-Alive\r\n\r\n"},
		{"auth and headers", func(p *Proxy) {
			p.HasAuth, p.User, p.Password = true, "u", "p:w"
			p.Headers = [][2]string{{"X-a", "1"}, {"X-A", "2"}, {"X-Empty", ""}}
		}, "a.test", "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\nProxy-Authorization: Basic dTpwOnc=\r\nUser-Agent: bide/1\r\n" +
			"Proxy-Connection: Keep-Alive\r\nX-a: 1\r\nX-A: 2\r\nX-Empty:\r\n\r\n"},
		{"overridden", func(p *Proxy) {
			p.Headers = [][2]string{{"user-agent", "mine"}, {"proxy-connection", ""}, {"HOST", "h"}}
		}, "a.test", "CONNECT a.test:443 HTTP/1.1\r\nuser-agent: mine\r\nHOST: h\r\n\r\n"},
		{"break in a header", func(p *Proxy) { p.Headers = [][2]string{{"X", "1\r\nY: 2"}} }, "a.test", ""},
		{"break in the agent", func(p *Proxy) { p.UserAgent = "x\ny" }, "a.test", ""},
		{"break in the host", func(*Proxy) {}, "a.test\r\nX: y", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := base
			tt.change(&p)
			r := newRoute(Target{"https", tt.host, "443"}, &Settings{Proxy: &p})
			m := &maker{route: r}
			head, err := m.connectHead(net.JoinHostPort(r.host, r.port))
			if string(head) != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("got %q, %v\nwant %q", head, err, tt.want)
			}
		})
	}
}

// Bytes that came together with the head belong to the tunnel.
func TestTunnelKeepsBytes(t *testing.T) {
	port := answering(t, "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 Connected\r\nX: y\r\n\r\nhello")
	p := httpProxy(port)
	p.Tunnel = true
	var tr recorder
	c := get(t, newPool(t), Target{"http", "a.test", "80"}, &Settings{Proxy: p}, &tr)
	if b, err := io.ReadAll(c); string(b) != "hello" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	if c.TCP != nil || c.ViaProxy || c.Facts.ProxyStatus != 200 {
		t.Errorf("%+v", c.Facts)
	}
	blocks := []string{"HTTP/1.1 103 Early\r\n\r\n", "HTTP/1.1 200 Connected\r\nX: y\r\n\r\n"}
	for i, b := range c.Facts.ProxyBlocks {
		if string(b) != blocks[i] {
			t.Errorf("block %q", b)
		}
	}
	if want := []string{"HTTP/1.1 103 Early\r\n", "\r\n", "HTTP/1.1 200 Connected\r\n", "X: y\r\n", "\r\n"}; !slices.Equal(tr.in, want) {
		t.Errorf("shown %q, want %q", tr.in, want)
	}
	if len(c.Facts.ProxyBlocks) != 2 || len(tr.out) != 1 || !strings.HasPrefix(tr.out[0], "CONNECT a.test:80 HTTP/1.1\r\n") {
		t.Errorf("trace %+v", tr)
	}
	if !slices.Contains(tr.info, "Establish HTTP proxy tunnel to a.test:80") || !slices.Contains(tr.info, "CONNECT tunnel established, response 200") {
		t.Errorf("trace %q", tr.info)
	}
}

// A whole way: HTTPS proxy, tunnel, TLS to the origin; neither sees the other's name.
func TestSecureThroughSecureProxy(t *testing.T) {
	proxyCA, originCA := newAuthority(t, retrytest.Leaf{}), newAuthority(t, retrytest.Leaf{Hosts: []string{"a.test"}})
	head := make(chan string, 1)
	port := listen(t, func(raw net.Conn) {
		c := tls.Server(raw, &tls.Config{Certificates: []tls.Certificate{proxyCA.leaf}, NextProtos: []string{"http/1.1"}})
		head <- readHead(c)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		s := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{originCA.leaf}, NextProtos: []string{"h2"}})
		_, _ = io.Copy(s, s)
	})
	s := &Settings{
		TLS:   TLS{CAFile: originCA.file},
		Proxy: &Proxy{Scheme: "https", Host: "127.0.0.1", Port: port, TLS: TLS{CAFile: proxyCA.file}},
	}
	c := get(t, newPool(t), Target{"https", "a.test", "443"}, s, nil)
	if h := <-head; !strings.HasPrefix(h, "CONNECT a.test:443 ") {
		t.Errorf("head %q", h)
	}
	if c.ALPN != "h2" || c.TCP != nil {
		t.Errorf("ALPN %q", c.ALPN)
	}
	if _, err := c.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if b, err := bufio.NewReader(c).ReadByte(); b != 'x' || err != nil {
		t.Errorf("%q %v", b, err)
	}
	s2 := *s
	p := *s.Proxy
	p.TLS.CAFile = originCA.file
	s2.Proxy = &p
	mustFail(t, context.Background(), Target{"https", "a.test", "443"}, &s2, want{retry.ClassCert, 60, retry.PhaseTLS, "SSL certificate problem"})
}

// --connect-to through an HTTP proxy needs a tunnel, since an absolute URI
// would lead to the original host.
func TestConnectToThroughProxy(t *testing.T) {
	head := make(chan string, 1)
	port := listen(t, func(c net.Conn) { head <- readHead(c); _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n"); hold(c) })
	s := &Settings{Proxy: httpProxy(port), ConnectTo: []string{"a.test::b.test:81"}}
	c := get(t, newPool(t), Target{"http", "a.test", "80"}, s, nil)
	if h := <-head; !strings.HasPrefix(h, "CONNECT b.test:81 ") || c.ViaProxy || c.TCP == nil {
		t.Errorf("head %q", h)
	}
}

func TestAbsoluteURIThroughProxy(t *testing.T) {
	c := get(t, newPool(t), Target{"http", "a.test", "80"}, &Settings{Proxy: httpProxy(listen(t, hold))}, nil)
	if !c.ViaProxy || c.TCP == nil || len(c.Facts.ProxyBlocks) != 0 {
		t.Errorf("%+v", c)
	}
}

func FuzzConnectAnswer(f *testing.F) {
	for _, s := range []string{"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 103 x\r\n\r\nHTTP/1.1 407 x\nA: b\n\n", "HTTP/1.1 503 x\r\nRetry-After: 1\r\n\r\nrest", "HTTP/1.1 2", "\r\n\r\n", "garbage\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		m := &maker{facts: &Facts{}, route: &route{}, s: &Settings{}}
		br := bufio.NewReader(strings.NewReader(answer))
		err := m.connectAnswer(br)
		whole := ""
		for _, b := range m.facts.ProxyBlocks {
			whole += string(b)
		}
		if !strings.HasPrefix(answer, whole) || len(whole) > maxConnectHead {
			t.Fatalf("blocks %q are not the start of the answer", whole)
		}
		if err == nil {
			if m.facts.ProxyStatus/100 != 2 || !strings.HasSuffix(whole, "\n\r\n") && !strings.HasSuffix(whole, "\n\n") {
				t.Fatalf("tunnel opened by %q", whole)
			}
			if rest, _ := io.ReadAll(br); whole+string(rest) != answer {
				t.Fatalf("bytes lost: %q and %q", whole, rest)
			}
			return
		}
		if strings.ContainsFunc(err.Error(), unprintable) {
			t.Fatalf("text %q", err.Error())
		}
	})
}
