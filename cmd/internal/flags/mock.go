package flags

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"
)

// MockOptions is the command line of bide mock. Scripts and checks are texts yet.
type MockOptions struct {
	Options              // its Global has Help and NoRedact
	Script      string   // its text; "" not given
	Routes      []string // more routes
	Expect      []string // checks
	GroupBy     string   // what makes a group of requests
	LogFile     string   // "" none
	JUnitFile   string   // "" none
	Format      string   // of the report
	Listen      string   // host:port
	Linger      time.Duration
	Timeout     time.Duration // of one run of the command; 0 none
	TLS         bool
	Conformance bool
	Jobs        int
	Command     []string // what stands after --; empty: none
}

// Defaults of bide mock.
const (
	defaultGroupBy     = "route+body"
	defaultLinger      = 300 * time.Millisecond
	defaultListen      = "127.0.0.1:0"
	defaultJobs        = 4
	conformanceTimeout = 30 * time.Second
	maxJobs            = 64
)

func mockLine(to *MockOptions) *subline {
	return &subline{name: "mock", own: mockFlags(), borrowed: mockBorrows(), words: true, goal: to}
}

func mockBorrows() []string { return []string{"no-redact", "help"} }

func mockFlags() []Flag {
	goal := func(p *parser) *MockOptions { return p.sub.goal.(*MockOptions) }
	text := func(p *parser, v string, to *string) error {
		file, ok := strings.CutPrefix(v, "@")
		if !ok {
			*to = v
			return nil
		}
		var err error
		*to, err = p.readText(file)
		return err
	}
	return []Flag{
		{Name: "script", Arg: "SCRIPT|@FILE", Kind: Value, Own: true, File: true, Help: "What to answer: '429 retry-after=1, 503, 200'",
			Long: "Steps by commas or new lines: a status or a fault with its options; docs/mock.md has them all. @- is standard input.",
			set:  func(p *parser, v string) error { return text(p, v, &goal(p).Script) }},
		{Name: "route", Arg: "SCRIPT", Kind: Value, Own: true, Repeats: true, Help: "Steps for some requests: 'POST /jobs: 429, 201'",
			Long: "[METHOD] /path:, where the path may end in *. Options stand at its end in brackets: [idempotent], [bucket=5/s burst=10], [window=100/10s].",
			set:  func(p *parser, v string) error { goal(p).Routes = append(goal(p).Routes, v); return nil }},
		{Name: "expect", Arg: "CHECK", Kind: Value, Own: true, Repeats: true, Open: true, Values: mockChecks(), Help: "A check of the attempt log: attempts=3, 'gap1>=1s', same-key",
			Long: "Of each group of requests. A check that does not hold, or cannot be evaluated, makes the exit code 1.",
			set:  func(p *parser, v string) error { goal(p).Expect = append(goal(p).Expect, v); return nil }},
		{Name: "group-by", Arg: "BY", Kind: Value, Own: true, Open: true, Default: defaultGroupBy, Values: []string{"route+body", "route", "key", "header:", "all"},
			Help: "What makes a group: route+body, route, key, header:NAME, all", Long: "route is method and path, body the hash of the request's, key the Idempotency-Key.",
			set: func(p *parser, v string) error { goal(p).GroupBy = v; return nil }},
		{Name: "log", Arg: "FILE", Kind: Value, Own: true, File: true, Help: "Write the attempt log as JSONL", Long: "- is standard output; CMD's own goes to standard error then.", set: func(p *parser, v string) error { goal(p).LogFile = v; return nil }},
		{Name: "junit", Arg: "FILE", Kind: Value, Own: true, File: true, Help: "Write the checks as JUnit XML, for CI", Long: "- is standard output; CMD's own goes to standard error then.", set: func(p *parser, v string) error { goal(p).JUnitFile = v; return nil }},
		formatRow(func(p *parser) *string { return &goal(p).Format }),
		{Name: "listen", Arg: "[HOST:]PORT", Kind: Value, Own: true, Default: defaultListen, Help: "Where to listen; port 0 is a free one",
			Long: "Other hosts than a loopback address let other machines in.",
			set:  func(p *parser, v string) (err error) { goal(p).Listen, err = parseListen(v); return err }},
		{Name: "tls", Kind: Switch, Own: true, Help: "Speak TLS, with a certificate of a CA of its own (MOCK_CACERT)", Long: "HTTP/2 is offered in the handshake. Without TLS it is spoken with clients that begin with it.",
			on: func(p *parser, _ bool) error { goal(p).TLS = true; return nil }},
		{Name: "linger", Arg: "D", Kind: Value, Own: true, Default: "300ms", Help: "How long to wait for late requests after CMD's end", dur: func(p *parser) *time.Duration { return &goal(p).Linger }},
		{Name: "timeout", Arg: "D", Kind: Value, Own: true, Help: "End CMD after that: SIGTERM, 5s later SIGKILL",
			Long: "Its exit code is 124 then. With --conformance it counts for each row, and is 30s by default.", dur: func(p *parser) *time.Duration { return &goal(p).Timeout }},
		{Name: "conformance", Kind: Switch, Own: true, Help: "Run CMD once for each row of a matrix of what a careful client does",
			Long: "CMD should GET $MOCK_URL with three attempts.", on: func(p *parser, _ bool) error { goal(p).Conformance = true; return nil }},
		{Name: "jobs", Arg: "N", Kind: Value, Own: true, Default: fmt.Sprint(defaultJobs), Help: "Rows of the matrix at the same time", set: setJobs},
	}
}

