package retrytest

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// WithProxy makes the server an HTTP proxy: a CONNECT, or a request with an
// absolute URI, to which the script answers 2xx is passed on to where it wants
// to go; every other step is the proxy's own answer. "503 retry-after=1, 407, 200"
// is a proxy that lets the third request through. A fault after the 2xx breaks the
// tunnel: reset and close at once, close-after=N after N bytes from the origin.
func WithProxy() Option { return func(c *config) { c.proxy = true } }

// WithProxyTo is WithProxy with every request passed on to one address
// (host:port), whatever name it asks for.
func WithProxyTo(addr string) Option {
	return func(c *config) { c.proxy, c.proxyTo = true, addr }
}

// ServeProxy is Serve with WithProxy; an empty script lets everything through.
func ServeProxy(tb TB, script string, opts ...Option) *Server {
	tb.Helper()
	if strings.TrimSpace(script) == "" {
		script = "200"
	}
	return Serve(tb, script, append([]Option{WithProxy()}, opts...)...)
}

// relay passes a request on if it is a proxy's and the script lets it through.
// It reports false when the request is to be answered here.
func (c *conn) relay(x *exchange, in *intake, out *http1Carrier) bool {
	if x.st.status < 200 || x.st.status > 299 {
		return false
	}
	tunnel := x.req.Method == http.MethodConnect
	target, err := url.Parse(x.req.Target)
	if !tunnel && (err != nil || target.Scheme != "http" || target.Host == "") {
		return false
	}
	addr := x.req.Target
	if !tunnel {
		addr = net.JoinHostPort(target.Hostname(), cmp.Or(target.Port(), "80"))
	}
	for i := range x.st.interim {
		if out.interim(&x.st.interim[i]) != nil {
			return true
		}
	}
	if !c.s.sleep(x.st.delay) {
		return true
	}
	up, err := c.dial(addr)
	if err != nil {
		x.st = builtin(http.StatusBadGateway, "the proxy cannot reach the origin")
		return false
	}
	defer c.s.forget(up)
	if tunnel {
		x.received(in)
		c.tunnel(x, out, up)
	} else {
		c.forward(x, in, target, up)
	}
	x.done()
	return true
}

// dial opens the connection to an origin; Close cuts it like any other.
func (c *conn) dial(addr string) (net.Conn, error) {
	if c.s.cfg.proxyTo != "" {
		addr = c.s.cfg.proxyTo
	}
	up, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	c.s.mu.Lock()
	c.s.conns[up] = struct{}{}
	c.s.mu.Unlock()
	select {
	case <-c.s.stop:
		_ = up.Close()
	default:
	}
	return up, nil
}

// tunnel answers CONNECT and copies both ways until the origin is done.
func (c *conn) tunnel(x *exchange, out *http1Carrier, up net.Conn) {
	x.answering(x.st.status, x.st.src, x.st.header, 0)
	var b strings.Builder
	reason := cmp.Or(x.st.reason, "Connection established")
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", x.st.status, reason)
	writeFields(&b, x.st.header)
	if _, err := io.WriteString(c, b.String()+"\r\n"); err != nil {
		return
	}
	if x.st.end == endReset || x.st.end == endClose {
		out.fault(&x.st)
		return
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = c.br.WriteTo(up)
		if t, ok := up.(*net.TCPConn); ok {
			_ = t.CloseWrite()
		}
	}()
	from := io.Reader(up)
	if x.st.end == endCloseAfter {
		from = io.LimitReader(up, x.st.endBytes)
	}
	_, _ = io.Copy(c, from)
	c.closeWrite(true) // gives the other direction a second
	<-sent
}

// forward sends a request to its origin and the answer back as it comes. The
// connection ends with it.
func (c *conn) forward(x *exchange, in *intake, target *url.URL, up net.Conn) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s\r\n", x.req.Method, target.RequestURI(), x.req.Proto)
	for _, f := range x.req.Header {
		name := strings.ToLower(f.Name)
		if !strings.HasPrefix(name, "proxy-") && name != "connection" && name != "expect" {
			b.WriteString(f.Name + ": " + f.Value + "\r\n")
		}
	}
	_, err := io.WriteString(up, b.String()+"Connection: close\r\n\r\n")
	in.sink = up
	var chunks io.WriteCloser
	if x.req.Has("Transfer-Encoding") {
		chunks = httputil.NewChunkedWriter(up)
		in.sink = chunks
	}
	if err != nil || !c.body(x, in) {
		return
	}
	if chunks != nil {
		_ = chunks.Close()
		_, _ = io.WriteString(up, "\r\n") // no trailers
	}
	br := bufio.NewReader(up)
	status, err := peekStatus(br)
	x.answering(status, x.st.src, nil, 0)
	if err == nil {
		_, _ = br.WriteTo(c)
	}
	c.linger()
}

var errNoStatus = errors.New("the origin's answer has no status line")

// peekStatus looks at an answer's status line without taking it.
func peekStatus(br *bufio.Reader) (int, error) {
	line, err := br.Peek(len("HTTP/1.1 200"))
	if err != nil {
		return 0, fmt.Errorf("proxy: %w", err)
	}
	status, err := strconv.Atoi(string(line[len(line)-3:]))
	if err != nil || !strings.HasPrefix(string(line), "HTTP/1.") {
		return 0, errNoStatus
	}
	return status, nil
}
