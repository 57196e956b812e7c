package wire

import (
	"bufio"
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/header"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
)

// flight is one request on its way, on HTTP/1 or HTTP/2, and its answer.
type flight struct {
	ctx   context.Context
	c     *transport.Conn
	clock retry.Clock
	wake  waker
	resp  Response
	up    *upload // nil when head and body went out in one write
	trace *tracer // nil when nobody looks
	alone bool    // the method is HEAD: no body comes
	h2c   bool    // the request asks for HTTP/2
	out   bool    // a byte of the request went out
	begun bool    // a byte of the final answer, or of the 1xx that is being read, is there
	// dropped: the answer does not want the rest of the upload.
	dropped bool
}

// begin prepares for r, of which it keeps what is needed to the answer's end.
func (f *flight) begin(ctx context.Context, c *transport.Conn, r *Request) {
	f.ctx, f.c, f.clock, f.trace = ctx, c, r.Clock, newTracer(r.Trace)
	f.alone, f.h2c = r.Method == "HEAD", r.UpgradeH2C
	f.wake.start(ctx, c.Conn)
}

// flight1 is one request on HTTP/1 and its answer, all that lives and dies
// together: it is the source of the body, too.
type flight1 struct {
	flight
	keep  bool // the connection may be used again
	ended bool // the body
	kind  framing
	left  int64        // of framedLength
	ck    *chunkReader // of framedChunked
	body  Body
}

func roundTrip1(ctx context.Context, c *transport.Conn, r *Request, lines []header.Line) (*Response, error) {
	if c.Buf == nil {
		c.Buf = bufio.NewReaderSize(c, readerSize)
	}
	f := new(flight1)
	f.begin(ctx, c, r)
	resp, err := f.run(r, lines)
	if err != nil {
		f.wake.release()
		if f.up != nil {
			f.up.abandon()
		}
		_ = c.Close()
		f.figures()
	}
	return resp, err
}

func (f *flight1) run(r *Request, lines []header.Line) (*Response, error) {
	resp := &f.resp
	resp.Timing.Start = f.clock.Mono()
	h, err := f.send(r, lines)
	if err == nil && h.status == 0 {
		h, err = f.final()
	}
	switch {
	case errors.Is(err, errUpgraded):
		return f.upgraded()
	case errors.Is(err, errNoHead):
		return resp, f.headless(r, err)
	case err != nil:
		return resp, f.failed(err)
	}
	last := ofConnection(lines, "close")
	d, err := h.delimit(r, last, f.c.ViaProxy)
	if err != nil {
		resp.Raw = beforeFault(h.raw, err)
		return resp, f.failed(err)
	}
	resp.Timing.Head = h.at
	f.settle(h.status)
	resp.Proto, resp.Status = h.proto(), h.status
	resp.Header, resp.Raw = h.fields, h.raw
	f.land(d, r.Raw)
	return resp, nil
}

// beforeFault is what of a head stood before the field that is wrong.
func beforeFault(raw string, err error) string {
	var reply *replyError
	if !errors.As(err, &reply) || reply.about == "" {
		return ""
	}
	size := 0
	for line := range strings.Lines(raw) {
		if name, _, _ := strings.Cut(line, ":"); header.Same(name, reply.about) {
			return raw[:size]
		}
		size += len(line)
	}
	return ""
}

// headless makes the response of HTTP/0.9, bytes without a head, where that is allowed.
func (f *flight1) headless(r *Request, err error) error {
	switch {
	case !r.HTTP09 && isEOF(err):
		return f.failed(err)
	case len(f.resp.Interim) > 0 || f.c.Reused || r.HTTP09 && f.alone:
		return f.failed(&replyError{code: exitcode.WeirdReply, text: "Invalid status line"})
	case !r.HTTP09:
		return f.failed(&replyError{code: exitcode.BadProtocol, text: "Received HTTP/0.9 when not allowed"})
	}
	f.resp.Timing.Head = f.clock.Mono()
	f.settle(0)
	f.resp.Proto = "HTTP/0.9"
	f.land(delimit{kind: framedClose, length: -1}, r.Raw)
	return nil
}

// figures brings those of the upload up to date.
func (f *flight) figures() Timing {
	t := &f.resp.Timing
	if f.up != nil {
		t.BodyOut = f.up.sent.Load()
		if f.up.whole() {
			t.Sent = time.Duration(f.up.end.Load())
		}
	}
	return *t
}