// mockChecks are the checks, for completion.
func mockChecks() []string {
	return []string{
		"attempts=", "requests<=", "connections=", "effects=", "amplification<=", "gap1>=", "gaps>=", "gaps>=retry-after", "gaps-grow", "last-status=", "statuses=",
		"same-key", "fresh-key-per-operation", "same-body", "same-header:", "header:", "no-header:", "method=", "body=", "no-overlap", "no-request-after-exit", "group-by=",
	}
}

func setJobs(p *parser, v string) error {
	n, err := parseCount(v)
	if err == nil && (n < 1 || n > maxJobs) {
		err = fmt.Errorf("%s is not from 1 to %d", quote(v), maxJobs)
	}
	p.sub.goal.(*MockOptions).Jobs = n
	return err
}

// parseListen reads "8080", ":8080", "0.0.0.0:8080" or "[::1]:8080".
func parseListen(v string) (string, error) {
	if !strings.Contains(v, ":") {
		v = "127.0.0.1:" + v
	}
	_, port, err := net.SplitHostPort(v)
	n, errPort := parseCount(port)
	if err != nil || errPort != nil || n > 65535 {
		return "", fmt.Errorf("%s is not [HOST:]PORT, such as 8080 or [::1]:8080", quote(v))
	}
	return v, nil
}

// maxScript bounds a script in a file, as bide mock does one that comes over HTTP.
const maxScript = 1 << 20

// readText is a whole file's text.
func (p *parser) readText(name string) (string, error) {
	r, err := p.open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }() // it was only read
	b, err := io.ReadAll(io.LimitReader(r, maxScript+1))
	if err == nil && len(b) > maxScript {
		err = errors.New("the script is over 1 MiB")
	}
	if err != nil {
		return "", inputError{name, err}
	}
	return string(b), nil
}

// ParseMock reads the command line of bide mock (without that word). The error
// is a *UsageError.
func ParseMock(args []string, env Env) (*MockOptions, error) {
	to := &MockOptions{GroupBy: defaultGroupBy, Listen: defaultListen, Linger: defaultLinger, Jobs: defaultJobs, Format: FormatHuman}
	own := args
	dashes := slices.Index(args, "--")
	if dashes >= 0 {
		own, to.Command = args[:dashes], slices.Clone(args[dashes+1:])
	}
	o, words, err := mockLine(to).parse(own, env)
	if err != nil {
		return nil, err
	}
	if to.Options = *o; o.Global.Help {
		return to, nil
	}
	switch {
	case len(words) > 0:
		return nil, usagef("bide mock: put -- before the command: bide mock [flags] -- %s", printable(strings.Join(words, " ")))
	case dashes >= 0 && len(to.Command) == 0:
		return nil, usagef("bide mock: no command after --")
	case to.Conformance && len(to.Command) == 0:
		return nil, usagef("bide mock --conformance needs a command: bide mock --conformance -- CMD...")
	case to.Conformance && (to.Script != "" || len(to.Routes)+len(to.Expect) > 0 || to.LogFile != ""):
		return nil, usagef("bide mock --conformance has scripts and checks of its own: no --script, --route, --expect or --log")
	case !to.Conformance && to.Script == "" && len(to.Routes) == 0:
		return nil, usagef("bide mock needs --script or --route, such as --script '429 retry-after=1, 503, 200'; or --conformance")
	}
	if to.Conformance && to.Timeout == 0 {
		to.Timeout = conformanceTimeout
	}
	return to, nil
}

func mockCommand() Subcommand {
	return Subcommand{
		Name: "mock", Args: "[flags] [-- CMD...]", Short: "Scripted server with an attempt log and checks, for any client",
		Long: "Runs CMD with MOCK_URL, MOCK_HOST, MOCK_PORT and, with --tls, MOCK_CACERT in its environment, and prints the attempt log and each check. " +
			"Exit code: 1 a check failed, 2 usage, else CMD's. Without CMD it prints its URL and serves until interrupted; GET /__bide/log, POST /__bide/reset " +
			"and POST /__bide/script read the log, clear it, and set another script.",
		Flags: mockFlags(), Borrowed: mockBorrows(),
	}
}
