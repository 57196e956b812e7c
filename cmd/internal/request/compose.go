package request

import (
	"strconv"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/header"
	"github.com/bidehttp/bide/render"
)

// HopState is what differs between the hops of one operation.
type HopState struct {
	URL *URL
	// HTTP is the version that the hop speaks: "1.0", "1.1" or "2".
	HTTP string
	// IncludeBody is whether this hop sends the template's body; BodyLength is
	// then its length, -1 unknown.
	IncludeBody bool
	BodyLength  int64
	// Credentials: the hop goes to the first origin, or --location-trusted.
	// Otherwise the user's lines with secrets in them (Authorization, Cookie,
	// X-Api-Key, ...), -b text and Authorization below stay away.
	Credentials bool
	// Key: the idempotency key may be sent (R7.6).
	Key bool
	// Authorization is the value computed for this hop; "" none. Signature are
	// the lines that belong to it and stand behind it.
	Authorization string
	Signature     []header.Line
	// Probe: the server is going to challenge the request, so that its body stays
	// back and it goes out with a length of 0.
	Probe bool
	// Cookie is the jar's line for this hop; "" none.
	Cookie string
	// Referer replaces the template's, when not "" (-e ";auto").
	Referer string
	// Upgrade asks for HTTP/2 (--http2 over plain HTTP), unless the body is of
	// unknown length or the user has said something of his own about it.
	Upgrade bool
	// UpgradeSettings is the value of HTTP2-Settings then.
	UpgradeSettings string
	// Range and IfRange ask for a continuation; Range ("100-", without
	// "bytes=") replaces the template's.
	Range, IfRange string
	// ViaProxy: plain HTTP by absolute URI. ProxyAuthorization and ProxyHeaders go along then.
	ViaProxy           bool
	ProxyAuthorization string
	ProxyHeaders       []HeaderLine
	// NoExpect leaves Expect away: the hop repeats one that was answered 417.
	NoExpect bool
}

// Head is what Compose has to say of the lines that it gives.
type Head struct {
	// Chunked: the body goes out in chunks, whatever is known of its length.
	Chunked bool
	// Upgrade: the request asks for HTTP/2.
	Upgrade bool
	// Unknown: curl would not know the body's length beforehand.
	Unknown bool
	// Length is what a Content-Length line of the user says of a stream; 0 nothing.
	Length int64
	// Expect: the request carries "Expect: 100-continue", so the body waits.
	Expect bool
	// Keyed: the request carries the idempotency key (R3.2).
	Keyed bool
}

// Chunker is implemented by a Body that is sent in chunks on HTTP/1.1 although
// its length may be known: curl sends -T from a pipe so.
type Chunker interface{ SendChunked() bool }

// expectAbove is the body size above which curl asks for 100 (Continue) first.
const expectAbove = 1 << 20

// Compose gives all header lines of one hop in curl's order (see the tests,
// which compare them with curl's own): the defaults, each of which steps back
// when the user gave a header of its name; then the idempotency key and the -H
// lines as given; then what describes the body. It changes neither t nor hop. The
// lines are appended to room, which the caller may have on its stack.
func Compose(t *Template, hop *HopState, room []header.Line) (Head, []header.Line) {
	c := composer{t: t, hop: hop}
	c.frame()
	// The lines are handed from one to the next: kept in c they would escape.
	lines := c.host(room)
	lines = c.credentials(lines)
	lines = c.ranges(lines)
	lines = c.preferences(lines)
	lines = c.upgrade(lines)
	lines = c.cookies(lines)
	for _, l := range t.Conditions {
		lines = c.standard(lines, l.Name, l.Value)
	}
	lines = c.key(lines)
	lines = c.custom(lines, t.Headers)
	if hop.ViaProxy {
		lines = c.custom(lines, hop.ProxyHeaders)
	}
	lines = c.body(lines)
	return c.h, lines
}

// composer makes one head. Its methods append their lines to those before.
type composer struct {
	t       *Template
	hop     *HopState
	h       Head
	unknown bool // curl would not know the body's length
}

func (c *composer) add(lines []header.Line, name, value string) []header.Line {
	return append(lines, header.Line{Name: name, Value: c.carried(value)})
}

// given adds a line of the user in his own spelling.
func (c *composer) given(lines []header.Line, l *HeaderLine) []header.Line {
	return append(lines, header.Line{Name: l.Name, Value: c.carried(l.Value), Tight: l.Tight})
}

// carried is the value as the hop's version of HTTP carries it.
func (c *composer) carried(value string) string {
	if c.hop.HTTP == "2" {
		return strings.Trim(value, " \t") // RFC 9113 §8.2.1 forbids blanks around it
	}
	return value
}

