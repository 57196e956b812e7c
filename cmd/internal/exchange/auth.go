package exchange

import (
	"strings"

	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/cmd/internal/transport"
)

// trusted reports whether this hop may carry what the user gave for the first
// origin: -u, Authorization and Cookie lines, -b text (R7.6).
func (a *attempt) trusted() bool {
	t := a.op.Template
	return t.LocationTrusted || t.URL.SameOrigin(a.at.url)
}

// authorization is the value of Authorization that this hop carries, "" none:
// the user's own credentials, else those of .netrc, else the URL's. own: it
// belongs to this very host (.netrc), wherever the hop came from. A chain that
// left the first origin and came back has lost -u for good, as in curl.
func (a *attempt) authorization(trusted bool) (value string, own bool) {
	auth, u := &a.op.Template.Auth, a.at.url
	switch {
	case trusted && auth.Bearer != "":
		return "Bearer " + auth.Bearer, false
	case trusted && auth.HasUser && !a.at.left:
		return request.BasicAuth(auth.User, auth.Password), false
	}
	if auth.Lookup != nil {
		if login, password, ok := auth.Lookup(u.ASCIIHost(), u.User); ok {
			return request.BasicAuth(login, password), true
		}
	}
	if !u.HasUser && !a.at.left {
		u = a.op.Template.URL // a Location of the same origin need not repeat it
	}
	if trusted && u.HasUser {
		return request.BasicAuth(u.User, u.Password), false
	}
	return "", false
}

// withAuthorization puts the line where curl has it, after Host and
// Proxy-Authorization: request.Compose keeps Authorization away from a foreign
// origin, but .netrc's entry is that origin's own.
func withAuthorization(fields []request.Field, value string) []request.Field {
	at := 0
	for at < len(fields) && (strings.EqualFold(fields[at].Name, "Host") || strings.EqualFold(fields[at].Name, "Proxy-Authorization")) {
		at++
	}
	out := make([]request.Field, 0, len(fields)+1)
	out = append(out, fields[:at]...)
	out = append(out, request.Field{Name: "Authorization", Value: value})
	return append(out, fields[at:]...)
}

// proxyLines are what a plain request through an HTTP proxy carries for it.
func proxyLines(p *transport.Proxy) (authorization string, lines []request.HeaderLine) {
	if p.HasAuth {
		authorization = request.BasicAuth(p.User, p.Password)
	}
	for _, h := range p.Headers {
		lines = append(lines, request.HeaderLine{Name: h[0], Value: h[1], Remove: h[1] == ""})
	}
	return authorization, lines
}
