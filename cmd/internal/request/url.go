package request

import (
	"strconv"
	"strings"
	"sync/atomic"
)

// ParseURL reads a URL as curl does: a bare host is given defaultScheme ("" is
// http), one to three slashes may follow the scheme, the text is kept as
// written. Dot segments are removed unless pathAsIs. Spaces and control
// characters are refused; bytes above 0x7f in the path become %XX. Errors are
// *Error of class request: exit 1 for a scheme that is not http or https, else 3.
func ParseURL(raw, defaultScheme string, pathAsIs bool) (*URL, error) {
	p := Parser{DefaultScheme: defaultScheme, PathAsIs: pathAsIs}
	return p.Parse(raw)
}

// Parser reads URLs as ParseURL does. Those at one server that follow each other
// share their Authority. Safe for concurrent use.
type Parser struct {
	DefaultScheme string
	PathAsIs      bool

	last atomic.Pointer[front]
}

// front is a URL's text up to its path, and what it says.
type front struct {
	text      string
	authority *Authority
}

// Parse reads one.
func (p *Parser) Parse(raw string) (*URL, error) {
	q := urlParser{defaultScheme: p.DefaultScheme, pathAsIs: p.PathAsIs, guess: true}
	if err := q.scan(raw); err != nil {
		return nil, err
	}
	f := p.last.Load()
	if f == nil || !f.begins(raw) {
		a, tail, err := q.authority(raw)
		if err != nil {
			return nil, err
		}
		f = &front{raw[:len(raw)-len(tail)], a}
		p.last.Store(f)
	}
	return q.url(f.authority, raw[len(f.text):]), nil
}

// begins reports whether raw begins with the same.
func (f *front) begins(raw string) bool {
	tail, ok := strings.CutPrefix(raw, f.text)
	return ok && (tail == "" || strings.IndexByte("/?#", tail[0]) >= 0)
}

// urlParser holds what differs between a URL typed by a person and one from a server.
type urlParser struct {
	defaultScheme string
	pathAsIs      bool
	guess         bool // a bare host is a URL
	lenient       bool // spaces are allowed and encoded (redirects)
}

func (p urlParser) parse(raw string) (*URL, *Error) {
	if err := p.scan(raw); err != nil {
		return nil, err
	}
	a, tail, err := p.authority(raw)
	if err != nil {
		return nil, err
	}
	return p.url(a, tail), nil
}

// authority reads what stands before the tail: path, query and fragment.
func (p urlParser) authority(raw string) (a *Authority, tail string, err *Error) {
	scheme, rest, err := p.splitScheme(raw)
	if err != nil {
		return nil, "", err
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if len(rest) == len(raw) && end > 0 && rest[end-1] == ':' {
		return nil, "", malformed(noHost, "a colon, and nothing after it")
	}
	a = &Authority{Scheme: scheme}
	if err := a.set(rest[:end]); err != nil {
		return nil, "", err
	}
	a.settle()
	return a, rest[end:], nil
}

func (p urlParser) url(a *Authority, tail string) *URL {
	u := &URL{Authority: a, pathAsIs: p.pathAsIs}
	p.setTail(u, tail)
	return u
}

// scan refuses what no URL may hold. A NUL, CR or LF would otherwise end up in
// the request line.
func (p urlParser) scan(raw string) *Error {
	if len(raw) > maxURL {
		return malformed(tooLong, "it is longer than 8000000 bytes")
	}
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c < 0x20 || c == 0x7f:
			return malformed(badInput, "control character at byte "+strconv.Itoa(i))
		case c == ' ' && !p.lenient:
			return malformed(badInput, "space at byte "+strconv.Itoa(i)+", write it as %20")
		}
	}
	return nil
}

// maxURL is curl's limit on the length of any string it is given.
const maxURL = 8000000

// splitScheme gives the scheme in lower case and what follows its slashes.
func (p urlParser) splitScheme(raw string) (scheme, rest string, err *Error) {
	n := schemeLen(raw)
	if n > 0 && p.guess && !strings.HasPrefix(raw[n:], ":/") {
		n = 0 // "host:80", "user:password@host"
	}
	if n == 0 {
		if !p.guess {
			return "", "", malformed(noScheme, "")
		}
		scheme = p.defaultScheme
		if scheme == "" {
			scheme = "http"
		}
		if !supported(scheme) {
			return "", "", unsupported(scheme)
		}
		return scheme, raw, nil
	}
	scheme, rest = strings.ToLower(raw[:n]), raw[n+1:]
	if !supported(scheme) {
		return "", "", unsupported(scheme)
	}
	slashes := len(rest) - len(strings.TrimLeft(rest, "/"))
	if slashes < 1 || slashes > 3 {
		return "", "", malformed(badSlashes, "two are right")
	}
	return scheme, rest[slashes:], nil
}