// standard adds a default header unless it is empty or the user named it.
func (c *composer) standard(lines []header.Line, name, value string) []header.Line {
	if value == "" || given(c.t.Headers, name) {
		return lines
	}
	return c.add(lines, name, value)
}

// frame decides whether the body is chunked. HTTP/1.0 has no chunks and HTTP/2
// frames bodies itself.
func (c *composer) frame() {
	b, ok := c.t.Body.(Chunker)
	unknown := c.hop.BodyLength < 0 || ok && b.SendChunked()
	c.h.Unknown = unknown && c.hop.IncludeBody && !c.hop.Probe
	if !c.hop.IncludeBody || c.hop.HTTP != "1.1" || c.hop.Probe {
		return
	}
	c.unknown = unknown
	l, ok := lookup(c.t.Headers, "Transfer-Encoding")
	switch {
	case ok && !l.Remove:
		c.h.Chunked = c.hop.BodyLength < 0 || strings.EqualFold(strings.TrimSpace(l.Value), "chunked")
	case ok: // taken away: chunks only if there is no other way
		if c.hop.BodyLength < 0 {
			c.h.Length = c.givenLength()
		}
		c.h.Chunked = c.hop.BodyLength < 0 && c.h.Length == 0
	default:
		c.h.Chunked = c.unknown
	}
}

