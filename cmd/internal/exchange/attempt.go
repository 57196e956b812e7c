package exchange

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/header"
	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/cmd/internal/wire"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/httpretry"
)

// hopState is what a hop sends, as far as redirects change it.
type hopState struct {
	url       *request.URL
	method    string
	body      bool         // the template's body goes along
	key       bool         // the idempotency key may go along (R7.6)
	left      bool         // the first origin was left on the way, without --location-trusted
	noExpect  bool         // after a 417
	redirects int32        // followed so far
	referer   *request.URL // where a redirect came from that is to be told of; nil
}

func firstHop(t *request.Template) hopState {
	return hopState{url: t.URL, method: t.Method, body: t.Body != nil, key: t.KeyName != ""}
}

// attempt is one try: a chain of hops. What most of them need once lies in it
// and not behind a pointer: it is as long-lived as the Response.
type attempt struct {
	op  *Operation
	ctx context.Context
	at  hopState
	// challenges answered so far: a server that always has another is given up.
	challenges int32
	// http10: an answer was in HTTP/1.0.
	http10 bool

	r     Response
	hop   [1]Hop    // room for the first of r.Hops,
	block [1]string // and of r.Blocks
	first answer
}

// answer is what a hop gets: it is there from the request on, and a body to be
// read once it was answered.
type answer struct {
	live
	auth  challengeable
	keyed bool
	// expected: the request asked for 100 (Continue).
	expected bool
}

func (o *Operation) newAttempt(ctx context.Context, now time.Duration) *attempt {
	a := &attempt{op: o, ctx: ctx, at: firstHop(o.Template), r: Response{Length: -1, began: now}}
	a.r.at, a.r.Hops, a.r.Blocks = &a.at, a.hop[:0], a.block[:0]
	return a
}

// newAnswer makes the answer to what goes out on conn now.
func (a *attempt) newAnswer(conn *transport.Conn) *answer {
	x := &a.first
	if x.op != nil {
		x = new(answer)
	}
	x.op, x.r, x.conn = a.op, &a.r, conn
	x.ctx.Start(a.ctx)
	return x
}

// run makes hops until one is final, and fills o, which is empty.
func (a *attempt) run(o *retry.Outcome) {
	for {
		x, err := a.send()
		if err != nil {
			a.broke(err, o)
			return
		}
		a.outcome(x, o)
		next, err := a.next(x)
		if err != nil {
			x.settle()
			a.refused(err, o)
			return
		}
		if next == nil {
			a.final(x, o)
			return
		}
		a.rememberStart(x, next)
		x.give(next.url.SameOrigin(a.at.url))
		a.announce(next)
		if stop := a.pause(x, next, o); stop {
			return
		}
		a.at, *o = *next, retry.Outcome{}
	}
}

// announce tells -v, in curl's words, what comes next.
func (a *attempt) announce(next *hopState) {
	if a.op.Client.Trace == nil {
		return
	}
	a.tellf("Issue another request to this URL: '%s'", next.url.Redacted(false))
	if next.method != a.at.method {
		a.tellf("Switch from %s to %s", a.at.method, next.method)
	}
}

// tellf gives -v a line.
func (a *attempt) tellf(format string, args ...any) {
	if trace := a.op.Client.Trace; trace != nil {
		trace.Info(fmt.Sprintf(format, args...))
	}
}

// rememberStart is R1.2: an answered request that is not safe to send again is
// not sent again by the next attempt. A resend after 417 is the same request.
func (a *attempt) rememberStart(x *answer, next *hopState) {
	sent := retry.Outcome{Method: a.at.method, Keyed: x.keyed, Sent: retry.SentMaybe}
	if next.redirects > a.at.redirects && !a.op.Policy.Safe(sent) {
		start := *next
		a.op.start = &start
	}
}

// outcome says in the engine's words what the answer is, its body aside.
func (a *attempt) outcome(x *answer, o *retry.Outcome) {
	fields := fieldsOf(x.resp.Header)
	o.Class, o.Status = a.op.Policy.StatusClass(x.resp.Status), x.resp.Status
	o.Method, o.Keyed, o.Origin = a.at.method, x.keyed, a.at.url.Origin()
	o.Sent, o.Phase = retry.SentMaybe, retry.PhaseDone
	o.SeenAt, o.Total = x.resp.Timing.Head, -1
	if o.Status == 421 {
		o.Sent = retry.SentUnprocessed
	}
	o.Replayed = strings.EqualFold(strings.Trim(fields.get("Idempotent-Replayed"), " \t"), "true")
	if a.op.RateLimitHeaders || fields.has("Retry-After") { // mostly there is nothing to read
		o.Server, o.RateLimited = httpretry.ReadServer(fields.values, a.op.Client.Clock.Wall(), a.op.RateLimitHeaders)
	}
}

// broke is the outcome of a hop without an answer.
func (a *attempt) broke(err error, o *retry.Outcome) {
	*o = retry.Outcome{
		Class:  retry.ClassRequest,
		Status: a.r.Status,
		Method: a.at.method,
		Keyed:  a.at.key,
		Sent:   retry.SentNothing,
		Phase:  retry.PhaseConnect,
		Origin: a.at.url.Origin(),
		SeenAt: a.op.Client.Clock.Mono(),
		Total:  -1,
		Err:    err,
	}
	blame(o, err)
	var te *transport.Error
	if errors.As(err, &te) && te.ProxyRetryAfter != nil {
		o.Server, _ = httpretry.ReadServer(proxyFields(te), a.op.Client.Clock.Wall(), false)
	}
	a.r.ReceivedBytes = a.r.Received()
	a.r.expired(o)
}

