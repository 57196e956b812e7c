package httpretry

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"

	"github.com/bidehttp/bide/retry"
)

// DefaultMaxBody is how much of a request body without GetBody is kept in
// memory, so that it can be sent again.
const DefaultMaxBody = 1 << 20

// Transport is an http.RoundTripper that sends a request again, by way of
// another RoundTripper, as the retry contract says. The zero value retries with
// retry.DefaultPolicy over http.DefaultTransport. It is safe for concurrent use;
// its fields must not be changed once it is used, and it must not be copied.
//
// The package's documentation lists what it promises.
type Transport struct {
	// Base sends each attempt; nil is http.DefaultTransport. It must send one
	// request, or one after the other, for each call, and must honour the
	// request's context.
	Base http.RoundTripper

	// Policy of each operation; the zero value is retry.DefaultPolicy. A deadline
	// of the request's context (http.Client.Timeout is one) counts as
	// Policy.Deadline when it is the earlier: no wait begins that could not end in time.
	// A policy that fails its Check lets no request out.
	Policy retry.Policy

	// Clock and Rand are for tests and for repeatable runs; nil is the system's
	// clock, and math/rand/v2.
	Clock retry.Clock
	Rand  func() float64

	// Hold makes operations respect what an origin said to another one (R4.12).
	// Transports that share a Hold must share a Clock.
	Hold retry.Hold
	// Budget is a shared allowance of retries.
	Budget retry.Budget

	// IdempotencyKey makes the key of an operation whose request carries none; it
	// is called once for each, and "" is no key. nil makes none. See UnsafeKey.
	IdempotencyKey func(*http.Request) string
	// IdempotencyHeader is the field that carries the key; "" is Idempotency-Key.
	IdempotencyHeader string

	// RateLimitHeaders reads the usual rate-limit fields where Retry-After is
	// absent (R5.7).
	RateLimitHeaders bool

	// MaxBody is how many bytes of a request body without GetBody are kept in
	// memory as they are sent, so that they can be sent again; 0 is DefaultMaxBody,
	// a negative value keeps none. Once more was sent, the request is not replayable.
	MaxBody int64

	// HoldBody is how many bytes of a successful answer's body are read before
	// RoundTrip returns, so that one that breaks off among them is a failure like any
	// other (R2.2, R9.3); a longer one is delivered as it comes from there on, and an
	// event stream at once. 0 holds none.
	HoldBody int64

	// Observe is told each step, in order, in the goroutine of RoundTrip: of
	// concurrent requests concurrently.
	Observe func(*http.Request, retry.Event)

	once  sync.Once
	clock retry.Clock
}

// RoundTrip implements http.RoundTripper. Any complete answer is returned with a
// nil error, whatever its status: RecordFrom tells why there was no other
// attempt. Else the error is a *retry.Error, which holds the Record. The
// response's body must be closed, as always.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	o := t.operation(req)
	a, record, err := retry.Do(ctx, t.loop(o), o.attempt, o.discard)
	if o.body != nil {
		o.body.finish()
	}
	if err != nil {
		if a != nil && a.resp != nil {
			_ = a.resp.Body.Close()
		}
		cancel()
		return nil, err
	}
	resp := a.resp
	resp.Request = withRecord(req, record)
	resp.Body = deliver(a.ctx, resp.Body, cancel)
	return resp, nil
}

// CloseIdleConnections is for http.Client's method of that name.
func (t *Transport) CloseIdleConnections() { closeIdle(t.base()) }

func closeIdle(rt http.RoundTripper) {
	if c, ok := rt.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func (t *Transport) base() http.RoundTripper {
	if t.Base != nil {
		return t.Base
	}
	return http.DefaultTransport
}

// sharedClock is one for all operations: Hold compares their instants.
func (t *Transport) sharedClock() retry.Clock {
	t.once.Do(func() {
		if t.clock = t.Clock; t.clock == nil {
			t.clock = retry.SystemClock()
		}
	})
	return t.clock
}

// policy is that of one operation, bounded by its context's deadline.
func (t *Transport) policy(ctx context.Context, clock retry.Clock) retry.Policy {
	p := t.Policy
	if p == (retry.Policy{}) {
		p = retry.DefaultPolicy()
	}
	if at, bounded := ctx.Deadline(); bounded {
		if left := at.Sub(clock.Wall()); left > 0 && (p.Deadline == 0 || left < p.Deadline) {
			p.Deadline = left
		}
	}
	return p
}

func (t *Transport) operation(req *http.Request) *operation {
	clock := t.sharedClock()
	o := &operation{
		base: t.base(),
		req:  req,
		hold: t.HoldBody,
		describe: Describer{
			Policy: t.policy(req.Context(), clock), Clock: clock,
			IdempotencyHeader: t.IdempotencyHeader, RateLimitHeaders: t.RateLimitHeaders,
		},
	}
	keep := t.MaxBody
	switch {
	case keep < 0 || o.describe.Policy.Attempts == 1:
		keep = 0
	case keep == 0:
		keep = DefaultMaxBody
	}
	o.body = newBodySource(req, keep)
	o.header = o.describe.keyed(req, t.IdempotencyKey)
	return o
}

// loop is what the engine needs to know of an operation.
func (t *Transport) loop(o *operation) retry.Loop {
	l := retry.Loop{
		Policy: &o.describe.Policy,
		Clock:  o.describe.Clock,
		Rand:   t.Rand,
		Origin: origin(o.req.URL),
		Hold:   t.Hold,
		Budget: t.Budget,
	}
	if l.Rand == nil {
		l.Rand = rand.Float64
	}
	if o.body != nil {
		l.Replay = o.body.replay
	}
	if t.Observe != nil {
		l.Observe = func(ev retry.Event) { t.Observe(o.req, ev) }
	}
	return l
}
