package flags

import "time"

// connectionFlags is constant data: see Flag.
var connectionFlags = [...]Flag{
	{Name: "ipv4", Short: "4", Category: CatConnection, Kind: Switch, Help: "Use IPv4 addresses only", on: func(p *parser, _ bool) error { p.g.IPVersion = 4; return nil }},
	{Name: "ipv6", Short: "6", Category: CatConnection, Kind: Switch, Help: "Use IPv6 addresses only", on: func(p *parser, _ bool) error { p.g.IPVersion = 6; return nil }},
	{Name: "http1.0", Short: "0", Category: CatConnection, Kind: Switch, Help: "Use HTTP/1.0", on: func(p *parser, _ bool) error { p.g.HTTP = "1.0"; return nil }},
	{Name: "http1.1", Category: CatConnection, Kind: Switch, Help: "Use HTTP/1.1", on: func(p *parser, _ bool) error { p.g.HTTP = "1.1"; return nil }},
	{Name: "http2", Category: CatConnection, Kind: Switch, Help: "Use HTTP/2 where the server offers it",
		Long: "Over https the protocol is agreed in the TLS handshake; it is the default there.", on: func(p *parser, _ bool) error { p.g.HTTP = "2"; return nil }},
	{Name: "http2-prior-knowledge", Category: CatConnection, Kind: Switch, Help: "Use HTTP/2 at once, without asking",
		Long: "For http URLs of servers that speak nothing else.", on: func(p *parser, _ bool) error { p.g.HTTP = "2-prior-knowledge"; return nil }},
	{Name: "resolve", Arg: "HOST:PORT:ADDR[,ADDR]...", Category: CatConnection, Kind: Value, Repeats: true, Help: "Addresses to use for HOST:PORT",
		Long: "HOST may be *. -HOST:PORT forgets an earlier one. The name in the request and the certificate stay as they are.", set: setResolve},
	{Name: "connect-to", Arg: "HOST1:PORT1:HOST2:PORT2", Category: CatConnection, Kind: Value, Repeats: true, Help: "Connect to HOST2:PORT2 instead of HOST1:PORT1",
		Long: "An empty HOST1 or PORT1 matches all, an empty HOST2 or PORT2 changes nothing.", set: setConnectTo},
	{Name: "unix-socket", Arg: "PATH", Category: CatConnection, Kind: Value, File: true, Help: "Connect through a Unix socket",
		Long: "The URL still gives the Host header and the path.", set: setUnixSocket},
	{Name: "abstract-unix-socket", Arg: "NAME", Category: CatConnection, Kind: Value, Help: "Connect through an abstract Unix socket (Linux)", set: setAbstractSocket},
	{Name: "dns-servers", Arg: "LIST", Category: CatConnection, Kind: Value, Help: "Name servers to ask, ADDR[:PORT] comma-separated",
		Long: "They take the place of the system's.", set: setDNSServers},
	{Name: "keepalive-time", Arg: "D", Category: CatConnection, Kind: Value, Default: "60s", Help: "Time between TCP keep-alive probes", dur: func(p *parser) *time.Duration { return &p.g.KeepaliveTime }},
	{Name: "no-keepalive", Category: CatConnection, Help: "No TCP keep-alive probes", flag: func(p *parser) *bool { return &p.g.NoKeepalive }},
	{Name: "tcp-nodelay", Category: CatConnection, Help: "Send small packets at once (the default)", on: func(p *parser, on bool) error { p.g.NoTCPNoDelay = !on; return nil }},
	{Name: "raw", Category: CatConnection, Help: "Leave transfer codings (chunked) undecoded", flag: func(p *parser) *bool { return &p.g.Raw }},
	{Name: "ignore-content-length", Category: CatConnection, Help: "Do not believe the response's Content-Length",
		Long: "The body then ends where the connection does.", flag: func(p *parser) *bool { return &p.g.IgnoreContentLength }},
}

// generalFlags is constant data: see Flag.
var generalFlags = [...]Flag{
	{Name: "config", Short: "K", Arg: "FILE", Category: CatGeneral, Kind: Value, Repeats: true, File: true, Help: "Read more flags from FILE; - is standard input",
		Long: "One flag a line, as in curl: long names without dashes, values after a blank, = or :, in double quotes where they hold blanks. Each line counts as if it stood in the place of -K. Flags about retries in it are weaker than variables and command-line flags.", set: setConfig},
	{Name: "disable", Short: "q", Category: CatGeneral, Help: "As the first flag: skip the default config file", on: func(*parser, bool) error { return nil }},
	{Name: "fail-early", Category: CatGeneral, Help: "Stop at the first URL that fails",
		Long: "Otherwise the other URLs are still requested and the exit code is that of the last failure.", flag: func(p *parser) *bool { return &p.o.Global.FailEarly }},
	{Name: "help", Short: "h", Category: CatGeneral, Kind: Switch, Common: true, Help: "Help; with all, a category or a flag, more",
		Long: "-h all lists everything; -h CATEGORY a part; -h --FLAG tells all about one.", on: func(*parser, bool) error { return nil }},
	{Name: "version", Short: "V", Category: CatGeneral, Kind: Switch, Help: "Version, commit, features", on: func(*parser, bool) error { return nil }},
}
