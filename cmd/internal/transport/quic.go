package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/httpretry"
)

// The versions of Settings.HTTP that use QUIC.
const (
	http3     = "3"      // or what else the server speaks
	http3Only = "3-only" // or nothing
)

// h3NoError closes a connection in peace (RFC 9114 §8.1).
const h3NoError = 0x100

// quicWanted reports whether the target is to be reached by QUIC. HTTP/3 exists
// for https alone, and not through proxies.
func (m *maker) quicWanted() (bool, *Error) {
	if m.s.HTTP != http3 && m.s.HTTP != http3Only {
		return false, nil
	}
	why := ""
	switch {
	case m.route.target.Scheme != "https":
		why = "HTTP/3 requested for non-HTTPS URL"
	case m.route.proxy != nil:
		why = "HTTP/3 is not supported over a proxy"
	case m.s.UnixSocket != "" || m.s.AbstractSocket != "":
		why = "HTTP/3 is not supported over a unix socket"
	default:
		return true, nil
	}
	if m.s.HTTP == http3Only {
		return false, m.fail(retry.ClassRequest, exitcode.BadURL, retry.PhaseConnect, why, nil)
	}
	return false, nil
}

// eitherWay makes the connection by QUIC, and by TCP beside it when QUIC fails
// or is slow: curl's way with --http3. No request goes out before one of them is
// chosen. It leaves no goroutine behind.
func (m *maker) eitherWay(parent context.Context, originTLS *tls.Config) (*Conn, error) {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	w := ways{m: m, results: make(chan way, 2)}
	w.start(func(f *maker) (*Conn, error) { return f.quic(ctx, originTLS.Clone()) })
	timer := time.NewTimer(cmp.Or(m.s.AttemptDelay, attemptDelay))
	defer timer.Stop()
	tcpStarted := false
	startTCP := func() {
		if !tcpStarted {
			tcpStarted = true
			w.start(func(f *maker) (*Conn, error) { return f.overTCP(ctx, originTLS, nil) })
		}
	}
	var last error
	for w.running > 0 {
		select {
		case <-timer.C:
			startTCP()
		case r := <-w.results:
			w.running--
			if r.err == nil {
				cancel()
				return w.won(r.c), nil
			}
			w.dials, last = append(w.dials, r.facts.Dials...), r.err
			startTCP()
		}
	}
	var te *Error
	if errors.As(last, &te) && te.Facts != nil {
		te.Facts.Dials = w.dials
	}
	return nil, last
}

// ways are the attempts at one connection, each with facts of its own.
type ways struct {
	m       *maker
	results chan way
	running int
	dials   []Dial // of those that have failed
}

type way struct {
	facts *Facts
	c     *Conn
	err   error
}

func (w *ways) start(dial func(*maker) (*Conn, error)) {
	fork, facts := *w.m, *w.m.facts
	fork.facts = &facts
	w.running++
	go func() {
		c, err := dial(&fork)
		w.results <- way{&facts, c, err}
	}()
}

// won ends the other way, and gives c the addresses that both have tried.
func (w *ways) won(c *Conn) *Conn {
	for ; w.running > 0; w.running-- {
		other := <-w.results
		w.dials = append(w.dials, other.facts.Dials...)
		if other.c != nil {
			_ = other.c.Close()
		}
	}
	c.Facts.Dials = append(w.dials, c.Facts.Dials...)
	return c
}

// quic makes a connection for HTTP/3: one address after the other.
func (m *maker) quic(ctx context.Context, cfg *tls.Config) (*Conn, error) {
	host, port := m.route.connectName()
	addrs, err := m.addresses(ctx, host, port, false)
	if err != nil {
		return nil, err
	}
	cfg.NextProtos, cfg.MinVersion = []string{"h3"}, tls.VersionTLS13
	start := m.pool.mono()
	var failure *Error
	for i, a := range addrs {
		m.begin(a)
		began := m.pool.mono()
		link, err := m.dialQUIC(ctx, a, cfg)
		if err != nil {
			if stopped := m.stopped(ctx, retry.PhaseConnect); stopped != nil {
				m.end(i, a, stopped, began)
				return nil, stopped
			}
			failure = m.quicFailed(err, host, port)
			m.end(i, a, failure, began)
			if failure.Phase == retry.PhaseTLS {
				break // it answered: another address would say the same
			}
			continue
		}
		m.end(i, a, nil, began)
		now := m.pool.mono()
		m.facts.Connect, m.facts.Connected, m.facts.TLSDone = now-start, now, now
		m.facts.Remote, m.facts.Local = a.String(), link.LocalAddr().String()
		m.describeTLS(link.QUIC.ConnectionState().TLS, cfg)
		if m.trace != nil {
			m.traceConnected(host, a.Addr().String(), port)
			m.info("using HTTP/3")
		}
		return &Conn{
			Conn: link, QUIC: link.QUIC, ALPN: "h3", sock: link, key: m.route.key, trace: m.trace,
			host: printable(m.route.target.Host), Facts: m.facts,
		}, nil
	}
	return nil, failure
}

