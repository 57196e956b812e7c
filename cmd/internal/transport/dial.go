package transport

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// attemptDelay is how long an address has for itself before the next one is
// tried beside it (RFC 8305 §5): curl's value.
const attemptDelay = 200 * time.Millisecond

// keepaliveDefault is curl's idle time before the first keepalive probe.
const keepaliveDefault = 60 * time.Second

// errSuperseded marks an address that was given up because another answered.
var errSuperseded = errors.New("another address answered first")

// socket opens the socket to the proxy or the host.
func (m *maker) socket(ctx context.Context) (net.Conn, *Error) {
	if m.s.UnixSocket != "" || m.s.AbstractSocket != "" {
		return m.dialUnix(ctx, m.s.UnixSocket)
	}
	if path := m.route.proxySocket(); path != "" {
		return m.dialUnix(ctx, path)
	}
	host, port := m.route.connectName()
	if m.route.redirected && m.route.proxy == nil {
		m.traceConnectTo()
	}
	addrs, err := m.addresses(ctx, host, port, m.route.proxy != nil)
	if err != nil {
		return nil, err
	}
	start := m.pool.mono()
	tcp, index := m.dialAll(ctx, addrs)
	end := m.pool.mono()
	m.facts.Connect = end - start
	if tcp == nil {
		if err := m.stopped(ctx, retry.PhaseConnect); err != nil {
			return nil, err
		}
		return nil, m.unreachable(host, port)
	}
	m.facts.Connected = end
	m.facts.Remote, m.facts.Local = addrs[index].String(), tcp.LocalAddr().String()
	if m.trace != nil {
		m.traceConnected(host, addrs[index].Addr().String(), port)
	}
	return tcp, nil
}

// dialAll tries every address, beside each other when they are slow to answer
// (RFC 8305), and returns the first socket with its address's index. It leaves
// no goroutine behind.
func (m *maker) dialAll(ctx context.Context, addrs []netip.AddrPort) (*net.TCPConn, int) {
	m.facts.Dials = make([]Dial, 0, len(addrs))
	if len(addrs) == 1 {
		start := m.pool.mono()
		m.begin(addrs[0])
		tcp, err := m.dialTCP(ctx, addrs[0])
		m.end(0, addrs[0], err, start)
		return tcp, 0
	}
	r := race{m: m, addrs: addrs, results: make(chan raced, len(addrs))}
	return r.run(ctx)
}

// race is the contest of a name's addresses.
type race struct {
	m       *maker
	addrs   []netip.AddrPort
	results chan raced
	starts  []time.Duration
	running int
}

type raced struct {
	index int
	tcp   *net.TCPConn
	err   error
}

func (r *race) run(parent context.Context) (*net.TCPConn, int) {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	r.start(ctx)
	delay := cmp.Or(r.m.s.AttemptDelay, attemptDelay)
	timer := time.NewTimer(delay)
	defer timer.Stop()
	for r.running > 0 {
		select {
		case res := <-r.results:
			r.running--
			r.m.end(res.index, r.addrs[res.index], res.err, r.starts[res.index])
			if res.err == nil {
				cancel()
				r.drain()
				return res.tcp, res.index
			}
			if ctx.Err() == nil && r.start(ctx) {
				timer.Reset(delay)
			}
		case <-timer.C:
			if r.start(ctx) {
				timer.Reset(delay)
			}
		}
	}
	return nil, 0
}

// start dials the next address, if one is left.
func (r *race) start(ctx context.Context) bool {
	index := len(r.starts)
	if index == len(r.addrs) {
		return false
	}
	r.m.begin(r.addrs[index])
	r.starts = append(r.starts, r.m.pool.mono())
	r.running++
	go func() {
		tcp, err := r.m.dialTCP(ctx, r.addrs[index])
		r.results <- raced{index, tcp, err}
	}()
	return true
}

// drain waits for the dials that were canceled, which takes no time.
func (r *race) drain() {
	for ; r.running > 0; r.running-- {
		res := <-r.results
		if res.tcp != nil {
			_ = res.tcp.Close()
		}
		r.m.facts.Dials[res.index].Err = errSuperseded
		r.m.facts.Dials[res.index].Took = r.m.pool.mono() - r.starts[res.index]
	}
}

// begin records and shows that an address is being tried.
func (m *maker) begin(a netip.AddrPort) {
	m.facts.Dials = append(m.facts.Dials, Dial{Address: a.String()})
	if m.trace != nil {
		m.info("  Trying ", a.String(), "...")
	}
}

// end records and shows what became of it.
func (m *maker) end(index int, a netip.AddrPort, err error, start time.Duration) {
	d := &m.facts.Dials[index]
	d.Err, d.Took = err, m.pool.mono()-start
	if err != nil && m.trace != nil {
		m.info("connect to ", a.Addr().String(), " port ", portText(a), " failed: ", capital(reasonText(err)))
	}
}

