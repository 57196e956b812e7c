package transport

import (
	"net/netip"
	"strconv"
	"strings"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func portText(a netip.AddrPort) string { return strconv.Itoa(int(a.Port())) }

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func (m *maker) traceConnected(host, addr, port string) {
	m.info("Connected to ", host, " (", addr, ") port ", port, " (#", itoa(m.facts.Number), ")")
}

func (m *maker) traceConnectTo() {
	if m.route.host != m.route.target.Host {
		m.info("Connecting to hostname: ", m.route.host)
	}
	if m.route.port != m.route.target.Port {
		m.info("Connecting to port: ", m.route.port)
	}
}
