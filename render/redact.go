package render

import (
	"net/url"
	"sort"
	"strings"
)

// mask stands where a secret stood.
const mask = "***"

// minSecret is the shortest literal secret that is searched for in free text:
// shorter ones would mutilate it and tell more than they hide.
const minSecret = 4

// Redactor takes secrets out of what is printed (R11.1). The zero value hides
// all that must be hidden by its place; Secrets are hidden wherever they stand.
// It is read-only after its first use and then safe for concurrent use.
//
// Its methods do not escape: what goes to a terminal passes Text last.
type Redactor struct {
	// Secrets are literal values (passwords, tokens) that are taken out of any
	// text, also in their percent-encoded forms. Those under four bytes are not
	// searched for.
	Secrets []string
	// KeyHeader is the idempotency key's header where it was renamed; it and
	// Idempotency-Key stay readable.
	KeyHeader string
	// NoRedact shows everything.
	NoRedact bool
	// RedactPath hides the paths of URLs too.
	RedactPath bool
}

// Sensitive reports whether the values of the named header are hidden.
func (r *Redactor) Sensitive(name string) bool {
	if r.NoRedact {
		return false
	}
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "idempotency-key" || r.KeyHeader != "" && strings.EqualFold(name, r.KeyHeader) {
		return false
	}
	if name == "cookie" || name == "set-cookie" || name == "cookie2" || name == "set-cookie2" {
		return true
	}
	for _, part := range [...]string{"auth", "token", "secret", "key", "session", "credential", "signature", "jwt", "passw"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// HeaderValue is a field's value as it may be shown: hidden, or with the
// secrets of the URLs in it hidden.
func (r *Redactor) HeaderValue(name, value string) string {
	if r.NoRedact {
		return value
	}
	if r.Sensitive(name) {
		if value == "" {
			return ""
		}
		return mask
	}
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "location", "content-location", "operation-location", "azure-asyncoperation", "referer":
		return r.URL(value)
	case "link", "refresh":
		return r.literals(r.relativeURLs(value))
	}
	return r.Scrub(value)
}

// URL hides userinfo, the values of query parameters, the fragment and, with
// RedactPath, the path. It works on the text alone, so that a malformed URL is
// hidden as well. A parameter without "=" stays if it is a short word (?acl).
func (r *Redactor) URL(raw string) string {
	if r.NoRedact {
		return raw
	}
	return r.literals(r.urlText(raw))
}

// Location is URL for a redirect's target, which may be relative.
func (r *Redactor) Location(raw string) string { return r.URL(raw) }

func (r *Redactor) urlText(raw string) string {
	scheme, rest := splitScheme(raw)
	if strings.EqualFold(scheme, "data:") && rest != "" {
		return scheme + mask
	}
	authority, rest := splitAuthority(rest, scheme != "")
	rest, fragment, hasFragment := strings.Cut(rest, "#")
	path, query, hasQuery := strings.Cut(rest, "?")
	if r.RedactPath && strings.Trim(path, `/\`) != "" {
		path = path[:1] + mask
		if path[0] != '/' && path[0] != '\\' {
			path = mask
		}
	}
	var b strings.Builder
	b.WriteString(scheme)
	b.WriteString(authority)
	b.WriteString(path)
	if hasQuery {
		b.WriteByte('?')
		writeQuery(&b, query)
	}
	if hasFragment {
		b.WriteByte('#')
		if fragment != "" {
			b.WriteString(mask)
		}
	}
	return b.String()
}

// splitScheme takes "https:" off, when letters and "://" (or "data:") say so.
func splitScheme(raw string) (scheme, rest string) {
	i := strings.IndexByte(raw, ':')
	if i <= 0 || strings.ContainsAny(raw[:i], "/?#@[") {
		return "", raw
	}
	after := raw[i+1:]
	if strings.HasPrefix(after, "/") || strings.HasPrefix(after, `\`) || strings.EqualFold(raw[:i], "data") {
		return raw[:i+1], after
	}
	return "", raw
}

// splitAuthority returns the leading "//user@host:port" with its userinfo
// hidden, and the rest. Without slashes (curl guesses a scheme) the text up to
// the first delimiter counts if it has an "@" in it.
func splitAuthority(s string, hasScheme bool) (authority, rest string) {
	body := strings.TrimLeft(s, `/\`)
	lead := s[:len(s)-len(body)]
	if len(lead) == 1 && !hasScheme || len(lead) == 0 && hasScheme {
		return "", s
	}
	end := strings.IndexAny(body, `/?#\`)
	if end < 0 {
		end = len(body)
	}
	host := body[:end]
	at := strings.LastIndexByte(host, '@')
	if at < 0 && oddPort(host) {
		// A password with a slash or a question mark in it: everything up to the last @ is suspect.
		if i := strings.LastIndexByte(body, '@'); i >= 0 {
			at = i
			end = i + 1
			if j := strings.IndexAny(body[end:], `/?#\`); j >= 0 {
				end += j
			} else {
				end = len(body)
			}
			host = body[:end]
		}
	}
	if at >= 0 {
		return lead + mask + host[at:], body[end:]
	}
	if lead == "" {
		return "", s
	}
	return lead + host, body[end:]
}

// oddPort reports whether what stands after the host's colon is no port.
func oddPort(host string) bool {
	if strings.HasPrefix(host, "[") {
		return false
	}
	i := strings.IndexByte(host, ':')
	return i >= 0 && strings.Trim(host[i+1:], "0123456789") != ""
}

func writeQuery(b *strings.Builder, query string) {
	for i, part := range strings.Split(query, "&") {
		if i > 0 {
			b.WriteByte('&')
		}
		name, value, ok := strings.Cut(part, "=")
		switch {
		case ok && value == "":
			b.WriteString(name + "=")
		case ok:
			b.WriteString(name + "=" + mask)
		case plainWord(part):
			b.WriteString(part)
		default:
			b.WriteString(mask)
		}
	}
}

// plainWord: ?acl and ?uploads are names, ?9f8a7c01 may be a secret.
func plainWord(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && s[i] != '-' && s[i] != '_' {
			return false
		}
	}
	return len(s) <= 20
}

// Origin is "https://host:port" of a URL, without userinfo and default port:
// all that notices tell of it.
func Origin(raw string) string {
	scheme, rest := splitScheme(raw)
	authority, _ := splitAuthority(rest, true)
	if scheme == "" {
		authority, _ = splitAuthority("//"+rest, false)
	}
	host := strings.TrimLeft(authority, `/\`)
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	switch scheme = strings.ToLower(scheme); scheme {
	case "http:":
		host = strings.TrimSuffix(host, ":80")
	case "https:":
		host = strings.TrimSuffix(host, ":443")
	case "":
		return host
	}
	return scheme + "//" + host
}

// Scrub takes secrets out of free text, such as an error's: the literal ones
// and those in any absolute URL. Idempotent.
func (r *Redactor) Scrub(s string) string {
	if r.NoRedact {
		return s
	}
	return r.literals(r.absoluteURLs(s))
}

// Text is Scrub, then escaped for a terminal.
func (r *Redactor) Text(s string) string { return Text(r.Scrub(s)) }

// urlEnd are the bytes that end a URL in running text.
const urlEnd = " \t\r\n\"'<>`"

func (r *Redactor) absoluteURLs(s string) string {
	if !strings.Contains(s, "://") {
		return s
	}
	var b strings.Builder
	for {
		i := strings.Index(s, "://")
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		start := i
		for start > 0 && schemeByte(s[start-1]) {
			start--
		}
		end := len(s)
		if j := strings.IndexAny(s[i:], urlEnd); j >= 0 {
			end = i + j
		}
		link, tail := s[start:end], ""
		for len(link) > 0 && strings.IndexByte(":,.;)", link[len(link)-1]) >= 0 {
			tail = link[len(link)-1:] + tail
			link = link[:len(link)-1]
		}
		b.WriteString(s[:start])
		if start == i {
			b.WriteString(strings.TrimPrefix(r.urlText("x"+link), "x"))
		} else {
			b.WriteString(r.urlText(link))
		}
		b.WriteString(tail)
		s = s[end:]
	}
}

// relativeURLs is for Link and Refresh: what stands in <...> or after "url=".
func (r *Redactor) relativeURLs(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '<')
		j := -1
		if i >= 0 {
			j = strings.IndexByte(s[i:], '>')
		}
		if j < 0 {
			break
		}
		b.WriteString(s[:i+1])
		b.WriteString(r.urlText(s[i+1 : i+j]))
		s = s[i+j:]
	}
	if i := strings.Index(strings.ToLower(s), "url="); i >= 0 {
		b.WriteString(s[:i+4])
		b.WriteString(r.urlText(s[i+4:]))
		return b.String()
	}
	b.WriteString(r.absoluteURLs(s))
	return b.String()
}

func schemeByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'
}

// literals replaces the known secrets, longest first, as written and
// percent-encoded.
func (r *Redactor) literals(s string) string {
	if len(r.Secrets) == 0 {
		return s
	}
	var forms []string
	for _, secret := range r.Secrets {
		if len(secret) < minSecret || secret == mask {
			continue
		}
		forms = append(forms, secret, url.QueryEscape(secret), url.PathEscape(secret))
	}
	sort.SliceStable(forms, func(i, j int) bool { return len(forms[i]) > len(forms[j]) })
	for _, f := range forms {
		s = strings.ReplaceAll(s, f, mask)
	}
	return s
}

// HeaderBlock redacts the lines of a raw header block for -v: request lines,
// status lines, fields and their folded continuations. The lines come back
// without their line ends; they are not escaped yet.
func (r *Redactor) HeaderBlock(block []byte) []string {
	text := strings.TrimRight(string(block), "\r\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	hidden := false
	for i, line := range lines {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case r.NoRedact:
		case i > 0 && line != "" && (line[0] == ' ' || line[0] == '\t'):
			if hidden {
				line = line[:1] + mask
			} else {
				line = r.Scrub(line)
			}
		default:
			name, _, isField := fieldName(line)
			hidden = isField && r.Sensitive(name)
			line = r.HeaderLine(line)
		}
		lines[i] = line
	}
	return lines
}

// HeaderLine redacts one line of a header block: a field, a request line or a
// status line. HTTP/2's :path and :authority are understood.
func (r *Redactor) HeaderLine(line string) string {
	if r.NoRedact {
		return line
	}
	if name, value, ok := fieldName(line); ok {
		trimmed := strings.TrimLeft(value, " \t")
		gap := value[:len(value)-len(trimmed)]
		switch name {
		case ":path":
			return name + ":" + gap + r.URL(trimmed)
		case ":authority":
			return name + ":" + gap + r.literals(trimmed[strings.LastIndexByte(trimmed, '@')+1:])
		}
		return name + ":" + gap + r.HeaderValue(name, trimmed)
	}
	if strings.HasPrefix(line, "HTTP/") {
		return r.Scrub(line)
	}
	first, last := strings.IndexByte(line, ' '), strings.LastIndexByte(line, ' ')
	if first < 0 {
		return r.Scrub(line)
	}
	if first == last || !strings.HasPrefix(line[last+1:], "HTTP/") {
		last = len(line)
	}
	return line[:first+1] + r.URL(line[first+1:last]) + line[last:]
}

// fieldName splits "Name: value"; a request line has a space before its colon.
func fieldName(line string) (name, value string, ok bool) {
	i := strings.IndexByte(strings.TrimPrefix(line, ":"), ':')
	if i <= 0 {
		return "", "", false
	}
	i += len(line) - len(strings.TrimPrefix(line, ":"))
	if strings.ContainsAny(strings.TrimRight(line[:i], " \t"), " \t") {
		return "", "", false
	}
	return line[:i], line[i+1:], true
}
