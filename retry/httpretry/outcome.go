package httpretry

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bidehttp/bide/retry"
)

// DefaultIdempotencyHeader is the field that carries an idempotency key unless
// another one is named.
const DefaultIdempotencyHeader = "Idempotency-Key"

// Describer puts what an exchange of net/http came to into the engine's words,
// for programs that write their own loop with retry.Do. It is plain data, safe
// for concurrent use.
type Describer struct {
	// Policy decides which statuses are failures.
	Policy retry.Policy
	// Clock is the loop's.
	Clock retry.Clock
	// IdempotencyHeader is the field that carries the key; "" is Idempotency-Key.
	IdempotencyHeader string
	// RateLimitHeaders reads the usual rate-limit fields where Retry-After is
	// absent (contract R5.7).
	RateLimitHeaders bool
}

// Outcome describes what came of req: a response, or an error, or a response and
// the error of reading its body. resp and err are those of http.RoundTripper or
// http.Client. After a redirect the response names the hop that counts; an error
// does not, then the method of req counts.
//
// With a context from Watch, Sent and Phase are facts of httptrace; else Sent
// is what the class of the error tells, and "maybe" where it tells nothing.
func (d Describer) Outcome(req *http.Request, resp *http.Response, err error) retry.Outcome {
	if o, ok := innerOutcome(err); ok {
		o.SeenAt, o.Stop, o.Err = d.Clock.Mono(), "", evidence(req.Context(), err) // of a loop below, with a clock of its own
		return o
	}
	hop := req
	if resp != nil && resp.Request != nil {
		hop = resp.Request
	}
	o := retry.Outcome{
		Method: method(hop),
		Keyed:  d.key(hop.Header) != "",
		Origin: origin(hop.URL),
		SeenAt: d.Clock.Mono(),
		Total:  -1,
	}
	if resp != nil {
		d.response(&o, resp)
	}
	if err != nil {
		broken(&o, factsOf(req.Context()).state(), resp != nil, err)
		d.proxy(&o, err)
		o.Err = evidence(req.Context(), err)
	}
	return o
}

// response fills o from the head of an answer.
func (d Describer) response(o *retry.Outcome, resp *http.Response) {
	o.Class = d.Policy.StatusClass(resp.StatusCode)
	o.Status = resp.StatusCode
	o.Sent, o.Phase = retry.SentMaybe, retry.PhaseResponse
	if resp.StatusCode == http.StatusMisdirectedRequest {
		o.Sent = retry.SentUnprocessed
	}
	o.Replayed = strings.EqualFold(strings.Trim(resp.Header.Get("Idempotent-Replayed"), " \t"), "true")
	o.Server, o.RateLimited = ReadServer(resp.Header.Values, d.Clock.Wall(), d.RateLimitHeaders)
}

// broken fills o from an error.
func broken(o *retry.Outcome, s state, inBody bool, err error) {
	o.Class = Classify(err)
	if o.Class == retry.ClassStatus {
		o.Class = retry.ClassProtocol // a status is an answer, not an error
	}
	if inBody {
		o.Phase = retry.PhaseBody
		switch o.Class {
		case retry.ClassClosed, retry.ClassRefused, retry.ClassConnect, retry.ClassTLS, retry.ClassCert:
			o.Class = retry.ClassTruncated
		}
		return
	}
	if s.refused { // net/http wanted to send it again
		o.Class = retry.ClassClosed
		if s.http2 {
			o.Class = retry.ClassRefused
		}
	}
	if s.seen && !s.got {
		o.Class = setupClass(o.Class, s.phase)
	}
	if o.Class == retry.ClassTruncated {
		o.Class = retry.ClassClosed // the head was not there yet
	}
	o.Sent = sent(o.Class, s, err)
	o.Phase = phase(o.Class, s)
}

