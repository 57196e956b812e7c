// Package wire speaks HTTP/1, HTTP/2 and HTTP/3 on connections that transport made: one
// request, its informational answers and its response, with nothing resent.
package wire

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/bidehttp/bide/cmd/internal/header"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
)

// Field is one field of an answer's head or trailer, in the order and case of the wire.
type Field struct{ Name, Value string }

// Request is one request as it goes out, its header lines aside.
type Request struct {
	Method    string
	Target    string // request-target: origin-form, absolute-form or as --request-target says
	Scheme    string // for HTTP/2
	Authority string // for HTTP/2, unless a Host line says otherwise
	// Body is read once; nil is no body. An *os.File (or an io.LimitedReader on
	// one) goes by sendfile where the connection is bare TCP.
	// When the answer or the end of ctx comes while a Read of it blocks, RoundTrip
	// does not wait for that Read: its bytes are dropped when it returns.
	Body io.Reader
	// Length of the body; -1 is unknown (chunked on HTTP/1.1).
	Length int64
	// Expect waits up to this for 100 (Continue) before the body; 0 does not wait.
	// The Expect line itself is one of the head.
	Expect time.Duration
	// HTTP10 speaks HTTP/1.0 on HTTP/1.
	HTTP10 bool
	// IgnoreLength reads the body to the connection's end (--ignore-content-length).
	IgnoreLength bool
	// UpgradeH2C says that the head asks for HTTP/2 (RFC 7540 §3.2): a 101 that grants
	// it is obeyed. The body must be one that goes out with the head.
	UpgradeH2C bool
	// Lenient takes an answer whose Content-Length is too large for a number as
	// one without a length, as curl does.
	Lenient bool
	// Raw leaves transfer codings undecoded (--raw).
	Raw bool
	// HTTP09 accepts a response without a head (--http0.9).
	HTTP09 bool
	// Clock is the injected one. Its monotonic reading alone is used.
	Clock retry.Clock
	// Progress, when not nil, counts the body bytes that went out, as they go;
	// meters poll it.
	Progress *atomic.Int64
	// Trace may be nil. Its methods are called one at a time, but DataOut may
	// come from another goroutine than the others.
	Trace transport.Trace
}

// Response is the final (not 1xx) answer's head, and its body to be read.
type Response struct {
	Proto   string // "HTTP/1.1", "HTTP/1.0", "HTTP/2"
	Status  int
	Header  []Field  // as received
	Interim []string // raw blocks of the 1xx answers before it
	Raw     string   // raw block of this answer with its empty line; HTTP/2: in curl's rendering
	Length  int64    // of the body, -1 unknown; 0 where the method or status has none
	Codings []string // transfer codings left on the body, in the order applied ("gzip"); chunked is already off
	Body    *Body    // never nil
	Vast    bool     // the announced length is too large for a number
	Timing  Timing
}

// Timing holds instants on the injected monotonic clock and byte counts. In a
// Response they are those at the head: an upload that a success (2xx) overtook
// goes on while the body is read, and Body.Uploaded tells how far it came.
type Timing struct {
	Start     time.Duration // the request began to be written
	Sent      time.Duration // its last byte was written; 0 when it was not
	FirstByte time.Duration // of the answer
	Head      time.Duration // the final head was complete (R4.6)
	HeadOut   int64         // bytes of the request's head
	BodyOut   int64         // bytes of its body that went out
	HeadIn    int64         // bytes of all heads received
}

// RoundTrip sends r on c, with the lines of its head, which are complete and
// ordered, and reads the head of the answer. On HTTP/1 the lines are written
// exactly as they stand (Host included); for HTTP/2 they are translated. Neither
// r nor lines are kept. RoundTrip never sends twice.
//
// Errors are *transport.Error with class, phase and Sent as facts. When ctx ends,
// what blocks is woken at once, in the body too, and the error wraps
// context.Cause(ctx); the class is then timeout, unless the cause is a
// cancellation (canceled). On error the connection must be closed; RoundTrip
// has done so; the Response that comes with it has its Timing and, on HTTP/1, the
// Interim blocks and what came of the final one, in whole lines, and nothing else.
func RoundTrip(ctx context.Context, c *transport.Conn, r *Request, lines []header.Line) (*Response, error) {
	if ctx.Err() != nil {
		_ = c.Close()
		return &Response{}, ended(ctx, retry.SentNothing, retry.PhaseSend, "before the request was sent")
	}
	switch c.ALPN {
	case "h2":
		return roundTrip2(ctx, c, r, lines)
	case "h3":
		return roundTrip3(ctx, c, r, lines)
	}
	return roundTrip1(ctx, c, r, lines)
}
