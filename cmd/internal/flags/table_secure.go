package flags

// secureFlags is constant data: see Flag.
var secureFlags = [...]Flag{
	{Name: "user", Short: "u", Arg: "USER:PASSWORD", Category: CatAuth, Kind: Value, Secret: true, Common: true, Help: "Credentials for the server",
		Long: "Without a colon the password is asked for.", set: setUser},
	{Name: "oauth2-bearer", Arg: "TOKEN", Category: CatAuth, Kind: Value, Secret: true, Help: "Bearer token for the server", str: func(p *parser) *string { return &p.g.Bearer }},
	{Name: "netrc", Short: "n", Category: CatAuth, Help: "Take credentials from ~/.netrc", flag: func(p *parser) *bool { return &p.g.Netrc }},
	{Name: "netrc-optional", Category: CatAuth, Help: "Like -n, but credentials in the URL win", flag: func(p *parser) *bool { return &p.g.NetrcOptional }},
	{Name: "netrc-file", Arg: "FILE", Category: CatAuth, Kind: Value, File: true, Help: "Like -n, from FILE", str: func(p *parser) *string { return &p.g.NetrcFile }},
	{Name: "cookie", Short: "b", Arg: "DATA|FILE", Category: CatAuth, Kind: Value, Repeats: true, File: true, Secret: true, Help: "Cookies to send: \"a=1; b=2\", or a file to read them from", set: setCookie},
	{Name: "cookie-jar", Short: "c", Arg: "FILE", Category: CatAuth, Kind: Value, File: true, Help: "Write all cookies to FILE at the end; - is standard output", str: func(p *parser) *string { return &p.o.Global.CookieJar }},
	{Name: "junk-session-cookies", Short: "j", Category: CatAuth, Help: "Leave out session cookies when reading a file", flag: func(p *parser) *bool { return &p.o.Global.JunkSessionCookies }},

	{Name: "insecure", Short: "k", Category: CatTLS, Common: true, Help: "Do not verify the server's certificate", flag: func(p *parser) *bool { return &p.g.Insecure }},
	{Name: "cacert", Arg: "FILE", Category: CatTLS, Kind: Value, File: true, Help: "CA certificates to verify the server with", str: func(p *parser) *string { return &p.g.CACert }},
	{Name: "capath", Arg: "DIR", Category: CatTLS, Kind: Value, Dir: true, Help: "Directory of CA certificates", str: func(p *parser) *string { return &p.g.CAPath }},
	{Name: "cert", Short: "E", Arg: "FILE[:PASSWORD]", Category: CatTLS, Kind: Value, File: true, Secret: true, Help: "Client certificate, PEM",
		Long: "A colon in the file name is written \\:.", set: setCert},
	{Name: "key", Arg: "FILE", Category: CatTLS, Kind: Value, File: true, Help: "Private key of the client certificate", str: func(p *parser) *string { return &p.g.Key }},
	{Name: "pass", Arg: "PHRASE", Category: CatTLS, Kind: Value, Secret: true, Help: "Pass phrase of the private key", str: func(p *parser) *string { return &p.g.Pass }},
	{Name: "tlsv1", Short: "1", Category: CatTLS, Kind: Switch, Help: "TLS 1.0 or later", on: func(p *parser, _ bool) error { p.g.TLSMin = tls10; return nil }},
	{Name: "tlsv1.0", Category: CatTLS, Kind: Switch, Help: "TLS 1.0 or later", on: func(p *parser, _ bool) error { p.g.TLSMin = tls10; return nil }},
	{Name: "tlsv1.1", Category: CatTLS, Kind: Switch, Help: "TLS 1.1 or later", on: func(p *parser, _ bool) error { p.g.TLSMin = tls11; return nil }},
	{Name: "tlsv1.2", Category: CatTLS, Kind: Switch, Help: "TLS 1.2 or later", on: func(p *parser, _ bool) error { p.g.TLSMin = tls12; return nil }},
	{Name: "tlsv1.3", Category: CatTLS, Kind: Switch, Help: "TLS 1.3", on: func(p *parser, _ bool) error { p.g.TLSMin = tls13; return nil }},
	{Name: "tls-max", Arg: "VERSION", Category: CatTLS, Kind: Value, Values: []string{"default", "1.0", "1.1", "1.2", "1.3"}, Help: "Highest TLS version", set: setTLSMax},
	{Name: "ciphers", Arg: "LIST", Category: CatTLS, Kind: Value, Help: "Cipher suites to offer, up to TLS 1.2", str: func(p *parser) *string { return &p.g.Ciphers }},

	{Name: "proxy", Short: "x", Arg: "[SCHEME://]HOST[:PORT]", Category: CatProxy, Kind: Value, Secret: true, Help: "Proxy to use; an empty one uses none", set: setProxy},
	{Name: "proxy-user", Short: "U", Arg: "USER:PASSWORD", Category: CatProxy, Kind: Value, Secret: true, Help: "Credentials for the proxy", str: func(p *parser) *string { return &p.g.ProxyUser }},
	{Name: "proxy-header", Arg: "LINE|@FILE", Category: CatProxy, Kind: Value, Repeats: true, Secret: true, Help: "Header to send to the proxy", set: setProxyHeader},
	{Name: "noproxy", Arg: "LIST", Category: CatProxy, Kind: Value, Help: "Hosts that are reached without the proxy; * is all", set: setNoProxy},
	{Name: "proxytunnel", Short: "p", Category: CatProxy, Help: "Tunnel through the proxy with CONNECT, for http too", flag: func(p *parser) *bool { return &p.g.ProxyTunnel }},
	{Name: "proxy-insecure", Category: CatProxy, Help: "Do not verify an https proxy's certificate", flag: func(p *parser) *bool { return &p.g.ProxyInsecure }},
	{Name: "proxy-cacert", Arg: "FILE", Category: CatProxy, Kind: Value, File: true, Help: "CA certificates to verify an https proxy with", str: func(p *parser) *string { return &p.g.ProxyCACert }},
	{Name: "proxy-cert", Arg: "FILE", Category: CatProxy, Kind: Value, File: true, Secret: true, Help: "Client certificate for an https proxy", str: func(p *parser) *string { return &p.g.ProxyCert }},
	{Name: "proxy-key", Arg: "FILE", Category: CatProxy, Kind: Value, File: true, Help: "Private key of the proxy's client certificate", str: func(p *parser) *string { return &p.g.ProxyKey }},
}
