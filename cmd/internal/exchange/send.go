package exchange

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/header"
	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/cmd/internal/wire"
	"github.com/bidehttp/bide/retry"
)

// upgradable is the largest body that goes out whole before the server may switch to HTTP/2.
const upgradable = 16 << 10

// maxCut is how often one hop is sent again for a reused connection that broke
// off under it, as in curl.
const maxCut = 5

// maxDead is how many idle connections may turn out dead for one hop before
// the failure counts: more than the pool keeps.
const maxDead = 32

// send makes the hop a.at. An idle connection that is found dead before a byte
// of the request went out is replaced, and is no hop (R1.1).
func (a *attempt) send() (*answer, error) {
	settings, err := a.settings()
	if err != nil {
		return nil, err
	}
	for dead, cut := 0, 0; ; dead++ {
		if err := a.ended(retry.PhaseConnect); err != nil {
			return nil, err
		}
		x, reused, err := a.try(settings)
		switch {
		case errors.Is(err, wire.ErrHTTP11Required) && settings.HTTP != "1.1":
			// The server did nothing but ask for the older version (RFC 9113 §7):
			// a hop of its own.
			older := *settings
			older.HTTP, settings = "1.1", &older
		case err != nil && reused && dead < maxDead && diedIdle(err):
		case err != nil && reused && cut < maxCut && a.mayResend(err):
			cut++
			a.tellf("Connection died, retrying a fresh connect (retry count: %d)", cut)
		default:
			return x, err
		}
	}
}

// mayResend reports whether the request goes out once more after the reused
// connection that carried it ended without a byte of an answer: most likely the
// server had closed it before (RFC 9112 §9.3.1). Only curl's manners allow that
// (R1.1b): else one attempt is one, and the policy decides about another.
func (a *attempt) mayResend(err error) bool {
	var te *transport.Error
	if !a.op.AsCurl || !errors.As(err, &te) || te.Class != retry.ClassClosed || len(a.r.Hops) == 0 || a.r.Hops[len(a.r.Hops)-1].Timing.HeadIn > 0 {
		return false
	}
	return !a.at.body || a.op.Template.Body.Replay() == nil
}

// diedIdle: the connection failed and nothing of the request went out.
func diedIdle(err error) bool {
	var te *transport.Error
	return errors.As(err, &te) && te.Class == retry.ClassClosed && te.Sent == retry.SentNothing
}

func (a *attempt) settings() (*transport.Settings, error) {
	settingsFor := a.op.SettingsFor
	if settingsFor == nil {
		settingsFor = a.op.Client.SettingsFor
	}
	return settingsFor(a.target())
}

func (a *attempt) target() transport.Target {
	u := a.at.url
	return transport.Target{Scheme: u.Scheme, Host: u.ASCIIHost(), Port: u.EffectivePort()}
}

// ended is the error of a context that is over before anything was sent.
func (a *attempt) ended(phase retry.Phase) error {
	if a.ctx.Err() == nil {
		return nil
	}
	return &transport.Error{Class: endClass(a.ctx), Sent: retry.SentNothing, Phase: phase, Err: context.Cause(a.ctx)}
}

// endClass is the class of a context that is over: a cancellation, or a limit.
func endClass(ctx context.Context) retry.Class {
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return retry.ClassCanceled
	}
	return retry.ClassTimeout
}

// try sends the hop on one connection. reused says that it was an idle one.
func (a *attempt) try(settings *transport.Settings) (x *answer, reused bool, err error) {
	c := a.op.Client
	// Before the connection is taken: nothing is to be undone when it fails.
	var creds credentials
	if err := a.authenticate(&creds, settings); err != nil {
		return nil, false, err
	}
	var body io.ReadCloser
	var length int64
	if !creds.probing {
		if body, length, err = a.openBody(); err != nil {
			return nil, false, err
		}
	}
	began := c.Clock.Mono()
	conn, err := c.Pool.Get(a.ctx, a.target(), settings, c.Trace)
	if err != nil {
		closeBody(body)
		a.undialed(err)
		return nil, false, err
	}
	a.connected(conn)
	var room [8]header.Line // enough for most
	req, head, lines := a.compose(conn, settings, &creds, body, length, room[:0])
	x = a.newAnswer(conn)
	stop := a.watch(&x.ctx, &req)
	resp, err := wire.RoundTrip(&x.ctx, conn, &req, lines)
	stop()
	if err != nil {
		x.ctx.End()
		closeBody(body)
		if requested(err) {
			failed := resp.Timing // alone: the rest of resp is done with
			h := a.newHop(conn, lines, began, &failed)
			h.Err, h.End = err, c.Clock.Mono()
		}
		a.broken(resp)
		return nil, conn.Reused, err
	}
	if resp.Proto == "HTTP/1.0" {
		a.http10, conn.HTTP10 = true, true
	}
	x.resp, x.keyed, x.auth, x.expected = resp, head.Keyed, creds.challengeable, head.Expect
	x.upload, x.hop = body, int32(len(a.r.Hops))
	a.answered(a.newHop(conn, lines, began, &resp.Timing), resp)
	return x, conn.Reused, nil
}

