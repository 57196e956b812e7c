// Package exchange makes one attempt: its hops, redirects, challenges and
// content decoding. It returns the facts and a retry.Outcome.
package exchange

import (
	"context"
	"io"
	"time"

	"github.com/bidehttp/bide/cmd/internal/cookies"
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
	Hold  retry.Hold   // may be nil: asked before each hop but the first, told of hops' minimums
	// SettingsFor gives the connection settings for a hop's target (proxy and
	// NO_PROXY depend on the host).
	SettingsFor func(t transport.Target) (*transport.Settings, error)
	Trace       transport.Trace // may be nil
}

// Operation is one URL's exchange across attempts: it remembers where the next
// attempt starts (R1.2). One goroutine at a time.
type Operation struct {
	Client           *Client
	Template         *request.Template
	Policy           retry.Policy // for the wait on a 3xx (R5.6) and what is transient
	RateLimitHeaders bool         // R5.7
	// Remaining is what is left of the deadline, for waits between hops; nil none.
	Remaining func() (left time.Duration, bounded bool)
	// MaxFileSize stops a larger body (class size); 0 none.
	MaxFileSize int64

	state opState
}

type opState struct{}

// Resume asks an attempt to continue a body (later: Range and If-Range).
type Resume struct {
	Offset    int64
	Validator string
}

// Attempt makes attempt number n. The Response is never nil: without a usable
// answer it still tells the hops and dials. The body is unread unless Outcome
// says that there is none; exactly one of Deliver and Discard must follow.
func (o *Operation) Attempt(ctx context.Context, n int) (*Response, retry.Outcome) {
	panic("skeleton")
}

// Response is the last hop's answer, and the facts of the whole attempt.
type Response struct {
	URL           *request.URL // of the last hop
	Method        string
	Proto         string
	Status        int
	Reason        string
	Header        []wire.Field
	Length        int64    // of the body as announced, -1 unknown
	Blocks        [][]byte // every raw header block in order: CONNECT, 1xx, redirects, 401, the final one
	Hops          []Hop
	Dials         []transport.Dial
	RedirectURL   string // where a redirect that was not followed would have gone
	Redirects     int
	SentBytes     int64  // bodies of all hops
	ReceivedBytes int64  // body bytes, all hops
	Coding        string // content coding decoded, "" none

	state respState
}

type respState struct{}

// Hop is one request of the attempt (contract §1).
type Hop struct {
	Method                                              string
	URL                                                 *request.URL
	Remote                                              string
	Local                                               string
	Proto                                               string
	TLS                                                 *transport.TLSFacts
	Reused                                              bool
	Facts                                               transport.Facts
	DNS, Connect, TLSTime, Send, FirstByte, Body, Total time.Duration
	Start                                               time.Duration // instant
	Timing                                              wire.Timing
	Status                                              int
	Location                                            string
	Wait                                                time.Duration // before the next hop (R5.6); 0 none
	HeaderOut, HeaderIn                                 int64
	Err                                                 error
}

// Deliver writes the decoded body to w and gives the connection back. The
// outcome is that of the whole attempt: o itself when the body arrived whole.
func (r *Response) Deliver(ctx context.Context, w io.Writer, o retry.Outcome) retry.Outcome {
	panic("skeleton")
}

// Discard gives the answer up: it is drained within 64 KiB and 500 ms in the
// background so that the connection can be used again, else closed (R9.1).
// Wait for it with Client.Quiesce before the process ends.
func (r *Response) Discard() { panic("skeleton") }

// Received is the number of body bytes so far, for meters; any goroutine.
func (r *Response) Received() int64 { panic("skeleton") }
