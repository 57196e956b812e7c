package request

import "strings"

// settle makes what is asked for often.
func (a *Authority) settle() {
	a.origin, a.header = "", ""
	a.origin, a.header = a.Origin(), a.HostHeader()
}

// ASCIIHost is the host to look up and to show to the server: international
// names as A-labels, an IPv6 address without brackets but with its zone.
func (a *Authority) ASCIIHost() string {
	if a.ascii != "" {
		return a.ascii
	}
	if ascii, err := asciiHost(a.Host); err == nil {
		return ascii
	}
	return a.Host
}

// EffectivePort is the port as written, or the scheme's own.
func (a *Authority) EffectivePort() string {
	switch {
	case a.Port != "":
		return a.Port
	case a.Scheme == "https":
		return "443"
	}
	return "80"
}

// Origin is "scheme://host:port" in lower case with the port always there: two
// URLs are of one origin when their Origins are equal (RFC 6454 §4).
func (a *Authority) Origin() string {
	if a.origin != "" {
		return a.origin
	}
	return a.Scheme + "://" + bracket(strings.ToLower(a.ASCIIHost())) + ":" + a.EffectivePort()
}

// SameOrigin reports whether credentials for u may be shown to v.
func (u *URL) SameOrigin(v *URL) bool {
	return u.Authority == v.Authority || u.Origin() == v.Origin()
}

// HostHeader is the value of Host: without userinfo, zone and the scheme's
// default port.
func (a *Authority) HostHeader() string {
	if a.header != "" {
		return a.header
	}
	host, _, _ := strings.Cut(a.ASCIIHost(), "%")
	host = bracket(host)
	if a.defaultPort() {
		return host
	}
	return host + ":" + a.Port
}

func (a *Authority) defaultPort() bool {
	return a.Port == "" || a.Scheme == "http" && a.Port == "80" || a.Scheme == "https" && a.Port == "443"
}

// RequestTarget is path and query: the origin-form of RFC 9112 §3.2.1.
func (u *URL) RequestTarget() string {
	if !u.HasQuery {
		return u.Path
	}
	return u.Path + "?" + u.Query
}

// Absolute is the absolute-form for a proxy (RFC 9112 §3.2.2): no userinfo, no fragment.
func (u *URL) Absolute() string { return u.Scheme + "://" + u.HostHeader() + u.RequestTarget() }

// String is the whole URL with its userinfo: curl's %{url_effective}. What a
// person or a log sees is Redacted's.
func (u *URL) String() string {
	var b strings.Builder
	b.WriteString(u.Scheme)
	b.WriteString("://")
	if u.HasUser {
		b.WriteString(u.rawUserinfo())
		b.WriteByte('@')
	}
	b.WriteString(bracket(u.Host))
	if u.Port != "" {
		b.WriteByte(':')
		b.WriteString(u.Port)
	}
	b.WriteString(u.RequestTarget())
	if u.Fragment != "" || u.hasFragment {
		b.WriteByte('#')
		b.WriteString(u.Fragment)
	}
	return b.String()
}

func (a *Authority) rawUserinfo() string {
	if a.userinfo != "" || a.User == "" && a.Password == "" {
		return a.userinfo
	}
	return urlEncode(a.User) + ":" + urlEncode(a.Password)
}

// Redacted is the URL as it may be shown (R11.1): no userinfo, no fragment,
// the values of query parameters as ***; with redactPath the path as /***, too.
func (u *URL) Redacted(redactPath bool) string {
	s := u.Scheme + "://" + bracket(u.Host)
	if u.Port != "" {
		s += ":" + u.Port
	}
	switch {
	case redactPath && (u.Path != "/" || u.HasQuery):
		return s + "/***"
	case !u.HasQuery:
		return s + u.Path
	}
	return s + u.Path + "?" + redactQuery(u.Query)
}

// redactQuery hides every value. A parameter without "=" may be a secret
// itself, so it is hidden as a whole.
func redactQuery(query string) string {
	params := strings.Split(query, "&")
	for i, p := range params {
		name, _, ok := strings.Cut(p, "=")
		switch {
		case ok:
			params[i] = name + "=***"
		case p != "":
			params[i] = "***"
		}
	}
	return strings.Join(params, "&")
}

func bracket(host string) string {
	if strings.IndexByte(host, ':') >= 0 {
		if address, zone, _ := strings.Cut(host, "%"); strings.HasPrefix(zone, "25") {
			host = address + "%25" + zone // else it would read as another zone (RFC 6874 §2)
		}
		return "[" + host + "]"
	}
	return host
}

// DecodedPath is the path with its %XX decoded, as a file's name would be.
func (u *URL) DecodedPath() string {
	if path, ok := unescape(u.Path); ok {
		return path
	}
	return u.Path
}

// WithUserinfoOf gives the URL with v's user and password in the place of its own.
func (u *URL) WithUserinfoOf(v *URL) *URL {
	a := *u.Authority
	a.HasUser, a.User, a.Password, a.userinfo = v.HasUser, v.User, v.Password, v.userinfo
	return u.with(&a)
}

// HasPassword reports whether the URL names a password, if only an empty one.
func (a *Authority) HasPassword() bool { return strings.IndexByte(a.userinfo, ':') >= 0 }