// openBody opens the template's body from its start, where this hop sends it.
func (a *attempt) openBody() (io.ReadCloser, int64, error) {
	if !a.at.body {
		return nil, 0, nil
	}
	body, length, err := a.op.Template.Body.Open()
	if err != nil {
		var c retry.Classified
		if !errors.As(err, &c) {
			err = &transport.Error{Class: retry.ClassInput, Sent: retry.SentNothing, Phase: retry.PhaseSend, Err: err}
		}
		return nil, 0, err
	}
	return body, length, nil
}

func closeBody(body io.Closer) {
	if body != nil {
		// It was only read: an error of its closing loses nothing.
		_ = body.Close()
	}
}

// version is the HTTP version of the next request on conn, as request.HopState calls it.
func (a *attempt) version(conn *transport.Conn, s *transport.Settings) string {
	switch {
	case conn.ALPN == "h2", conn.ALPN == "h3":
		return "2"
	case s.HTTP == "1.0", a.http10, conn.HTTP10:
		// Who has answered in HTTP/1.0 is spoken to in it from then on, as curl does.
		return "1.0"
	}
	return "1.1"
}

// compose makes the request for this connection, and appends its lines to room.
func (a *attempt) compose(conn *transport.Conn, s *transport.Settings, creds *credentials, body io.ReadCloser, length int64, room []header.Line) (wire.Request, request.Head, []header.Line) {
	u, t, op := a.at.url, a.op.Template, a.op
	spoken := a.version(conn, s)
	hop := request.HopState{
		URL: u, HTTP: spoken,
		IncludeBody: a.at.body, BodyLength: length,
		Credentials: a.trusted(), Authorization: creds.authorization, Signature: creds.signature, Probe: creds.probing,
		Key: a.at.key, NoExpect: a.at.noExpect,
		ViaProxy:        conn.ViaProxy,
		Upgrade:         s.HTTP == "2" && u.Scheme == "http" && spoken == "1.1" && !conn.ViaProxy && !conn.Reused && length <= upgradable,
		UpgradeSettings: wire.UpgradeSettings,
	}
	if from := a.at.referer; from != nil {
		hop.Referer = from.Absolute()
	}
	if a.asksForRest() {
		hop.Range, hop.IfRange = strconv.FormatInt(op.Resume.Offset, 10)+"-", op.Resume.Validator
	}
	if op.Client.Jar != nil {
		hop.Cookie = op.Client.Jar.Header(a.cookieURL(), a.trusted(), op.Client.Clock.Wall())
	}
	if conn.ViaProxy && s.Proxy != nil {
		hop.ProxyAuthorization, hop.ProxyHeaders = creds.proxyAuthorization, proxyLines(s.Proxy)
	}
	head, lines := request.Compose(t, &hop, room)
	if creds.own && !hop.Credentials && creds.authorization != "" {
		lines = withAuthorization(lines, creds.authorization)
	}
	req := wire.Request{
		Method: a.at.method, Target: a.requestTarget(conn), Scheme: u.Scheme, HTTP10: spoken == "1.0", UpgradeH2C: head.Upgrade,
		IgnoreLength: op.IgnoreLength, Lenient: op.AsCurl || op.MaxFileSize > 0, Raw: op.Raw, HTTP09: op.HTTP09,
		Clock: op.Client.Clock, Progress: op.Uploaded, Trace: op.Client.Trace,
	}
	if spoken == "2" {
		req.Authority = u.HostHeader()
	}
	if body != nil {
		req.Body, req.Length = body, length
		switch {
		case head.Chunked, op.AsCurl && spoken == "1.0" && head.Unknown:
			req.Length = -1
		case head.Length > 0:
			req.Length = head.Length
		}
	}
	if head.Expect {
		if req.Expect = op.ExpectTimeout; req.Expect == 0 {
			req.Expect = time.Second
		}
	}
	return req, head, lines
}

