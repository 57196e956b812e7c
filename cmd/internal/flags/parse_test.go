package flags

import (
	"crypto/tls"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry"
	"github.com/google/go-cmp/cmp"
)

// world is an Env of maps.
func world(vars, files map[string]string) Env {
	return Env{
		Getenv: func(name string) string { return vars[name] },
		Open: func(name string) (io.ReadCloser, error) {
			text, ok := files[name]
			if !ok {
				return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
			}
			return io.NopCloser(strings.NewReader(text)), nil
		},
		Stdin: strings.NewReader(files["-"]),
	}
}

func mustParse(t *testing.T, env Env, args ...string) *Options {
	t.Helper()
	o, err := Parse(args, env)
	if err != nil {
		t.Fatalf("Parse(%q): %v", args, err)
	}
	return o
}

// usage is the error of a command line that must be refused.
func usage(t *testing.T, env Env, args ...string) *UsageError {
	t.Helper()
	o, err := Parse(args, env)
	if err == nil {
		t.Fatalf("Parse(%q) accepted: %+v", args, o.Groups[0])
	}
	var u *UsageError
	if !errors.As(err, &u) {
		t.Fatalf("Parse(%q): %T, not a *UsageError", args, err)
	}
	if u.Message == "" || strings.ContainsAny(u.Message, "\n\r\x1b\x00") {
		t.Errorf("Parse(%q): message %q is not one clear line", args, u.Message)
	}
	return u
}

// base is what "bide u" means.
func base() *Options {
	return &Options{
		Groups: []Group{{
			URLs: []URLArg{{URL: "u"}}, MaxRedirects: 50, ConnectTimeout: 30 * time.Second,
			KeepaliveTime: 60 * time.Second, Expect100Timeout: time.Second,
			IdempotencyHeader: "Idempotency-Key", Policy: retry.DefaultPolicy(),
		}},
		Global: Global{Color: "auto"},
	}
}

type row struct {
	args string // split at blanks; "u" is the URL; ‹space› is written ~
	want func(g *Group, o *Global)
}

