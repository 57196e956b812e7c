// Package transport makes connections: names, addresses, proxies, TLS, and a
// small pool of idle ones. It knows nothing of requests; wire speaks on them.
package transport

import (
	"bufio"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/bidehttp/bide/cmd/internal/auth"
)

// Target is where a request wants to go.
type Target struct {
	Scheme string // "http", "https", or "tcp": a connection, and nothing said on it
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
	KeepaliveCount int // probes without an answer; 0 the system's
	NoKeepalive    bool
	// Interface is a device ("if!eth0"), an address ("host!192.0.2.1"), or
	// either; LocalPort and LocalPorts are the first port to bind to, and how many.
	Interface             string
	LocalPort, LocalPorts int
	// AttemptDelay is how long an address has for itself; 0 is curl's 200 ms.
	AttemptDelay time.Duration
	HAProxy      bool   // send a PROXY protocol line first
	HAProxyIP    string // address to name in it; "" the connection's own
	NoALPN       bool
	Nagle        bool   // --no-tcp-nodelay
	DNSServer    string // "" the system's; host:port[,host:port], for tests and --dns-servers
	TLS          TLS
	Proxy        *Proxy // nil: none, or none for this host
	PreProxy     *Proxy // SOCKS proxy through which Proxy is reached; nil none
	HTTP         string // "" (h2 over TLS when offered, else 1.1), "1.0", "1.1", "2", "2-prior-knowledge",
	// "3" (or what else the server speaks, of https alone), "3-only"
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
	CertType   string // of CertFile: "" and PEM, DER
	KeyType    string // of KeyFile: "" and PEM, DER
	Pinned     string // --pinnedpubkey: "sha256//BASE64;..." or a file
	CRLFile    string
	Curves     string // names joined by colons
}

// Proxy to go through.
type Proxy struct {
	Scheme   string // http, https, socks4, socks4a, socks5, socks5h
	Host     string
	Port     string
	Socket   string // of a SOCKS proxy: the path of its unix socket, in place of host and port; "" none
	HasAuth  bool
	User     string
	Password string
	Schemes  auth.Scheme // 0 is Basic
	Tunnel   bool        // CONNECT even for http (-p)
	HTTP10   bool        // CONNECT by HTTP/1.0
	// Headers are --proxy-header, in order. One of ours that is named there is
	// left out; without a value it is not sent at all.
	Headers   [][2]string
	UserAgent string // "" sends none
	TLS       TLS
}

// Trace sees what happens on a connection, for -v and --trace. All methods may
// be called with a buffer that is reused afterwards, and from several
// goroutines: a connection may be closed behind a given-up answer while the next
// attempt runs. A nil Trace is off.
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
	net.Conn               // what bytes go through: TCP, unix or TLS
	QUIC     *quic.Conn    // with ALPN "h3": what streams go through; Conn carries no bytes then
	TCP      *net.TCPConn  // the bare socket when nothing lies between; else nil (zero copy)
	ALPN     string        // "h3", "h2", "http/1.1" or ""; "h2" also by prior knowledge
	ViaProxy bool          // plain HTTP by absolute URI through an HTTP proxy
	Facts    *Facts        // replaced by another at the first reuse: whoever has it may keep it
	Reused   bool          // it has carried a request before
	HTTP10   bool          // wire's user notes that it was answered in HTTP/1.0
	Buf      *bufio.Reader // wire's reader, kept between requests; nil at first
	Head     []byte        // wire's room for the head of a request, kept between them
	// Session is wire's HTTP/2 session, kept between requests; nil at first. Its
	// method Usable() bool is asked before reuse: its reader owns the bytes of the
	// socket, so that only it can tell. One without it is not used again.
	Session any

	key    string      // pool key
	host   string      // as the trace names the other side
	sock   net.Conn    // the socket itself, below TLS and tunnels
	probe  probe       // of sock
	forgot bool        // Facts are those of a later request
	below  *quickClose // between TLS and the socket; nil without TLS
	trace  Trace       // of the request that has the connection now
	closed atomic.Bool
}

// Close closes the connection, once. On TLS the close_notify alert is sent if
// that takes no waiting. Safe from any goroutine.
func (c *Conn) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	if c.trace != nil {
		c.trace.Info("Closing connection " + strconv.FormatInt(c.Facts.Number, 10))
	}
	if c.below != nil {
		c.below.closing.Store(true)
	}
	return c.Conn.Close()
}

// Facts are what the timeline and -w tell about a connection. Durations are of
// the phases; instants are the injected clock's monotonic ones.
type Facts struct {
	Number        int64  // 0, 1, 2 … within the process: curl's connection number
	Remote, Local string // "ip:port", or the path of a unix socket; a proxy's where one is used
	Dials         []Dial // every address tried, in order; those of a reused connection are left out, like its times
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
	ProxyOut      int64 // bytes of the CONNECT requests
	VerifyResult  int   // %{ssl_verify_result}: 0 ok
}

// Dial is one address tried.
type Dial struct {
	Address string
	Err     error
	Took    time.Duration
}

// TLSFacts describes a finished handshake.
type TLSFacts struct {
	Version, Cipher, ALPN string // "TLS 1.3", IANA's name of the suite, the protocol or ""
	Issuer                string // its distinguished name as RFC 2253 writes it, unprintable characters escaped
	NotAfter              time.Time
	Chain                 [][]byte // DER, for %{certs}
}
