package wire

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
)

// Body is the rest of a response. It is not safe for concurrent use.
type Body struct {
	received atomic.Int64
	err      error // what ended it: io.EOF when whole; sticky
	closed   bool
	src      source
}

// source is a body in one protocol's framing.
type source interface {
	// read gives body bytes; io.EOF when the body is whole.
	read(p []byte) (int, error)
	// buffered gives bytes that are at hand already, for a copy without a
	// buffer of its own; take consumes n of them.
	buffered() []byte
	take(n int)
	// finish is called once at the body's end or break and gives the final
	// error, io.EOF when it was whole.
	finish(err error) error
	// splice copies past the process to w; ok is false when it cannot.
	splice(b *Body, w io.Writer) (n int64, ok bool, err error)
	reusable() bool
	trailer() ([]Field, string)
	uploaded() int64
	// cut reports that the upload, if there is one, has ended short of its end.
	cut() bool
	timing() Timing
	// readUntil ends a read at t; the zero time takes that back.
	readUntil(t time.Time)
	close(whole bool) error
	size() int64 // a hint for the copy's buffer: bytes left, -1 unknown
}

// errBodyClosed is what reading a closed body gives.
var errBodyClosed = errors.New("read on a closed response body")

// Read reads decoded (un-chunked) bytes; io.EOF only when the body is whole.
// A body that broke off gives a *transport.Error of class truncated.
func (b *Body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := b.src.read(p)
	b.received.Add(int64(n))
	if err != nil {
		b.end(err)
		if n > 0 {
			return n, nil
		}
		return 0, b.err
	}
	return n, nil
}

func (b *Body) end(err error) { b.err = b.src.finish(err) }

