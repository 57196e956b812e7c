package exchange

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/outfile"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/cmd/internal/wire"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/tied"
)

// What is read of a body that is given up (R9.1).
const (
	drainLimit  = 64 << 10
	drainWithin = 500 * time.Millisecond
)

// live is a body that is not yet read, and the connection below it.
type live struct {
	op     *Operation
	r      *Response
	conn   *transport.Conn
	ctx    tied.Context // of request and body
	resp   *wire.Response
	upload io.Closer // the request's body; nil none

	src     io.Reader // of the decoded body; nil until it is asked for
	codings []string  // to be taken off, the outermost last
	part    int64     // of the body that this answer continues it by; 0 none
	hop     int32     // index of the hop in r.Hops
	capped  bool      // op.MaxFileSize bounds the whole body delivered
	resumes bool      // the rest may be asked for if the body breaks off: see rest
	spent   bool      // the connection must not be used again (R3.5)
	taken   bool      // Deliver or Discard has it
}

// settle gives the connection back, or closes it where the body is not whole.
func (l *live) settle() {
	keep := l.resp.Body.Reusable() && !l.spent
	// On a whole body it does nothing to the connection.
	_ = l.resp.Body.Close()
	l.ctx.End()
	closeBody(l.upload)
	if keep {
		l.op.Client.Pool.Put(l.conn)
		return
	}
	_ = l.conn.Close()
}

// give gives the body of a hop that is not the last: wait says that the next
// hop wants the connection, so it pays to see the body's end first.
func (l *live) give(wait bool) {
	if wait {
		l.resp.Body.Drain(drainLimit, drainWithin)
		l.r.Hops[l.hop].BodyIn = l.resp.Body.Received()
		l.r.past.Add(l.resp.Body.Received())
		l.settle()
		return
	}
	l.ctx.Untie()
	l.op.Client.drain(l, func() { l.r.past.Add(l.resp.Body.Received()) })
}

// drain reads l to its end in the background.
func (c *Client) drain(l *live, then func()) {
	c.drains.mu.Lock()
	if c.drains.ending == nil {
		c.drains.ending = make(map[*live]struct{})
	}
	c.drains.ending[l] = struct{}{}
	c.drains.wg.Add(1)
	c.drains.mu.Unlock()
	go func() {
		defer c.drains.wg.Done()
		l.resp.Body.Drain(drainLimit, drainWithin)
		if then != nil {
			then()
		}
		l.settle()
		c.drains.mu.Lock()
		delete(c.drains.ending, l)
		c.drains.mu.Unlock()
	}()
}

// Discard gives the answer up: it is drained within 64 KiB and 500 ms in the
// background so that the connection can be used again, else closed (R9.1).
// Call Client.Quiesce before the process ends.
func (r *Response) Discard() {
	l := r.live
	if l == nil || l.taken {
		return
	}
	l.taken = true
	l.ctx.Untie()
	switch {
	case l.spent:
		l.settle()
	case l.atHand():
		// Nothing to wait for: the next attempt finds the connection at once.
		l.resp.Body.Drain(drainLimit, drainWithin)
		r.Hops[l.hop].BodyIn = l.resp.Body.Received()
		r.ReceivedBytes = r.Received()
		l.settle()
	default:
		l.op.Client.drain(l, nil)
	}
}

// atHand reports whether the whole body is in the reader's buffer already, and
// nothing else is to be waited for at its end.
func (l *live) atHand() bool {
	switch {
	case l.resp.Body.Reusable():
		return true
	case l.resp.Body.Sending():
		return false
	}
	n := l.r.Length
	return l.conn.Buf != nil && n >= 0 && int64(l.conn.Buf.Buffered()) >= n
}