func (m *maker) dialTCP(ctx context.Context, a netip.AddrPort) (*net.TCPConn, error) {
	d := net.Dialer{KeepAlive: -1}
	if m.s.Interface != "" || m.s.LocalPort > 0 {
		return m.dialBound(ctx, &d, a)
	}
	return m.dialFrom(ctx, &d, netip.AddrPort{}, a)
}

// dialFrom dials with the socket's options set. An invalid from is any address.
func (m *maker) dialFrom(ctx context.Context, d *net.Dialer, from, a netip.AddrPort) (*net.TCPConn, error) {
	if !m.s.NoKeepalive {
		idle := m.s.KeepaliveTime
		if idle <= 0 {
			idle = keepaliveDefault
		}
		d.KeepAliveConfig = net.KeepAliveConfig{Enable: true, Idle: idle, Interval: idle, Count: cmp.Or(m.s.KeepaliveCount, -1)}
	}
	if from.IsValid() { // else nothing is bound: the system finds a port when it connects
		d.LocalAddr = net.TCPAddrFromAddrPort(from)
	}
	conn, err := d.DialContext(ctx, "tcp", a.String())
	if err != nil {
		return nil, err
	}
	tcp := conn.(*net.TCPConn)
	if m.s.Nagle {
		_ = tcp.SetNoDelay(false)
	}
	return tcp, nil
}

// unreachable judges a failure over all addresses.
func (m *maker) unreachable(host, port string) *Error {
	class, code := retry.ClassConnect, exitcode.Connect
	if m.route.proxy != nil {
		class = retry.ClassProxy
	}
	for _, d := range m.facts.Dials {
		var bind unbound
		if errors.As(d.Err, &bind) {
			return m.fail(retry.ClassRequest, exitcode.Interface, retry.PhaseConnect, d.Err.Error(), d.Err)
		}
	}
	errs := make([]error, 0, len(m.facts.Dials))
	timeouts := 0
	for _, d := range m.facts.Dials {
		errs = append(errs, d.Err)
		if errors.Is(d.Err, syscall.ETIMEDOUT) {
			timeouts++
		}
	}
	if timeouts == len(errs) {
		code = exitcode.Timeout
	}
	text := "Failed to connect to " + printable(host) + " port " + port + " after " + m.took() + " ms: Couldn't connect to server; " + m.dialReasons()
	return m.fail(class, code, retry.PhaseConnect, text, errors.Join(errs...))
}

// dialReasons tells why each address failed, shortly when all did alike.
func (m *maker) dialReasons() string {
	var same, each []string
	for _, d := range m.facts.Dials {
		reason := reasonText(d.Err)
		if !slices.Contains(same, reason) {
			same = append(same, reason)
		}
		each = append(each, d.Address+": "+reason)
	}
	if len(same) == 1 {
		return same[0]
	}
	return strings.Join(each, ", ")
}

// dialUnix opens a unix socket, by path or, where that is "", in Linux's abstract
// name space.
func (m *maker) dialUnix(ctx context.Context, name string) (net.Conn, *Error) {
	shown := name
	if name == "" {
		shown = "@" + m.s.AbstractSocket
		name = shown
		if !abstractSockets {
			return nil, m.fail(retry.ClassRequest, exitcode.BadOption, retry.PhaseConnect,
				"abstract unix sockets are known to Linux only", nil)
		}
	} else if strings.HasPrefix(name, "@") {
		// The net package would take this path for an abstract name.
		name = "." + string(os.PathSeparator) + name
	}
	m.facts.LookedUp = m.pool.mono()
	start := m.facts.LookedUp
	m.info("  Trying ", shown, "...")
	var d net.Dialer
	conn, err := d.DialUnix(ctx, "unix", nil, &net.UnixAddr{Name: name, Net: "unix"})
	end := m.pool.mono()
	m.facts.Connect = end - start
	m.facts.Dials = []Dial{{Address: shown, Err: err, Took: end - start}}
	if errors.Is(err, syscall.EINVAL) {
		return nil, m.fail(retry.ClassRequest, exitcode.Resolve, retry.PhaseConnect,
			"Unix socket path too long: '"+printable(shown)+"'", err)
	}
	if err != nil {
		if err := m.stopped(ctx, retry.PhaseConnect); err != nil {
			return nil, err
		}
		return nil, m.unreachable(m.route.host, m.route.port)
	}
	m.facts.Connected = end
	m.facts.Remote, m.facts.Local = shown, conn.LocalAddr().String()
	m.info("Connected to ", m.route.host, " (", shown, ") port ", m.route.port, " (#", itoa(m.facts.Number), ")")
	return conn, nil
}

// reasonText is the innermost reason of a network error, without the addresses
// that the caller names anyway.
func reasonText(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error()
	}
	return err.Error()
}
