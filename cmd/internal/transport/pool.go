package transport

import (
	"context"
	"crypto/x509"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bidehttp/bide/retry"
)

// maxIdle is how many connections wait for another request, unless MaxIdle is
// more; the oldest gives way.
const maxIdle = 16

// maxIdleAge is how long one may wait: servers and middleboxes forget it
// sooner or later, and curl keeps connections as long.
const maxIdleAge = 118 * time.Second

// Pool dials and keeps idle connections. Safe for concurrent use.
type Pool struct {
	// Clock gives instants for Facts and the date for certificates. What bounds
	// the network itself (ConnectTimeout, the delay of happy eyeballs) is real
	// time on any clock.
	Clock retry.Clock
	// MaxIdle is how many idle connections are kept where that is more than 16:
	// as many as there are operations at a time.
	MaxIdle int
	// Random gives the bytes of nonces; it is read under a lock.
	Random io.Reader

	state poolState
}

type poolState struct {
	mu     sync.Mutex
	idle   []idleConn // oldest first
	closed bool
	next   int64 // number of the next connection

	route atomic.Pointer[route] // that was asked for last

	rootsMu sync.Mutex
	roots   map[rootsKey]*x509.CertPool // nil: the system's
}

type idleConn struct {
	conn  *Conn
	since time.Duration
}

// Get returns an idle connection that is alive, or a new one. The error is an
// *Error with its class; Facts of a failed dial are in Error.Facts. ctx bounds
// the making of the connection, not its use.
func (p *Pool) Get(ctx context.Context, t Target, s *Settings, tr Trace) (*Conn, error) {
	r, now := p.route(t, s), p.mono()
	if ctx.Err() == nil {
		if c := p.reuse(r.key, now, tr); c != nil {
			return c, nil
		}
	}
	m := &maker{pool: p, s: s, trace: tr, route: r, began: now}
	if err := m.stopped(ctx, retry.PhaseResolve); err != nil {
		return nil, err
	}
	m.facts = &Facts{Number: p.number(), ProxyUsed: m.route.proxy != nil}
	c, err := m.make(ctx)
	if err != nil {
		m.info(err.Error())
		m.info("Closing connection " + strconv.FormatInt(m.facts.Number, 10))
		return nil, err
	}
	return c, nil
}

// route is newRoute's, which most requests have in common.
func (p *Pool) route(t Target, s *Settings) *route {
	if r := p.state.route.Load(); r != nil && r.settings == s && r.target == t {
		return r
	}
	r := newRoute(t, s)
	p.state.route.Store(r)
	return r
}

// Put gives a connection back after a complete response that allows reuse. No
// deadline may be left on it.
func (p *Pool) Put(c *Conn) {
	if c.closed.Load() {
		return
	}
	if c.trace != nil {
		c.trace.Info("Connection #" + strconv.FormatInt(c.Facts.Number, 10) + " to host " + c.host + " left intact")
		c.trace = nil
	}
	c.Reused = true
	if old := p.keep(c); old != nil {
		_ = old.Close()
	}
}

// Close closes every idle connection. Those given back later are closed at once.
func (p *Pool) Close() {
	p.state.mu.Lock()
	idle := p.state.idle
	p.state.idle, p.state.closed = nil, true
	p.state.mu.Unlock()
	for _, i := range idle {
		_ = i.conn.Close()
	}
}

// keep stores c and returns the connection that has to go for it, if any.
func (p *Pool) keep(c *Conn) *Conn {
	now := p.mono()
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	if p.state.closed {
		return c
	}
	p.state.idle = append(p.state.idle, idleConn{conn: c, since: now})
	if len(p.state.idle) <= max(maxIdle, p.MaxIdle) {
		return nil
	}
	old := p.state.idle[0].conn
	p.state.idle = append(p.state.idle[:0], p.state.idle[1:]...)
	return old
}

// reuse returns a connection with that key on which nothing has happened since
// it was given back, or nil.
func (p *Pool) reuse(key string, now time.Duration, tr Trace) *Conn {
	for {
		i, ok := p.take(key)
		if !ok {
			return nil
		}
		c := i.conn
		c.trace = tr
		if now-i.since <= maxIdleAge && c.alive() {
			c.forgetTimes()
			if tr != nil {
				tr.Info("Re-using existing connection #" + strconv.FormatInt(c.Facts.Number, 10) + " with " + c.side() + " " + c.host)
			}
			return c
		}
		if tr != nil {
			tr.Info("Connection " + strconv.FormatInt(c.Facts.Number, 10) + " seems to be dead")
		}
		_ = c.Close()
	}
}

// take removes the connection with that key that was used last.
func (p *Pool) take(key string) (idleConn, bool) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	for n := len(p.state.idle) - 1; n >= 0; n-- {
		if i := p.state.idle[n]; i.conn.key == key {
			p.state.idle = append(p.state.idle[:n], p.state.idle[n+1:]...)
			return i, true
		}
	}
	return idleConn{}, false
}

func (p *Pool) number() int64 {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	n := p.state.next
	p.state.next++
	return n
}

// Unpredictable fills b from Random.
func (p *Pool) Unpredictable(b []byte) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	if p.Random != nil {
		// The system's source does not fail; a test's may end, and then repeats itself.
		_, _ = io.ReadFull(p.Random, b)
	}
}

func (p *Pool) mono() time.Duration {
	if p.Clock == nil {
		return 0
	}
	return p.Clock.Mono()
}

// alive reports whether an idle connection can carry another request. It takes
// nothing from the socket.
func (c *Conn) alive() bool {
	if c.Session != nil {
		s, ok := c.Session.(interface{ Usable() bool })
		return ok && s.Usable()
	}
	if c.Buf != nil && c.Buf.Buffered() > 0 {
		return false
	}
	// A server that speaks first ends the connection (408, close_notify) or has
	// lost count.
	pending, open := c.probe.peek(c.sock)
	return open && !pending
}

// forgetTimes clears what belongs to the making of the connection alone: the
// next request did not pass through these phases.
func (c *Conn) forgetTimes() {
	if c.forgot {
		return
	}
	f := *c.Facts
	c.Facts, c.forgot = &f, true
	f.Dials, f.ProxyBlocks, f.ProxyStatus = nil, nil, 0
	f.DNS, f.Connect, f.TLSTime = 0, 0, 0
	f.LookedUp, f.Connected, f.TLSDone = 0, 0, 0
}

func (c *Conn) side() string {
	if c.Facts.ProxyUsed {
		return "proxy"
	}
	return "host"
}