func supported(scheme string) bool { return scheme == "http" || scheme == "https" }

// schemeLen is the length of the scheme at the start of s, 0 when there is none.
func schemeLen(s string) int {
	for i := 0; i < len(s) && i <= maxScheme; i++ {
		switch c := s[i]; {
		case isAlnum(c):
		case i > 0 && (c == '+' || c == '-' || c == '.'):
		case c == ':':
			return i
		default:
			return 0
		}
	}
	return 0
}

// maxScheme is the longest scheme name that is looked for.
const maxScheme = 40

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// set reads userinfo, host and port.
func (a *Authority) set(s string) *Error {
	if info, host, ok := strings.Cut(s, "@"); ok {
		if err := a.setUserinfo(info); err != nil {
			return err
		}
		s = host
	}
	host, port := s, ""
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return malformed(badIPv6, "no ] after it")
		}
		host, port = s[:end+1], s[end+1:]
		if port != "" && port[0] != ':' {
			return malformed(badPort, "text after an IPv6 address")
		}
		port = strings.TrimPrefix(port, ":")
	} else if i := strings.IndexByte(s, ':'); i >= 0 {
		host, port = s[:i], s[i+1:]
	}
	if err := a.setPort(port); err != nil {
		return err
	}
	return a.setHost(host)
}

func (a *Authority) setPort(s string) *Error {
	if s == "" {
		return nil
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return malformed(badPort, "")
		}
	}
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return malformed(badPort, "")
	}
	a.Port = strconv.FormatUint(n, 10)
	return nil
}

func (a *Authority) setUserinfo(s string) *Error {
	user, password, _ := strings.Cut(s, ":")
	var ok1, ok2 bool
	a.User, ok1 = unescape(user)
	a.Password, ok2 = unescape(password)
	if !ok1 || !ok2 {
		return malformed(badInput, "NUL in the user name or password")
	}
	a.HasUser = true
	a.userinfo = s
	return nil
}

// setTail reads path, query and fragment.
func (p urlParser) setTail(u *URL, s string) {
	s, u.Fragment, u.hasFragment = strings.Cut(s, "#")
	u.Path, u.Query, u.HasQuery = strings.Cut(s, "?")
	if p.lenient {
		u.Query = escapeRaw(u.Query, "+")
	}
	u.Path = escapeRaw(u.Path, "%20")
	u.setPath(u.Path, p.pathAsIs)
}

func (u *URL) setPath(path string, asIs bool) {
	if !asIs {
		path = removeDotSegments(path)
	}
	if path == "" {
		path = "/"
	}
	u.Path = path
}

// removeDotSegments is RFC 3986 §5.2.4 on an absolute path. "%2e" is left alone, as in curl.
func removeDotSegments(path string) string {
	if !strings.Contains(path, "/.") {
		return path
	}
	out := make([]byte, 0, len(path))
	for rest := path; rest != ""; {
		end := strings.IndexByte(rest[1:], '/') + 1
		if end == 0 {
			end = len(rest)
		}
		segment := rest[:end] // with its leading slash
		rest = rest[end:]
		switch segment {
		case "/.":
		case "/..":
			for len(out) > 0 {
				c := out[len(out)-1]
				out = out[:len(out)-1]
				if c == '/' {
					break
				}
			}
		default:
			out = append(out, segment...)
			continue
		}
		if rest == "" {
			out = append(out, '/')
		}
	}
	return string(out)
}

const lowerHex = "0123456789abcdef"

// escapeRaw percent-encodes bytes above 0x7f, in lower case as curl does, and
// writes space for a space.
func escapeRaw(s, space string) string {
	i := 0
	for i < len(s) && s[i] != ' ' && s[i] < 0x80 {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:i])
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == ' ':
			b.WriteString(space)
		case c >= 0x80:
			b.WriteByte('%')
			b.WriteByte(lowerHex[c>>4])
			b.WriteByte(lowerHex[c&15])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unescape decodes %XX and leaves what is no such triplet; ok is false when
// it decodes to a NUL.
func unescape(s string) (_ string, ok bool) {
	if strings.IndexByte(s, '%') < 0 {
		return s, true
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) {
			hi, lo := unhex(s[i+1]), unhex(s[i+2])
			if hi >= 0 && lo >= 0 {
				c = byte(hi<<4 | lo)
				i += 2
				if c == 0 {
					return "", false
				}
			}
		}
		out = append(out, c)
	}
	return string(out), true
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
