// Package flags is the flag table and its parser: arguments, environment and
// config files in, Options out. One table feeds parsing, help, completion and
// the generated reference. It opens no connection and prints nothing.
package flags

import (
	"time"

	"github.com/bidehttp/bide/cmd/internal/checksum"
	"github.com/bidehttp/bide/retry"
)

// Options is a whole command line of the root command.
type Options struct {
	Groups []Group // one until --next is there; Groups[i].URLs is never empty, but for Help and Version
	Global Global
	// Secrets are the places in the parsed arguments that hold one: ScrubArgs.
	Secrets []ArgSpan
}

// Global options hold for the whole run.
type Global struct {
	Silent, ShowError, Verbose bool
	NoProgressMeter            bool
	ProgressBar                bool   // -#
	Stderr                     string // --stderr FILE, "-" stdout
	Trace, TraceASCII          string
	TraceTime                  bool
	Timeline                   string // "", human, json, jsonl, none
	TimelineFile               string
	TimelineHeaders            []string
	Color                      string // auto, always, never
	NoRedact, RedactPath       bool
	FailEarly                  bool
	Parallel                   bool          // -Z
	ParallelMax                int           // operations at a time; 0 is DefaultParallel
	ParallelImmediate          bool          // no operation waits for the first answer of its origin
	StartEvery                 time.Duration // --rate: least time between the starts of two operations; 0 none
	Help                       bool
	HelpCategory               string // "" one screen; else the topic for WriteHelp
	Version                    bool
	Wait                       bool // bide wait: see ParseWait
	Seed                       *uint64
	CookieJar                  string // -c, "-" stdout
	CookieFiles                []string
	JunkSessionCookies         bool
	HSTS                       []string // --hsts, in order; "" keeps in memory
	VerboseNotes               []string // what -v says of the command line, likewise
	Notes                      []string // notices that parsing gave before it came to -s; no secrets, escaped
}

// URLArg is one URL with the output that stands with it.
type URLArg struct {
	URL        string
	Output     string           // -o
	Upload     string           // -T file paired with it
	Checksum   *checksum.Source // what its body is held to; nil nothing
	RemoteName bool             // -O
	HasOutput  bool
	HasUpload  bool
	NoGlob     bool // {} and [] in the URL are text
}

// The values of Group.Fail: -f, --fail-with-body and --no-fail.
const (
	FailSilent   = "fail"
	FailWithBody = "with-body"
	FailNone     = "none"
)

// DataKind is how one piece of -d and its kin was given.
type DataKind string

// The data kinds.
const (
	DataASCII  DataKind = "data"     // -d: @file with CR, LF and NUL removed
	DataRaw    DataKind = "data-raw" // no @
	DataBinary DataKind = "data-binary"
	DataURLEnc DataKind = "data-urlencode"
	DataJSON   DataKind = "json"
)

// DataArg is one piece of data, in the order given.
type DataArg struct {
	Kind  DataKind
	Value string // as given, "@file" not yet read
}

// The values of Group.Clobber.
const (
	ClobberNever  = "never"
	ClobberAlways = "always"
)

// FormArg is one -F or --form-string, in the order given.
type FormArg struct {
	Value   string
	Literal bool // --form-string
}

