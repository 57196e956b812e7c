package transport

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// resolveEntry is one --resolve: [+]HOST:PORT:ADDR[,ADDR]… or -HOST:PORT, where
// IPv6 stands in brackets.
type resolveEntry struct {
	host, port string // host "*" matches any
	remove     bool
	addrs      []netip.Addr
}

func parseResolve(entry string) (resolveEntry, error) {
	bad := func(why string) (resolveEntry, error) {
		return resolveEntry{}, fmt.Errorf("--resolve %q: %s (use HOST:PORT:ADDRESS[,ADDRESS])", entry, why)
	}
	var e resolveEntry
	rest := entry
	if after, ok := strings.CutPrefix(rest, "-"); ok {
		e.remove, rest = true, after
	} else {
		// "+" makes an entry of curl's cache expire; ours live as long as the run.
		rest = strings.TrimPrefix(rest, "+")
	}
	var ok bool
	if e.host, rest, ok = cutHost(rest); !ok || e.host == "" {
		return bad("no host and port")
	}
	var list string
	e.port, list, ok = strings.Cut(rest, ":")
	if _, err := strconv.ParseUint(e.port, 10, 16); err != nil {
		return bad("the port is not a number up to 65535")
	}
	if e.remove {
		if ok {
			return bad("a removal names no address")
		}
		return e, nil
	}
	for _, a := range strings.Split(list, ",") {
		addr, err := netip.ParseAddr(unbracket(strings.TrimSpace(a)))
		if err != nil {
			return bad("an address is missing or not an IP address")
		}
		e.addrs = append(e.addrs, addr)
	}
	return e, nil
}

// overridden returns the addresses that --resolve gives a name, nil for none.
// Later entries override earlier ones, a name overrides "*".
func overridden(entries []string, host, port string) []netip.Addr {
	var exact, any []netip.Addr
	for _, entry := range entries {
		e, err := parseResolve(entry)
		if err != nil || e.port != port {
			continue
		}
		switch {
		case e.host == "*":
			any = e.addrs
		case strings.EqualFold(e.host, host):
			exact = e.addrs
		}
	}
	if exact != nil {
		return exact
	}
	return any
}

// connectEntry is one --connect-to: HOST1:PORT1:HOST2:PORT2, where IPv6 stands in
// brackets. An empty HOST1 or PORT1 matches any, an empty HOST2 or PORT2 keeps the
// request's own.
type connectEntry struct{ host1, port1, host2, port2 string }

func parseConnectTo(entry string) (connectEntry, error) {
	bad := func(why string) (connectEntry, error) {
		return connectEntry{}, fmt.Errorf("--connect-to %q: %s (use HOST1:PORT1:HOST2:PORT2)", entry, why)
	}
	var e connectEntry
	var ok bool
	rest := entry
	if e.host1, rest, ok = cutHost(rest); !ok {
		return bad("the first port is missing")
	}
	if e.port1, rest, ok = strings.Cut(rest, ":"); !ok {
		return bad("the second host is missing")
	}
	if e.host2, e.port2, ok = cutHost(rest); !ok {
		e.host2, e.port2 = unbracket(rest), ""
	}
	for _, port := range []string{e.port1, e.port2} {
		if _, err := strconv.ParseUint(port, 10, 16); port != "" && err != nil {
			return bad("a port is not a number up to 65535")
		}
	}
	if strings.ContainsAny(e.host2, " /@\r\n\x00") {
		return bad("the second host is not a name")
	}
	return e, nil
}

// connectTo returns where a request is sent instead: the first match decides.
func connectTo(entries []string, host, port string) (string, string) {
	for _, entry := range entries {
		e, err := parseConnectTo(entry)
		if err != nil || e.host1 != "" && !strings.EqualFold(e.host1, host) || e.port1 != "" && e.port1 != port {
			continue
		}
		if e.host2 != "" {
			host = e.host2
		}
		if e.port2 != "" {
			port = e.port2
		}
		break
	}
	return host, port
}

// cutHost splits "host:rest" or "[v6]:rest"; the host comes without brackets.
func cutHost(s string) (host, rest string, ok bool) {
	if strings.HasPrefix(s, "[") {
		host, rest, ok = strings.Cut(s[1:], "]")
		if !ok || !strings.HasPrefix(rest, ":") {
			return "", "", false
		}
		return host, rest[1:], true
	}
	return strings.Cut(s, ":")
}

func unbracket(s string) string {
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		return s[1 : len(s)-1]
	}
	return s
}