// rows have every flag at least once: TestEveryFlag holds them to the table.
func rows() []row {
	text := func(s string) *string { return &s }
	seed := uint64(7)
	return []row{
		{"u", func(*Group, *Global) {}},
		{"-X PUT u", func(g *Group, _ *Global) { g.Method = "PUT" }},
		{"--request=patch u", func(g *Group, _ *Global) { g.Method = "patch" }},
		{"-H A:~1 --header B; -HC: u", func(g *Group, _ *Global) { g.Headers = []string{"A: 1", "B;", "C:"} }},
		{"-d a --data-ascii b --data-raw @c --data-binary @d --data-urlencode e=f --json {} u", func(g *Group, _ *Global) {
			g.Data = []DataArg{{DataASCII, "a"}, {DataASCII, "b"}, {DataRaw, "@c"}, {DataBinary, "@d"}, {DataURLEnc, "e=f"}, {DataJSON, "{}"}}
		}},
		{"--data=x u", func(g *Group, _ *Global) { g.Data = []DataArg{{DataASCII, "x"}} }},
		{"-G u", func(g *Group, _ *Global) { g.Get = true }},
		{"--get --no-get u", func(*Group, *Global) {}},
		{"-I u", func(g *Group, _ *Global) { g.Head = true }},
		{"--head u", func(g *Group, _ *Global) { g.Head = true }},
		{"-T f u", func(g *Group, _ *Global) { g.URLs[0].Upload, g.URLs[0].HasUpload = "f", true }},
		{"-F a=b --form c=@d --form-string e=@f --form-escape u", func(g *Group, _ *Global) {
			g.Form = []FormArg{{"a=b", false}, {"c=@d", false}, {"e=@f", true}}
			g.FormEscape = true
		}},
		{"--url-query a=b --url-query +c u", func(g *Group, _ *Global) { g.URLQuery = []DataArg{{DataURLEnc, "a=b"}, {DataRaw, "c"}} }},
		{"-O -J -R u", func(g *Group, _ *Global) { g.URLs[0].RemoteName, g.RemoteHeaderName, g.RemoteTime = true, true, true }},
		{"-C - -o f u", func(g *Group, _ *Global) {
			g.ContinueFile = true
			g.URLs[0].Output, g.URLs[0].HasOutput = "f", true
		}},
		{"--continue-at 500 u", func(g *Group, _ *Global) { g.ContinueAt = 500 }},
		{"--remove-on-error --skip-existing u", func(g *Group, _ *Global) { g.RemoveOnError, g.SkipExisting = true, true }},
		{"--no-clobber u", func(g *Group, _ *Global) { g.Clobber = ClobberNever }},
		{"--no-clobber --clobber u", func(g *Group, _ *Global) { g.Clobber = ClobberAlways }},
		{"--etag-save a --etag-compare b u", func(g *Group, _ *Global) { g.EtagSave, g.EtagCompare = "a", "b" }},
		{"-z -file --tr-encoding --suppress-connect-headers u", func(g *Group, _ *Global) {
			g.TimeCond, g.TREncoding, g.SuppressConnectHeaders = "-file", true, true
		}},
		{"--limit-rate 10K -Y 100 u", func(g *Group, _ *Global) { g.LimitRate, g.SpeedLimit, g.SpeedTime = 10<<10, 100, 30*time.Second }},
		{"-y 5 u", func(g *Group, _ *Global) { g.SpeedLimit, g.SpeedTime = 1, 5*time.Second }},
		{"-y 5 -Y 100 u", func(g *Group, _ *Global) { g.SpeedLimit, g.SpeedTime = 100, 5*time.Second }},
		{"--proto =https --proto-redir -http,ftp u", func(g *Group, _ *Global) {
			g.Protocols, g.ProtocolsRedir = []string{"https"}, []string{"https"}
		}},
		{"--proto -all,+HTTP u", func(g *Group, _ *Global) { g.Protocols = []string{"http"} }},
		{"--proto =ftp u", func(g *Group, _ *Global) { g.Protocols = []string{} }},
		{"--proto all u", func(g *Group, _ *Global) { g.Protocols = []string{"http", "https"} }},
		{"--upload-file - u", func(g *Group, _ *Global) { g.URLs[0].Upload, g.URLs[0].HasUpload = "-", true }},
		{"--url u", func(*Group, *Global) {}},
		{"-r 0-9 u", func(g *Group, _ *Global) { g.Range = "0-9" }},
		{"--range 5 u", func(g *Group, o *Global) {
			g.Range = "5-"
			o.Notes = []string{"A specified range MUST include at least one dash (-). Appending one for you!"}
		}},
		{"-A me u", func(g *Group, _ *Global) { g.UserAgent = text("me") }},
		{"--user-agent= u", func(g *Group, _ *Global) { g.UserAgent = text("") }},
		{"-e r;auto u", func(g *Group, _ *Global) { g.Referer = "r;auto" }},
		{"--referer r u", func(g *Group, _ *Global) { g.Referer = "r" }},
		{"--compressed u", func(g *Group, _ *Global) { g.Compressed = true }},
		{"-L u", func(g *Group, _ *Global) { g.Follow = true }},
		{"--location u", func(g *Group, _ *Global) { g.Follow = true }},
		{"--location-trusted u", func(g *Group, _ *Global) { g.Follow, g.LocationTrusted = true, true }},
		{"--max-redirs 0 u", func(g *Group, _ *Global) { g.MaxRedirects = 0 }},
		{"--max-redirs -1 u", func(g *Group, _ *Global) { g.MaxRedirects = -1 }},
		{"--post301 --post302 --post303 u", func(g *Group, _ *Global) { g.Post301, g.Post302, g.Post303 = true, true, true }},
		{"--request-target * u", func(g *Group, _ *Global) { g.RequestTarget = "*" }},
		{"--disallow-username-in-url u", func(g *Group, _ *Global) { g.NoUserinfo = true }},
		{"--path-as-is u", func(g *Group, _ *Global) { g.PathAsIs = true }},
		{"--proto-default HTTPS u", func(g *Group, _ *Global) { g.ProtoDefault = "https" }},
		{"--expect100-timeout 2.5 u", func(g *Group, _ *Global) { g.Expect100Timeout = 2500 * time.Millisecond }},
		{"--no-spool u", func(g *Group, _ *Global) { g.NoSpool = true }},
		{"--no-spool --spool u", func(*Group, *Global) {}},

		{"-o f u", func(g *Group, _ *Global) { g.URLs[0].Output, g.URLs[0].HasOutput = "f", true }},
		{"u --output f", func(g *Group, _ *Global) { g.URLs[0].Output, g.URLs[0].HasOutput = "f", true }},
		{"-O u", func(g *Group, _ *Global) { g.URLs[0].RemoteName = true }},
		{"--remote-name u", func(g *Group, _ *Global) { g.URLs[0].RemoteName = true }},
		{"--remote-name-all u", func(g *Group, _ *Global) { g.RemoteNameAll, g.URLs[0].RemoteName = true, true }},
		{"--output-dir d --create-dirs u", func(g *Group, _ *Global) { g.OutputDir, g.CreateDirs = "d", true }},
		{"-D h u", func(g *Group, _ *Global) { g.DumpHeader = "h" }},
		{"--dump-header - u", func(g *Group, _ *Global) { g.DumpHeader = "-" }},
		{"-i u", func(g *Group, _ *Global) { g.Include = true }},
		{"--include u", func(g *Group, _ *Global) { g.Include = true }},
		{"-w %{http_code}\\n u", func(g *Group, _ *Global) { g.WriteOut = `%{http_code}\n` }},
		{"--write-out @f u", func(g *Group, _ *Global) { g.WriteOut = "@f" }},
		{"-f u", func(g *Group, _ *Global) { g.Fail = "fail" }},
		{"--fail u", func(g *Group, _ *Global) { g.Fail = "fail" }},
		{"--fail-with-body u", func(g *Group, _ *Global) { g.Fail = "with-body" }},
		{"-f --fail-with-body u", func(g *Group, _ *Global) { g.Fail = "with-body" }},
		{"--fail-with-body -f u", func(g *Group, _ *Global) { g.Fail = "fail" }},
		{"--fail-with-body --no-fail-with-body u", func(*Group, *Global) {}},
		{"--no-fail u", func(g *Group, _ *Global) { g.Fail = "none" }},
		{"--as-curl u", func(g *Group, _ *Global) { g.AsCurl, g.Fail, g.Policy.Attempts = true, "none", 1 }},
		{"--as-curl -f --retry 2 u", func(g *Group, _ *Global) { g.AsCurl, g.Fail = true, "fail" }},
		{"-N u", func(g *Group, _ *Global) { g.NoBuffer = true }},
		{"--no-buffer --buffer u", func(*Group, *Global) {}},
		{"--max-filesize 10M u", func(g *Group, _ *Global) { g.MaxFileSize = 10 << 20 }},
		{"-s -S -v u", func(_ *Group, o *Global) { o.Silent, o.ShowError, o.Verbose = true, true, true }},
		{"--silent --show-error --verbose u", func(_ *Group, o *Global) { o.Silent, o.ShowError, o.Verbose = true, true, true }},
		{"-s --no-silent u", func(*Group, *Global) {}},
		{"-# u", func(_ *Group, o *Global) { o.ProgressBar = true }},
		{"--progress-bar u", func(_ *Group, o *Global) { o.ProgressBar = true }},
		{"--no-progress-meter u", func(_ *Group, o *Global) { o.NoProgressMeter = true }},
		{"--no-progress-meter --progress-meter u", func(*Group, *Global) {}},
		{"--stderr f u", func(_ *Group, o *Global) { o.Stderr = "f" }},
		{"--trace f --trace-ascii g u", func(_ *Group, o *Global) {
			o.TraceASCII, o.Notes = "g", []string{"--trace-ascii overrides an earlier trace/verbose option"}
		}},
		{"--trace f -v u", func(_ *Group, o *Global) {
			o.Verbose, o.Notes = true, []string{"-v, --verbose overrides an earlier trace option"}
		}},
		{"--trace-config ids,time u", func(_ *Group, o *Global) { o.TraceTime = true }},
		{"--trace-config all,-time u", func(*Group, *Global) {}},
		{"--show-headers u", func(g *Group, _ *Global) { g.Include = true }},
		{"--trace f u", func(_ *Group, o *Global) { o.Trace = "f" }},
		{"--trace-ascii g --trace-time u", func(_ *Group, o *Global) { o.TraceASCII, o.TraceTime = "g", true }},

		{"--timeline human u", func(_ *Group, o *Global) { o.Timeline = "human" }},
		{"--timeline-file f --timeline jsonl u", func(_ *Group, o *Global) { o.TimelineFile, o.Timeline = "f", "jsonl" }},
		{"--timeline-headers A,~B --timeline-headers C u", func(_ *Group, o *Global) { o.TimelineHeaders = []string{"A", "B", "C"} }},
		{"--label users/{id} u", func(g *Group, _ *Global) { g.Label = "users/{id}" }},
		{"--no-redact --redact-path u", func(_ *Group, o *Global) { o.NoRedact, o.RedactPath = true, true }},
		{"--no-redact --redact u", func(*Group, *Global) {}},
		{"--color never u", func(_ *Group, o *Global) { o.Color = "never" }},

		{"--attempts 5 u", func(g *Group, _ *Global) { g.Policy.Attempts = 5 }},
		{"--attempts unlimited --deadline 1m u", func(g *Group, _ *Global) { g.Policy.Attempts, g.Policy.Deadline = retry.Unlimited, time.Minute }},
		{"--base 0.5 --cap 10s u", func(g *Group, _ *Global) { g.Policy.Base, g.Policy.Cap = 500*time.Millisecond, 10*time.Second }},
		{"--jitter 0 --jitter-mode full u", func(g *Group, _ *Global) { g.Policy.Jitter, g.Policy.JitterMode = 0, retry.Full }},
		{"--backoff fixed u", func(g *Group, _ *Global) { g.Policy.Backoff = retry.Fixed }},
		{"--retry-after-mode replace u", func(g *Group, _ *Global) { g.Policy.RetryAfterMode = retry.Replace }},
		{"--attempt-reserve 2 u", func(g *Group, _ *Global) { g.Policy.AttemptReserve = 2 * time.Second }},
		{"-m 1m30s --attempts 3 u", func(g *Group, _ *Global) { g.Policy.MaxTime = 90 * time.Second }},
		{"--max-time 5 u", func(g *Group, _ *Global) { g.Policy.MaxTime, g.Policy.Deadline = 5*time.Second, 5*time.Second }},
		{"--connect-timeout 0 u", func(g *Group, _ *Global) { g.ConnectTimeout = 0 }},
		{"--retry-on -500 u", func(g *Group, _ *Global) { g.Policy.RetryOn.RemoveStatus(500) }},
		{"--idempotent u", func(g *Group, _ *Global) { g.Policy.Idempotent = true }},
		{"--idempotent --no-idempotent u", func(*Group, *Global) {}},
		{"--safe-on 429 u", func(g *Group, _ *Global) { g.Policy.SafeOn.AddStatus(429) }},
		{"--idempotency-key k --idempotency-header X-Key u", func(g *Group, _ *Global) { g.IdempotencyKey, g.IdempotencyHeader = "k", "X-Key" }},
		{"--rate-limit-headers u", func(g *Group, _ *Global) { g.RateLimitHeaders = true }},
		{"--max-resumes 0 u", func(g *Group, _ *Global) { g.Policy.MaxResumes = 0 }},
		{"--seed 7 u", func(_ *Group, o *Global) { o.Seed = &seed }},
		{"--retry=4 u", func(g *Group, _ *Global) { g.Policy.Attempts = 5 }},
		{"--retry 0 u", func(g *Group, _ *Global) { g.Policy.Attempts = 1 }},
		{"--retry-delay 2 u", func(g *Group, _ *Global) { g.Policy.Base, g.Policy.Backoff = 2*time.Second, retry.Fixed }},
		{"--retry-delay 0 u", func(*Group, *Global) {}},
		{"--retry-delay 500 u", func(g *Group, _ *Global) {
			g.Policy.Base, g.Policy.Backoff, g.Policy.Cap = 500*time.Second, retry.Fixed, 600*time.Second
		}},
		{"--retry-max-time 9 u", func(g *Group, _ *Global) { g.Policy.RetryMaxTime = 9 * time.Second }},
		{"--retry-all-errors --retry-connrefused u", func(g *Group, _ *Global) { g.Policy.AllErrors = true }},

		{"-u a:b u", func(g *Group, _ *Global) { g.User, g.HasUser = "a:b", true }},
		{"--user a u", func(g *Group, _ *Global) { g.User, g.HasUser = "a", true }},
		{"--oauth2-bearer t u", func(g *Group, _ *Global) { g.Bearer = "t" }},
		{"-n --netrc-optional --netrc-file f u", func(g *Group, _ *Global) { g.Netrc, g.NetrcOptional, g.NetrcFile = true, true, "f" }},
		{"--netrc u", func(g *Group, _ *Global) { g.Netrc = true }},
		{"-b a=1 -b f --cookie @g=h u", func(g *Group, o *Global) {
			g.Cookies, g.CookieEngine, o.CookieFiles = []string{"a=1"}, true, []string{"f", "g=h"}
		}},
		{"-c jar -j u", func(g *Group, o *Global) { g.CookieEngine, o.CookieJar, o.JunkSessionCookies = true, "jar", true }},
		{"--cookie-jar jar --junk-session-cookies u", func(g *Group, o *Global) { g.CookieEngine, o.CookieJar, o.JunkSessionCookies = true, "jar", true }},
		{"-k --cacert f --capath d u", func(g *Group, _ *Global) { g.Insecure, g.CACert, g.CAPath = true, "f", "d" }},
		{"--insecure u", func(g *Group, _ *Global) { g.Insecure = true }},
		{"-E c:p:q --key k u", func(g *Group, _ *Global) { g.Cert, g.Pass, g.Key = "c", "p:q", "k" }},
		{`--cert a\:b\\c --pass p u`, func(g *Group, _ *Global) { g.Cert, g.Pass = `a:b\c`, "p" }},
		{`--cert C:\x.pem:p u`, func(g *Group, _ *Global) { g.Cert, g.Pass = `C:\x.pem`, "p" }},
		{"-1 u", func(g *Group, _ *Global) { g.TLSMin = tls.VersionTLS10 }},
		{"--tlsv1 u", func(g *Group, _ *Global) { g.TLSMin = tls.VersionTLS10 }},
		{"--tlsv1.0 u", func(g *Group, _ *Global) { g.TLSMin = tls.VersionTLS10 }},
		{"--tlsv1.1 u", func(g *Group, _ *Global) { g.TLSMin = tls.VersionTLS11 }},
		{"--tlsv1.2 --tls-max 1.3 u", func(g *Group, _ *Global) { g.TLSMin, g.TLSMax = tls.VersionTLS12, tls.VersionTLS13 }},
		{"--tlsv1.3 u", func(g *Group, _ *Global) { g.TLSMin = tls.VersionTLS13 }},
		{"--ciphers A:B u", func(g *Group, _ *Global) { g.Ciphers = "A:B" }},
		{"-x p:1 -U a:b -p u", func(g *Group, _ *Global) { g.Proxy, g.HasProxy, g.ProxyUser, g.ProxyTunnel = "p:1", true, "a:b", true }},
		{"--proxy= --proxy-user a --proxytunnel u", func(g *Group, _ *Global) { g.HasProxy, g.ProxyUser, g.ProxyTunnel = true, "a", true }},
		{"--proxy-header A:b --noproxy * u", func(g *Group, _ *Global) { g.ProxyHeaders, g.NoProxy = []string{"A:b"}, text("*") }},
		{"--proxy-insecure --proxy-cacert a --proxy-cert b --proxy-key c u", func(g *Group, _ *Global) {
			g.ProxyInsecure, g.ProxyCACert, g.ProxyCert, g.ProxyKey = true, "a", "b", "c"
		}},

		{"-4 u", func(g *Group, _ *Global) { g.IPVersion = 4 }},
		{"-4 -6 u", func(g *Group, _ *Global) { g.IPVersion = 6 }},
		{"--ipv6 --ipv4 u", func(g *Group, _ *Global) { g.IPVersion = 4 }},
		{"-0 u", func(g *Group, _ *Global) { g.HTTP = "1.0" }},
		{"--http1.0 u", func(g *Group, _ *Global) { g.HTTP = "1.0" }},
		{"--http1.1 u", func(g *Group, _ *Global) { g.HTTP = "1.1" }},
		{"--http1.1 --http2 u", func(g *Group, _ *Global) { g.HTTP = "2" }},
		{"--http2-prior-knowledge u", func(g *Group, _ *Global) { g.HTTP = "2-prior-knowledge" }},
		{"--resolve h:80:127.0.0.1,[::1] --resolve -h:80 --resolve +[::2]:1:::1 u", func(g *Group, _ *Global) {
			g.Resolve = []string{"h:80:127.0.0.1,[::1]", "-h:80", "+[::2]:1:::1"}
		}},
		{"--connect-to a:1:b:2 --connect-to ::[::1]:9 u", func(g *Group, _ *Global) { g.ConnectTo = []string{"a:1:b:2", "::[::1]:9"} }},
		{"--unix-socket s u", func(g *Group, _ *Global) { g.UnixSocket = "s" }},
		{"--unix-socket s --abstract-unix-socket a u", func(g *Group, _ *Global) { g.AbstractSocket = "a" }},
		{"--dns-servers 1.1.1.1,[::1]:5353 u", func(g *Group, _ *Global) { g.DNSServers = []string{"1.1.1.1:53", "[::1]:5353"} }},
		{"--keepalive-time 9 u", func(g *Group, _ *Global) { g.KeepaliveTime = 9 * time.Second }},
		{"--no-keepalive u", func(g *Group, _ *Global) { g.NoKeepalive = true }},
		{"--no-keepalive --keepalive u", func(*Group, *Global) {}},
		{"--no-tcp-nodelay u", func(g *Group, _ *Global) { g.NoTCPNoDelay = true }},
		{"--no-tcp-nodelay --tcp-nodelay u", func(*Group, *Global) {}},
		{"--raw --ignore-content-length u", func(g *Group, _ *Global) { g.Raw, g.IgnoreContentLength = true, true }},
		{"-K conf u", func(g *Group, _ *Global) { g.Follow = true }},
		{"--config - u", func(g *Group, _ *Global) { g.Method = "PUT" }},
		{"-q u", func(*Group, *Global) {}},
		{"--disable u", func(*Group, *Global) {}},
		{"--fail-early u", func(_ *Group, o *Global) { o.FailEarly = true }},
		{"-g u", func(g *Group, _ *Global) { g.GlobOff = true }},
		{"-Z u", func(_ *Group, o *Global) { o.Parallel = true }},
		{"-Z --no-parallel --parallel-immediate u", func(_ *Group, o *Global) { o.ParallelImmediate = true }},
		{"--parallel-max 7 u", func(_ *Group, o *Global) { o.ParallelMax = 7 }},
		{"--parallel-max 0 u", func(_ *Group, o *Global) { o.ParallelMax = 50 }},
		{"--rate 4/s u", func(_ *Group, o *Global) { o.StartEvery = 250 * time.Millisecond }},
		{"--rate 3/15s u", func(_ *Group, o *Global) { o.StartEvery = 5 * time.Second }},
		{"--rate 2 u", func(_ *Group, o *Global) { o.StartEvery = 30 * time.Minute }},
		{"--rate 2/d u", func(_ *Group, o *Global) { o.StartEvery = 12 * time.Hour }},
		{"--rate 6/m u", func(_ *Group, o *Global) { o.StartEvery = 10 * time.Second }},
		{"--variable m=PUT --expand-request {{m}} u", func(g *Group, _ *Global) { g.Method = "PUT" }},
		{"--variable m=x --expand-label=\\{{-{{m}} u", func(g *Group, _ *Global) { g.Label = "{{-x" }},
	}
}