// WriteTo copies the whole body to w. To an *os.File, or a Patient output, from
// bare TCP, with a length or up to the connection's end, it goes by splice on
// Linux, without touching the bytes. An error of w is returned as it is; one of
// the connection is a *transport.Error. The context of the request does not
// wake a write that blocks: a Patient output has its own.
func (b *Body) WriteTo(w io.Writer) (int64, error) {
	var total int64
	if b.err != nil {
		if b.err == io.EOF {
			return 0, nil
		}
		return 0, b.err
	}
	for p := b.src.buffered(); len(p) > 0; p = b.src.buffered() {
		n, err := w.Write(p)
		b.src.take(n)
		b.received.Add(int64(n))
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	n, ok, err := b.src.splice(b, w)
	total += n
	if err != nil {
		return total, err
	}
	if !ok {
		n, err = b.copy(w)
		total += n
	}
	return total, err
}

// copy goes through one buffer. It reads before it allocates a large one: a
// body that is over needs none.
func (b *Body) copy(w io.Writer) (int64, error) {
	var total int64
	var buf []byte
	if left := b.src.size(); left == 0 {
		buf = make([]byte, 1)
	} else if left < 0 || left > copyBuffer {
		buf = make([]byte, copyBuffer)
	} else {
		buf = make([]byte, left)
	}
	for {
		n, err := b.Read(buf)
		if n > 0 {
			m, werr := w.Write(buf[:n])
			total += int64(m)
			if werr != nil {
				return total, werr
			}
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// Drain reads up to limit bytes of the rest, for at most the time within, so
// that the connection can be used again; it reports Reusable. A rest that is
// larger or slower is left alone.
func (b *Body) Drain(limit int64, within time.Duration) bool {
	if b.err != nil || b.closed {
		return b.Reusable()
	}
	if left := b.src.size(); left > limit {
		return false
	}
	b.src.readUntil(time.Now().Add(within))
	defer b.src.readUntil(time.Time{})
	buf := make([]byte, min(limit+1, 8<<10))
	for got := int64(0); b.err == nil && got <= limit; {
		n, _ := b.Read(buf)
		got += int64(n)
	}
	return b.Reusable()
}

// Left is how many bytes are still to come, as far as announced; -1 unknown.
func (b *Body) Left() int64 { return b.src.size() }

// Received is the number of body bytes that came over the wire so far; it may
// be called from another goroutine while WriteTo runs (meters poll it).
func (b *Body) Received() int64 { return b.received.Load() }

// Uploaded is the number of bytes of the request's body that went out by now.
// It may be called from another goroutine.
func (b *Body) Uploaded() int64 { return b.src.uploaded() }

// Overtook reports of a body that is over that the request's body did not go
// out whole: the answer ended it, or what broke once the answer was there.
func (b *Body) Overtook() bool { return b.err == io.EOF && b.src.cut() }

// Timing is Response.Timing brought up to date: it differs, once the body is
// over, where the answer came before the upload's end.
func (b *Body) Timing() Timing { return b.src.timing() }

// Reusable reports whether the body is whole and the connection may carry
// another request.
func (b *Body) Reusable() bool { return b.err == io.EOF && b.src.reusable() }

// Trailer are the fields after a chunked or HTTP/2 body, once it is whole.
func (b *Body) Trailer() []Field {
	fields, _ := b.src.trailer()
	return fields
}

// RawTrailer is the trailer section as received, without the empty line after
// it, as -i and -D show it; empty when there was none.
func (b *Body) RawTrailer() string {
	_, raw := b.src.trailer()
	return raw
}

// Close gives up what is not yet read: HTTP/1 closes the connection unless
// Reusable, HTTP/2 resets the stream.
func (b *Body) Close() error {
	if b.closed {
		return nil
	}
	b.closed = true
	whole := b.Reusable()
	if b.err == nil {
		b.err = errBodyClosed
	}
	return b.src.close(whole)
}

// body1 is a body of HTTP/1.
type body1 struct {
	f     *flight
	kind  framing
	left  int64 // of framedLength
	ck    *chunkReader
	keep  bool
	ended bool
}

// land makes the body of the answer.
func (f *flight1) land(d delimit) *Body {
	b, s := &f.body, &f.src
	*s = body1{f: &f.flight, kind: d.kind, left: max(0, d.length), keep: d.keep}
	b.src = s
	if d.kind == framedChunked {
		s.ck = &chunkReader{br: f.br, raw: f.r.Raw, see: f.trace.trailerIn()}
	}
	if d.kind == framedNone || d.kind == framedLength && d.length == 0 {
		if f.up == nil || f.up.whole() || f.up.stop.Load() {
			b.end(io.EOF)
		}
	}
	return b
}

func (s *body1) read(p []byte) (n int, err error) {
	switch s.kind {
	case framedChunked:
		n, err = s.ck.Read(p)
	case framedLength:
		if s.left == 0 {
			return 0, io.EOF
		}
		n, err = s.f.br.Read(p[:min(int64(len(p)), s.left)])
		s.left -= int64(n)
		if s.left == 0 {
			err = io.EOF
		} else {
			err = eofIsShort(err)
		}
	case framedClose:
		n, err = s.f.br.Read(p)
	default:
		err = io.EOF
	}
	s.f.trace.dataIn(p[:n])
	return n, err
}

func (s *body1) buffered() []byte {
	if s.ended || s.kind != framedLength && s.kind != framedClose || s.f.trace.wantsData() {
		return nil
	}
	b, _ := s.f.br.Peek(s.f.br.Buffered())
	if s.kind == framedLength && int64(len(b)) > s.left {
		b = b[:s.left]
	}
	return b
}

func (s *body1) take(n int) {
	_, _ = s.f.br.Discard(n)
	s.left -= int64(n)
}

func (s *body1) splice(b *Body, w io.Writer) (int64, bool, error) {
	to, ok := spliceTarget(w)
	if !ok || s.ended || s.f.c.TCP == nil || s.f.trace.wantsData() || s.f.br.Buffered() > 0 {
		return 0, false, nil
	}
	left := int64(-1)
	switch {
	case s.kind == framedLength && s.left >= spliceFrom:
		left = s.left
	case s.kind != framedClose:
		return 0, false, nil
	}
	before := b.received.Load()
	n, rerr, werr := spliceBody(to, s.f.c.TCP, left, &b.received)
	s.f.c.AddRead(b.received.Load() - before)
	s.left -= n
	switch {
	case werr != nil:
		return n, true, werr
	case rerr != nil && left >= 0:
		b.end(eofIsShort(rerr))
	case rerr != nil:
		b.end(rerr)
	case left >= 0 && s.left == 0:
		b.end(io.EOF)
	default:
		return n, false, nil
	}
	if b.err == io.EOF {
		return n, true, nil
	}
	return n, true, b.err
}

// spliceFrom is the shortest rest of a body that is worth a pipe.
const spliceFrom = 256 << 10

func (s *body1) size() int64 {
	if s.kind == framedLength || s.kind == framedNone {
		return s.left
	}
	return -1
}

// finish settles the end of the body: a success that overtook its upload waits
// for it, and the connection is judged.
func (s *body1) finish(err error) error {
	s.ended = true
	up := s.f.up
	if err == io.EOF && s.kind == framedClose && cutOff(s.f.c) {
		err = io.ErrUnexpectedEOF
	}
	switch {
	case up == nil:
	case err != io.EOF || !s.keep:
		up.abandon() // the server closes, or has closed (RFC 9112 §9.6)
	case !up.stop.Load():
		up.wait()
	}
	if err == io.EOF && up != nil && (s.keep || s.kind == framedClose) {
		if unsent := s.f.unsent(); unsent != nil {
			s.f.wake.release()
			s.keep = false
			return unsent
		}
	}
	if err != io.EOF && s.f.ctx.Err() != nil {
		err = ended(s.f.ctx, retry.SentMaybe, retry.PhaseBody, "while reading the response body")
	} else if err != io.EOF {
		err = inBody(err, s.left)
	}
	clean := s.f.wake.release()
	s.keep = s.keep && clean && err == io.EOF && s.f.br.Buffered() == 0 && (up == nil || up.whole())
	return err
}

// cutOff reports that a TLS connection ended without close_notify (RFC 8446
// §6.1), where the layer below TLS can tell: crypto/tls itself takes the end of
// TCP between two records for a regular one.
func cutOff(c *transport.Conn) bool {
	t, ok := c.Conn.(interface{ NetConn() net.Conn })
	if !ok {
		return false
	}
	below, ok := t.NetConn().(interface{ SawEOF() bool })
	return ok && below.SawEOF()
}

func (s *body1) reusable() bool { return s.ended && s.keep }

func (s *body1) uploaded() int64 {
	if s.f.up != nil {
		return s.f.up.sent.Load()
	}
	return s.f.resp.Timing.BodyOut
}

func (s *body1) cut() bool { return s.f.up != nil && !s.f.up.whole() }

func (s *body1) timing() Timing { return s.f.figures() }

func (s *body1) trailer() ([]Field, string) {
	if s.ck == nil || s.ck.state != chunkDone {
		return nil, ""
	}
	fields, err := parseFields(s.ck.trailer)
	if err != nil {
		return nil, ""
	}
	return fields, strings.TrimSuffix(s.ck.trailer, "\r\n")
}

func (s *body1) readUntil(t time.Time) {
	if !s.ended {
		s.f.wake.readBy(t)
	}
}

func (s *body1) close(whole bool) error {
	if whole {
		return nil
	}
	s.f.wake.release()
	if s.f.up != nil {
		s.f.up.abandon()
	}
	return s.f.c.Close()
}
