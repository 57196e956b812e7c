package transport

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// socks asks a SOCKS proxy for a connection: SOCKS4, 4a, and 5 (RFC 1928) with
// its user and password (RFC 1929). x/net/proxy has no SOCKS4 and gives refusals
// as text alone, from which no class can be told.
func (m *maker) socks(ctx context.Context, conn net.Conn, p *Proxy, host, port string) *Error {
	m.via = via{p, host, port}
	if err := m.socksLogin(p); err != nil {
		return err
	}
	dst, err := m.socksTarget(ctx)
	if err != nil {
		return err
	}
	return m.talk(ctx, conn, func() *Error {
		switch p.Scheme {
		case "socks4", "socks4a":
			return m.socks4(conn, dst)
		default:
			return m.socks5(conn, dst)
		}
	})
}

// socksLogin refuses what SOCKS5 has no room for (RFC 1929), before a name is looked up.
func (m *maker) socksLogin(p *Proxy) *Error {
	if !strings.HasPrefix(p.Scheme, "socks5") || !p.HasAuth {
		return nil
	}
	const longest = 255
	if len(p.User) > longest || len(p.Password) > longest {
		return m.socksUnfit("Excessive user name or password length for SOCKS5 authentication")
	}
	return nil
}

// via is a SOCKS proxy, and where it is to lead.
type via struct {
	proxy      *Proxy
	host, port string
}

// socksDst is the destination: an address, or a name for the proxy to resolve.
type socksDst struct {
	addr netip.Addr // invalid: use name
	name string
	port uint16
}

func (d socksDst) host() string {
	if d.addr.IsValid() {
		return d.addr.String()
	}
	return printable(d.name)
}

// socksTarget resolves the name here, unless the proxy is to do it.
func (m *maker) socksTarget(ctx context.Context) (socksDst, *Error) {
	p := m.via.proxy
	switch p.Scheme {
	case "socks4", "socks4a", "socks5", "socks5h":
	default:
		return socksDst{}, m.fail(retry.ClassRequest, exitcode.BadProtocol, retry.PhaseConnect,
			"Unsupported proxy scheme '"+printable(p.Scheme)+"'", nil)
	}
	port, err := strconv.ParseUint(m.via.port, 10, 16)
	if err != nil {
		return socksDst{}, m.fail(retry.ClassRequest, exitcode.BadURL, retry.PhaseConnect, "Port number was not a decimal number between 0 and 65535", err)
	}
	d := socksDst{name: m.via.host, port: uint16(port)}
	if a, err := netip.ParseAddr(m.via.host); err == nil && p.Scheme != "socks4a" {
		d.addr = a.Unmap()
	} else if p.Scheme == "socks5h" || p.Scheme == "socks4a" {
		return d, nil
	} else {
		addrs, err := m.addresses(ctx, m.via.host, m.via.port, false)
		if err != nil {
			return d, err
		}
		d.addr = addrs[0].Addr()
		for _, a := range addrs {
			if p.Scheme == "socks4" && a.Addr().Is4() {
				d.addr = a.Addr()
				break
			}
		}
	}
	if p.Scheme == "socks4" && !d.addr.Is4() {
		return d, m.fail(retry.ClassProxyRefused, exitcode.Proxy, retry.PhaseConnect,
			"SOCKS4 connection to "+d.host()+" not supported", nil)
	}
	return d, nil
}

func (m *maker) socks4(conn net.Conn, d socksDst) *Error {
	m.info("SOCKS4 communication to ", d.host(), ":", strconv.Itoa(int(d.port)))
	p := m.via.proxy
	if strings.ContainsRune(p.User, 0) || strings.ContainsRune(d.name, 0) || len(p.User) > 255 || len(d.name) > 255 {
		return m.socksUnfit("SOCKS4: user or host name too long or with a NUL in it")
	}
	out := binary.BigEndian.AppendUint16([]byte{4, 1}, d.port)
	if d.addr.IsValid() {
		a := d.addr.As4()
		out = append(append(append(out, a[:]...), p.User...), 0)
	} else {
		// An impossible address 0.0.0.x says that the name follows (4a).
		out = append(append(append(out, 0, 0, 0, 1), p.User...), 0)
		out = append(append(out, d.name...), 0)
	}
	var in [8]byte
	if err := m.socksExchange(conn, out, in[:]); err != nil {
		return err
	}
	if in[0] != 0 {
		return m.socksRefused("SOCKS4 reply has wrong version, version should be 0.")
	}
	if in[1] != 90 {
		return m.socksRefused("Can't complete SOCKS4 connection to " + d.host() + ":" + strconv.Itoa(int(d.port)) +
			". (" + strconv.Itoa(int(in[1])) + "), " + socks4Reason(in[1]))
	}
	m.info("SOCKS4 request granted.")
	return nil
}