func TestParse(t *testing.T) {
	for _, r := range rows() {
		t.Run(r.args, func(t *testing.T) {
			args := strings.Fields(r.args)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "~", " ")
			}
			got := mustParse(t, world(nil, map[string]string{"conf": "location\n", "-": "request = PUT\n"}), args...)
			got.Secrets = nil // TestSecrets
			want := base()
			r.want(&want.Groups[0], &want.Global)
			if d := cmp.Diff(want, got, cmp.AllowUnexported(retry.Set{})); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// TestEveryFlag: each row of the table is in a row of TestParse, by its long name or letter.
func TestEveryFlag(t *testing.T) {
	seen := map[string]bool{"--help": true, "--version": true, "--next": true} // TestStop, TestNext
	for _, r := range rows() {
		for _, a := range strings.Fields(r.args) {
			a, _, _ = strings.Cut(a, "=")
			seen[a] = true
			if len(a) > 2 && a[1] != '-' {
				seen[a[:2]] = true
			}
		}
	}
	for _, f := range Table() {
		if !seen["--"+f.Name] && !seen["-"+f.Short] {
			t.Errorf("--%s has no row in TestParse", f.Name)
		}
	}
}

func TestStop(t *testing.T) {
	for _, c := range []struct {
		args     []string
		category string
		help     bool
	}{
		{[]string{"-h"}, "", true},
		{[]string{"--help", "retry"}, "retry", true},
		{[]string{"--help=retry"}, "retry", true},
		{[]string{"-sh", "all"}, "all", true},
		{[]string{"-h", "--attempts"}, "--attempts", true},
		{[]string{"--attempts", "nonsense", "-h"}, "", true},
		{[]string{"-h", "http://127.0.0.1/"}, "", true},
		{[]string{"-V", "--ntlm"}, "", false},
		{[]string{"-sV"}, "", false},
		{[]string{"--version"}, "", false},
	} {
		o := mustParse(t, Env{}, c.args...)
		if o.Global.Help != c.help || o.Global.Version == c.help || o.Global.HelpCategory != c.category {
			t.Errorf("%q: %+v", c.args, o.Global)
		}
	}
}

func TestOrder(t *testing.T) {
	urls := func(args ...string) []URLArg { return mustParse(t, Env{}, args...).Groups[0].URLs }
	a, b := URLArg{URL: "a"}, URLArg{URL: "b"}
	withOutput := func(u URLArg, name string) URLArg { u.Output, u.HasOutput = name, true; return u }
	remote := func(u URLArg) URLArg { u.RemoteName = true; return u }
	for _, c := range []struct {
		args string
		want []URLArg
	}{
		{"a -o 1 b -o 2", []URLArg{withOutput(a, "1"), withOutput(b, "2")}},
		{"-o 1 -o 2 a b", []URLArg{withOutput(a, "1"), withOutput(b, "2")}},
		{"a b -o 1", []URLArg{withOutput(a, "1"), b}},
		{"-O -o 2 a b", []URLArg{remote(a), withOutput(b, "2")}},
		{"--url a b", []URLArg{a, b}},
		{"a --url b", []URLArg{a, b}},
		{"a --remote-name-all b", []URLArg{a, remote(b)}},
		{"--remote-name-all --no-remote-name a b", []URLArg{a, remote(b)}},
		{"--remote-name-all -o 1 a b", []URLArg{withOutput(a, "1"), remote(b)}},
		{"-- a b", []URLArg{a, b}},
		{"-o 1 -- a b", []URLArg{withOutput(a, "1"), b}},
	} {
		if d := cmp.Diff(c.want, urls(strings.Fields(c.args)...)); d != "" {
			t.Errorf("%s: -want +got:\n%s", c.args, d)
		}
	}
	o := mustParse(t, Env{}, "-o", "1", "-o", "2", "a")
	if len(o.Groups[0].URLs) != 1 || len(o.Global.Notes) != 1 {
		t.Errorf("more outputs than URLs: %+v, %q", o.Groups[0].URLs, o.Global.Notes)
	}
	o = mustParse(t, Env{}, "-T", "x", "a", "-T", "y", "b")
	if got := o.Groups[0].URLs; got[0].Upload != "x" || got[1].Upload != "y" {
		t.Errorf("uploads pair in order: %+v", got)
	}
	o = mustParse(t, Env{}, "-T", "", "-T", "y", "a", "b")
	if got := o.Groups[0].URLs; got[0].HasUpload || got[1].Upload != "y" {
		t.Errorf("an empty -T sends nothing to its URL: %+v", got)
	}
}