// dialQUIC opens a socket of its own for a connection, connected, so that a
// refusal (ICMP) is seen at once.
func (m *maker) dialQUIC(ctx context.Context, a netip.AddrPort, cfg *tls.Config) (*quicLink, error) {
	var d net.Dialer
	if m.s.Interface != "" || m.s.LocalPort > 0 {
		local := netip.AddrPortFrom(netip.Addr{}, uint16(m.s.LocalPort))
		if m.s.Interface != "" {
			addr, _, err := m.localAddress(ctx, a.Addr())
			if err != nil {
				return nil, unbound{"Couldn't bind to '" + printable(m.s.Interface) + "'; " + err.Error(), err}
			}
			local = netip.AddrPortFrom(addr, local.Port())
		}
		d.LocalAddr = net.UDPAddrFromAddrPort(local)
	}
	conn, err := d.DialContext(ctx, "udp", a.String())
	if err != nil {
		return nil, err
	}
	udp := conn.(*net.UDPConn) //nolint:forcetypeassert // what dialing "udp" gives
	tr := &quic.Transport{Conn: &connected{udp: udp}}
	// The protocol's own limits are left to the deadlines of the attempt, but for
	// a peer that has vanished.
	q, err := tr.Dial(ctx, net.UDPAddrFromAddrPort(a), cfg, &quic.Config{
		HandshakeIdleTimeout: handshakeIdle, MaxIdleTimeout: quicIdle, KeepAlivePeriod: m.quicKeepalive(),
	})
	if err != nil {
		_ = tr.Close()
		_ = udp.Close()
		return nil, err
	}
	return &quicLink{QUIC: q, transport: tr, udp: udp}, nil
}

const (
	// handshakeIdle is how long a peer may be silent during the handshake.
	handshakeIdle = 10 * time.Second
	// quicIdle is curl's idle timeout for QUIC, which keepalive packets hold off.
	quicIdle = 120 * time.Second
)

func (m *maker) quicKeepalive() time.Duration {
	if m.s.NoKeepalive {
		return 0
	}
	if m.s.KeepaliveTime > 0 {
		return m.s.KeepaliveTime
	}
	return keepaliveDefault
}

// quicFailed classifies a connection that was not made.
func (m *maker) quicFailed(err error, host, port string) *Error {
	var own *Error
	var bind unbound
	var terr *quic.TransportError
	var versions *quic.VersionNegotiationError
	where := "QUIC connection to " + printable(host) + " port " + port
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &bind):
		return m.fail(retry.ClassRequest, exitcode.Interface, retry.PhaseConnect, bind.text, err)
	case errors.As(err, &terr) && terr.ErrorCode.IsCryptoError():
		if !terr.Remote {
			return m.tlsFailed(err, host)
		}
		alert := uint8(terr.ErrorCode)
		class := retry.ClassTLS
		if httpretry.FinalAlert(alert) {
			class = retry.ClassCert
		}
		return m.fail(class, exitcode.TLS, retry.PhaseTLS, "SSL connect error: alert from "+printable(host)+": "+alertText(alert), err)
	case errors.As(err, &versions):
		return m.fail(retry.ClassProtocol, exitcode.QUICConnect, retry.PhaseConnect, where+": no common version", err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return m.fail(retry.ClassConnect, exitcode.Connect, retry.PhaseConnect, where+": refused", err)
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return m.fail(retry.ClassConnect, exitcode.Timeout, retry.PhaseConnect, where+": timed out", err)
	}
	return m.fail(retry.ClassConnect, exitcode.QUICConnect, retry.PhaseConnect, where+" failed: "+printable(reasonText(err)), err)
}

// quicLink stands where a TCP connection has its socket.
type quicLink struct {
	QUIC      *quic.Conn
	transport *quic.Transport
	udp       *net.UDPConn
	once      sync.Once
}

var errNoBytes = errors.New("a QUIC connection carries streams, not bytes")

func (q *quicLink) Read([]byte) (int, error)         { return 0, errNoBytes }
func (q *quicLink) Write([]byte) (int, error)        { return 0, errNoBytes }
func (q *quicLink) LocalAddr() net.Addr              { return q.udp.LocalAddr() }
func (q *quicLink) RemoteAddr() net.Addr             { return q.udp.RemoteAddr() }
func (q *quicLink) SetDeadline(time.Time) error      { return nil }
func (q *quicLink) SetReadDeadline(time.Time) error  { return nil }
func (q *quicLink) SetWriteDeadline(time.Time) error { return nil }

func (q *quicLink) Close() error {
	q.once.Do(func() {
		_ = q.QUIC.CloseWithError(h3NoError, "")
		_ = q.transport.Close()
		_ = q.udp.Close()
	})
	return nil
}

// connected makes a connected socket look like the unconnected one that quic-go
// wants. What it leaves out of *net.UDPConn (batches, segmentation, ECN) needs
// an unconnected one.
type connected struct{ udp *net.UDPConn }

func (c *connected) ReadFrom(p []byte) (int, net.Addr, error) {
	n, err := c.udp.Read(p)
	return n, c.udp.RemoteAddr(), err
}

func (c *connected) WriteTo(p []byte, _ net.Addr) (int, error) {
	return c.udp.Write(p)
}

func (c *connected) Close() error                       { return c.udp.Close() }
func (c *connected) LocalAddr() net.Addr                { return c.udp.LocalAddr() }
func (c *connected) SetDeadline(t time.Time) error      { return c.udp.SetDeadline(t) }
func (c *connected) SetReadDeadline(t time.Time) error  { return c.udp.SetReadDeadline(t) }
func (c *connected) SetWriteDeadline(t time.Time) error { return c.udp.SetWriteDeadline(t) }

// SetReadBuffer and SetWriteBuffer ask for what the system gives: less than
// quic-go wishes for is no reason for a line on stderr.
func (c *connected) SetReadBuffer(n int) error  { _ = c.udp.SetReadBuffer(n); return nil }
func (c *connected) SetWriteBuffer(n int) error { _ = c.udp.SetWriteBuffer(n); return nil }
