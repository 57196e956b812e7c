package flags

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
)

// setResolve checks [+]HOST:PORT:ADDR[,ADDR]... and -HOST:PORT, curl's form.
func setResolve(p *parser, v string) error {
	bad := &UsageError{
		Message: "Couldn't parse CURLOPT_RESOLVE entry '" + printable(v) + "'; --resolve takes HOST:PORT:ADDR[,ADDR]",
		Code:    exitcode.ResolveSyntax,
	}
	text, remove := strings.CutPrefix(v, "-")
	if !remove {
		text = strings.TrimPrefix(text, "+")
	}
	host, rest, ok := cutHost(text)
	if !ok || host == "" {
		return bad
	}
	port, addrs, hasAddrs := strings.Cut(rest, ":")
	if !isPort(port) || hasAddrs == remove {
		return bad
	}
	if !remove {
		for addr := range strings.SplitSeq(addrs, ",") {
			if _, err := netip.ParseAddr(strings.Trim(addr, "[]")); err != nil {
				return bad
			}
		}
	}
	p.g.Resolve = append(p.g.Resolve, v)
	return nil
}

// setConnectTo checks HOST1:PORT1:HOST2:PORT2, of which every part may be empty.
func setConnectTo(p *parser, v string) error {
	bad := &UsageError{
		Message: "Couldn't parse CURLOPT_CONNECT_TO entry '" + printable(v) + "'; --connect-to takes HOST1:PORT1:HOST2:PORT2",
		Code:    exitcode.ResolveSyntax,
	}
	_, rest, ok := cutHost(v)
	port1, rest, ok2 := strings.Cut(rest, ":")
	_, port2, ok3 := cutHost(rest)
	if !ok || !ok2 || !ok3 || port1 != "" && !isPort(port1) || port2 != "" && !isPort(port2) {
		return bad
	}
	p.g.ConnectTo = append(p.g.ConnectTo, v)
	return nil
}

// cutHost cuts "host:rest" and "[v6]:rest".
func cutHost(v string) (host, rest string, ok bool) {
	if strings.HasPrefix(v, "[") {
		end := strings.IndexByte(v, ']')
		if end < 0 || !strings.HasPrefix(v[end+1:], ":") {
			return "", "", false
		}
		return v[:end+1], v[end+2:], true
	}
	return strings.Cut(v, ":")
}

func isPort(v string) bool {
	n, err := parseCount(v)
	return err == nil && n <= 65535
}

// setDNSServers gives each address its port: 53 where none is named.
func setDNSServers(p *parser, v string) error {
	p.g.DNSServers = nil
	for server := range strings.SplitSeq(v, ",") {
		server = strings.TrimSpace(server)
		withPort, err := netip.ParseAddrPort(server)
		if err != nil {
			const dns = 53
			addr, err := netip.ParseAddr(strings.Trim(server, "[]"))
			if err != nil {
				return fmt.Errorf("%s is not ADDR or ADDR:PORT", quote(server))
			}
			withPort = netip.AddrPortFrom(addr, dns)
		}
		p.g.DNSServers = append(p.g.DNSServers, withPort.String())
	}
	return nil
}
