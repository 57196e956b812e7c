package transport

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/auth"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// maxConnectHead bounds the header blocks of all answers to one CONNECT.
const maxConnectHead = 64 << 10

func (p *Proxy) isHTTP() bool { return p.Scheme == "http" || p.Scheme == "https" || p.Scheme == "" }

// session is the proxy's authentication for the tunnels of one connection.
func (p *Proxy) session(pool *Pool) *auth.Session {
	return &auth.Session{
		Allowed: cmp.Or(p.Schemes, auth.Basic), User: p.User, Password: p.Password, Random: pool.Unpredictable,
	}
}

// connectTunnel asks an HTTP proxy for a tunnel (RFC 9110 §9.3.6).
func (m *maker) connectTunnel(ctx context.Context, conn net.Conn) (net.Conn, *Error) {
	authority := net.JoinHostPort(m.route.host, m.route.port)
	br := bufio.NewReader(conn)
	for challenged := true; challenged; {
		m.info("Establish HTTP proxy tunnel to ", authority)
		head, err := m.connectHead(authority)
		if err != nil {
			return nil, err
		}
		err = m.talk(ctx, conn, func() *Error {
			if m.trace != nil {
				m.trace.HeaderOut(head)
			}
			n, err := conn.Write(head)
			m.facts.ProxyOut += int64(n)
			if err != nil {
				return m.connectAborted(err)
			}
			refusal := m.connectAnswer(br)
			if challenged = refusal != nil && m.challenged(); !challenged {
				return refusal
			}
			return m.readOn(br)
		})
		if err != nil {
			return nil, err
		}
	}
	m.info("CONNECT tunnel established, response ", strconv.Itoa(m.facts.ProxyStatus))
	if br.Buffered() > 0 {
		return &prefixed{Conn: conn, rest: br}, nil
	}
	return conn, nil
}

// prefixed is a connection whose first bytes were read together with a head.
type prefixed struct {
	net.Conn
	rest *bufio.Reader
}

func (p *prefixed) Read(b []byte) (int, error) {
	if p.rest != nil && p.rest.Buffered() > 0 {
		return p.rest.Read(b[:min(len(b), p.rest.Buffered())])
	}
	p.rest = nil
	return p.Conn.Read(b)
}

// connectHead writes the request in curl's order. Nothing of the origin's
// request is in it.
func (m *maker) connectHead(authority string) ([]byte, *Error) {
	p := m.route.proxy
	if m.tunnelAuth == nil && p.HasAuth {
		m.tunnelAuth = p.session(m.pool)
	}
	authorization := ""
	if m.tunnelAuth != nil {
		authorization, _ = m.tunnelAuth.Authorization("CONNECT", authority)
	}
	lines := [][2]string{
		{"Host", authority},
		{"Proxy-Authorization", authorization},
		{"User-Agent", p.UserAgent},
		{"Proxy-Connection", "Keep-Alive"},
	}
	if strings.ContainsAny(authority, " \t\r\n\x00") || hasBreak(lines) || hasBreak(p.Headers) {
		return nil, m.fail(retry.ClassRequest, exitcode.BadOption, retry.PhaseConnect, "a header for the proxy has a line break in it", nil)
	}
	var b strings.Builder
	version := "1.1"
	if p.HTTP10 {
		version = "1.0"
	}
	b.WriteString("CONNECT " + authority + " HTTP/" + version + "\r\n")
	for _, l := range lines {
		if l[1] != "" && !named(p.Headers, l[0]) {
			b.WriteString(l[0] + ": " + l[1] + "\r\n")
		}
	}
	for _, h := range p.Headers {
		switch {
		case h[1] != "":
			b.WriteString(h[0] + ": " + h[1] + "\r\n")
		case !named(lines, h[0]):
			b.WriteString(h[0] + ":\r\n")
		}
	}
	b.WriteString("\r\n")
	return []byte(b.String()), nil
}

func hasBreak(list [][2]string) bool {
	for _, h := range list {
		if strings.ContainsAny(h[0], "\r\n\x00") || strings.ContainsAny(h[1], "\r\n\x00") {
			return true
		}
	}
	return false
}

func named(list [][2]string, name string) bool {
	for _, h := range list {
		if strings.EqualFold(h[0], name) {
			return true
		}
	}
	return false
}

