package cookies

import (
	"math"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/bidehttp/bide/cmd/internal/request"
)

// attributes are those of a Set-Cookie value that matter here.
type attributes struct {
	name, value      string
	domain, path     string
	shownDomain      string // domain in the case in which it was sent
	expires          int64
	maxAge           string
	hasMaxAge        bool
	secure, httpOnly bool
}

// parseSetCookie gives the cookie that the value sets when it comes from u, or nil.
// An expired one is given, too: it deletes.
func parseSetCookie(u *request.URL, value string, now time.Time) *cookie {
	a, ok := parseAttributes(value)
	if !ok || strings.HasPrefix(hostOf(u), ".") { // in a jar file the dot would mean a domain
		return nil
	}
	c := &cookie{name: a.name, value: a.value, secure: a.secure, httpOnly: a.httpOnly, hostOnly: true}
	c.expires = a.expiry(now)
	c.shown = a.path
	if cleanPath(a.path) == "" {
		c.shown = defaultPath(u.Path)
	}
	c.path = cleanPath(c.shown)
	c.capExpiry(now)
	if !c.setDomain(hostOf(u), a) || c.secure && !secureOrigin(u) || !prefixAllows(c, a) {
		return nil
	}
	return c
}

// parseAttributes splits a Set-Cookie value: RFC 6265 §5.2, and curl's limits.
func parseAttributes(value string) (a attributes, ok bool) {
	if len(value) > maxLine || hasControl(value) {
		return a, false
	}
	pair, rest, _ := strings.Cut(value, ";")
	name, content, ok := strings.Cut(pair, "=")
	a.name, a.value = trim(name), trim(content)
	if !ok || a.name == "" || len(a.name)+len(a.value) > maxPair || strings.IndexByte(a.name+a.value, '\t') >= 0 {
		return a, false
	}
	for rest != "" {
		var av string
		av, rest, _ = strings.Cut(rest, ";")
		name, content, _ := strings.Cut(av, "=")
		if name, content = trim(name), trim(content); len(name) >= maxPair-1 || len(content) >= maxPair-1 {
			return a, false // curl
		}
		a.set(strings.ToLower(name), content)
	}
	return a, true
}

func (a *attributes) set(name, value string) {
	switch name {
	case "secure":
		a.secure = true
	case "httponly":
		a.httpOnly = true
	case "path":
		a.path = value
	case "domain":
		a.shownDomain = strings.TrimLeft(value, ".")
		a.domain = strings.ToLower(a.shownDomain)
	case "expires":
		if t, ok := parseDate(value); ok && len(value) < maxDate {
			a.expires = t
		}
	case "max-age":
		a.maxAge, a.hasMaxAge = strings.Trim(value, `"`), true
	}
}

// expiry is in Unix seconds, 0 for a session cookie; Max-Age beats Expires.
func (a *attributes) expiry(now time.Time) int64 {
	if !a.hasMaxAge {
		return a.expires
	}
	digits := strings.TrimPrefix(a.maxAge, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return a.expires // §5.2.2: ignored
	}
	seconds, err := strconv.ParseInt(a.maxAge, 10, 64)
	switch {
	case a.maxAge[0] == '-' || seconds == 0 && err == nil:
		return 1 // long ago
	case err != nil || seconds > math.MaxInt64-now.Unix():
		return math.MaxInt64
	}
	return now.Unix() + seconds
}

// capExpiry bounds how long a server's cookie may live: 400 days (RFC 6265bis
// §5.5), to the nearest minute as in curl.
func (c *cookie) capExpiry(now time.Time) {
	const minute = 60
	if latest := now.Unix() + maxAge; c.expires > latest {
		latest += minute / 2
		c.expires = latest - latest%minute
	}
}

// setDomain applies a Domain attribute: RFC 6265 §5.3 steps 4–6.
func (c *cookie) setDomain(host string, a attributes) bool {
	domain := a.domain
	c.domain, c.shownDomain = host, host
	switch {
	case domain == "" || domain == host && isIP(host):
		return true
	case isIP(host) || !domainMatch(host, domain):
		return false
	case isPublicSuffix(domain):
		return domain == host // then for that host alone
	}
	c.domain, c.shownDomain, c.hostOnly = domain, a.shownDomain, false
	return true
}

// isPublicSuffix: no cookie may span the names below such a domain.
func isPublicSuffix(domain string) bool {
	domain = strings.TrimSuffix(domain, ".") // a rooted name is the same name
	suffix, _ := publicsuffix.PublicSuffix(domain)
	return suffix == domain
}

// prefixAllows holds a cookie to what its name promises (RFC 6265bis §4.1.3).
func prefixAllows(c *cookie, a attributes) bool {
	switch {
	case hasPrefixFold(c.name, "__Secure-"):
		return c.secure
	case hasPrefixFold(c.name, "__Host-"):
		return c.secure && c.hostOnly && a.domain == "" && a.path == "/"
	}
	return true
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// cleanPath is the Path attribute without quotes and one trailing slash, as in
// curl; "" when it is of no use.
func cleanPath(path string) string {
	path = strings.Trim(path, `"`)
	if path == "" || path[0] != '/' {
		return ""
	}
	if path == "/" {
		return path
	}
	return strings.TrimSuffix(path, "/")
}

// defaultPath is RFC 6265 §5.1.4: the request path up to its last slash, which
// is left in place because curl's jar files show it.
func defaultPath(path string) string {
	i := strings.LastIndexByte(path, '/')
	if i <= 0 || path[0] != '/' {
		return "/"
	}
	return path[:i+1]
}

func trim(s string) string { return strings.Trim(s, " \t") }

// hasControl: a control character but TAB spoils the whole value.
func hasControl(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 && s[i] != '\t' || s[i] == 0x7f {
			return true
		}
	}
	return false
}