// givenLength is what the user says of the length of a stream; 0 nothing.
func (c *composer) givenLength() int64 {
	l, _ := lookup(c.t.Headers, "Content-Length")
	n, err := strconv.ParseInt(strings.TrimSpace(l.Value), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// host: a Host line of the user holds for the host he named on the command line.
func (c *composer) host(lines []header.Line) []header.Line {
	l, ok := lookup(c.t.Headers, "Host")
	switch {
	case !ok || !c.firstHost():
		return c.add(lines, "Host", c.hop.URL.HostHeader())
	case !l.Remove:
		l.Name = "Host" // curl writes this name itself
		return c.given(lines, &l)
	}
	return lines
}

func (c *composer) firstHost() bool {
	return strings.EqualFold(c.hop.URL.Host, c.t.URL.Host)
}

func (c *composer) credentials(lines []header.Line) []header.Line {
	if c.hop.ViaProxy && !given(c.hop.ProxyHeaders, "Proxy-Authorization") {
		lines = c.standard(lines, "Proxy-Authorization", c.hop.ProxyAuthorization)
	}
	if c.hop.Credentials {
		lines = c.standard(lines, "Authorization", c.hop.Authorization)
		for _, f := range c.hop.Signature {
			lines = c.add(lines, f.Name, f.Value)
		}
	}
	return lines
}

func (c *composer) ranges(lines []header.Line) []header.Line {
	r := c.t.Range
	if c.hop.Range != "" {
		r = c.hop.Range
	}
	switch {
	case c.t.ContentRange != "" && c.hop.IncludeBody:
		lines = c.standard(lines, "Content-Range", c.t.ContentRange)
	case r == "":
	case !c.hop.IncludeBody:
		lines = c.standard(lines, "Range", "bytes="+r)
		lines = c.standard(lines, "If-Range", c.hop.IfRange)
	case c.hop.BodyLength >= 0:
		lines = c.standard(lines, "Content-Range", "bytes "+r+"/"+strconv.FormatInt(c.hop.BodyLength, 10))
	default:
		lines = c.standard(lines, "Content-Range", "bytes "+r+"/*")
	}
	return lines
}

// preferences are the headers from User-Agent to Transfer-Encoding.
func (c *composer) preferences(lines []header.Line) []header.Line {
	lines = c.standard(lines, "User-Agent", c.t.UserAgent)
	lines = c.standard(lines, "Accept", c.t.Accept)
	if c.teNeeded() {
		connection := "TE"
		if l, ok := lookup(c.t.Headers, "Connection"); ok && !l.Remove && l.Value != "" {
			connection = l.Value + ", TE"
		}
		lines = c.add(lines, "Connection", connection)
		lines = c.add(lines, "TE", "gzip")
	}
	if c.t.Compressed {
		lines = c.standard(lines, "Accept-Encoding", "deflate, gzip, br, zstd")
	}
	if c.hop.Referer != "" {
		lines = c.standard(lines, "Referer", c.hop.Referer)
	} else {
		lines = c.standard(lines, "Referer", c.t.Referer)
	}
	if c.hop.ViaProxy && !given(c.hop.ProxyHeaders, "Proxy-Connection") {
		lines = c.standard(lines, "Proxy-Connection", "Keep-Alive")
	}
	if c.h.Chunked {
		if l, ok := lookup(c.t.Headers, "Transfer-Encoding"); !ok || l.Remove {
			lines = c.add(lines, "Transfer-Encoding", "chunked")
		}
	}
	return lines
}

func (c *composer) teNeeded() bool {
	return c.t.TE && c.hop.HTTP == "1.1" && !given(c.t.Headers, "TE")
}

// upgrade asks a server for HTTP/2 on this connection (RFC 7540 §3.2).
func (c *composer) upgrade(lines []header.Line) []header.Line {
	if !c.hop.Upgrade || c.unknown || given(c.t.Headers, "Connection") || given(c.t.Headers, "Upgrade") || c.teNeeded() {
		return lines
	}
	lines = c.add(lines, "Connection", "Upgrade, HTTP2-Settings")
	lines = c.add(lines, "Upgrade", "h2c")
	lines = c.add(lines, "HTTP2-Settings", c.hop.UpgradeSettings)
	c.h.Upgrade = true
	return lines
}

// cookies: one line, the jar's first. A Cookie line of the user replaces -b
// text, not the jar's.
func (c *composer) cookies(lines []header.Line) []header.Line {
	line := c.hop.Cookie
	if c.hop.Credentials && c.t.Cookies != "" && !given(c.t.Headers, "Cookie") {
		if line != "" {
			line += "; "
		}
		line += c.t.Cookies
	}
	if line != "" {
		lines = c.add(lines, "Cookie", line)
	}
	return lines
}

func (c *composer) key(lines []header.Line) []header.Line {
	if c.t.KeyName != "" && c.hop.Key {
		lines = c.add(lines, c.t.KeyName, c.t.KeyValue)
		c.h.Keyed = true
	}
	return lines
}

func (c *composer) custom(lines []header.Line, own []HeaderLine) []header.Line {
	for i := range own {
		if l := &own[i]; !l.Remove && !c.withheld(l.Name) {
			lines = c.given(lines, l)
		}
	}
	return lines
}

// withheld are the user's lines that this hop must not carry: a Host sent
// already or meant for another host, credentials for another origin, a key
// that may not cross, and what describes a body that is not sent.
func (c *composer) withheld(name string) bool {
	is := func(s string) bool { return strings.EqualFold(name, s) }
	switch {
	case is("Host"):
		return true
	case c.t.KeyName != "" && is(c.t.KeyName):
		return true
	case is("Proxy-Authorization") && c.hop.ViaProxy:
		return false // it is for the proxy, which is the same for every origin
	case !c.hop.Credentials && (&render.Redactor{}).Sensitive(name):
		return true // R7.6b: what is too secret to be printed stays at home
	case c.hop.HTTP == "2" && (is("Connection") || is("Keep-Alive") || is("Proxy-Connection") || is("Upgrade")):
		return true // RFC 9113 §8.2.2
	case is("Connection"):
		return c.teNeeded()
	case is("Transfer-Encoding"):
		return c.hop.HTTP != "1.1" || c.dropped()
	case is("Content-Length"):
		return c.h.Chunked && !c.t.AsCurl || c.dropped()
	case is("Expect"):
		return c.hop.NoExpect || c.dropped()
	}
	return false
}

// dropped: the operation has a body, but this hop goes without.
func (c *composer) dropped() bool { return c.t.Body != nil && !c.hop.IncludeBody || c.hop.Probe }

// body adds Content-Length, Content-Type and Expect. A Content-Length is sent
// even if the user asked for its removal: without it the server could not tell
// where the body ends.
func (c *composer) body(lines []header.Line) []header.Line {
	if !c.hop.IncludeBody {
		return lines
	}
	if l, ok := lookup(c.t.Headers, "Content-Length"); !c.h.Chunked && c.hop.BodyLength >= 0 && (!ok || l.Remove || c.hop.Probe) {
		lines = c.add(lines, "Content-Length", strconv.FormatInt(c.hop.BodyLength, 10))
	}
	if !c.hop.Probe || !strings.HasPrefix(c.t.ContentType, "multipart/") {
		lines = c.standard(lines, "Content-Type", c.t.ContentType)
	}
	if c.hop.HTTP != "1.1" || c.hop.NoExpect || c.hop.Probe {
		return lines
	}
	if l, ok := lookup(c.t.Headers, "Expect"); ok {
		c.h.Expect = !l.Remove && strings.EqualFold(strings.TrimSpace(l.Value), "100-continue")
		return lines
	}
	if c.unknown || c.hop.BodyLength > expectAbove {
		lines = c.add(lines, "Expect", "100-continue")
		c.h.Expect = true
	}
	return lines
}
