package retrytest

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// TB is what Serve and Check need of a test; *testing.T, *testing.B and
// *testing.F have it.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Server answers requests as its script says and remembers each of them. All
// methods may be called at any time, from any goroutine.
type Server struct {
	// URL is "http://127.0.0.1:PORT" or "https://127.0.0.1:PORT", without a slash.
	URL string
	// Host and Port are the parts of its address.
	Host, Port string

	cfg      config
	tls      *tls.Config
	ca       *CA
	stop     chan struct{} // closed by Close
	stopOnce sync.Once
	running  sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]struct{}
	script   *script
	text     string   // of script
	cursors  []cursor // one per route
	start    time.Time
	epoch    int // counts Resets: what an older request does is not logged
	records  []*Record
	opened   int
	effects  int
	exit     time.Duration
	hasExit  bool
	results  map[string]*keyedResult // the idempotent stub's memory
	release  func()                  // of the port, where it is listened on later
}

// cursor is where a route's script stands.
type cursor struct {
	step, done int  // done repetitions of step
	out        bool // it has run out
	limiter    limiter
}

// Serve starts a server for a test: it is closed, and its goroutines are gone,
// when the test ends. A script or option that is wrong ends the test, and a request
// after the end of a script with "then=fail" fails it. The package's documentation
// describes scripts.
func Serve(tb TB, script string, opts ...Option) *Server {
	tb.Helper()
	s, err := New(script, opts...)
	if err != nil {
		tb.Fatalf("retrytest: %v", err)
		return nil
	}
	tb.Cleanup(func() {
		s.Close()
		if l := s.Log(); len(l.RanOut()) > 0 {
			tb.Errorf("retrytest: request %d came after the end of its script\n%s", l.RanOut()[0].Number, l)
		}
	})
	return s
}

// New starts a server on a free port of 127.0.0.1. The error is a *ScriptError
// when the script is wrong. The caller must Close it.
func New(script string, opts ...Option) (*Server, error) {
	s := &Server{stop: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	for _, o := range opts {
		o(&s.cfg)
	}
	if !checkAccepts(s.cfg.accepts) {
		return nil, fmt.Errorf("connections %q: expected a list of ok, close, reset, stall, garbage", s.cfg.accepts)
	}
	if err := s.SetScript(script); err != nil {
		return nil, err
	}
	if err := s.prepareTLS(); err != nil {
		return nil, err
	}
	addr := s.cfg.address
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	addr = l.Addr().String()
	s.place(addr)
	if s.cfg.listenDelay > 0 {
		if err := l.Close(); err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
		l, s.release = nil, reserve(addr)
	}
	s.running.Add(1)
	go s.accept(l, addr)
	return s, nil
}

// place fills in what is known from the address.
func (s *Server) place(addr string) {
	scheme := "http"
	if s.tls != nil {
		scheme = "https"
	}
	s.Host, s.Port, _ = net.SplitHostPort(addr) // of a listener: always whole
	if ip, err := netip.ParseAddr(s.Host); err == nil && ip.IsUnspecified() {
		s.Host = "127.0.0.1" // all addresses: clients need one
	}
	s.URL = scheme + "://" + net.JoinHostPort(s.Host, s.Port)
}

// accept takes connections until Close. Without a listener it opens the port at
// addr after the delay first.
func (s *Server) accept(l net.Listener, addr string) {
	defer s.running.Done()
	if l == nil {
		slept := s.sleep(s.cfg.listenDelay)
		s.release()
		if !slept {
			return
		}
		for {
			var err error
			if l, err = net.Listen("tcp", addr); err == nil {
				break
			}
			if !s.sleep(10 * time.Millisecond) {
				return
			}
		}
	}
	s.mu.Lock()
	s.listener = l
	s.mu.Unlock()
	select {
	case <-s.stop: // Close may have come before the listener was known to it
		_ = l.Close()
	default:
	}
	for {
		nc, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as too many open files, for the moment
			if !s.sleep(5 * time.Millisecond) {
				return
			}
			continue
		}
		s.mu.Lock()
		s.opened++
		number := s.opened
		s.conns[nc] = struct{}{}
		s.running.Add(1)
		s.mu.Unlock()
		select {
		case <-s.stop:
			_ = nc.Close()
		default:
		}
		go s.serve(nc, number)
	}
}

// forget closes a connection and drops it from the list.
func (s *Server) forget(nc net.Conn) {
	_ = nc.Close()
	s.mu.Lock()
	delete(s.conns, nc)
	s.mu.Unlock()
}

