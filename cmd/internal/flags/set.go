package flags

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/bounded"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
)

const (
	tls10 = tls.VersionTLS10
	tls11 = tls.VersionTLS11
	tls12 = tls.VersionTLS12
	tls13 = tls.VersionTLS13
)

func setMethod(p *parser, v string) error {
	if !isToken(v) {
		return fmt.Errorf("%s is not a method name", quote(v))
	}
	p.g.Method = v
	return nil
}

func setDataASCII(p *parser, v string) error     { return p.data(DataASCII, v) }
func setDataRaw(p *parser, v string) error       { return p.data(DataRaw, v) }
func setDataBinary(p *parser, v string) error    { return p.data(DataBinary, v) }
func setDataURLEncode(p *parser, v string) error { return p.data(DataURLEnc, v) }
func setDataJSON(p *parser, v string) error      { return p.data(DataJSON, v) }

func (p *parser) data(kind DataKind, v string) error {
	p.g.Data = append(p.g.Data, DataArg{Kind: kind, Value: v})
	return nil
}

func setForm(p *parser, v string) error       { return p.form(v, false) }
func setFormString(p *parser, v string) error { return p.form(v, true) }

func (p *parser) form(v string, literal bool) error {
	p.g.Form = append(p.g.Form, FormArg{Value: v, Literal: literal})
	return nil
}

// setURLQuery: --data-urlencode's forms, and "+" before what is sent as it is.
func setURLQuery(p *parser, v string) error {
	d := DataArg{Kind: DataURLEnc, Value: v}
	if raw, ok := strings.CutPrefix(v, "+"); ok {
		d = DataArg{Kind: DataRaw, Value: raw}
	}
	p.g.URLQuery = append(p.g.URLQuery, d)
	return nil
}

func setHeader(p *parser, v string) error {
	return p.headerLines(v, &p.g.Headers)
}

func setProxyHeader(p *parser, v string) error {
	return p.headerLines(v, &p.g.ProxyHeaders)
}

// maxHeaders bounds a file of headers; no server takes a tenth of it.
const maxHeaders = 1 << 20

// headerLines adds one header, or the lines of an @file: the file is read here,
// because an idempotency key may stand in it (R7.1).
func (p *parser) headerLines(v string, to *[]string) error {
	name, isFile := strings.CutPrefix(v, "@")
	if !isFile {
		*to = append(*to, v)
		return nil
	}
	lines, err := p.lines(name, maxHeaders)
	for _, line := range lines {
		if strings.HasPrefix(line, "@") {
			return fmt.Errorf("%s: a header cannot start with @", quote(name))
		}
	}
	*to = append(*to, lines...)
	return err
}

// lines are those of a file of at most limit bytes that are not empty.
func (p *parser) lines(name string, limit int) ([]string, error) {
	r, err := p.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // read only
	var lines []string
	s := bufio.NewScanner(bounded.Reader(r, int64(limit)))
	s.Buffer(nil, limit+1)
	for s.Scan() {
		if line := strings.TrimRight(s.Text(), "\r"); line != "" {
			lines = append(lines, line)
		}
	}
	if err := s.Err(); err != nil {
		return nil, inputError{name, err}
	}
	return lines, nil
}

// open opens a file named by a flag, "-" being standard input. Failing is
// curl's exit 26.
func (p *parser) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(p.env.Stdin), nil
	}
	if p.env.Open == nil {
		return nil, inputError{name, fs.ErrPermission}
	}
	r, err := p.env.Open(name)
	if err != nil {
		return nil, inputError{name, err}
	}
	return r, nil
}

// inputError is a file that cannot be read; apply adds the flag's name.
type inputError struct {
	name string
	err  error
}

func (e inputError) Error() string {
	return "cannot read " + quote(e.name) + ": " + reason(e.err)
}

// reason is err without the path that the message has already named.
func reason(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return printable(err.Error())
		}
		err = inner
	}
}

func setURL(p *parser, v string) error {
	if v == "" {
		return &UsageError{Message: "URL using bad/illegal format or missing URL; the URL is empty", Code: exitcode.BadURL}
	}
	p.node(p.urls).URL = v
	p.urls++
	return p.checkETags("url")
}

// setURLFlag is --url: a URL, or the @file of URLs, one a line, each with -O (curl 8.13).
func setURLFlag(p *parser, v string) error {
	name, isFile := strings.CutPrefix(v, "@")
	if !isFile {
		return setURL(p, v)
	}
	lines, err := p.lines(name, bounded.Text)
	if err != nil {
		return err
	}
	for _, line := range lines {
		n := p.node(p.urls)
		n.RemoteName = n.RemoteName || !n.HasOutput
		n.NoGlob = true
		if err := setURL(p, line); err != nil {
			return err
		}
	}
	return nil
}

