package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/auth"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// maker makes one connection and collects its facts.
type maker struct {
	pool  *Pool
	s     *Settings
	trace Trace
	route *route
	facts *Facts
	via   via
	began time.Duration // instant at which the connection was asked for
	// tunnelAuth is what the proxy asks for on CONNECT; nil without credentials.
	tunnelAuth *auth.Session
	challenges int // of the proxy that were answered
}

// make goes through the phases: name, TCP, proxy, TLS.
func (m *maker) make(ctx context.Context) (*Conn, error) {
	originTLS, proxyTLS, err := m.tlsConfigs()
	if err != nil {
		return nil, err
	}
	if m.s.ConnectTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, m.s.ConnectTimeout, errConnectTimeout)
		defer cancel()
	}
	ctx = undated{ctx}
	byQUIC, err := m.quicWanted()
	if err != nil {
		return nil, err
	}
	switch {
	case byQUIC && m.s.HTTP == http3Only:
		return m.quic(ctx, originTLS)
	case byQUIC:
		return m.eitherWay(ctx, originTLS)
	}
	return m.overTCP(ctx, originTLS, proxyTLS)
}

// overTCP makes a connection over TCP, or a unix socket.
func (m *maker) overTCP(ctx context.Context, originTLS, proxyTLS *tls.Config) (*Conn, error) {
	for again := 0; ; again++ {
		c, err := m.attempt(ctx, originTLS, proxyTLS)
		if err == nil {
			return c, nil
		}
		if again == maxReconnects || !errors.Is(err, errReconnect) {
			return nil, err
		}
		m.info("Connect me again please")
	}
}

// maxReconnects bounds the connections made because a proxy closed after its challenge.
const maxReconnects = 4

// attempt makes one socket and what lies upon it.
func (m *maker) attempt(ctx context.Context, originTLS, proxyTLS *tls.Config) (*Conn, error) {
	sock, err := m.socket(ctx)
	if err != nil {
		return nil, err
	}
	c := &Conn{sock: sock, key: m.route.key, trace: m.trace, ViaProxy: m.route.absoluteURI()}
	if c.host, _ = m.route.connectName(); m.route.proxy == nil {
		c.host = m.route.target.Host
	}
	c.host = printable(c.host)
	conn, lerr := m.layers(ctx, sock, c, originTLS, proxyTLS)
	if lerr != nil {
		_ = sock.Close()
		return nil, lerr
	}
	c.Conn = conn
	c.TCP, _ = conn.(*net.TCPConn)
	c.Facts = m.facts
	return c, nil
}

// layers puts proxy and TLS on the socket.
func (m *maker) layers(ctx context.Context, conn net.Conn, c *Conn, originTLS, proxyTLS *tls.Config) (net.Conn, *Error) {
	var err *Error
	if pre := m.route.pre; pre != nil {
		if err = m.socks(ctx, conn, pre, m.route.proxy.Host, m.route.proxy.Port); err != nil {
			return nil, err
		}
	}
	if proxyTLS != nil || originTLS != nil {
		c.below = &quickClose{Conn: conn}
		conn = c.below
	}
	if proxyTLS != nil {
		// The facts of TLS are the origin's; a proxy's handshake counts as connecting.
		var secured *tls.Conn
		if secured, err = m.handshake(ctx, conn, proxyTLS, m.route.proxy.Host); err != nil {
			return nil, err
		}
		conn = secured
	}
	if p := m.route.proxy; p != nil {
		switch {
		case m.route.tunnel:
			conn, err = m.connectTunnel(ctx, conn)
		case !p.isHTTP():
			err = m.socks(ctx, conn, p, m.route.host, m.route.port)
		}
		if err != nil {
			return nil, err
		}
	}
	if m.s.HAProxy {
		if err = m.proxyLine(ctx, conn); err != nil {
			return nil, err
		}
	}
	if originTLS == nil {
		c.ALPN = m.unspoken()
		return conn, nil
	}
	start := m.pool.mono()
	secured, err := m.handshake(ctx, conn, originTLS, m.route.target.Host)
	end := m.pool.mono()
	m.facts.TLSTime = end - start
	if err != nil {
		return nil, err
	}
	m.facts.TLSDone = end
	m.describeTLS(secured.ConnectionState(), originTLS)
	if c.ALPN = m.facts.TLS.ALPN; c.ALPN == "" {
		c.ALPN = m.unspoken()
	}
	return secured, nil
}

// unspoken is the protocol where none was agreed on: HTTP/2 for one who knows
// that the server speaks it (RFC 9113, section 3.3). A proxy that gets requests
// by absolute URI is not that server.
func (m *maker) unspoken() string {
	if m.s.HTTP == "2-prior-knowledge" && !m.route.absoluteURI() {
		return "h2"
	}
	return ""
}

// tlsConfigs reads the files that TLS needs before anything is dialed.
func (m *maker) tlsConfigs() (origin, proxy *tls.Config, err *Error) {
	if p := m.route.proxy; p != nil && p.Scheme == "https" {
		if proxy, err = m.tlsConfig(&p.TLS, p.Host, []string{"http/1.1"}); err != nil {
			return nil, nil, err
		}
	}
	switch m.route.target.Scheme {
	case "http", "tcp":
	case "https":
		origin, err = m.tlsConfig(&m.s.TLS, m.route.target.Host, m.alpn())
	default:
		err = m.fail(retry.ClassRequest, exitcode.BadProtocol, retry.PhaseResolve,
			"Protocol \""+printable(m.route.target.Scheme)+"\" not supported", nil)
	}
	return origin, proxy, err
}

// talk runs a conversation on conn that ctx may end at any moment.
func (m *maker) talk(ctx context.Context, conn net.Conn, f func() *Error) *Error {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err := f()
	if !stop() {
		return m.stopped(ctx, retry.PhaseConnect)
	}
	return err
}

// info sends a line to the trace, if there is one.
func (m *maker) info(parts ...string) {
	if m.trace != nil {
		m.trace.Info(printable(strings.Join(parts, "")))
	}
}