func socks4Reason(code byte) string {
	switch code {
	case 91:
		return "request rejected or failed."
	case 92:
		return "request rejected because SOCKS server cannot connect to identd on the client."
	case 93:
		return "request rejected because the client program and identd report different user-ids."
	default:
		return "Unknown."
	}
}

func (m *maker) socks5(conn net.Conn, d socksDst) *Error {
	where := "locally"
	if !d.addr.IsValid() {
		where = "remotely"
	}
	m.info("SOCKS5 connect to ", d.host(), ":", strconv.Itoa(int(d.port)), " (", where, " resolved)")
	if len(d.name) > 255 {
		return m.socksUnfit("SOCKS5: the destination hostname is too long to be resolved remotely by the proxy.")
	}
	if err := m.socks5Auth(conn); err != nil {
		return err
	}
	out := []byte{5, 1, 0}
	switch {
	case !d.addr.IsValid():
		out = append(append(out, 3, byte(len(d.name))), d.name...)
	case d.addr.Is4():
		out = append(append(out, 1), d.addr.AsSlice()...)
	default:
		out = append(append(out, 4), d.addr.AsSlice()...)
	}
	out = binary.BigEndian.AppendUint16(out, d.port)
	var in [5]byte
	if err := m.socksExchange(conn, out, in[:]); err != nil {
		return err
	}
	if in[0] != 5 {
		return m.socksRefused("SOCKS5 reply has wrong version, version should be 5.")
	}
	if in[1] != 0 {
		return m.socksRefused("Can't complete SOCKS5 connection to " + d.host() + ". (" + strconv.Itoa(int(in[1])) + ")")
	}
	// The address to which the proxy is bound follows: read past it.
	var rest int
	switch in[3] {
	case 1:
		rest = 4 + 2 - 1
	case 3:
		rest = int(in[4]) + 2
	case 4:
		rest = 16 + 2 - 1
	default:
		return m.socksRefused("SOCKS5 reply has wrong address type.")
	}
	if err := m.socksExchange(conn, nil, make([]byte, rest)); err != nil {
		return err
	}
	m.info("SOCKS5 request granted.")
	return nil
}

// socks5Auth negotiates the method and shows the credentials.
func (m *maker) socks5Auth(conn net.Conn) *Error {
	p := m.via.proxy
	hello := []byte{5, 1, 0}
	if p.HasAuth {
		if len(p.User) > 255 || len(p.Password) > 255 {
			return m.socksUnfit("Excessive user name or password length for SOCKS5 proxy auth")
		}
		hello = []byte{5, 2, 0, 2}
	}
	var in [2]byte
	if err := m.socksExchange(conn, hello, in[:]); err != nil {
		return err
	}
	switch {
	case in[0] != 5:
		return m.socksRefused("Received invalid version in initial SOCKS5 response.")
	case in[1] == 0:
		return nil
	case in[1] != 2 || !p.HasAuth:
		return m.socksRefused("No authentication method was acceptable.")
	}
	out := append([]byte{1, byte(len(p.User))}, p.User...)
	out = append(append(out, byte(len(p.Password))), p.Password...)
	if err := m.socksExchange(conn, out, in[:]); err != nil {
		return err
	}
	if in[1] != 0 {
		return m.socksRefused("User was rejected by the SOCKS5 server (" + strconv.Itoa(int(in[0])) + " " + strconv.Itoa(int(in[1])) + ").")
	}
	return nil
}

// socksExchange writes out and fills in: exactly the bytes of the reply, so that
// the socket stays bare.
func (m *maker) socksExchange(conn net.Conn, out, in []byte) *Error {
	if len(out) > 0 {
		if _, err := conn.Write(out); err != nil {
			return m.fail(retry.ClassProxy, exitcode.Proxy, retry.PhaseConnect, "Failed to send SOCKS connect request.", err)
		}
	}
	if _, err := io.ReadFull(conn, in); err != nil {
		return m.fail(retry.ClassProxy, exitcode.Proxy, retry.PhaseConnect, "connection to proxy closed", err)
	}
	return nil
}

func (m *maker) socksRefused(text string) *Error {
	e := m.fail(retry.ClassProxyRefused, exitcode.Proxy, retry.PhaseConnect, text, nil)
	e.Sent = retry.SentUnprocessed
	return e
}

func (m *maker) socksUnfit(text string) *Error {
	return m.fail(retry.ClassRequest, exitcode.Proxy, retry.PhaseConnect, text, nil)
}
