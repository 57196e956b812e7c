// Package request turns options into an immutable description of a request:
// URL, method, headers in curl's order, and a body that can be opened again.
package request

import (
	"io"

	"github.com/bidehttp/bide/cmd/internal/auth"
	"github.com/bidehttp/bide/cmd/internal/header"
)

// Template is one operation's request, frozen before attempt 1 (R7.3). It is
// shared by attempts and never changed.
type Template struct {
	URL *URL
	*Options
}

// Options are all of a Template but its URL. Operations that differ in nothing
// else share them: they are not changed once a Template has them.
type Options struct {
	Method      string // what is sent first
	MethodGiven bool   // by -X: kept across redirects, as curl does
	Headers     []HeaderLine
	KeyName     string // idempotency header's name; "" none
	KeyValue    string
	UserAgent   string // "" sends none
	Referer     string // -e, without ";auto"
	AutoReferer bool
	Range       string // -r without "bytes=", "" none
	// AsCurl sends a Content-Length line of the user's own beside a body in chunks.
	AsCurl bool
	// ContentRange is where an upload belongs that goes on from a later byte
	// ("bytes 50-99/100"), "" it is whole.
	ContentRange string
	Conditions   []header.Line // -z: If-Modified-Since or If-Unmodified-Since
	TE           bool          // --tr-encoding
	Accept       string        // "*/*"; --json: application/json
	ContentType  string        // default for the body, "" none
	Compressed   bool
	Body         Body // nil none
	Upload       bool // Body is a file of -T: a PUT, whatever -X calls it
	Auth         Auth

	Cookies       string // -b text, "" none
	RequestTarget string // --request-target

	Follow                    bool
	MaxRedirects              int // -1 unlimited
	Post301, Post302, Post303 bool
	LocationTrusted           bool
	NoUserinfo                bool     // a redirect to a URL with a user name is refused
	SchemesRedir              []string // allowed after a redirect; nil: http, https
}

// HeaderLine is one -H in the user's own text and case.
type HeaderLine struct {
	Name  string
	Value string
	// Remove: "Name:" takes a default header away. Otherwise it is sent, also when empty ("Name;").
	Remove bool
	// Tight: no space stood after the colon, and none is sent on HTTP/1.
	Tight bool
}

// Auth is what may be shown to the first origin.
type Auth struct {
	HasUser  bool
	User     string
	Password string
	OfURL    bool   // they are the first URL's, and not -u's
	Bearer   string // --oauth2-bearer
	// Schemes are those of --basic, --digest and --anyauth; 0 is Basic.
	Schemes auth.Scheme
	// SigV4 is --aws-sigv4; nil none.
	SigV4 *auth.SigV4
	// Lookup finds a .netrc entry for a host; nil without -n.
	Lookup func(host, user string) (login, password string, ok bool)
}

// Body is where a request's body comes from. It can be opened again for each
// attempt and each hop, and gives the same bytes every time (R8.2).
type Body interface {
	// Open returns the bytes from the start and their number (-1 unknown).
	Open() (io.ReadCloser, int64, error)
	// Replay reports whether Open will give the same bytes again: nil,
	// retry.ErrNotReplayable or retry.ErrBodyChanged (wrapped with the evidence).
	Replay() error
	// Close removes what was spooled. Safe to call twice and from a signal's path.
	Close() error
}

// URL is a URL in curl's reading: kept as written, but for dot segments, the
// scheme's case, leading zeros of the port and odd spellings of IPv4 addresses.
// It is not changed once made: methods give new ones.
type URL struct {
	*Authority
	Path     string // "/" at least
	Query    string // without "?"
	Fragment string
	HasQuery bool

	pathAsIs    bool // references are resolved in the same way
	hasFragment bool
}

// Authority is what stands before a URL's path: the scheme and the server, with
// the user who asks. URLs share it; it is not changed once a URL has it.
type Authority struct {
	Scheme   string // lower case
	User     string // decoded
	Password string // decoded
	Host     string // without brackets, case kept, IDN as written, IPv6 with its zone
	Port     string // decimal, "" default
	HasUser  bool

	userinfo string // as written
	ascii    string // Host with A-labels; "" not yet known
	origin   string // see Origin; "" likewise
	header   string // see HostHeader; "" likewise
}
