package exchange

import (
	"io"
	"slices"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/auth"
	"github.com/bidehttp/bide/cmd/internal/header"
	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
)

// credentials are what one hop carries.
type credentials struct {
	authorization string // "" none
	// own: it belongs to this very host (.netrc), wherever the hop came from.
	own                bool
	signature          []header.Line // lines that belong to authorization
	proxyAuthorization string
	challengeable
}

// challengeable is what an answer's challenge has to do with.
type challengeable struct {
	server, proxy *auth.Session // nil: no challenge can be answered
	// probing: the hop waits for a challenge, its body stays back. The flags say
	// whose challenge.
	probing                     bool
	serverProbing, proxyProbing bool
}

// trusted reports whether this hop may carry what the user gave for the first
// origin: -u, Authorization and Cookie lines, -b text (R7.6).
func (a *attempt) trusted() bool {
	t := a.op.Template
	return t.LocationTrusted || t.URL.SameOrigin(a.at.url)
}

// authenticate finds out what the hop carries.
func (a *attempt) authenticate(c *credentials, s *transport.Settings) error {
	if p := s.Proxy; p != nil && p.HasAuth && s.ByAbsoluteURI(a.target()) {
		c.proxy = a.session("", p.Schemes, p.User, p.Password)
		c.proxyAuthorization, c.proxyProbing = c.proxy.Authorization(a.at.method, a.at.url.RequestTarget())
	}
	if err := a.authorize(c); err != nil {
		return err
	}
	// With an idempotency key the whole body goes out at once: a server must not
	// see one key with two bodies.
	c.probing = (c.serverProbing || c.proxyProbing) && a.at.body && !a.at.key
	return nil
}

// authorize chooses among bearer token, signature and password.
func (a *attempt) authorize(c *credentials) error {
	t, trusted := a.op.Template, a.trusted()
	if trusted && t.Auth.Bearer != "" {
		c.authorization = "Bearer " + t.Auth.Bearer
		return nil
	}
	user, password, own, ok := a.login(trusted)
	if !ok {
		return nil
	}
	if t.Auth.SigV4 != nil {
		if !trusted || hasLine(t.Headers, "Authorization") {
			return nil
		}
		return a.sign(c, user, password)
	}
	c.own = own
	if trusted && hasLine(t.Headers, "Authorization") {
		return nil // the user's own line is sent, and no challenge answered
	}
	side := a.at.url.Origin()
	if t.LocationTrusted && trusted {
		side = t.URL.Origin() // what one host has asked for, the next one gets at once
	}
	c.server = a.session(side, t.Auth.Schemes, user, password)
	c.authorization, c.serverProbing = c.server.Authorization(a.at.method, a.at.url.RequestTarget())
	return nil
}

// session is the authentication with one side: it lives as long as the operation.
func (a *attempt) session(side string, allowed auth.Scheme, user, password string) *auth.Session {
	s := a.op.sessions[side]
	if s == nil || s.User != user || s.Password != password {
		if allowed == 0 {
			allowed = auth.Basic
		}
		s = &auth.Session{Allowed: allowed, User: user, Password: password, Random: a.op.Client.Pool.Unpredictable}
		if a.op.sessions == nil {
			a.op.sessions = make(map[string]*auth.Session)
		}
		a.op.sessions[side] = s
	}
	return s
}

// login is the name and password for this hop: the user's own, else those of
// .netrc, else the URL's. A chain that left the first origin and came back has
// lost -u for good, as in curl.
func (a *attempt) login(trusted bool) (user, password string, own, ok bool) {
	given, u := &a.op.Template.Auth, a.at.url
	if trusted && given.HasUser && !a.at.left {
		if given.OfURL && u.HasUser { // a Location may name others
			return u.User, u.Password, false, true
		}
		return given.User, given.Password, false, true
	}
	if given.Lookup != nil {
		if login, password, ok := given.Lookup(u.ASCIIHost(), u.User); ok {
			return login, password, true, true
		}
	}
	if !u.HasUser && !a.at.left {
		u = a.op.Template.URL // a Location of the same origin need not repeat it
	}
	if trusted && u.HasUser {
		return u.User, u.Password, false, true
	}
	return "", "", false, false
}

// sign makes this hop's signature, with the time of now (R8.2).
func (a *attempt) sign(c *credentials, user, password string) error {
	t, u := a.op.Template, a.at.url
	r := auth.SignRequest{
		Method: a.at.method, Host: u.HostHeader(), HostName: u.ASCIIHost(), Path: u.Path, Query: u.Query,
		Now: a.op.Client.Clock.Wall(),
	}
	for _, l := range t.Headers {
		if strings.EqualFold(l.Name, "Host") && !l.Remove {
			r.Host = l.Value
		}
		if !l.Remove {
			r.Header = append(r.Header, [2]string{l.Name, l.Value})
		}
	}
	if a.at.body {
		r.Body = func() (io.ReadCloser, error) {
			body, _, err := a.openBody()
			return body, err
		}
	}
	signed, err := t.Auth.SigV4.Sign(r, user, password)
	if err != nil {
		return retryable(err)
	}
	c.authorization = signed[0][1]
	for _, f := range signed[1:] {
		c.signature = append(c.signature, header.Line{Name: f[0], Value: f[1]})
	}
	return nil
}

// retryable leaves an error that knows its class; any other is one of the request.
func retryable(err error) error {
	if _, ok := err.(retry.Classified); ok { //nolint:errorlint // as it is, not what it wraps
		return err
	}
	return &transport.Error{Class: retry.ClassRequest, Sent: retry.SentNothing, Phase: retry.PhaseConnect, Err: err}
}

// challenged reports whether the answer asks for credentials that can be
// given: the hop is then made again.
func (a *attempt) challenged(x *answer) bool {
	fields := fieldsOf(x.resp.Header)
	again := false
	switch status := x.resp.Status; {
	case status == 401 && x.auth.server != nil:
		again = x.auth.server.Challenged(fields.values("WWW-Authenticate"))
	case status == 407 && x.auth.proxy != nil:
		again = x.auth.proxy.Challenged(fields.values("Proxy-Authenticate"))
	case status < 300 && x.auth.probing:
		// Nobody asked: now the request itself.
		if x.auth.serverProbing {
			x.auth.server.Unchallenged()
		}
		if x.auth.proxyProbing {
			x.auth.proxy.Unchallenged()
		}
		again = true
	}
	if again {
		a.challenges++
	}
	return again && a.challenges <= auth.MaxChallenges
}

// withAuthorization puts the line where curl has it, after Host and
// Proxy-Authorization: request.Compose keeps Authorization away from a foreign
// origin, but .netrc's entry is that origin's own.
func withAuthorization(lines []header.Line, value string) []header.Line {
	at := 0
	for at < len(lines) && (header.Same(lines[at].Name, "Host") || header.Same(lines[at].Name, "Proxy-Authorization")) {
		at++
	}
	return slices.Insert(lines, at, header.Line{Name: "Authorization", Value: value})
}

// proxyLines are what a plain request through an HTTP proxy carries for it.
func proxyLines(p *transport.Proxy) (lines []request.HeaderLine) {
	for _, h := range p.Headers {
		lines = append(lines, request.HeaderLine{Name: h[0], Value: h[1], Remove: h[1] == ""})
	}
	return lines
}