// Deliver writes the decoded body to w and gives the connection back. The
// outcome is that of the whole attempt: o itself when the body arrived whole,
// else with the class, phase and error of what went wrong; an error of w that
// has no class of its own is of class output. Where nothing looks at the bytes,
// w gets them by the body's own WriteTo: see outfile.Sink.
func (r *Response) Deliver(ctx context.Context, w io.Writer, o retry.Outcome) retry.Outcome {
	l := r.live
	if l == nil || l.taken {
		return o
	}
	l.taken = true
	if l.op.HeadOnly {
		l.settle() // the body's end is not waited for: streams may have none
		return o
	}
	l.ctx.Tie(ctx)
	stop := l.watch()
	n, err := l.copyTo(w)
	if err == nil {
		err = l.unfinished(n)
	}
	stop()
	now := l.op.Client.Clock.Mono()
	h := &r.Hops[l.hop]
	h.End = now
	h.Timing.BodyOut = max(h.Timing.BodyOut, l.resp.Body.Uploaded()) // the answer may have overtaken the upload
	h.BodyIn = l.resp.Body.Received()
	if err == nil {
		if raw := l.resp.Body.Trailer(); len(raw) > 0 {
			r.Blocks = append(r.Blocks, raw)
		}
	}
	r.ReceivedBytes = r.Received()
	if err == nil {
		r.Overtook = l.resp.Body.Overtook()
		r.held(&o, n)
		l.settle()
		return o
	}
	o.Err, o.Class, o.Phase, o.SeenAt = err, retry.ClassOutput, retry.PhaseBody, now
	blame(&o, err)
	if o.Class == retry.ClassOutput && ctx.Err() != nil {
		// A write that the context's end woke, or a sink that a signal gave up.
		o.Class, o.Err = endClass(ctx), context.Cause(ctx)
	}
	r.expired(&o)
	r.held(&o, n)
	if trace := l.op.Client.Trace; trace != nil {
		trace.Info(o.Err.Error())
	}
	l.settle()
	if s, ok := w.(outfile.Sink); ok {
		o.Committed = s.Committed()
	}
	return o
}

// watch ends the body where it comes too slowly, until stop is called.
func (l *live) watch() (stop func()) {
	slow := l.op.LowSpeed
	if !slow.enabled() {
		return nothing
	}
	return slow.watch(&l.ctx, l.op.Client.Clock, l.resp.Body.Received)
}

// copyTo writes the body, decoded and limited, to w, and tells how much w took.
func (l *live) copyTo(w io.Writer) (int64, error) {
	src, err := l.source()
	if err != nil {
		return 0, err
	}
	return copyPlain(w, src)
}

// source is the body, decoded and limited; the bare one where nothing looks at
// the bytes.
func (l *live) source() (io.Reader, error) {
	unsized, rate := l.part > 0 && l.r.Length < 0, l.op.LimitRate
	switch {
	case l.src != nil:
		return l.src, nil
	case len(l.codings) == 0 && !l.capped && rate == 0 && !unsized:
		return l.resp.Body, nil
	}
	var src io.Reader = l.resp.Body
	if rate > 0 {
		src = &pacer{ctx: &l.ctx, clock: l.op.Client.Clock, rate: rate, phase: retry.PhaseBody, r: src}
	}
	if len(l.codings) > 0 {
		var err error
		if src, err = decode(src, l.codings); err != nil {
			return nil, err
		}
	}
	if unsized {
		src = &limited{src: src, left: l.part, over: longer}
	}
	if l.capped {
		src = &limited{src: src, left: l.op.MaxFileSize - l.r.ResumedFrom(), over: tooLarge}
	}
	return src, nil
}

// copyPlain lets a sink take the source (it may hold a part and pass the rest
// on by descriptor), and a bare file, too.
func copyPlain(w io.Writer, src io.Reader) (int64, error) {
	if rf, ok := w.(io.ReaderFrom); ok && !isFile(w) {
		return rf.ReadFrom(src)
	}
	if wt, ok := src.(io.WriterTo); ok {
		return wt.WriteTo(w)
	}
	return io.CopyBuffer(onlyWriter{w}, src, make([]byte, copyBuffer))
}

// copyBuffer is the one buffer of a copy that looks at the bytes.
const copyBuffer = 128 << 10

func isFile(w io.Writer) bool {
	_, ok := w.(*os.File)
	return ok
}

// onlyWriter hides a file's ReadFrom, which would copy through a smaller buffer.
type onlyWriter struct{ io.Writer }

// limited fails, with the error of over, on the first byte beyond what is left.
type limited struct {
	src  io.Reader
	left int64
	over func() error
}

func (s *limited) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := s.src.Read(p[:min(int64(len(p)), s.left+1)])
	if int64(n) > s.left {
		n, err = int(s.left), s.over()
	}
	s.left -= int64(n)
	return n, err
}

func tooLarge() error {
	return failure(retry.ClassSize, exitcode.TooLarge, retry.PhaseBody, words("Maximum file size exceeded"))
}