// expired tells a time limit that struck once the connection was there in
// curl's words. How long it took and how far it came is the evidence.
func (r *Response) expired(o *retry.Outcome) {
	if o.Class != retry.ClassTimeout || o.Err == nil {
		return
	}
	switch o.Phase {
	case retry.PhaseSend, retry.PhaseResponse, retry.PhaseBody:
	default:
		return
	}
	if slow := (tooSlow{}); errors.As(o.Err, &slow) {
		o.Err = &told{o.Err, slow.Error()}
		return
	}
	received := strconv.FormatInt(r.ofBody(), 10)
	if r.live != nil && r.Length >= 0 {
		received += " out of " + strconv.FormatInt(r.Length, 10)
	}
	o.Err = &told{o.Err, fmt.Sprintf("Operation timed out after %d milliseconds with %s bytes received", (o.SeenAt - r.began).Milliseconds(), received)}
}

// told is an error in curl's words.
type told struct {
	error
	text string
}

func (t *told) Error() string { return t.text }
func (t *told) Unwrap() error { return t.error }

// blame fills o with what err knows: its class and, where it comes from the
// connection, how far the request went. An error that knows nothing leaves o.
func blame(o *retry.Outcome, err error) {
	var c retry.Classified
	if errors.As(err, &c) {
		o.Class = c.RetryClass()
	}
	var te *transport.Error
	if errors.As(err, &te) {
		o.Sent, o.Phase = te.Sent, te.Phase
	}
	switch {
	case errors.Is(err, retry.ErrBodyChanged):
		o.Class, o.Stop = retry.ClassInput, retry.BodyChanged
	case errors.Is(err, retry.ErrNotReplayable):
		o.Class, o.Stop = retry.ClassInput, retry.NotReplayable
	}
}

// proxyFields are the fields of a refusing CONNECT answer that say when to
// come back.
func proxyFields(te *transport.Error) func(string) []string {
	return func(name string) []string {
		switch {
		case strings.EqualFold(name, "Retry-After"):
			return te.ProxyRetryAfter
		case strings.EqualFold(name, "Date") && te.ProxyDate != "":
			return []string{te.ProxyDate}
		}
		return nil
	}
}

// refused is the outcome of a redirect that is not followed because it must not be.
func (a *attempt) refused(err error, o *retry.Outcome) {
	o.Class, o.Err = retry.ClassRedirect, err
	a.r.ReceivedBytes = a.r.Received()
}

// final takes the answer as the attempt's.
func (a *attempt) final(x *answer, o *retry.Outcome) {
	r, op := &a.r, a.op
	if op.Resume != nil && a.judge(x, o) {
		r.ReceivedBytes = r.Received()
		return
	}
	if n := len(x.resp.Codings); n > 0 && o.Class == retry.ClassNone && !op.Raw && !op.Template.TE {
		x.settle()
		o.Class, o.Phase = retry.ClassDecode, retry.PhaseBody
		o.Err = undecodable(words(fmt.Sprintf("Unsolicited Transfer-Encoding (%.40q) found", x.resp.Codings[n-1])))
		return
	}
	r.live = &x.live
	r.ReceivedBytes = r.Received()
	if s := o.Status; s == 408 || s == 421 {
		x.spent = true // R3.5
	}
	if !op.Raw {
		r.live.codings = bodyCodings(x.resp, op.Template.Compressed)
	}
	r.live.resumes = a.resumes(x)
	limit := op.MaxFileSize
	if limit > 0 && (x.resp.Vast || x.resp.Length > limit-r.ResumedFrom()) && o.Class == retry.ClassNone {
		x.settle()
		o.Class, o.Phase, o.Err = retry.ClassSize, retry.PhaseBody, tooLarge()
		return
	}
	if limit > 0 && (x.resp.Length < 0 || x.resp.Length > limit-r.ResumedFrom() || len(r.live.codings) > 0) {
		r.live.capped = true // of an error's body, only what is delivered counts
	}
}

// words are curl's for an error: it begins as its message does.
type words string

func (w words) Error() string { return string(w) }

// failure makes an error of this package's own.
func failure(class retry.Class, code exitcode.Code, phase retry.Phase, err error) error {
	return &transport.Error{Class: class, Code: code, Sent: retry.SentMaybe, Phase: phase, Err: err}
}

// fieldsOf gives header fields by name, in any case.
type fieldsOf []wire.Field

func (f fieldsOf) has(name string) bool {
	return slices.ContainsFunc(f, func(l wire.Field) bool { return header.Same(l.Name, name) })
}

func (f fieldsOf) get(name string) string {
	for i := range f {
		if header.Same(f[i].Name, name) {
			return f[i].Value
		}
	}
	return ""
}

func (f fieldsOf) values(name string) []string {
	var all []string
	for i := range f {
		if header.Same(f[i].Name, name) {
			all = append(all, f[i].Value)
		}
	}
	return all
}