// node is the i-th URL with its output. Outputs may come before their URLs.
func (p *parser) node(i int) *URLArg {
	for len(p.g.URLs) <= i {
		p.g.URLs = append(p.g.URLs, URLArg{RemoteName: p.g.RemoteNameAll})
	}
	return &p.g.URLs[i]
}

func setOutput(p *parser, v string) error {
	if v == "" {
		return errors.New("the file name is empty")
	}
	n := p.node(p.outputs)
	n.Output, n.HasOutput, n.RemoteName = v, true, false
	p.outputs++
	return nil
}

func setRemoteName(p *parser, on bool) error {
	p.node(p.outputs).RemoteName = on
	p.outputs++
	return nil
}

// setUpload: an empty name sends nothing to its URL (curl).
func setUpload(p *parser, v string) error {
	n := p.node(p.uploads)
	n.Upload, n.HasUpload = v, v != ""
	p.uploads++
	return nil
}

// flushPositional turns the positional arguments seen so far into URLs, so
// that they keep their place among --url and --remote-name-all.
func (p *parser) flushPositional() error {
	if p.sub != nil {
		return nil
	}
	for ; p.positional < p.fs.NArg(); p.positional++ {
		if err := setURL(p, p.fs.Arg(p.positional)); err != nil {
			return err
		}
	}
	return nil
}

// finishURLs checks that there is something to do, and drops outputs without a URL.
func (p *parser) finishURLs() error {
	if p.urls == 0 {
		u := usagef("no URL specified")
		u.Lines = []string{"(2) no URL specified"}
		return u
	}
	if p.uploads > p.urls {
		return usagef("more files to upload (-T) than URLs")
	}
	if len(p.g.URLs) > p.urls {
		if slices.ContainsFunc(p.g.URLs[p.urls:], func(u URLArg) bool { return u.HasOutput || u.RemoteName }) {
			p.note("Got more output options than URLs")
		}
		p.g.URLs = p.g.URLs[:p.urls]
	}
	return nil
}

// setRange does as curl: a lone number means "from there on".
func setRange(p *parser, v string) error {
	if v != "" && strings.Trim(v, "0123456789") == "" {
		p.note("A specified range MUST include at least one dash (-). Appending one for you!")
		v += "-"
	}
	if v == "" || strings.Trim(v, "0123456789-, ") != "" {
		return fmt.Errorf("%s is not a range: 0-499, 500-, -500, 0-9,20-29", quote(v))
	}
	p.g.Range = v
	return nil
}

func setUserAgent(p *parser, v string) error { p.g.UserAgent = &v; return nil }
func setNoProxy(p *parser, v string) error   { p.g.NoProxy = &v; return nil }

func setMaxRedirs(p *parser, v string) error {
	if v == "-1" {
		p.g.MaxRedirects = -1
		return nil
	}
	n, err := parseCount(v)
	if err != nil {
		return fmt.Errorf("%w; 0 or more, or -1 for no limit", err)
	}
	p.g.MaxRedirects = n
	return nil
}

func setRequestTarget(p *parser, v string) error {
	if v == "" || strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return fmt.Errorf("%s cannot stand in a request line", quote(v))
	}
	p.g.RequestTarget = v
	return nil
}

func setProtoDefault(p *parser, v string) error {
	v = strings.ToLower(v)
	p.g.ProtoDefault = v
	if err := oneOf(v, "http", "https"); err != nil {
		return fmt.Errorf("%s; %w", unsupported, err)
	}
	return nil
}

func durExpect100(p *parser) *time.Duration { return &p.g.Expect100Timeout }

func setFail(p *parser, mode string, on bool) error {
	switch {
	case on && p.g.AsCurl && p.g.Fail != "" && p.g.Fail != mode:
		name := "fail"
		if mode == FailWithBody {
			name = "fail-with-body"
		}
		return p.misuse(name, "You must select either --fail or --fail-with-body, not both.")
	case on:
		p.g.Fail = mode
	case p.g.Fail == mode:
		p.g.Fail = ""
	}
	return nil
}

func setMaxFileSize(p *parser, v string) (err error) {
	p.g.MaxFileSize, err = parseSize(v)
	return err
}

// setVerbose, setTrace and setTraceASCII: the last one wins, as in curl.
func setVerbose(p *parser, on bool) error {
	g := &p.o.Global
	if g.Trace+g.TraceASCII != "" && on {
		p.note("-v, --verbose overrides an earlier trace option")
	}
	g.Verbose, g.Trace, g.TraceASCII = on, "", ""
	return nil
}

func setTrace(p *parser, v string) error {
	p.overrideTrace("--trace", v == p.o.Global.Trace)
	p.o.Global.Trace, p.o.Global.TraceASCII = v, ""
	return nil
}

func setTraceASCII(p *parser, v string) error {
	p.overrideTrace("--trace-ascii", v == p.o.Global.TraceASCII)
	p.o.Global.Trace, p.o.Global.TraceASCII = "", v
	return nil
}

