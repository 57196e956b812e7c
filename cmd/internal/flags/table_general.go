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
	{Name: "http3", Category: CatConnection, Kind: Switch, Help: "Use HTTP/3 where the server speaks it",
		Long: "Over https, without a proxy. QUIC is tried first; when it fails or takes longer than --happy-eyeballs-timeout-ms, TCP is tried beside it with HTTP/2 and 1.1, and the first connection is taken.", on: func(p *parser, _ bool) error { p.g.HTTP = "3"; return nil }},
	{Name: "http3-only", Category: CatConnection, Kind: Switch, Help: "Use HTTP/3 and nothing else", on: func(p *parser, _ bool) error { p.g.HTTP = "3-only"; return nil }},
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
	{Name: "next", Short: ":", Category: CatGeneral, Kind: Switch, OneLine: true, Repeats: true, Help: "Start a new group: other flags for the URLs that follow",
		Long: "Flags about a request, its output and its retries count for the URLs of their group alone; flags about the whole run (-s, -v, -Z, --timeline, -c ...) stay. So do --as-curl and what BIDE_ variables and the default config file say about retries.", on: setNext},
	{Name: "parallel", Short: "Z", Category: CatGeneral, Help: "Request the URLs at the same time",
		Long: "Each is an operation of its own. What one of them is told about waiting counts for all of its origin, so the first request to an origin is answered before others go there (see --parallel-immediate). Bodies on standard output are written one after the other, in the order in which they are complete; one that grows beyond 1 MiB is written as it comes, and others wait for it.", flag: func(p *parser) *bool { return &p.o.Global.Parallel }},
	{Name: "parallel-max", Arg: "N", Category: CatGeneral, Kind: Value, Default: "50", Help: "Operations at the same time with -Z, 300 at most", set: setParallelMax},
	{Name: "parallel-immediate", Category: CatGeneral, Help: "With -Z, do not wait for an origin's first answer",
		Long: "Otherwise the first request to an origin goes ahead, for a second at most: a server that answers 429 is then not asked 50 times.", flag: func(p *parser) *bool { return &p.o.Global.ParallelImmediate }},
	{Name: "rate", Arg: "N/UNIT", Category: CatGeneral, Kind: Value, Help: "Start at most N operations per s, m, h or d, one after the other",
		Long: "3/15s is three in 15 seconds; without a unit it is an hour. Retries have their own waits. It does nothing with -Z, as in curl.", set: setRate},
	{Name: "variable", Arg: "NAME=TEXT|NAME@FILE|%NAME", Category: CatGeneral, Kind: Value, Repeats: true, Help: "Set a variable for the --expand- flags that follow",
		Long: "%NAME takes it from the environment; %NAME=TEXT and %NAME@FILE give a default. NAME[0-99] keeps a range of bytes. Any flag with a value has a form --expand-FLAG, in whose value {{NAME}} and {{NAME:trim,json,url,b64,64dec}} stand for the content and \\{{ for two braces.", set: setVariable},
	{Name: "globoff", Short: "g", Category: CatRequest, Help: "Take {} and [] in URLs as they are",
		Long: "Otherwise {a,b} and [1-9] make several URLs, and #1 in -o stands for the first glob's text.", flag: func(p *parser) *bool { return &p.g.GlobOff }},
	{Name: "fail-early", Category: CatGeneral, Help: "Stop at the first URL that fails",
		Long: "Otherwise the other URLs are still requested and the exit code is that of the last failure.", flag: func(p *parser) *bool { return &p.o.Global.FailEarly }},
	{Name: "help", Short: "h", Category: CatGeneral, Kind: Switch, Common: true, Help: "Help; with all, a category or a flag, more",
		Long: "-h all lists everything; -h CATEGORY a part; -h --FLAG tells all about one.", on: func(*parser, bool) error { return nil }},
	{Name: "version", Short: "V", Category: CatGeneral, Kind: Switch, Help: "Version, commit, features", on: func(*parser, bool) error { return nil }},
}
