package testscripts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/itchyny/gojq"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bidehttp/bide/render/rendertest"
	"github.com/bidehttp/bide/retry/retrytest"
)

// commands are what scripts know beside testscript's own:
//
//	serve NAME [--tls] [--http2] [--listen-delay D] [--connections LIST] SCRIPT
//	    a scripted server: $NAME_URL, $NAME_PORT and, with --tls, $NAME_CACERT (a file);
//	    SCRIPT may be @FILE
//	log NAME CHECK...          holds its attempt log to the checks
//	await NAME CHECK...        the same, within 30 seconds
//	proxy NAME SCRIPT          a scripted proxy: $NAME_URL
//	dnsserver NAME ZONE        a scripted name server: $NAME_ADDR
//	asked NAME HOST            the name server was asked for that name
//	exits CODE PROGRAM ARG...  runs it; the exit code must be exactly that, without a panic
//	appears FILE...            each is there and not empty, within 30 seconds; * as in a shell
//	signal NAME SIGNAL         to the program in the background of that name
//	exited NAME CODE           how it ended; after wait
//	json FILE EXPR             a jq expression that must be true for each document in FILE;
//	                           [FILE,FILE] is an array of all their documents
//	fits NAME FILE             each document in FILE is valid by docs/NAME.schema.json
//	sha256 FILE HEX            the digest of FILE
//	pattern FILE BYTES         writes that much generated content
//	sleep DURATION
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"serve": serve, "proxy": proxy, "dnsserver": dnsserver, "log": checkLog, "await": await,
		"exits": exits, "signal": signal, "exited": exited, "json": checkJSON, "sha256": checkSHA256,
		"pattern": pattern, "appears": appears, "sleep": sleep, "asked": asked, "fits": fits,
	}
}

// servers is the key of a script's bench.
type servers struct{}

// bench is what one script has running.
type bench struct {
	started  map[string]*retrytest.Server
	names    map[string]*retrytest.DNSServer
	programs map[string]*exec.Cmd
}

func newBench() *bench {
	return &bench{
		started: map[string]*retrytest.Server{}, names: map[string]*retrytest.DNSServer{},
		programs: map[string]*exec.Cmd{},
	}
}

func of(ts *testscript.TestScript) *bench { return ts.Value(servers{}).(*bench) }

// want fails the script on a wrong use of a command.
func want(ts *testscript.TestScript, ok bool, usage string) {
	if !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

func serve(ts *testscript.TestScript, neg bool, args []string) {
	const usage = "serve NAME [--tls] [--http2] [--listen-delay D] [--connections LIST] SCRIPT"
	want(ts, !neg && len(args) >= 2, usage)
	name, rest := args[0], args[1:]
	opts := []retrytest.Option{retrytest.WithDir(ts.MkAbs("."))}
	for len(rest) > 1 {
		used := 1
		switch rest[0] {
		case "--tls":
			opts = append(opts, retrytest.WithTLS())
		case "--http2":
			opts = append(opts, retrytest.WithHTTP2())
		case "--listen-delay":
			d, err := time.ParseDuration(rest[1])
			ts.Check(err)
			opts, used = append(opts, retrytest.WithListenDelay(d)), 2
		case "--connections":
			opts, used = append(opts, retrytest.WithConnections(rest[1])), 2
		default:
			ts.Fatalf("usage: %s", usage)
		}
		rest = rest[used:]
	}
	start(ts, name, rest[0], opts...)
}

func proxy(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "proxy NAME SCRIPT")
	start(ts, args[0], args[1], retrytest.WithProxy())
}

// start runs a server until the script's end and tells its address.
func start(ts *testscript.TestScript, name, script string, opts ...retrytest.Option) {
	b := of(ts)
	if file, ok := strings.CutPrefix(script, "@"); ok {
		script = ts.ReadFile(file)
	}
	s, err := retrytest.New(script, opts...)
	ts.Check(err)
	ts.Defer(s.Close)
	b.started[name] = s
	ts.Setenv(name+"_URL", s.URL)
	ts.Setenv(name+"_PORT", s.Port)
	if pem := s.CACert(); pem != nil {
		file := ts.MkAbs(name + "-ca.pem")
		ts.Check(os.WriteFile(file, pem, 0o600))
		ts.Setenv(name+"_CACERT", file)
	}
}

func dnsserver(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "dnsserver NAME ZONE")
	d, err := retrytest.NewDNS(args[1])
	ts.Check(err)
	ts.Defer(d.Close)
	of(ts).names[args[0]] = d
	ts.Setenv(args[0]+"_ADDR", d.Addr)
}

func asked(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 2 && of(ts).names[args[0]] != nil, "asked NAME HOST")
	found := slices.ContainsFunc(of(ts).names[args[0]].Queries(), func(q retrytest.DNSQuery) bool { return q.Name == args[1] })
	if found == neg {
		ts.Fatalf("asked for %s: %v", args[1], found)
	}
}

