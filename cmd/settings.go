package cmd

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/auth"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
)

// settings turns a group's connection flags into what transport needs. The
// function it returns chooses by target, since proxies depend on the host.
func (r *run) settings(g *flags.Group) (func(transport.Target) (*transport.Settings, error), error) {
	env := r.env.Getenv
	direct := &transport.Settings{
		ConnectTimeout: g.ConnectTimeout, IPVersion: g.IPVersion,
		UnixSocket: g.UnixSocket, AbstractSocket: g.AbstractSocket,
		Resolve: g.Resolve, ConnectTo: g.ConnectTo,
		KeepaliveTime: g.KeepaliveTime, KeepaliveCount: g.KeepaliveCount, NoKeepalive: g.NoKeepalive, Nagle: g.NoTCPNoDelay,
		Interface: g.Interface, LocalPort: g.LocalPort, LocalPorts: g.LocalPorts, AttemptDelay: g.HappyEyeballs,
		HAProxy: g.HAProxy, HAProxyIP: g.HAProxyIP, NoALPN: g.NoALPN,
		DNSServer: strings.Join(g.DNSServers, ","), HTTP: g.HTTP,
		TLS: transport.TLS{
			Insecure: g.Insecure, CAFile: cmp.Or(g.CACert, env("CURL_CA_BUNDLE")), CAPath: g.CAPath,
			CertFile: g.Cert, CertPass: g.Pass, KeyFile: g.Key, Min: g.TLSMin, Max: g.TLSMax, Ciphers: g.Ciphers,
			CertType: g.CertType, KeyType: g.KeyType, Pinned: g.PinnedKey, CRLFile: g.CRLFile, Curves: g.Curves,
			KeyLogFile: env("SSLKEYLOGFILE"), SystemFile: env("SSL_CERT_FILE"), SystemDir: env("SSL_CERT_DIR"),
		},
	}
	if g.PreProxy != "" {
		var err error
		if direct.PreProxy, err = newPreProxy(g, direct.TLS); err != nil {
			return nil, err
		}
	}
	exempt := cmp.Or(env("no_proxy"), env("NO_PROXY"))
	if g.NoProxy != nil {
		exempt = *g.NoProxy
	}
	proxies, bad, err := r.proxies(g, direct)
	if err != nil {
		return nil, err
	}
	if len(proxies)+len(bad) == 0 && direct.PreProxy == nil {
		return func(transport.Target) (*transport.Settings, error) { return direct, nil }, nil
	}
	exempted := direct
	if direct.PreProxy != nil {
		bare := *direct
		bare.PreProxy = nil
		exempted = &bare
	}
	return func(t transport.Target) (*transport.Settings, error) {
		if noProxy(exempt, t.Host) {
			return exempted, nil
		}
		if err := bad[t.Scheme]; err != nil {
			return nil, err
		}
		if s := proxies[t.Scheme]; s != nil {
			return s, nil
		}
		return direct, nil
	}, nil
}

// proxies are the settings with a proxy, by the target's scheme, and what is
// wrong with those that cannot be used: it counts for the targets that need them,
// but for a -x, which is there to be used.
func (r *run) proxies(g *flags.Group, direct *transport.Settings) (usable map[string]*transport.Settings, bad map[string]error, _ error) {
	usable, bad = make(map[string]*transport.Settings), make(map[string]error)
	for _, scheme := range []string{"http", "https", "tcp"} {
		text := proxyFor(g, r.env.Getenv, scheme)
		if text == "" {
			continue
		}
		proxy, err := newProxy(g, text, direct.TLS)
		switch {
		case err != nil && g.HasProxy && g.NoProxy == nil:
			return nil, nil, err
		case err != nil:
			bad[scheme] = err
			continue
		}
		s := *direct
		s.Proxy = proxy
		usable[scheme] = &s
	}
	return usable, bad, nil
}

// proxyFor is -x, else the environment's proxy for a scheme. HTTP_PROXY in
// upper case is not read: a CGI script's client could set it.
func proxyFor(g *flags.Group, env func(string) string, scheme string) string {
	if g.HasProxy {
		return g.Proxy
	}
	switch scheme {
	case "http":
		return cmp.Or(env("http_proxy"), env("all_proxy"), env("ALL_PROXY"))
	case "tcp":
		return "" // a variable speaks of requests
	}
	return cmp.Or(env("https_proxy"), env("HTTPS_PROXY"), env("all_proxy"), env("ALL_PROXY"))
}

// proxyError is a proxy that cannot be used: nothing is sent.
type proxyError struct {
	code exitcode.Code
	err  error
}

func (e *proxyError) Error() string           { return e.err.Error() }
func (e *proxyError) RetryClass() retry.Class { return retry.ClassRequest }
func (e *proxyError) ExitCode() exitcode.Code { return e.code }

