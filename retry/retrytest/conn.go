package retrytest

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http2"
)

// conn is one accepted connection.
type conn struct {
	s        *Server
	number   int
	bare     net.Conn // the TCP connection
	net.Conn          // what HTTP is spoken on: bare, or TLS on it
	br       *bufio.Reader
	bw       *bufio.Writer // of HTTP/1 answers
}

// serve speaks on one connection until its end.
func (s *Server) serve(nc net.Conn, number int) {
	defer s.running.Done()
	defer s.forget(nc)
	c := &conn{s: s, number: number, bare: nc, Conn: nc}
	if !c.admit() {
		return
	}
	h2 := false
	if s.tls != nil {
		t := tls.Server(nc, s.tls)
		if err := t.Handshake(); err != nil {
			return
		}
		c.Conn = t
		h2 = t.ConnectionState().NegotiatedProtocol == "h2"
	}
	c.br = bufio.NewReaderSize(c.Conn, 64<<10)
	if s.cfg.http2 && s.tls == nil {
		// "PRI" and no more: an HTTP/1 request may be shorter than the preface.
		start, _ := c.br.Peek(3)
		h2 = string(start) == http2.ClientPreface[:3]
	}
	if h2 {
		c.serveHTTP2()
		return
	}
	c.serveHTTP1()
}

// admit does what WithConnections says of this connection, and reports whether
// it goes on.
func (c *conn) admit() bool {
	if c.s.cfg.accepts == "" {
		return true
	}
	list := strings.Split(c.s.cfg.accepts, ",")
	word := strings.TrimSpace(list[min(c.number, len(list))-1])
	if word == "ok" {
		return true
	}
	// A reset before the client has spoken could fail its connect already.
	if _, err := c.bare.Read(make([]byte, 1)); err != nil {
		return false
	}
	switch word {
	case "close":
		c.linger()
	case "reset":
		c.reset()
	case "stall":
		c.s.sleep(forever)
	default:
		_, _ = io.WriteString(c.bare, garbage)
		c.linger()
	}
	return false
}

// checkAccepts refuses unknown words of WithConnections.
func checkAccepts(list string) bool {
	if list == "" {
		return true
	}
	for w := range strings.SplitSeq(list, ",") {
		if !slices.Contains([]string{"ok", "close", "reset", "stall", "garbage"}, strings.TrimSpace(w)) {
			return false
		}
	}
	return true
}

// garbage is what a server says that does not speak HTTP.
const garbage = "\x00\x01\x02 this is not HTTP \xff\xfe\r\n\r\n"

// reset closes the TCP connection with RST.
func (c *conn) reset() {
	if t, ok := c.bare.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.bare.Close()
}

// linger closes the sending side and reads what still comes for a moment, so
// that a client which is still sending can read the answer before it sees a reset.
func (c *conn) linger() {
	c.closeWrite(true)
	_, _ = io.Copy(io.Discard, c.bare)
}

// closeWrite closes the sending side, with TLS's close_notify if polite, and
// gives what still comes a second.
func (c *conn) closeWrite(polite bool) {
	if t, ok := c.Conn.(*tls.Conn); ok && polite {
		_ = t.CloseWrite()
	}
	if t, ok := c.bare.(*net.TCPConn); ok {
		_ = t.CloseWrite()
	}
	_ = c.bare.SetReadDeadline(time.Now().Add(time.Second))
}
