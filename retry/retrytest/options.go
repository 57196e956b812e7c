package retrytest

import (
	"crypto/tls"
	"time"
)

// Option changes how a server listens.
type Option func(*config)

type config struct {
	address     string
	dir         string
	listenDelay time.Duration
	tls, http2  bool
	certificate *tls.Certificate
	tlsConfig   func(*tls.Config)
	accepts     string
	proxy       bool
	proxyTo     string
	hidden      func(header string) bool
	observer    func(Record)
	control     func(*Server, *Record) Reply
	controlPath string
	brief       bool
}

// WithTLS makes the server speak TLS, with a certificate for 127.0.0.1, ::1 and
// localhost from a CA that lives in memory only (Server.CACert).
func WithTLS() Option { return func(c *config) { c.tls = true } }

// WithHTTP2 makes the server speak HTTP/2 beside HTTP/1: over TLS when ALPN
// chose h2, without TLS to a client that starts with HTTP/2's preface (prior knowledge).
func WithHTTP2() Option { return func(c *config) { c.http2 = true } }

// WithCertificate puts a certificate in the place of the throw-away one, to
// provoke certificate errors; it implies WithTLS. See CA.
func WithCertificate(cert tls.Certificate) Option {
	return func(c *config) { c.tls, c.certificate = true, &cert }
}

// WithTLSConfig lets f change the server's TLS settings (versions, client
// certificates) before it starts; it implies WithTLS.
func WithTLSConfig(f func(*tls.Config)) Option {
	return func(c *config) { c.tls, c.tlsConfig = true, f }
}

// WithAddress listens on that address (host:port) instead of a free port of 127.0.0.1.
func WithAddress(addr string) Option { return func(c *config) { c.address = addr } }

// WithDir is the folder in which body=@file is looked up; the default is the
// current one.
func WithDir(dir string) Option { return func(c *config) { c.dir = dir } }

// WithListenDelay leaves the port closed for d: until then connections are refused.
func WithListenDelay(d time.Duration) Option { return func(c *config) { c.listenDelay = d } }

// WithObserver tells f of each logged request as soon as nothing more will be
// sent to it. Its Group, Attempt and gaps are not known yet. f is called from many
// goroutines.
func WithObserver(f func(Record)) Option { return func(c *config) { c.observer = f } }

// WithBriefLog keeps no more than the first 256 bytes of each request's body and no
// RawHead in the log, for a server that runs for long. A body's length and hash, and
// the checks, are of the whole body all the same.
func WithBriefLog() Option { return func(c *config) { c.brief = true } }

// Reply is an answer of a control function.
type Reply struct {
	Status int
	Type   string // of Content-Type
	Body   []byte
}

// WithHidden keeps the values of headers for which hidden is true out of the
// names of groups and out of the figures of checks.
func WithHidden(hidden func(header string) bool) Option {
	return func(c *config) { c.hidden = hidden }
}

// WithControl hands requests whose path begins with prefix to f, in the place of
// the script. They are not logged. f may use the server; it is called from many
// goroutines, with a record whose Body was read up to its first MiB.
func WithControl(prefix string, f func(s *Server, r *Record) Reply) Option {
	return func(c *config) { c.controlPath, c.control = prefix, f }
}

// WithConnections says what happens to each connection as soon as its first
// byte has come (with TLS, in the handshake): a comma-separated list of ok, close, reset, stall
// (nothing until the server is closed) and garbage, the last repeated.
// "reset, ok" cuts the first connection.
func WithConnections(list string) Option { return func(c *config) { c.accepts = list } }
