// Package transport makes connections: names, addresses, proxies, TLS, and a
// small pool of idle ones. It knows nothing of requests; wire speaks on them.
package transport

import (
	"bufio"
	"context"
	"net"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// Target is where a request wants to go.
type Target struct {
	Scheme string // "http" or "https"
	Host   string // name or literal address, without brackets
	Port   string
}

// Settings is everything that makes two connections to one Target different.
// It is built once per operation and not changed afterwards.
type Settings struct {
	ConnectTimeout time.Duration // name, TCP, proxy and TLS, over all addresses; 0 none
	IPVersion      int           // 0 any, 4 or 6
	UnixSocket     string        // path; "@name" is not special here
	AbstractSocket string
	Resolve        []string // curl's --resolve entries, checked by CheckResolve
	ConnectTo      []string // curl's --connect-to entries, checked by CheckConnectTo
	KeepaliveTime  time.Duration
	NoKeepalive    bool
	Nagle          bool   // --no-tcp-nodelay
	DNSServer      string // "" the system's; host:port, for tests and --dns-servers
	TLS            TLS
	Proxy          *Proxy // nil: none, or none for this host
	HTTP           string // "" (h2 over TLS when offered, else 1.1), "1.0", "1.1", "2", "2-prior-knowledge"
}

// TLS settings of one side (the origin, or an HTTPS proxy).
type TLS struct {
	Insecure   bool
	CAFile     string
	CAPath     string
	CertFile   string
	CertPass   string
	KeyFile    string
	Min, Max   uint16 // tls.VersionTLS10 …; 0 default
	Ciphers    string
	KeyLogFile string // SSLKEYLOGFILE
	SystemFile string // SSL_CERT_FILE
	SystemDir  string // SSL_CERT_DIR
}

// Proxy to go through.
type Proxy struct {
	Scheme    string // http, https, socks4, socks4a, socks5, socks5h
	Host      string
	Port      string
	HasAuth   bool
	User      string
	Password  string
	Tunnel    bool        // CONNECT even for http (-p)
	Headers   [][2]string // --proxy-header, in order
	UserAgent string      // "" sends none
	TLS       TLS
}

// Trace sees what happens on a connection, for -v and --trace. All methods may
// be called with a buffer that is reused afterwards. A nil Trace is off.
type Trace interface {
	Info(text string)
	HeaderOut(b []byte)
	HeaderIn(b []byte)
	DataOut(b []byte)
	DataIn(b []byte)
	// WantsData says whether DataOut/DataIn are needed: zero copy is off then.
	WantsData() bool
}

// Conn is an open connection on which HTTP can be spoken. It belongs to one
// request at a time.
type Conn struct {
	net.Conn              // what bytes go through: TCP, unix or TLS
	TCP      *net.TCPConn // the bare socket when nothing lies between; else nil (zero copy)
	ALPN     string       // "h2", "http/1.1" or ""
	ViaProxy bool         // plain HTTP by absolute URI through an HTTP proxy
	Facts    Facts
	Reused   bool          // it has carried a request before
	Buf      *bufio.Reader // wire's reader, kept between requests; nil at first
	Session  any           // wire's HTTP/2 session, kept between requests; nil at first

	key string // pool key
}

// Facts are what the timeline and -w tell about a connection. Durations are of
// the phases; instants are the injected clock's monotonic ones.
type Facts struct {
	Number        int64 // 0, 1, 2 … within the process: curl's connection number
	Remote, Local string
	Dials         []Dial // every address tried, in order
	DNS           time.Duration
	Connect       time.Duration // TCP alone
	TLSTime       time.Duration
	LookedUp      time.Duration // instants, for -w: 0 when it did not happen
	Connected     time.Duration
	TLSDone       time.Duration
	TLS           *TLSFacts
	ProxyStatus   int      // last CONNECT answer, 0 none
	ProxyBlocks   [][]byte // raw CONNECT response header blocks, as received
	ProxyUsed     bool
	VerifyResult  int // %{ssl_verify_result}: 0 ok
}

// Dial is one address tried.
type Dial struct {
	Address string
	Err     error
	Took    time.Duration
}

// TLSFacts describes a finished handshake.
type TLSFacts struct {
	Version, Cipher, ALPN string
	Issuer, Subject       string
	NotAfter              time.Time
	Chain                 [][]byte // DER, for %{certs}
}

// Pool dials and keeps idle connections. Safe for concurrent use.
type Pool struct {
	// Clock gives instants for Facts and timeouts.
	Clock retry.Clock

	state poolState
}

// Get returns an idle connection that is alive, or a new one. The error is an
// *Error with its class; Facts of a failed dial are in Error.Facts.
func (p *Pool) Get(ctx context.Context, t Target, s *Settings, tr Trace) (*Conn, error) {
	panic("skeleton")
}

// Put gives a connection back after a complete response that allows reuse.
func (p *Pool) Put(c *Conn) { panic("skeleton") }

// Close closes every idle connection.
func (p *Pool) Close() { panic("skeleton") }

type poolState struct{}

// Error is an error of the connection or of what is spoken on it (wire uses it,
// too). It implements retry.Classified.
type Error struct {
	Class retry.Class
	Code  exitcode.Code // curl's exit code where the class alone does not tell; 0 = the class's own
	Sent  retry.Sent
	Phase retry.Phase
	Facts *Facts // of a connection that was not made
	// ProxyServer is what a CONNECT answer said of when to come back.
	ProxyRetryAfter []string
	ProxyDate       string
	Err             error // evidence; its text is what a person reads, curl's words where curl has some
}

func (e *Error) Error() string           { return e.Err.Error() }
func (e *Error) Unwrap() error           { return e.Err }
func (e *Error) RetryClass() retry.Class { return e.Class }

// ExitCode is curl's code for this error; 0 leaves it to the class.
func (e *Error) ExitCode() exitcode.Code { return e.Code }
