package wire

import (
	"io"
	"net"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
)

// land completes the response: its body is framed as d says. raw leaves chunks as
// they are.
func (f *flight1) land(d delimit, raw bool) {
	f.figures()
	f.resp.Length, f.resp.Codings, f.resp.Vast = d.length, d.codings, d.vast
	f.kind, f.left, f.keep = d.kind, max(0, d.length), d.keep
	f.body.src, f.resp.Body = f, &f.body
	if d.kind == framedChunked {
		f.ck = &chunkReader{br: f.c.Buf, raw: raw, see: f.trace.trailerIn()}
	}
	if d.kind == framedNone || d.kind == framedLength && d.length == 0 {
		if f.up == nil || f.up.whole() || f.up.stop.Load() {
			f.body.end(io.EOF)
		}
	}
}

func (f *flight1) read(p []byte) (n int, err error) {
	switch f.kind {
	case framedChunked:
		n, err = f.ck.Read(p)
	case framedLength:
		if f.left == 0 {
			return 0, io.EOF
		}
		n, err = f.c.Buf.Read(p[:min(int64(len(p)), f.left)])
		f.left -= int64(n)
		if f.left == 0 {
			err = io.EOF
		} else {
			err = eofIsShort(err)
		}
	case framedClose:
		n, err = f.c.Buf.Read(p)
	default:
		err = io.EOF
	}
	f.trace.dataIn(p[:n])
	return n, err
}

func (f *flight1) buffered() []byte {
	if f.ended || f.kind != framedLength && f.kind != framedClose || f.trace.wantsData() {
		return nil
	}
	b, _ := f.c.Buf.Peek(f.c.Buf.Buffered())
	if f.kind == framedLength && int64(len(b)) > f.left {
		b = b[:f.left]
	}
	return b
}

func (f *flight1) take(n int) {
	_, _ = f.c.Buf.Discard(n)
	f.left -= int64(n)
}

func (f *flight1) splice(b *Body, w io.Writer) (int64, bool, error) {
	to, ok := spliceTarget(w)
	if !ok || f.ended || f.c.TCP == nil || f.trace.wantsData() || f.c.Buf.Buffered() > 0 {
		return 0, false, nil
	}
	left := int64(-1)
	switch {
	case f.kind == framedLength && f.left >= spliceFrom:
		left = f.left
	case f.kind != framedClose:
		return 0, false, nil
	}
	n, rerr, werr := spliceBody(to, f.c.TCP, left, &b.received)
	f.left -= n
	switch {
	case werr != nil:
		return n, true, werr
	case rerr != nil && left >= 0:
		b.end(eofIsShort(rerr))
	case rerr != nil:
		b.end(rerr)
	case left >= 0 && f.left == 0:
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

func (f *flight1) size() int64 {
	if f.kind == framedLength || f.kind == framedNone {
		return f.left
	}
	return -1
}

// finish settles the end of the body: a success that overtook its upload waits
// for it, and the connection is judged.
func (f *flight1) finish(err error) error {
	f.ended = true
	up := f.up
	if err == io.EOF && f.kind == framedClose && cutOff(f.c) {
		err = io.ErrUnexpectedEOF
	}
	switch {
	case up == nil:
	case err != io.EOF || !f.keep:
		up.abandon() // the server closes, or has closed (RFC 9112 §9.6)
	case !up.stop.Load():
		up.wait()
	}
	if err == io.EOF && up != nil && (f.keep || f.kind == framedClose) {
		if unsent := f.unsent(); unsent != nil {
			f.wake.release()
			f.keep = false
			return unsent
		}
	}
	if err != io.EOF && f.ctx.Err() != nil {
		err = ended(f.ctx, retry.SentMaybe, retry.PhaseBody, "while reading the response body")
	} else if err != io.EOF {
		err = inBody(err, f.left)
	}
	clean := f.wake.release()
	f.keep = f.keep && clean && err == io.EOF && f.c.Buf.Buffered() == 0 && (up == nil || up.whole())
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

func (f *flight1) reusable() bool { return f.ended && f.keep }

func (f *flight1) trailer() string {
	if f.ck == nil || f.ck.state != chunkDone {
		return ""
	}
	if _, err := parseFields(f.ck.trailer); err != nil {
		return ""
	}
	return strings.TrimSuffix(f.ck.trailer, "\r\n")
}

func (f *flight1) readUntil(t time.Time) {
	if !f.ended {
		f.up.waitUntil(t)
		f.wake.readBy(t)
	}
}

func (f *flight1) close(whole bool) error {
	if whole {
		return nil
	}
	f.wake.release()
	if f.up != nil {
		f.up.abandon()
	}
	return f.c.Close()
}