// curlsWords are an error's text as curl has it, capital letter and all.
type curlsWords string

func (w curlsWords) Error() string { return string(w) }

// newProxy reads [scheme://][user:password@]host[:port].
func newProxy(g *flags.Group, text string, origin transport.TLS) (*transport.Proxy, error) {
	scheme, rest, hasScheme := strings.Cut(text, "://")
	if !hasScheme {
		scheme, rest = "http", text
	}
	scheme = strings.ToLower(scheme)
	port := "1080"
	switch scheme {
	case "https":
		port = "443"
	case "http", "socks4", "socks4a", "socks5", "socks5h":
	case "socks":
		scheme = "socks4"
	default:
		return nil, &proxyError{exitcode.Connect, curlsWords("Unsupported proxy scheme for '" + scheme + "://" + rest[strings.LastIndexByte(rest, '@')+1:] + "'")}
	}
	u, err := request.ParseURL("http://"+rest, "http", true)
	if err != nil {
		return nil, &proxyError{exitcode.ResolveProxy, errors.New("malformed proxy URL")}
	}
	p := &transport.Proxy{
		Scheme: scheme, Host: u.ASCIIHost(), Port: cmp.Or(u.Port, port),
		HasAuth: u.HasUser, User: u.User, Password: u.Password,
		Schemes: schemes(g.ProxyBasic, g.ProxyDigest),
		Tunnel:  g.ProxyTunnel, HTTP10: g.Proxy10, UserAgent: userAgentOf(g),
		TLS: transport.TLS{
			Insecure: g.ProxyInsecure, CAFile: g.ProxyCACert, CertFile: g.ProxyCert, KeyFile: g.ProxyKey,
			CAPath: g.ProxyCAPath, CertPass: g.ProxyPass, CertType: g.ProxyCertType, KeyType: g.ProxyKeyType,
			Pinned: g.ProxyPinnedKey, CRLFile: g.ProxyCRLFile, Ciphers: g.ProxyCiphers, Min: g.ProxyTLSMin,
			KeyLogFile: origin.KeyLogFile, SystemFile: origin.SystemFile, SystemDir: origin.SystemDir,
		},
	}
	if strings.HasPrefix(scheme, "socks") && strings.EqualFold(u.Host, "localhost") && len(u.Path) > 1 {
		p.Socket = u.Path // curl: socks5://localhost/path/of/socket
	}
	if g.ProxyUser != "" && text != g.PreProxy {
		p.HasAuth = true
		p.User, p.Password, _ = strings.Cut(g.ProxyUser, ":")
	}
	lines, err := request.ParseHeaders(g.ProxyHeaders, nil)
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		if !l.Remove {
			p.Headers = append(p.Headers, [2]string{l.Name, l.Value})
		}
	}
	return p, nil
}

// newPreProxy is the SOCKS proxy of --preproxy.
func newPreProxy(g *flags.Group, origin transport.TLS) (*transport.Proxy, error) {
	pre, err := newProxy(g, g.PreProxy, origin)
	if err == nil && !strings.HasPrefix(pre.Scheme, "socks") {
		return nil, &proxyError{exitcode.Connect, errors.New("--preproxy takes a SOCKS proxy")}
	}
	return pre, err
}

// schemes are those that --basic and --digest allow; 0 is the default.
func schemes(basic, digest bool) (s auth.Scheme) {
	if basic {
		s |= auth.Basic
	}
	if digest {
		s |= auth.Digest
	}
	return s
}

func userAgentOf(g *flags.Group) string {
	if g.UserAgent != nil {
		return *g.UserAgent
	}
	return "bide/" + version
}

// noProxy reports whether host stands in the list: "*", names (with all names
// below them, a leading dot is ignored), addresses and CIDR blocks.
func noProxy(list, host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	addr, err := netip.ParseAddr(host)
	isAddr := err == nil
	for _, entry := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		entry = strings.ToLower(strings.TrimSuffix(entry, "."))
		switch {
		case entry == "*":
			return true
		case isAddr:
			if exemptAddress(entry, addr) {
				return true
			}
		default:
			name := strings.TrimPrefix(entry, ".")
			if host == name || name != "" && strings.HasSuffix(host, "."+name) {
				return true
			}
		}
	}
	return false
}

func exemptAddress(entry string, addr netip.Addr) bool {
	if prefix, err := netip.ParsePrefix(entry); err == nil {
		return prefix.Contains(addr)
	}
	if h, _, err := net.SplitHostPort(entry); err == nil {
		entry = h
	}
	other, err := netip.ParseAddr(strings.Trim(entry, "[]"))
	return err == nil && other == addr
}
