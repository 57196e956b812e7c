// Package exchange makes one attempt: its hops, redirects and content decoding.
// It returns the facts and a retry.Outcome; whether another attempt follows is
// the engine's business.
package exchange

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bidehttp/bide/cmd/internal/auth"
	"github.com/bidehttp/bide/cmd/internal/cookies"
	"github.com/bidehttp/bide/cmd/internal/hsts"
	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/cmd/internal/wire"
	"github.com/bidehttp/bide/retry"
)

// Client is what operations share. Safe for concurrent use.
type Client struct {
	Pool  *transport.Pool
	Clock retry.Clock
	Rand  func() float64
	Jar   *cookies.Jar // nil: cookies off
	HSTS  *hsts.Cache  // nil: off; redirects to http of its hosts go to https
	Hold  retry.Hold   // may be nil: asked before each hop but the first, told of hops' minimums
	// SettingsFor gives the connection settings for a hop's target (proxy and
	// NO_PROXY depend on the host), unless the Operation has its own.
	SettingsFor func(t transport.Target) (*transport.Settings, error)
	Trace       transport.Trace // may be nil

	drains drains
}

// Operation is one URL's exchange across attempts: it remembers where the next
// attempt starts (R1.2). One goroutine at a time.
type Operation struct {
	*Settings
	Template *request.Template
	Policy   *retry.Policy // not nil: for the wait on a 3xx (R5.6) and what is transient
	// Continue lets an attempt go on from where the body of the one before it
	// broke off: the caller keeps what Deliver wrote until then.
	Continue bool
	// Resume is what the next attempt goes on from; Deliver sets it. nil: it
	// begins from zero.
	Resume *Resume
	// From is what an earlier run left (-C), where attempts begin that have
	// nothing better; nil, also once the server has another body: from zero. It
	// may be without a validator: then, as in curl, only a part that begins there
	// is accepted.
	From *Resume
	// Uploaded, when not nil, counts the bytes of request bodies as they go out.
	Uploaded *atomic.Int64

	sessions map[string]*auth.Session // by origin; "" is the proxy's

	asking bool      // Monitor has been called: requests ask for a state
	start  *hopState // of the next attempt; nil: the template's request
}

// Settings are what Operations of one kind share. They are not changed while one
// of these runs.
type Settings struct {
	Client           *Client
	RateLimitHeaders bool // R5.7
	// SettingsFor takes the place of the Client's; nil leaves it.
	SettingsFor func(t transport.Target) (*transport.Settings, error)
	// MaxFileSize stops a larger body (class size), counted as it is delivered; 0 none.
	MaxFileSize int64
	// LimitRate is how many bytes a second are sent and received at most; 0 any.
	LimitRate int64
	LowSpeed  LowSpeed
	// HeadOnly leaves bodies unread (-I with another method than HEAD).
	HeadOnly bool
	// NoConnectBlocks keeps a proxy's answers to CONNECT out of Response.Blocks.
	NoConnectBlocks bool
	// ExpectTimeout is how long a body waits for 100 (Continue); 0 is curl's second.
	ExpectTimeout time.Duration
	// AsCurl lets a request go out once more, whatever its method, where a reused
	// connection broke off without a byte of an answer (R1.1b), takes a
	// Content-Length that no number can hold as none (so does MaxFileSize, to tell
	// that it is too large), and sends no upload of unknown length by HTTP/1.0.
	AsCurl       bool
	IgnoreLength bool // --ignore-content-length
	Raw          bool // --raw: no coding is decoded
	HTTP09       bool // --http0.9
	// Poll follows a 303 to the result of what was accepted; see Monitor.
	Poll bool
}

// Attempt makes attempt number n. The Response is never nil: without a usable
// answer it still tells the hops and dials. The body is unread unless Outcome
// has an error; exactly one of Deliver and Discard should follow, a second call
// of either does nothing.
//
// ctx bounds the attempt up to its return; the body is bound to the ctx of
// Deliver. Where it is one that retry.Do gave, waits between hops keep to the
// operation's deadline.
func (o *Operation) Attempt(ctx context.Context, n int) (_ *Response, outcome retry.Outcome) {
	if o.Resume == nil {
		o.Resume = o.From
	}
	a := o.newAttempt(ctx, o.Client.Clock.Mono())
	if o.start != nil {
		a.at = *o.start
	}
	a.run(&outcome)
	if o.Resume != nil && !outcome.Continued && outcome.Class != retry.ClassNone {
		// No word on the body: its rest is asked for once more.
		outcome.Resumable, outcome.Progress, outcome.Total = true, o.Resume.Offset, o.Resume.Total
	}
	o.tell(outcome.Err)
	return &a.r, outcome
}

// MovedTo is the origin at which the next attempt starts where that is another
// hop than the first (R1.2), "" where it is not.
func (o *Operation) MovedTo() string {
	if o.start == nil {
		return ""
	}
	return o.start.url.Origin()
}