// Group is one set of request options with its URLs.
type Group struct {
	URLs []URLArg

	Method       string   // -X, "" not given
	Head         bool     // -I
	Get          bool     // -G
	Headers      []string // -H in order; @files are already read, an idempotency key is taken out
	ProxyHeaders []string
	Data         []DataArg
	Form         []FormArg
	FormEscape   bool      // --form-escape
	URLQuery     []DataArg // --url-query; Kind is data-raw or data-urlencode
	UserAgent    *string   // -A; nil default; "" none
	Referer      string    // -e with ";auto" kept
	User         string    // -u user:password
	HasUser      bool
	Bearer       string
	// Basic and Digest are the schemes allowed for the server, ProxyBasic and
	// ProxyDigest for the proxy; none of a pair is Basic.
	Basic, Digest, ProxyBasic, ProxyDigest bool
	AWSSigV4                               string // PROVIDER1[:PROVIDER2[:REGION[:SERVICE]]]
	HasAWSSigV4                            bool
	NoUserinfo                             bool     // --disallow-username-in-url
	CookieEngine                           bool     // -b FILE or -c stands in this group
	Cookies                                []string // -b texts (with "="); files are in Global.CookieFiles
	Range                                  string
	Compressed                             bool
	Include                                bool   // -i
	DumpHeader                             string // -D
	OutputDir                              string
	CreateDirs                             bool
	RemoteNameAll                          bool
	GlobOff                                bool   // -g: {} and [] in URLs are text
	Fail                                   string // "" or one of FailSilent, FailWithBody, FailNone
	AsCurl                                 bool
	WriteOut                               string // -w as given, @file not yet read
	NoBuffer                               bool
	MaxFileSize                            int64
	RequestTarget                          string
	PathAsIs                               bool
	ProtoDefault                           string

	RemoteHeaderName       bool   // -J
	RemoteTime             bool   // -R
	ContinueFile           bool   // -C -
	ContinueAt             int64  // -C OFFSET; 0 none
	RemoveOnError          bool   // --remove-on-error
	Clobber                string // "", ClobberNever, ClobberAlways
	SkipExisting           bool
	EtagSave, EtagCompare  string // files, "" none
	TimeCond               string // -z as given, "" none
	LimitRate              int64  // bytes a second, 0 no limit
	SpeedLimit             int64  // -Y, bytes a second; 0 none
	SpeedTime              time.Duration
	Protocols              []string // --proto: nil all, else what is allowed of http and https
	ProtocolsRedir         []string // --proto-redir, likewise
	TREncoding             bool
	SuppressConnectHeaders bool

	Follow                    bool
	MaxRedirects              int
	Post301, Post302, Post303 bool
	LocationTrusted           bool

	Paginate bool
	MaxPages int  // 0 no limit
	Slurp    bool // the pages' arrays become one

	Netrc         bool
	NetrcOptional bool
	NetrcFile     string

	HTTP                             string // "", 1.0, 1.1, 2, 2-prior-knowledge
	IPVersion                        int
	UnixSocket, AbstractSocket       string
	Resolve, ConnectTo               []string
	ConnectTimeout                   time.Duration // 0 none
	DNSServers                       []string      // ADDR:PORT
	KeepaliveTime                    time.Duration
	KeepaliveCount                   int
	Interface                        string
	LocalPort, LocalPorts            int // first port, number of ports
	HappyEyeballs                    time.Duration
	HAProxy, NoALPN                  bool
	HAProxyIP                        string // --haproxy-clientip
	HTTP09                           bool
	PreProxy                         string
	Proxy10                          bool // --proxy1.0
	CertType, KeyType                string
	PinnedKey, CRLFile, Curves       string
	ProxyPass, ProxyCAPath           string
	ProxyCertType, ProxyKeyType      string
	ProxyPinnedKey, ProxyCRLFile     string
	ProxyCiphers                     string
	ProxyTLSMin                      uint16
	NoKeepalive                      bool
	NoTCPNoDelay                     bool
	Expect100Timeout                 time.Duration
	IgnoreContentLength, Raw         bool
	Insecure                         bool
	CACert, CAPath, Cert, Key, Pass  string
	TLSMin, TLSMax                   uint16
	Ciphers                          string
	Proxy                            string
	HasProxy                         bool
	ProxyUser                        string
	NoProxy                          *string
	ProxyTunnel                      bool
	ProxyInsecure                    bool
	ProxyCACert, ProxyCert, ProxyKey string

	IdempotencyKey    string // value or "auto"; "" none
	IdempotencyHeader string
	RateLimitHeaders  bool
	NoSpool           bool
	Label             string
	Policy            retry.Policy // checked
	Until             string       // --until as given, "" none
	Poll              bool         // --poll
}
