package transport

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// addresses finds where a name lives, in the order in which it is to be tried.
// Literal addresses, --resolve and localhost never reach the resolver.
func (m *maker) addresses(ctx context.Context, host, port string, proxy bool) ([]netip.AddrPort, *Error) {
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, m.fail(retry.ClassRequest, exitcode.BadURL, retry.PhaseResolve, "Port number was not a decimal number between 0 and 65535", err)
	}
	if name := strings.ToLower(strings.TrimSuffix(host, ".")); strings.HasSuffix(name, ".onion") || name == "onion" {
		return nil, m.fail(retry.ClassNXDomain, exitcode.Resolve, retry.PhaseResolve, "Not resolving .onion address (RFC 7686)", nil)
	}
	start := m.pool.mono()
	addrs, asked, err := m.find(ctx, host, port)
	m.facts.LookedUp = m.pool.mono()
	if asked {
		m.facts.DNS += m.facts.LookedUp - start
	}
	if stopped := m.stopped(ctx, retry.PhaseResolve); stopped != nil {
		return nil, stopped
	}
	found := len(addrs)
	addrs = m.ofFamily(addrs)
	if _, literal := netip.ParseAddr(host); literal == nil && len(addrs) < found {
		return nil, m.fail(retry.ClassNXDomain, exitcode.Connect, retry.PhaseResolve,
			"Couldn't connect to server; -"+strconv.Itoa(m.s.IPVersion)+" rules "+host+" out", nil)
	}
	if err != nil || len(addrs) == 0 {
		return nil, m.unresolved(host, proxy, err)
	}
	out := make([]netip.AddrPort, len(addrs))
	for i, a := range interleave(addrs) {
		out[i] = netip.AddrPortFrom(a, uint16(number))
	}
	return out, nil
}

// find returns a name's addresses; asked says whether the resolver was.
func (m *maker) find(ctx context.Context, host, port string) (addrs []netip.Addr, asked bool, err error) {
	if len(m.s.Resolve) > 0 {
		if addrs := overridden(m.s.Resolve, host, port); addrs != nil {
			m.info("Hostname ", host, " was found in DNS cache")
			return addrs, false, nil
		}
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, false, nil
	}
	if isLocalhost(host) {
		// RFC 6761 §6.3; the order is curl's.
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, false, nil
	}
	addrs, err = m.lookUp(ctx, host)
	return addrs, true, err
}

// lookUp asks the system's resolver, or the servers of DNSServer one after the
// other until one gives a definite answer.
func (m *maker) lookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	network := "ip"
	if m.s.IPVersion != 0 {
		network += strconv.Itoa(m.s.IPVersion)
	}
	if m.s.DNSServer == "" {
		return resolver("").LookupNetIP(ctx, network, host)
	}
	var addrs []netip.Addr
	var err error
	for _, server := range strings.Split(m.s.DNSServer, ",") {
		addrs, err = resolver(strings.TrimSpace(server)).LookupNetIP(ctx, network, host)
		if err == nil || notFound(err) || ctx.Err() != nil {
			break
		}
	}
	return addrs, err
}

// resolver asks one server, port 53 unless it says so, or the system's ("").
// Where Go's own resolver does the work it would go on listening after the
// context has ended; here the end wakes it.
func resolver(server string) *net.Resolver {
	if _, _, err := net.SplitHostPort(server); err != nil && server != "" {
		server = net.JoinHostPort(strings.Trim(server, "[]"), "53")
	}
	return &net.Resolver{
		PreferGo: server != "",
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			if server != "" {
				address = server
			}
			var d net.Dialer
			conn, err := d.DialContext(ctx, network, address)
			if err == nil {
				context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
			}
			return conn, err
		},
	}
}

func notFound(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && dns.IsNotFound
}

// unresolved classifies a name without addresses (nil: none of the family asked for).
func (m *maker) unresolved(host string, proxy bool, err error) *Error {
	class, code, what := retry.ClassNXDomain, exitcode.Resolve, "host"
	if proxy {
		code, what = exitcode.ResolveProxy, "proxy"
	}
	text := "Could not resolve " + what + ": " + printable(host)
	if err != nil && !notFound(err) {
		class = retry.ClassResolve
		var dns *net.DNSError
		if errors.As(err, &dns) && dns.IsTimeout {
			text += " (no answer from the name server)"
		} else {
			text += " (temporary failure)"
		}
	}
	return m.fail(class, code, retry.PhaseResolve, text, err)
}

// ofFamily drops addresses that -4 or -6 rules out.
func (m *maker) ofFamily(addrs []netip.Addr) []netip.Addr {
	var out []netip.Addr
	for _, a := range addrs {
		a = a.Unmap()
		if m.s.IPVersion == 4 && !a.Is4() || m.s.IPVersion == 6 && a.Is4() {
			continue
		}
		out = append(out, a)
	}
	return out
}

// interleave alternates the families, the first address's first (RFC 8305 §4).
func interleave(addrs []netip.Addr) []netip.Addr {
	if len(addrs) < 3 {
		return addrs
	}
	var first, second []netip.Addr
	for _, a := range addrs {
		if a.Is4() == addrs[0].Is4() {
			first = append(first, a)
		} else {
			second = append(second, a)
		}
	}
	out := make([]netip.Addr, 0, len(addrs))
	for i := range max(len(first), len(second)) {
		if i < len(first) {
			out = append(out, first[i])
		}
		if i < len(second) {
			out = append(out, second[i])
		}
	}
	return out
}

func isLocalhost(host string) bool {
	host = strings.TrimSuffix(host, ".")
	const name = "localhost"
	if len(host) > len(name) && host[len(host)-len(name)-1] == '.' {
		host = host[len(host)-len(name):]
	}
	return strings.EqualFold(host, name)
}
