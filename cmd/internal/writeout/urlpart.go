package writeout

import "strings"

// urlVariable splits "url.host" and "urle.host" (curl 8.1); ok says that name
// has that form, and part is "" when there is no such part.
func urlVariable(name string) (part string, ok bool) {
	part, ok = strings.CutPrefix(name, "url.")
	if !ok {
		part, ok = strings.CutPrefix(name, "urle.")
	}
	switch part {
	case "scheme", "user", "password", "options", "host", "port", "path", "query", "fragment", "zoneid":
		return part, ok
	}
	return "", ok
}

// urlPart takes one part out of a URL, as written; a port that is not there is
// the scheme's own. What is no URL has no parts.
func urlPart(raw, part string) string {
	if strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return "" // no URL holds that
	}
	rest, fragment, _ := strings.Cut(raw, "#")
	scheme, after, ok := strings.Cut(rest, "://")
	if ok && isScheme(scheme) {
		rest = after
	} else {
		scheme = "http"
	}
	scheme = strings.ToLower(scheme)
	rest, query, _ := strings.Cut(rest, "?")
	authority, path := rest, "/"
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	userinfo := ""
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		userinfo, authority = authority[:i], authority[i+1:]
	}
	user, password, _ := strings.Cut(userinfo, ":")
	host, port, zone := splitHost(authority)
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	switch part {
	case "scheme":
		return scheme
	case "user":
		return user
	case "password":
		return password
	case "host":
		return host
	case "port":
		return port
	case "path":
		return path
	case "query":
		return query
	case "fragment":
		return fragment
	case "zoneid":
		return zone
	}
	return ""
}

// isScheme: RFC 3986 §3.1, but for the first character.
func isScheme(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i] | 0x20; (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') && s[i] != '+' && s[i] != '-' && s[i] != '.' {
			return false
		}
	}
	return s != ""
}

// splitHost keeps the brackets of an IPv6 address, without its zone.
func splitHost(authority string) (host, port, zone string) {
	if strings.HasPrefix(authority, "[") {
		inner, after, _ := strings.Cut(authority[1:], "]")
		inner, zone, _ = strings.Cut(inner, "%")
		return "[" + inner + "]", strings.TrimPrefix(after, ":"), strings.TrimPrefix(zone, "25")
	}
	host, port, _ = strings.Cut(authority, ":")
	return host, port, ""
}