// tell shows -v an error that no connection has told of.
func (o *Operation) tell(err error) {
	if o.Client.Trace == nil || err == nil {
		return
	}
	if te, ok := errors.AsType[*transport.Error](err); ok && te.Facts != nil {
		return
	}
	o.Client.Trace.Info(err.Error())
}

// Response is the last hop's answer, and the facts of the whole attempt. Its
// fields are settled when Attempt, Deliver and Discard return.
type Response struct {
	Proto         string
	Status        int
	Header        []wire.Field
	Length        int64    // of the body as announced, -1 unknown
	Blocks        []string // every raw header block in order: CONNECT, 1xx, redirects, 401, the final one; after Deliver the trailers
	Hops          []Hop
	Dials         []transport.Dial
	RedirectURL   string // where a redirect that was not followed would have gone
	Redirects     int
	ReceivedBytes int64 // body bytes, all hops, as far as read when Attempt or Deliver returned
	// Resumed is what was held of the body that goes on here; nil: it begins.
	Resumed *Resume
	// Overtook: the answer is whole, but the request's body did not go out whole.
	Overtook bool

	began time.Duration // instant of the attempt's start
	at    *hopState     // of the last hop
	past  atomic.Int64  // body bytes of the hops before the last
	live  *live         // the unread body; nil none
}

// Hop is one request of the attempt (contract §1).
type Hop struct {
	Method   string
	URL      *request.URL
	Facts    *transport.Facts // of its connection
	Reused   bool
	Proto    string
	Status   int
	Referer  string        // as sent, "" none
	Location string        // as received
	Start    time.Duration // instant
	End      time.Duration // instant of its body's end, or of the last that was seen of it
	Timing   *wire.Timing  // with what went over the wire
	BodyIn   int64         // as it came over the wire, as far as read, as in ReceivedBytes
	Wait     time.Duration // before the next hop (R5.6, R4.12); 0 none
	Err      error         // why there is no answer; nil where there is one
}

// Send is how long the request took to go out whole; 0 where it did not.
func (h *Hop) Send() time.Duration { return max(h.Timing.Sent-h.Timing.Start, 0) }

// FirstByte is the wait from the request's last byte to the answer's first: 0
// where the answer overtook it.
func (h *Hop) FirstByte() time.Duration {
	return max(h.Timing.FirstByte-max(h.Timing.Sent, h.Timing.Start), 0)
}

// Body is how long the body took; 0 where it was not delivered.
func (h *Hop) Body() time.Duration {
	if h.Err != nil {
		return 0
	}
	return h.End - h.Timing.Head
}

// Total is the time from Start to End.
func (h *Hop) Total() time.Duration { return h.End - h.Start }

// Continued reports whether the body goes on at byte ResumedFrom, where the one
// before it broke off; a 416 says that nothing is missing, and there is no body.
func (r *Response) Continued() bool { return r.Resumed != nil }

// ResumedFrom is where the body goes on, 0 where it begins.
func (r *Response) ResumedFrom() int64 {
	if r.Resumed == nil {
		return 0
	}
	return r.Resumed.Offset
}

// URL is that of the last hop.
func (r *Response) URL() *request.URL { return r.at.url }

// Method is that of the last hop.
func (r *Response) Method() string { return r.at.method }

// SentBytes is the size of all hops' request bodies, as far as they went out.
func (r *Response) SentBytes() (n int64) {
	for i := range r.Hops {
		n += r.Hops[i].Timing.BodyOut
	}
	return n
}

// Received is the number of body bytes so far, of all hops, for meters; any
// goroutine, once Attempt has returned.
func (r *Response) Received() int64 { return r.past.Load() + r.ofBody() }

// Arrived is how much of the whole body is there, what earlier attempts brought
// included, but not the bodies of redirects; otherwise like Received.
func (r *Response) Arrived() int64 { return r.ResumedFrom() + r.ofBody() }

// ofBody is what has come of the last answer's body.
func (r *Response) ofBody() int64 {
	if r.live == nil {
		return 0
	}
	return r.live.resp.Body.Received()
}

// Rest is what a later run may go on from if the body breaks off, its Offset
// aside; nil when it has to begin again.
func (r *Response) Rest() *Resume {
	if r.live == nil {
		return nil
	}
	return r.live.rest()
}

// Whole is the size of the whole body as far as announced, -1 unknown.
func (r *Response) Whole() int64 {
	if r.Continued() && r.live != nil && r.live.resumes {
		return r.Resumed.Total
	}
	return r.Length
}

// drains are the bodies that are read to their end in the background.
type drains struct {
	mu     sync.Mutex
	ending map[*live]struct{}
	wg     sync.WaitGroup
}

// Quiesce ends what Discard left running: bodies that are still being drained
// are given up and their connections closed. It returns when nothing runs any
// more; the Client may be used again afterwards.
func (c *Client) Quiesce() {
	c.drains.mu.Lock()
	for l := range c.drains.ending {
		l.ctx.Cancel(context.Canceled)
	}
	c.drains.mu.Unlock()
	c.drains.wg.Wait()
}