func (f *flight) uploaded() int64 {
	if f.up != nil {
		return f.up.sent.Load()
	}
	return f.resp.Timing.BodyOut
}

func (f *flight) cut() bool { return f.up != nil && !f.up.whole() }

func (f *flight) sending() bool { return f.up.runs() }

// send writes the head and starts the body. It returns a head when the final
// answer came before the body was asked for.
func (f *flight) send(r *Request, lines []header.Line) (head, error) {
	t := &f.resp.Timing
	m, err := newMessage(f.c.Head[:0], r, lines)
	if err != nil {
		return head{}, err
	}
	if m.body == nil { // else it may be long
		f.c.Head = m.buf
	}
	f.trace.headerOut(m.buf[:m.head])
	f.trace.dataOut(m.body)
	// Others that have an answer to read come first: requests that go out one
	// right after the other wake the server, and this process for the answers, once.
	runtime.Gosched()
	n, err := f.c.Write(m.buf)
	f.out = n > 0
	t.HeadOut = int64(min(n, m.head))
	if n > m.head {
		t.BodyOut = int64(n - m.head)
		advance(r.Progress, t.BodyOut)
	}
	if err != nil {
		return f.answered(err)
	}
	if m.complete {
		t.Sent = f.clock.Mono()
		return head{}, nil
	}
	f.up = newUpload(f, r)
	if r.Expect > 0 {
		h, err := f.await100(r.Expect)
		if err != nil || h.status >= 300 {
			f.up.skip()
			return h, err
		}
		go f.up.run()
		return h, nil
	}
	go f.up.run()
	return head{}, nil
}

// answered looks for an answer after a write failed with werr: a server may
// refuse a request before it has read it, and close.
func (f *flight) answered(werr error) (head, error) {
	if f.ctx.Err() != nil {
		return head{}, werr
	}
	f.wake.readBy(time.Now().Add(afterWriteError))
	h, err := f.final()
	var reply *replyError
	if err != nil && !errors.As(err, &reply) && !errors.Is(err, errNoHead) {
		return head{}, &writeError{werr}
	}
	f.up = &upload{f: f, err: werr, done: make(chan struct{})}
	f.up.sent.Store(f.resp.Timing.BodyOut)
	close(f.up.done)
	return h, err
}

// afterWriteError is how long an answer is looked for on a connection that
// takes no more bytes; such a connection is nearly always at its end already.
const afterWriteError = 2 * time.Second

// writeError marks an error of sending.
type writeError struct{ err error }

func (e *writeError) Error() string { return e.err.Error() }
func (e *writeError) Unwrap() error { return e.err }

// await100 waits up to limit for an answer to the head (RFC 9110 §10.1.1). No
// head means: send the body.
func (f *flight) await100(limit time.Duration) (head, error) {
	f.wake.readBy(time.Now().Add(limit))
	_, err := f.c.Buf.Peek(1)
	f.wake.readBy(time.Time{})
	if errors.Is(err, os.ErrDeadlineExceeded) && f.ctx.Err() == nil {
		return head{}, nil
	}
	if err != nil {
		return head{}, err
	}
	return f.next(100)
}

// final reads heads up to the final one.
func (f *flight) final() (head, error) { return f.next(0) }

// next reads heads up to the final one, or up to the 1xx answer until, of which
// it returns none.
func (f *flight) next(until int) (head, error) {
	resp, t := &f.resp, &f.resp.Timing
	for {
		err := checkPrefix(f.c.Buf)
		f.begun = err == nil || errors.Is(err, errNoHead)
		var now time.Duration
		if f.begun {
			now = f.clock.Mono()
		}
		if t.FirstByte == 0 {
			t.FirstByte = now
		}
		if err != nil {
			if f.begun { // what came is an answer's beginning, if a short one
				t.HeadIn += int64(f.c.Buf.Buffered())
			}
			return head{}, err
		}
		atHand := f.c.Buf.Buffered()
		raw, err := readBlock(f.c.Buf, maxHeads-int(t.HeadIn), f.trace.headerIn())
		t.HeadIn += int64(len(raw))
		if err != nil {
			resp.Raw = raw[:strings.LastIndexByte(raw, '\n')+1]
			return head{}, err
		}
		h, err := parseHead(raw)
		if err != nil || h.status >= 200 {
			if h.at = now; len(raw) > atHand {
				h.at = f.clock.Mono()
			}
			return h, err
		}
		if h.status == 101 {
			if err := f.switched(&h); !errors.Is(err, errUpgraded) {
				return head{}, err
			}
			resp.Interim = append(resp.Interim, raw)
			return head{}, errUpgraded
		}
		resp.Interim = append(resp.Interim, raw)
		if len(resp.Interim) > maxInterim {
			return head{}, &replyError{code: exitcode.WeirdReply, text: "Too many informational responses"}
		}
		if h.status == until {
			return head{}, nil
		}
	}
}

