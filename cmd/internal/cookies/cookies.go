// Package cookies is curl's cookie engine: Netscape jar files, host-only and
// domain cookies, public suffixes, expiry (RFC 6265).
package cookies

import (
	"net/netip"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/bidehttp/bide/cmd/internal/request"
)

// Curl's limits.
const (
	maxLine   = 5000               // of a Set-Cookie value
	maxPair   = 4096               // name and value together
	maxSet    = 50                 // cookies taken from one response
	maxSend   = 150                // cookies in one request
	maxHeader = 8190               // bytes of a Cookie value
	maxDate   = 80                 // of an Expires attribute
	maxAge    = 400 * 24 * 60 * 60 // seconds that a cookie may be kept
)

// Jar holds cookies. The zero value is empty and ready. Safe for concurrent use.
type Jar struct {
	mu    sync.Mutex
	list  []*cookie // in the order of creation
	order uint64    // counts creations
}

// cookie is one stored cookie (RFC 6265 §5.3).
type cookie struct {
	name, value string
	domain      string // lower case, no leading dot; "" of a header dump that names none
	shownDomain string // the domain as a jar file holds it
	path        string // "/" at least, no trailing slash but for the root
	shown       string // the path as a jar file holds it
	hostOnly    bool
	secure      bool
	httpOnly    bool
	expires     int64 // Unix seconds, 0: session
	order       uint64
}

// SetAll takes the Set-Cookie values of one response, received from u at now. What
// RFC 6265 §5.2–5.3, a prefix rule, the public suffix list or curl's limits forbid
// is ignored, and only the first 50 cookies are kept, as curl does.
func (j *Jar) SetAll(u *request.URL, values []string, now time.Time) {
	taken := 0
	for _, v := range values {
		if taken == maxSet {
			return
		}
		if c := parseSetCookie(u, v, now); c != nil {
			j.store(c, secureOrigin(u), now)
			taken++
		}
	}
}

// store adds or replaces. A secure cookie is not overlaid from an insecure
// origin (RFC 6265bis §5.7).
func (j *Jar) store(c *cookie, secureOrigin bool, now time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !secureOrigin {
		for _, old := range j.list {
			if old.secure && old.name == c.name && overlays(c, old) {
				return
			}
		}
	}
	j.order++
	c.order = j.order
	for i, old := range j.list {
		if old.name == c.name && old.domain == c.domain && old.hostOnly == c.hostOnly && old.path == c.path {
			c.order = old.order // §5.3 step 11.3: the creation time stays
			j.list = append(j.list[:i], j.list[i+1:]...)
			break
		}
	}
	if !c.expired(now) {
		j.list = append(j.list, c)
	}
}

func overlays(c, old *cookie) bool {
	domains := domainMatch(c.domain, old.domain) || domainMatch(old.domain, c.domain)
	return domains && pathMatch(c.path, old.path)
}

func (c *cookie) expired(now time.Time) bool { return c.expires != 0 && c.expires <= now.Unix() }

// Header is the Cookie value for u: longest path first, then longest domain,
// longest name, then the newest, as curl orders; "" none. home: u is of the
// origin that the user named, to which what names no domain goes, and nowhere
// else (R7.6b).
func (j *Jar) Header(u *request.URL, home bool, now time.Time) string {
	var b strings.Builder
	for i, c := range j.matching(u, home, now) {
		if b.Len()+len(c.name)+len(c.value)+3 > maxHeader {
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(c.name)
		b.WriteByte('=')
		b.WriteString(c.value)
	}
	return b.String()
}

func (j *Jar) matching(u *request.URL, home bool, now time.Time) []*cookie {
	host, secure := hostOf(u), secureOrigin(u)
	ip := isIP(host)
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []*cookie
	for _, c := range j.list {
		switch {
		case len(out) == maxSend: // the oldest ones, as in curl
		case c.expired(now), c.secure && !secure, !pathMatch(u.Path, c.path):
		case c.domain == "" && home, c.domain == host, !c.hostOnly && !ip && domainMatch(host, c.domain):
			out = append(out, c)
		}
	}
	sort.SliceStable(out, func(a, b int) bool { return before(out[a], out[b]) })
	return out
}

// before is curl's order of cookies in a request.
func before(a, b *cookie) bool {
	switch {
	case len(a.shown) != len(b.shown):
		return len(a.shown) > len(b.shown)
	case len(a.domain) != len(b.domain):
		return len(a.domain) > len(b.domain)
	case len(a.name) != len(b.name):
		return len(a.name) > len(b.name)
	}
	return a.order > b.order
}

func hostOf(u *request.URL) string { return strings.ToLower(u.ASCIIHost()) }

// secureOrigin: https, or the machine itself, as curl and browsers see it.
func secureOrigin(u *request.URL) bool {
	switch hostOf(u) {
	case "localhost", "127.0.0.1", "::1":
		return true
	}
	return u.Scheme == "https"
}

func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// domainMatch is RFC 6265 §5.1.3 for names in lower case that are no addresses.
func domainMatch(host, domain string) bool {
	if host == domain {
		return true
	}
	prefix, ok := strings.CutSuffix(host, domain)
	return ok && strings.HasSuffix(prefix, ".")
}

// pathMatch is RFC 6265 §5.1.4.
func pathMatch(path, cookie string) bool {
	if path == cookie || cookie == "/" {
		return true
	}
	rest, ok := strings.CutPrefix(path, cookie)
	return ok && rest[0] == '/'
}
