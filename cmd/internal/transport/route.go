package transport

import (
	"net/netip"
	"strconv"
	"strings"
)

// route is the way to a target: which names are dialed, through what, and the
// key that tells connections apart. It does not change once it is made.
type route struct {
	settings   *Settings
	target     Target
	host, port string // where the target is looked for: --connect-to may differ from it
	proxy      *Proxy // nil: direct
	pre        *Proxy // SOCKS proxy on the way to proxy; nil none
	tunnel     bool   // CONNECT through an HTTP proxy
	redirected bool   // --connect-to changed host or port
	key        string
}

// ByAbsoluteURI reports whether requests for t go to an HTTP proxy as they are,
// without a tunnel.
func (s *Settings) ByAbsoluteURI(t Target) bool {
	return s.Proxy != nil && newRoute(t, s).absoluteURI()
}

func newRoute(t Target, s *Settings) *route {
	r := &route{settings: s, target: t, host: t.Host, port: t.Port, proxy: s.Proxy}
	if len(s.ConnectTo) > 0 {
		r.host, r.port = connectTo(s.ConnectTo, t.Host, t.Port)
		r.redirected = r.host != t.Host || r.port != t.Port
	}
	if s.UnixSocket != "" || s.AbstractSocket != "" {
		r.proxy = nil
	} else if r.pre = s.PreProxy; r.proxy == nil || !r.proxy.isHTTP() {
		// Alone, or before another SOCKS proxy, it is the proxy.
		if r.pre != nil && r.proxy == nil {
			r.proxy = r.pre
		}
		r.pre = nil
	}
	if r.proxy != nil && r.proxy.isHTTP() {
		// An absolute URI names the origin, so it cannot lead to another host.
		r.tunnel = t.Scheme != "http" || r.proxy.Tunnel || r.redirected
	}
	r.key = r.poolKey(s)
	return r
}

// absoluteURI reports whether requests go to an HTTP proxy as they are.
func (r *route) absoluteURI() bool {
	return r.proxy != nil && r.proxy.isHTTP() && !r.tunnel
}

// connectName is the other end of the socket: the proxy or the host.
func (r *route) connectName() (host, port string) {
	if r.pre != nil {
		return r.pre.Host, r.pre.Port
	}
	if r.proxy != nil {
		return r.proxy.Host, r.proxy.Port
	}
	return r.host, r.port
}

// proxySocket is the unix socket that the first proxy listens on, "" none.
func (r *route) proxySocket() string {
	switch {
	case r.pre != nil:
		return r.pre.Socket
	case r.proxy != nil:
		return r.proxy.Socket
	}
	return ""
}

// serverName is the name that a certificate must carry: without the dot of a
// fully qualified name, and without the zone of an address.
func serverName(host string) string {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.WithZone("").String()
	}
	return strings.TrimSuffix(host, ".")
}

// keyBuilder writes parts so that no two lists of parts look alike.
type keyBuilder []byte

func (k *keyBuilder) add(parts ...string) {
	for _, p := range parts {
		*k = strconv.AppendInt(*k, int64(len(p)), 10)
		*k = append(append(*k, ':'), p...)
	}
}

func (k *keyBuilder) flags(flags ...bool) {
	for _, f := range flags {
		*k = strconv.AppendBool(*k, f)
	}
}

func (k *keyBuilder) tls(t *TLS) {
	k.add(t.CAFile, t.CAPath, t.CertFile, t.CertPass, t.KeyFile, t.Ciphers, t.KeyLogFile, t.SystemFile, t.SystemDir,
		strconv.Itoa(int(t.Min)), strconv.Itoa(int(t.Max)))
	k.flags(t.Insecure)
	k.add(t.CertType, t.KeyType, t.Pinned, t.CRLFile, t.Curves)
}

// poolKey holds everything that makes two connections different.
func (r *route) poolKey(s *Settings) string {
	k := make(keyBuilder, 0, 192)
	k.add(r.target.Scheme, s.HTTP, s.UnixSocket, s.AbstractSocket, s.DNSServer, s.KeepaliveTime.String())
	k.flags(s.IPVersion == 4, s.IPVersion == 6, s.NoKeepalive, s.Nagle, s.HAProxy, s.NoALPN)
	k.add(s.HAProxyIP, s.Interface, strconv.Itoa(s.LocalPort), strconv.Itoa(s.LocalPorts), strconv.Itoa(s.KeepaliveCount))
	if !r.absoluteURI() {
		k.add(strings.ToLower(r.target.Host), r.target.Port, strings.ToLower(r.host), r.port)
	}
	if r.target.Scheme == "https" {
		k.tls(&s.TLS)
	}
	k.add(s.Resolve...)
	if p := r.proxy; p != nil {
		k.add("proxy", p.Scheme, strings.ToLower(p.Host), p.Port, p.Socket, p.User, p.Password, p.UserAgent)
		k.flags(p.HasAuth, r.tunnel, p.HTTP10)
		k.add(strconv.Itoa(int(p.Schemes)))
		for _, h := range p.Headers {
			k.add(h[0], h[1])
		}
		k.tls(&p.TLS)
	}
	if p := r.pre; p != nil {
		k.add("preproxy", p.Scheme, strings.ToLower(p.Host), p.Port, p.Socket, p.User, p.Password)
		k.flags(p.HasAuth)
	}
	return string(k)
}
