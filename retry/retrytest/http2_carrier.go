package retrytest

import (
	"crypto/sha256"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// takeBody reads the request's body as far as the step wants it.
func (h *h2conn) takeBody(s *h2stream, x *exchange, out *http2Carrier) bool {
	in := &intake{sum: sha256.New()}
	in.src = &streamBody{h: h, s: s, in: in}
	h.mu.Lock()
	ended, waiting := s.ended, !s.ended && s.body.Len() == 0
	h.mu.Unlock()
	limit := x.st.read
	if ended {
		limit = forever // it is here already
	}
	if waiting && limit != 0 && !x.st.ignoreExpect && strings.EqualFold(x.req.Get("Expect"), "100-continue") {
		if out.interim(&step{status: 100}) != nil {
			return false
		}
	}
	err := in.read(limit, x.keeps())
	x.received(in)
	if err != nil {
		x.done()
	}
	return err == nil
}

// streamBody reads what the connection's reader has put into a stream.
type streamBody struct {
	h  *h2conn
	s  *h2stream
	in *intake
}

func (b *streamBody) Read(p []byte) (int, error) {
	h, s := b.h, b.s
	h.mu.Lock()
	defer h.mu.Unlock()
	for s.body.Len() == 0 && !s.ended && !s.gone && !h.closed {
		h.wake.Wait()
	}
	n, _ := s.body.Read(p)
	switch {
	case n == 0 && s.ended:
		b.in.trailer = s.trailer
		return 0, io.EOF
	case n == 0:
		return 0, io.ErrUnexpectedEOF
	}
	if h.closed || s.ended {
		return n, nil
	}
	return n, errors.Join(h.fr.WriteWindowUpdate(s.id, uint32(n)), h.w.Flush())
}

// http2Carrier writes one answer on a stream.
type http2Carrier struct {
	h     *h2conn
	s     *h2stream
	left  int64 // bytes of the body that may still pass; forever: all
	begun bool
	ended bool // END_STREAM was sent
}

func (o *http2Carrier) limit(n int64) { o.left = n }
func (o *http2Carrier) flush() error  { return nil }

func (o *http2Carrier) interim(st *step) error {
	return o.fields(st.status, st.header, false)
}

func (o *http2Carrier) head(a *answer) error {
	fields := a.header
	if a.declared != forever {
		fields = append(fields[:len(fields):len(fields)], Field{"Content-Length", strconv.FormatInt(a.declared, 10)})
	}
	o.begun = true
	return o.fields(a.status, fields, a.noBody)
}

// fields sends a header block: a head, or with status 0 a trailer section.
func (o *http2Carrier) fields(status int, fields []Field, end bool) error {
	h := o.h
	return h.write(func() error {
		if o.s.gone {
			return errGone
		}
		h.block.Reset()
		if status > 0 {
			_ = h.enc.WriteField(hpack.HeaderField{Name: ":status", Value: strconv.Itoa(status)}) // into memory
		}
		for _, f := range fields {
			if name := strings.ToLower(f.Name); !connectionField(name) {
				_ = h.enc.WriteField(hpack.HeaderField{Name: name, Value: f.Value})
			}
		}
		o.ended = end
		return o.writeBlock(h.block.Bytes(), end)
	})
}

// writeBlock sends a header block in as many frames as it needs.
func (o *http2Carrier) writeBlock(block []byte, end bool) error {
	first := block[:min(len(block), o.h.frame)]
	rest := block[len(first):]
	err := o.h.fr.WriteHeaders(http2.HeadersFrameParam{
		StreamID: o.s.id, BlockFragment: first, EndStream: end, EndHeaders: len(rest) == 0,
	})
	for err == nil && len(rest) > 0 {
		piece := rest[:min(len(rest), o.h.frame)]
		rest = rest[len(piece):]
		err = o.h.fr.WriteContinuation(o.s.id, len(rest) == 0, piece)
	}
	return err
}

// connectionField names the fields that HTTP/2 does not allow (RFC 9113
// section 8.2.2).
func connectionField(name string) bool {
	switch name {
	case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
		return true
	}
	return false
}

func (o *http2Carrier) data(p []byte) error {
	cut := false
	if o.left != forever {
		cut = int64(len(p)) > o.left
		p = p[:min(int64(len(p)), o.left)]
		o.left -= int64(len(p))
	}
	for len(p) > 0 {
		n, err := o.someData(p)
		if err != nil {
			return err
		}
		p = p[n:]
	}
	if cut {
		return errCut
	}
	return nil
}

// someData sends as much as frame size and windows allow, at least one byte.
func (o *http2Carrier) someData(p []byte) (int, error) {
	h := o.h
	h.mu.Lock()
	defer h.mu.Unlock()
	for !o.s.gone && !h.closed && (h.window <= 0 || o.s.window <= 0) {
		h.wake.Wait()
	}
	if o.s.gone || h.closed {
		return 0, errGone
	}
	n := min(int64(len(p)), int64(h.frame), h.window, o.s.window)
	h.window -= n
	o.s.window -= n
	return int(n), errors.Join(h.fr.WriteData(o.s.id, false, p[:n]), h.w.Flush())
}

func (o *http2Carrier) finish(a *answer) error {
	switch {
	case o.ended:
		return nil
	case len(a.trailer) > 0:
		return o.fields(0, a.trailer, true)
	}
	o.ended = true
	return o.h.write(func() error { return o.h.fr.WriteData(o.s.id, true, nil) })
}

// fault ends the stream or the connection as st says.
func (o *http2Carrier) fault(st *step) {
	h := o.h
	switch st.end {
	case endRefuse:
		o.reset(http2.ErrCodeRefusedStream)
		return
	case endRST:
		o.reset(http2.ErrCode(st.code))
		return
	case endGoAway:
		o.goAway(st)
		return
	case endReset:
		if o.begun { // let the client read what came before: a reset may overtake it
			h.c.s.sleep(20 * time.Millisecond)
		}
		h.c.reset()
		return
	case endGarbage:
		_ = h.write(func() error { _, err := io.WriteString(h.w, garbage); return err })
	case endRaw:
		_ = h.write(func() error { _, err := io.WriteString(h.w, st.raw); return err })
	}
	h.cut()
}

func (o *http2Carrier) reset(code http2.ErrCode) {
	_ = o.h.write(func() error { return o.h.fr.WriteRSTStream(o.s.id, code) })
}

// goAway tells the last stream: the chosen one, or after an answer this one,
// else the one before. The connection ends when its other streams are done.
func (o *http2Carrier) goAway(st *step) {
	last := st.lastStream
	switch {
	case last != forever:
	case o.begun:
		last = int64(o.s.id)
	default:
		last = max(0, int64(o.s.id)-2)
	}
	_ = o.h.write(func() error {
		o.h.leaving = true
		return o.h.fr.WriteGoAway(uint32(last), http2.ErrCodeNo, nil)
	})
}