// settle decides what a final answer does to an upload on its way: a failure
// or a redirect ends it, a success lets it go on.
func (f *flight) settle(status int) {
	if f.up == nil {
		return
	}
	f.up.overtaken()
	if status == 0 || status >= 300 {
		f.dropped = true
		f.up.abandon()
	}
}

// unsent is the error of an upload that a success overtook and that broke off
// afterwards; nil when it is whole, or the answer ended it.
func (f *flight) unsent() error {
	up := f.up
	if up.whole() || f.dropped {
		return nil
	}
	broken := up.failure()
	var input *inputError
	switch {
	case errors.As(broken, &input):
		return fault(retry.ClassInput, exitcode.Input, retry.SentMaybe, retry.PhaseSend, input)
	case f.ctx.Err() != nil:
		return ended(f.ctx, retry.SentMaybe, retry.PhaseSend, "while sending the request")
	case broken == nil:
		broken = errors.New("the connection was closed before the request was sent")
	}
	return fault(retry.ClassClosed, exitcode.Send, retry.SentMaybe, retry.PhaseSend, sendFailure(broken))
}

func (f *flight) sentAny() retry.Sent {
	if f.out {
		return retry.SentMaybe
	}
	return retry.SentNothing
}

// failed gives an error before the final head its class.
func (f *flight) failed(err error) error {
	sent := f.sentAny()
	phase, where := retry.PhaseResponse, "while waiting for the response"
	if f.up == nil && f.resp.Timing.Sent == 0 || f.up != nil && !f.up.whole() {
		phase, where = retry.PhaseSend, "while sending the request"
	}
	var input *inputError
	var upErr error
	if f.up != nil {
		upErr = f.up.failure()
	}
	if errors.As(upErr, &input) || errors.As(err, &input) {
		return fault(retry.ClassInput, exitcode.Input, sent, retry.PhaseSend, input)
	}
	if f.ctx.Err() != nil {
		return ended(f.ctx, sent, phase, where)
	}
	var typed *transport.Error
	if errors.As(err, &typed) {
		return typed
	}
	var reply *replyError
	var write *writeError
	switch {
	case errors.As(err, &reply), transport.Alert(err, phase) != nil:
	case errors.As(err, &write):
		return fault(retry.ClassClosed, exitcode.Send, sent, retry.PhaseSend, sendFailure(write.err))
	case upErr != nil:
		return fault(retry.ClassClosed, exitcode.Send, sent, retry.PhaseSend, sendFailure(upErr))
	}
	return beforeHead(err, sent, f.begun)
}

// tracer shows a request's steps to a transport.Trace, one at a time: an
// upload and the answer's head may come at once. Nobody looks at those of nil.
type tracer struct {
	to transport.Trace
	mu sync.Mutex
}

func newTracer(to transport.Trace) *tracer {
	if to == nil {
		return nil
	}
	return &tracer{to: to}
}

func (t *tracer) wantsData() bool { return t != nil && t.to.WantsData() }

func (t *tracer) headerOut(b []byte) {
	if t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.to.HeaderOut(b)
	}
}

// headerIn is nil when nobody looks.
func (t *tracer) headerIn() func([]byte) {
	if t == nil {
		return nil
	}
	return func(b []byte) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.to.HeaderIn(b)
	}
}

// trailerIn shows the lines of a trailer section without the empty one after
// them: most bodies have none.
func (t *tracer) trailerIn() func([]byte) {
	see := t.headerIn()
	if see == nil {
		return nil
	}
	return func(line []byte) {
		if len(line) > len("\r\n") {
			see(line)
		}
	}
}

func (t *tracer) dataOut(b []byte) {
	if len(b) > 0 && t.wantsData() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.to.DataOut(b)
	}
}

func (t *tracer) dataIn(b []byte) {
	if len(b) > 0 && t.wantsData() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.to.DataIn(b)
	}
}