// requestTarget is that of the hop on conn.
func (a *attempt) requestTarget(conn *transport.Conn) string {
	switch {
	case a.op.Template.RequestTarget != "":
		return a.op.Template.RequestTarget
	case conn.ViaProxy:
		return a.at.url.Absolute()
	}
	return a.at.url.RequestTarget()
}

// cookieURL is the hop's URL as cookies see it: a Host line of the user's own
// names whose cookies are meant (curl), as long as the first host is asked.
func (a *attempt) cookieURL() *request.URL {
	t := a.op.Template
	if !strings.EqualFold(a.at.url.Host, t.URL.Host) {
		return a.at.url
	}
	for _, l := range t.Headers {
		if strings.EqualFold(l.Name, "Host") && !l.Remove {
			return a.at.url.WithHost(l.Value)
		}
	}
	return a.at.url
}

// undialed keeps the facts of a connection that was not made.
func (a *attempt) undialed(err error) {
	var te *transport.Error
	if errors.As(err, &te) && te.Facts != nil {
		a.r.Dials = append(a.r.Dials, te.Facts.Dials...)
		a.tunneled(te.Facts)
	}
}

// tunneled keeps a proxy's answers to CONNECT.
func (a *attempt) tunneled(f *transport.Facts) {
	if a.op.NoConnectBlocks {
		return
	}
	for _, block := range f.ProxyBlocks {
		a.r.Blocks = append(a.r.Blocks, string(block))
	}
}

// connected keeps the facts of a connection that was made for this hop.
func (a *attempt) connected(conn *transport.Conn) {
	if !conn.Reused {
		a.r.Dials = append(a.r.Dials, conn.Facts.Dials...)
		a.tunneled(conn.Facts)
	}
}

// requested reports whether a request that failed was one: that of which
// nothing went out was none (R1.1).
func requested(err error) bool {
	var te *transport.Error
	return !errors.As(err, &te) || te.Sent != retry.SentNothing
}

// newHop records the hop that went out with lines.
func (a *attempt) newHop(conn *transport.Conn, lines []header.Line, began time.Duration, t *wire.Timing) *Hop {
	a.r.Hops = append(a.r.Hops, Hop{})
	h := &a.r.Hops[len(a.r.Hops)-1]
	h.Method, h.URL, h.Facts, h.Reused = a.at.method, a.at.url, conn.Facts, conn.Reused
	h.Referer, h.Start, h.Timing = header.Value(lines, "Referer"), began, t
	return h
}

// answered keeps what the answer to the hop tells.
func (a *attempt) answered(h *Hop, resp *wire.Response) {
	r, fields := &a.r, fieldsOf(resp.Header)
	h.Proto, h.Status, h.Location, h.End = resp.Proto, resp.Status, fields.get("Location"), h.Timing.Head
	r.Proto, r.Status, r.Header, r.Length = resp.Proto, resp.Status, resp.Header, resp.Length
	r.Blocks = append(r.Blocks, resp.Interim...)
	r.Blocks = append(r.Blocks, resp.Raw)
	if cache := a.op.Client.HSTS; cache != nil && a.at.url.Scheme == "https" {
		if field := fields.values("Strict-Transport-Security"); len(field) > 0 {
			cache.Learn(a.at.url.ASCIIHost(), field[0], a.op.Client.Clock.Wall())
		}
	}
	if jar := a.op.Client.Jar; jar != nil {
		jar.SetAll(a.cookieURL(), fields.values("Set-Cookie"), a.op.Client.Clock.Wall())
	}
}

// broken keeps what came of an answer that is none.
func (a *attempt) broken(resp *wire.Response) {
	a.r.Blocks = append(a.r.Blocks, resp.Interim...)
	if len(resp.Raw) > 0 {
		a.r.Blocks = append(a.r.Blocks, resp.Raw)
	}
}