// named is the server of that name.
func named(ts *testscript.TestScript, args []string, usage string) *retrytest.Server {
	want(ts, len(args) >= 2, usage)
	s := of(ts).started[args[0]]
	if s == nil {
		ts.Fatalf("no server %q", args[0])
	}
	return s
}

func checkLog(ts *testscript.TestScript, neg bool, args []string) {
	s := named(ts, args, "log NAME CHECK...")
	want(ts, !neg, "log without !: a check that cannot be evaluated must not pass")
	l := s.Log()
	for _, r := range l.Verify(args[1:]...) {
		if !r.OK {
			ts.Fatalf("%s: %s: %s\n%s", args[0], r.Check, r.Detail, l)
		}
	}
}

func await(ts *testscript.TestScript, neg bool, args []string) {
	s := named(ts, args, "await NAME CHECK...")
	if !within(func() bool {
		return !slices.ContainsFunc(s.Log().Verify(args[1:]...), func(r retrytest.Result) bool { return !r.OK })
	}) {
		checkLog(ts, neg, args)
	}
}

func appears(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) > 0, "appears FILE...")
	for _, name := range args {
		if !within(func() bool {
			found, err := filepath.Glob(ts.MkAbs(name))
			ts.Check(err)
			return slices.ContainsFunc(found, func(path string) bool {
				info, err := os.Stat(path)
				return err == nil && info.Size() > 0
			})
		}) {
			ts.Fatalf("%s does not appear", name)
		}
	}
}

// within reports whether something becomes true, within 30 seconds.
func within(holds func() bool) bool {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return true
		}
	}
	return false
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) >= 2, "exits CODE PROGRAM ARG...")
	code, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	default:
		ts.Check(err)
	}
	if stderr := ts.ReadFile("stderr"); strings.Contains(stderr, "\ngoroutine ") {
		ts.Fatalf("it panicked")
	}
	if got != code {
		ts.Fatalf("exit code %d, not %d", got, code)
	}
}

// background is the program in the background of that name, looked up while it
// still is there.
func background(ts *testscript.TestScript, name string) *exec.Cmd {
	b := of(ts)
	if b.programs[name] == nil {
		running := ts.BackgroundCmds()
		if len(running) != 1 {
			ts.Fatalf("one program in the background is needed, there are %d", len(running))
		}
		b.programs[name] = running[0]
	}
	return b.programs[name]
}

func exited(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "exited NAME CODE")
	state := background(ts, args[0]).ProcessState
	if state == nil {
		ts.Fatalf("it still runs: wait first")
		return
	}
	if code := strconv.Itoa(state.ExitCode()); code != args[1] {
		ts.Fatalf("exit code %s, not %s", code, args[1])
	}
}

func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "json FILE EXPR")
	query, err := gojq.Parse(args[1])
	ts.Check(err)
	docs := documents(ts, args[0])
	if list, ok := strings.CutPrefix(args[0], "["); ok { // several files as one array
		var all []any
		for name := range strings.SplitSeq(strings.TrimSuffix(list, "]"), ",") {
			all = append(all, documents(ts, name)...)
		}
		docs = []any{all}
	}
	for i, doc := range docs {
		v, ok := query.Run(doc).Next()
		if err, failed := v.(error); failed {
			ts.Fatalf("%s: %v", args[1], err)
		}
		if !ok || v != true {
			text, _ := json.Marshal(doc) // it was JSON
			ts.Fatalf("document %d: %s is %v\n%s", i+1, args[1], v, text)
		}
	}
}

// documents are the JSON values in a file; there must be one.
func documents(ts *testscript.TestScript, file string) []any {
	if strings.HasPrefix(file, "[") {
		return nil
	}
	var all []any
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(file)))
	for d.More() {
		var doc any
		ts.Check(d.Decode(&doc))
		all = append(all, doc)
	}
	if len(all) == 0 {
		ts.Fatalf("%s holds no JSON", file)
	}
	return all
}

func fits(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "fits NAME FILE")
	for _, doc := range documents(ts, args[1]) {
		data, err := json.Marshal(doc)
		ts.Check(err)
		ts.Check(rendertest.Fits(args[0], data))
	}
}

func checkSHA256(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 2, "sha256 FILE HEX")
	sum := sha256.Sum256([]byte(ts.ReadFile(args[0])))
	if got := hex.EncodeToString(sum[:]); (got == args[1]) == neg {
		ts.Fatalf("the SHA-256 of %s is %s", args[0], got)
	}
}

func pattern(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "pattern FILE BYTES")
	n, err := strconv.ParseInt(args[1], 10, 32)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), retrytest.Pattern(n), 0o600))
}

func sleep(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 1, "sleep DURATION")
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	time.Sleep(d)
}