// setupClass says more of an error that struck before there was a connection:
// what broke, or was said by text alone, belongs to the phase.
func setupClass(c retry.Class, p retry.Phase) retry.Class {
	switch {
	case c == retry.ClassClosed && p == retry.PhaseTLS:
		return retry.ClassTLS
	case c == retry.ClassProtocol && p == retry.PhaseTLS:
		return c // no TLS is spoken there
	case c == retry.ClassClosed || c == retry.ClassTruncated:
		return retry.ClassProxy
	case c == retry.ClassProtocol:
		return retry.ClassProxyRefused
	}
	return c
}

// sent is how much of the request the server may have acted on (R3.1).
func sent(c retry.Class, s state, err error) retry.Sent {
	switch {
	case s.seen && !s.sending, isIdleText(root(err).Error()), nothingWritten(err):
		return retry.SentNothing
	case c == retry.ClassRefused, c == retry.ClassCert && s.sending:
		return retry.SentUnprocessed
	case notActedOn(c):
		return retry.SentNothing
	}
	return retry.SentMaybe
}

func notActedOn(c retry.Class) bool {
	for _, row := range retry.Classes() {
		if row.Class == c {
			return row.NotActedOn
		}
	}
	return false
}

// phase is where an attempt without an answer ended.
func phase(c retry.Class, s state) retry.Phase {
	switch c {
	case retry.ClassResolve, retry.ClassNXDomain:
		return retry.PhaseResolve
	case retry.ClassConnect, retry.ClassProxy, retry.ClassProxyRefused, retry.ClassRequest:
		return retry.PhaseConnect
	case retry.ClassTLS, retry.ClassCert:
		if !s.got {
			return retry.PhaseTLS
		}
	}
	if !s.seen {
		return retry.PhaseResponse
	}
	return s.phase
}

// cause names the limit that ended an exchange, where net/http says "canceled".
func cause(ctx context.Context, err error) error {
	if why := context.Cause(ctx); why != nil && why != context.Canceled && Classify(err) == retry.ClassCanceled {
		return why
	}
	return err
}

// evidence is err without what does not belong into a text for people: the URL
// that http.Client puts in front, whose query may hold secrets, and a server's
// bytes as they came (http.Transport's errors have them from a proxy's reason phrase).
func evidence(ctx context.Context, err error) error {
	err = cause(ctx, err)
	var asked *url.Error
	if errors.As(err, &asked) && asked.Err != nil {
		err = asked.Err
	}
	text := err.Error()
	if strings.IndexFunc(text, unprintable) < 0 {
		return err
	}
	var b strings.Builder
	for _, r := range text {
		if unprintable(r) {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
	}
	return &escaped{text: b.String(), err: err}
}

func unprintable(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }

// escaped is an error with a text that cannot upset a terminal.
type escaped struct {
	text string
	err  error
}

func (e *escaped) Error() string { return e.text }
func (e *escaped) Unwrap() error { return e.err }

// innerOutcome is that of the last attempt of a loop that ran below.
func innerOutcome(err error) (retry.Outcome, bool) {
	var inner *retry.Error
	if err == nil || !errors.As(err, &inner) || inner.Record == nil {
		return retry.Outcome{}, false
	}
	o := retry.Outcome{Class: retry.ClassTimeout, Sent: retry.SentNothing, Phase: retry.PhaseConnect, Total: -1}
	if n := len(inner.Record.Attempts); n > 0 {
		o = inner.Record.Attempts[n-1].Outcome
	}
	switch inner.Reason {
	case retry.Canceled:
		o.Class = retry.ClassCanceled
	case retry.Usage:
		o.Class = retry.ClassRequest
	}
	return o, true
}

// key is the idempotency key that header carries, "" for none.
func (d Describer) key(header http.Header) string { return header.Get(d.keyHeader()) }

func (d Describer) keyHeader() string {
	if d.IdempotencyHeader != "" {
		return d.IdempotencyHeader
	}
	return DefaultIdempotencyHeader
}

func method(req *http.Request) string {
	if req.Method == "" {
		return http.MethodGet
	}
	return req.Method
}

// origin is "https://host:port" in lower case; "" of a URL that has none.
func origin(u *url.URL) string {
	if u == nil || u.Host == "" {
		return ""
	}
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	switch {
	case port != "":
	case scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
