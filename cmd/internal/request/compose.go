package request

import (
	"strconv"
	"strings"

	"github.com/bidehttp/bide/render"
)

// HopState is what differs between the hops of one operation.
type HopState struct {
	URL    *URL
	Method string
	// HTTP is the version that the hop speaks: "1.0", "1.1" or "2". "" is "1.1".
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
	Signature     []Field
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

// Head is what Compose gives: everything of a request but its target and body.
type Head struct {
	// Fields are the header lines, complete and in curl's order.
	Fields []Field
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

// Compose gives the header lines of one hop in curl's order (see the tests,
// which compare them with curl's own): the defaults, each of which steps back
// when the user gave a header of its name; then the idempotency key and the -H
// lines as given; then what describes the body. It changes neither argument.
func Compose(t *Template, hop HopState) Head {
	c := composer{t: t, hop: hop, h: Head{Fields: make([]Field, 0, 4+len(t.Headers))}}
	if c.hop.HTTP == "" {
		c.hop.HTTP = "1.1"
	}
	c.frame()
	c.host()
	c.credentials()
	c.ranges()
	c.preferences()
	c.upgrade()
	c.cookies()
	for _, f := range t.Conditions {
		c.standard(f.Name, f.Value)
	}
	c.key()
	c.custom(t.Headers)
	if hop.ViaProxy {
		c.custom(hop.ProxyHeaders)
	}
	c.body()
	return c.h
}

type composer struct {
	t       *Template
	hop     HopState
	h       Head
	unknown bool // curl would not know the body's length
}

func (c *composer) add(name, value string) {
	if c.hop.HTTP == "2" {
		value = strings.Trim(value, " \t") // RFC 9113 §8.2.1 forbids blanks around it
	}
	c.h.Fields = append(c.h.Fields, Field{Name: name, Value: value})
}

// given adds a line of the user in his own spelling.
func (c *composer) given(l HeaderLine) {
	c.add(l.Name, l.Value)
	c.h.Fields[len(c.h.Fields)-1].Tight = l.Tight
}

// standard adds a default header unless it is empty or the user named it.
func (c *composer) standard(name, value string) {
	if value != "" && !given(c.t.Headers, name) {
		c.add(name, value)
	}
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
func (c *composer) host() {
	if l, ok := lookup(c.t.Headers, "Host"); ok && c.firstHost() {
		if !l.Remove {
			l.Name = "Host" // curl writes this name itself
			c.given(l)
		}
		return
	}
	c.add("Host", c.hop.URL.HostHeader())
}

func (c *composer) firstHost() bool {
	return strings.EqualFold(c.hop.URL.Host, c.t.URL.Host)
}

func (c *composer) credentials() {
	if c.hop.ViaProxy && !given(c.hop.ProxyHeaders, "Proxy-Authorization") {
		c.standard("Proxy-Authorization", c.hop.ProxyAuthorization)
	}
	if c.hop.Credentials {
		c.standard("Authorization", c.hop.Authorization)
		for _, f := range c.hop.Signature {
			c.add(f.Name, f.Value)
		}
	}
}

func (c *composer) ranges() {
	r := c.t.Range
	if c.hop.Range != "" {
		r = c.hop.Range
	}
	switch {
	case c.t.ContentRange != "" && c.hop.IncludeBody:
		c.standard("Content-Range", c.t.ContentRange)
	case r == "":
	case !c.hop.IncludeBody:
		c.standard("Range", "bytes="+r)
		c.standard("If-Range", c.hop.IfRange)
	case c.hop.BodyLength >= 0:
		c.standard("Content-Range", "bytes "+r+"/"+strconv.FormatInt(c.hop.BodyLength, 10))
	default:
		c.standard("Content-Range", "bytes "+r+"/*")
	}
}

// preferences are the headers from User-Agent to Transfer-Encoding.
func (c *composer) preferences() {
	c.standard("User-Agent", c.t.UserAgent)
	c.standard("Accept", c.t.Accept)
	if c.teNeeded() {
		connection := "TE"
		if l, ok := lookup(c.t.Headers, "Connection"); ok && !l.Remove && l.Value != "" {
			connection = l.Value + ", TE"
		}
		c.add("Connection", connection)
		c.add("TE", "gzip")
	}
	if c.t.Compressed {
		c.standard("Accept-Encoding", "deflate, gzip, br, zstd")
	}
	if c.hop.Referer != "" {
		c.standard("Referer", c.hop.Referer)
	} else {
		c.standard("Referer", c.t.Referer)
	}
	if c.hop.ViaProxy && !given(c.hop.ProxyHeaders, "Proxy-Connection") {
		c.standard("Proxy-Connection", "Keep-Alive")
	}
	if c.h.Chunked {
		if l, ok := lookup(c.t.Headers, "Transfer-Encoding"); !ok || l.Remove {
			c.add("Transfer-Encoding", "chunked")
		}
	}
}

func (c *composer) teNeeded() bool {
	return c.t.TE && c.hop.HTTP == "1.1" && !given(c.t.Headers, "TE")
}

// upgrade asks a server for HTTP/2 on this connection (RFC 7540 §3.2).
func (c *composer) upgrade() {
	if !c.hop.Upgrade || c.unknown || given(c.t.Headers, "Connection") || given(c.t.Headers, "Upgrade") || c.teNeeded() {
		return
	}
	c.add("Connection", "Upgrade, HTTP2-Settings")
	c.add("Upgrade", "h2c")
	c.add("HTTP2-Settings", c.hop.UpgradeSettings)
	c.h.Upgrade = true
}

// cookies: one line, the jar's first. A Cookie line of the user replaces -b
// text, not the jar's.
func (c *composer) cookies() {
	line := c.hop.Cookie
	if c.hop.Credentials && c.t.Cookies != "" && !given(c.t.Headers, "Cookie") {
		if line != "" {
			line += "; "
		}
		line += c.t.Cookies
	}
	if line != "" {
		c.add("Cookie", line)
	}
}

func (c *composer) key() {
	if c.t.KeyName != "" && c.hop.Key {
		c.add(c.t.KeyName, c.t.KeyValue)
		c.h.Keyed = true
	}
}

func (c *composer) custom(lines []HeaderLine) {
	for _, l := range lines {
		if !l.Remove && !c.withheld(l.Name) {
			c.given(l)
		}
	}
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
func (c *composer) body() {
	if !c.hop.IncludeBody {
		return
	}
	if l, ok := lookup(c.t.Headers, "Content-Length"); !c.h.Chunked && c.hop.BodyLength >= 0 && (!ok || l.Remove || c.hop.Probe) {
		c.add("Content-Length", strconv.FormatInt(c.hop.BodyLength, 10))
	}
	if !c.hop.Probe || !strings.HasPrefix(c.t.ContentType, "multipart/") {
		c.standard("Content-Type", c.t.ContentType)
	}
	if c.hop.HTTP != "1.1" || c.hop.NoExpect || c.hop.Probe {
		return
	}
	if l, ok := lookup(c.t.Headers, "Expect"); ok {
		c.h.Expect = !l.Remove && strings.EqualFold(strings.TrimSpace(l.Value), "100-continue")
		return
	}
	if c.unknown || c.hop.BodyLength > expectAbove {
		c.add("Expect", "100-continue")
		c.h.Expect = true
	}
}