// Close stops listening, cuts every connection and waits until all goroutines
// of the server are gone. Further calls do nothing.
func (s *Server) Close() {
	s.stopOnce.Do(func() { close(s.stop) })
	s.mu.Lock()
	if s.listener != nil {
		_ = s.listener.Close()
	}
	for nc := range s.conns {
		_ = nc.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
}

// CACert is the PEM text of the throw-away CA that signed the server's
// certificate; nil without TLS or when the test brought its own certificate.
func (s *Server) CACert() []byte {
	if s.ca == nil {
		return nil
	}
	return s.ca.PEM()
}

// Log is a copy of the attempt log so far, grouped by DefaultGroup.
func (s *Server) Log() *Log {
	s.mu.Lock()
	l := &Log{Connections: s.opened, Effects: s.effects, Exit: s.exit, HasExit: s.hasExit, hidden: s.cfg.hidden}
	for _, r := range s.records {
		l.Records = append(l.Records, r.snapshot())
	}
	s.mu.Unlock()
	l, _ = l.GroupBy(DefaultGroup) // a known grouping
	return l
}

// Reset clears the log, forgets the idempotent stub's results and starts the
// script again. Open connections stay and do not count as opened any more.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reset()
}

func (s *Server) reset() {
	s.start = time.Now()
	s.epoch++
	s.records, s.opened, s.effects, s.hasExit = nil, 0, 0, false
	s.results = map[string]*keyedResult{}
	s.cursors = make([]cursor, len(s.script.routes))
}

// SetScript puts a new script in the place of the old one and does a Reset. On
// an error (a *ScriptError, or a body file that is not there) nothing changes.
func (s *Server) SetScript(text string) error {
	sc, err := parseScript(text)
	if err != nil {
		return err
	}
	for _, f := range sc.files() {
		info, err := os.Stat(s.path(f))
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a regular file, whose length is known", f)
		}
		if err != nil {
			return fmt.Errorf("script: body file: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.text = sc, text
	s.reset()
	return nil
}

// Script is the text of the script in force.
func (s *Server) Script() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text
}

// MarkExit notes that the client under test has ended, for the check
// no-request-after-exit.
func (s *Server) MarkExit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exit, s.hasExit = s.now(), true
}

func (s *Server) path(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(s.cfg.dir, file)
}

// now is the instant on the log's clock. s.mu is held.
func (s *Server) now() time.Duration { return time.Since(s.start) }

// sleep waits for d (forever: for Close) and reports false when the server was
// closed meanwhile.
func (s *Server) sleep(d time.Duration) bool {
	if d == 0 {
		return true
	}
	var after <-chan time.Time
	if d != forever {
		t := time.NewTimer(d)
		defer t.Stop()
		after = t.C
	}
	select {
	case <-after:
		return true
	case <-s.stop:
		return false
	}
}

// next takes the step for a request from route i of the script.
func (s *Server) next(i int) (st step, ranOut bool) {
	r, c := &s.script.routes[i], &s.cursors[i]
	if c.out && r.then == thenFail {
		return builtin(500, "the script has run out"), true
	}
	st = r.steps[c.step]
	if c.out || st.times == forever {
		return st, false
	}
	if c.done++; c.done < st.times {
		return st, false
	}
	switch {
	case c.step+1 < len(r.steps):
		c.step, c.done = c.step+1, 0
	case r.then == thenLoop:
		c.step, c.done = 0, 0
	default:
		c.out = true
	}
	return st, false
}

// match is the index of the route for a request: an exact path before a
// pattern, a method before none; -1 is none.
func (sc *script) match(method, path string) int {
	best, bestRank := -1, -1
	for i, r := range sc.routes {
		if r.method != "" && r.method != method {
			continue
		}
		rank := 0
		switch prefix, pattern := cutStar(r.path); {
		case r.path == "":
		case r.path == path:
			rank = 1 << 20
		case pattern && len(path) >= len(prefix) && path[:len(prefix)] == prefix:
			rank = 2 * len(prefix)
		default:
			continue
		}
		if r.method != "" {
			rank++
		}
		if rank > bestRank {
			best, bestRank = i, rank
		}
	}
	return best
}

func cutStar(path string) (prefix string, ok bool) {
	if n := len(path); n > 0 && path[n-1] == '*' {
		return path[:n-1], true
	}
	return path, false
}

func noRoute() step { return builtin(404, "no route in the script") }

// builtin is an answer that no script holds.
func builtin(status int, text string) step {
	return step{
		src: strconv.Itoa(status) + " (" + text + ")", status: status, times: 1,
		body: text + "\n", hasBody: true, size: -1, read: forever,
	}
}