// connectAnswer reads the answer's head, and interim ones before it.
func (m *maker) connectAnswer(br *bufio.Reader) *Error {
	for left := maxConnectHead; ; {
		block, err := readBlock(br, left)
		left -= len(block)
		if len(block) > 0 {
			m.facts.ProxyBlocks = append(m.facts.ProxyBlocks, block)
			if m.trace != nil {
				for line := range bytes.Lines(block) {
					m.trace.HeaderIn(line)
				}
			}
		}
		m.facts.ProxyStatus = statusOf(block)
		switch {
		case errors.Is(err, errNotHTTP):
			e := m.connectRefused(err)
			e.Code, e.Err = exitcode.BadOption, &problem{text: "Invalid response header", err: err} // curl 8
			return e
		case errors.Is(err, errTooLarge):
			return m.fail(retry.ClassProxyRefused, exitcode.Recv, retry.PhaseConnect, "CONNECT response too large", err)
		case err != nil:
			return m.connectAborted(err)
		case m.facts.ProxyStatus/100 == 1 && m.facts.ProxyStatus != 101:
		case m.facts.ProxyStatus/100 == 2:
			for _, name := range [...]string{"Content-Length", "Transfer-Encoding"} {
				if len(fieldValues(block, name)) > 0 {
					m.info("Ignoring ", name, " in CONNECT ", strconv.Itoa(m.facts.ProxyStatus), " response")
				}
			}
			return nil
		default:
			return m.connectRefused(nil)
		}
	}
}

func (m *maker) connectAborted(err error) *Error {
	return m.fail(retry.ClassProxy, exitcode.Recv, retry.PhaseConnect, "Proxy CONNECT aborted", err)
}

// connectRefused classifies an answer that opens no tunnel.
func (m *maker) connectRefused(err error) *Error {
	text := "CONNECT tunnel failed, response " + strconv.Itoa(m.facts.ProxyStatus)
	e := m.fail(retry.ClassProxyRefused, exitcode.Recv, retry.PhaseConnect, text, err)
	e.Sent = retry.SentUnprocessed
	switch m.facts.ProxyStatus {
	case 429, 502, 503, 504:
		e.Class = retry.ClassProxy
		block := m.facts.ProxyBlocks[len(m.facts.ProxyBlocks)-1]
		e.ProxyRetryAfter = fieldValues(block, "Retry-After")
		if dates := fieldValues(block, "Date"); len(dates) > 0 {
			e.ProxyDate = dates[0]
		}
	}
	return e
}

var (
	errNotHTTP  = errors.New("the answer is not HTTP")
	errTooLarge = errors.New("header block too large")
)

// readBlock reads a header block with its empty line, as it came. What was read
// comes with an error, too.
func readBlock(br *bufio.Reader, limit int) ([]byte, error) {
	var block []byte
	for {
		line, err := br.ReadSlice('\n')
		if len(block)+len(line) > limit {
			return block, errTooLarge
		}
		first := len(block) == 0
		block = append(block, line...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			return block, io.ErrUnexpectedEOF
		case err != nil:
			return block, err
		case first && statusOf(block) == 0:
			return block, errNotHTTP
		case !first && (len(line) == 1 || len(line) == 2 && line[0] == '\r') && block[len(block)-len(line)-1] == '\n':
			return block, nil
		}
	}
}

// statusOf is the status of a block that begins with an HTTP/1 status line, else 0.
func statusOf(block []byte) int {
	line, _, _ := strings.Cut(string(block[:min(len(block), 64)]), "\n")
	rest, ok := strings.CutPrefix(line, "HTTP/1.")
	if !ok || len(rest) < 5 || rest[1] != ' ' {
		return 0
	}
	if len(rest) > 5 && rest[5] != ' ' && rest[5] != '\r' {
		return 0
	}
	n, err := strconv.ParseUint(rest[2:5], 10, 16)
	if err != nil || n < 100 {
		return 0
	}
	return int(n)
}

// fieldValues are the values of a field, one for each of its lines.
func fieldValues(block []byte, name string) []string {
	var out []string
	for line := range strings.Lines(string(block)) {
		n, v, ok := strings.Cut(line, ":")
		if ok && strings.EqualFold(n, name) {
			out = append(out, strings.Trim(v, " \t\r\n"))
		}
	}
	return out
}