func (p *parser) overrideTrace(flag string, same bool) {
	if g := &p.o.Global; !same && (g.Verbose || g.Trace+g.TraceASCII != "") {
		p.note("%s overrides an earlier trace/verbose option", flag)
	}
}

// setTraceConfig: of curl's components, the time alone is one here.
func setTraceConfig(p *parser, v string) error {
	for _, name := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' }) {
		on := true
		if name[0] == '+' || name[0] == '-' {
			on, name = name[0] == '+', name[1:]
		}
		if name := strings.ToLower(name); name == "all" || name == "time" {
			p.o.Global.TraceTime = on
		}
	}
	return nil
}

func setTimeline(p *parser, v string) error {
	p.o.Global.Timeline = v
	return oneOf(v, "human", "json", "jsonl", "none")
}

func setColor(p *parser, v string) error {
	p.o.Global.Color = v
	return oneOf(v, "auto", "always", "never")
}

func setTimelineHeaders(p *parser, v string) error {
	for name := range strings.SplitSeq(v, ",") {
		name = strings.TrimSpace(name)
		if !isToken(name) {
			return fmt.Errorf("%s is not a header name", quote(name))
		}
		p.o.Global.TimelineHeaders = append(p.o.Global.TimelineHeaders, name)
	}
	return nil
}

func setUser(p *parser, v string) error {
	p.g.User, p.g.HasUser = v, true
	return nil
}

// setCookie tells text from file names as curl does: text has a "=".
func setCookie(p *parser, v string) error {
	file, isFile := strings.CutPrefix(v, "@")
	if !isFile && strings.Contains(v, "=") {
		p.g.Cookies = append(p.g.Cookies, v)
		return nil
	}
	p.o.Global.CookieFiles = append(p.o.Global.CookieFiles, file)
	p.g.CookieEngine = true
	return nil
}

func setCookieJar(p *parser, v string) error {
	p.o.Global.CookieJar, p.g.CookieEngine = v, true
	return nil
}

func setProxy(p *parser, v string) error {
	p.g.Proxy, p.g.HasProxy, p.g.Proxy10 = v, true, false
	return nil
}

// setCert splits FILE[:PASSWORD]: "\:" is a colon, "\\" a backslash, and a
// drive letter's colon belongs to the file.
func setCert(p *parser, v string) error {
	var file strings.Builder
	for i := 0; i < len(v); i++ {
		switch {
		case v[i] == '\\' && i+1 < len(v) && (v[i+1] == ':' || v[i+1] == '\\'):
			i++
		case v[i] == ':' && !isDrive(v, i):
			p.g.Cert, p.g.Pass = file.String(), v[i+1:]
			return nil
		}
		file.WriteByte(v[i])
	}
	p.g.Cert = file.String()
	return nil
}

func isDrive(v string, colon int) bool {
	letter := v[0] | 0x20
	return colon == 1 && letter >= 'a' && letter <= 'z' && len(v) > 2 && (v[2] == '\\' || v[2] == '/')
}

func setTLSMax(p *parser, v string) error {
	versions := [...]struct {
		word    string
		version uint16
	}{{"default", 0}, {"1.0", tls10}, {"1.1", tls11}, {"1.2", tls12}, {"1.3", tls13}}
	for _, c := range versions {
		if v == c.word {
			p.g.TLSMax = c.version
			return nil
		}
	}
	return fmt.Errorf("%s is not one of default, 1.0, 1.1, 1.2, 1.3", quote(v))
}

func setUnixSocket(p *parser, v string) error {
	p.g.UnixSocket, p.g.AbstractSocket = v, ""
	return nil
}

func setAbstractSocket(p *parser, v string) error {
	p.g.UnixSocket, p.g.AbstractSocket = "", v
	return nil
}

func setSeed(p *parser, v string) error {
	if v == "" || len(v) > 1 && v[0] == '0' || strings.Trim(v, "0123456789") != "" {
		return fmt.Errorf("%s is not a whole number", quote(v))
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		return fmt.Errorf("%s is too large", quote(v))
	}
	p.o.Global.Seed = &n
	return nil
}

// setUntil refuses what an unset variable of a script leaves: it would be true of
// every answer.
func setUntil(p *parser, v string) error {
	if v == "" {
		return errors.New("it is empty")
	}
	p.g.Until = v
	return nil
}

// setIdempotencyKey keeps the key byte for byte (R7.1); what could not arrive
// that way is refused.
func setIdempotencyKey(p *parser, v string) error {
	bad := func(r rune) bool { return r < ' ' || r == 0x7f }
	switch {
	case v == "":
		return errors.New("the key is empty")
	case strings.ContainsFunc(v, bad):
		return errors.New("the key holds a control character")
	case strings.TrimSpace(v) != v:
		return errors.New("the key starts or ends with a space, which would not arrive")
	}
	p.g.IdempotencyKey = v
	return nil
}
