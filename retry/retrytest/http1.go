package retrytest

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// serveHTTP1 answers one request after the other.
func (c *conn) serveHTTP1() {
	for c.oneHTTP1() {
	}
}

// oneHTTP1 answers the next request and reports whether another may follow.
func (c *conn) oneHTTP1() (again bool) {
	if _, err := c.br.Peek(1); err != nil {
		return false
	}
	first := time.Now()
	r := &Record{Connection: c.number}
	err := readHead(c.br, r)
	var in *intake
	if err == nil {
		in, err = newIntake(c.br, r)
	}
	if err != nil {
		c.refuse(r, first, err)
		return false
	}
	x := c.s.begin(r, first)
	out := &http1Carrier{c: c, w: c.writer(), http10: x.req.Proto == "HTTP/1.0", left: forever}
	if c.s.cfg.proxy && c.relay(x, in, out) {
		return false
	}
	if !c.body(x, in) {
		return false
	}
	c.s.choose(x)
	out.http10 = out.http10 || x.st.http10
	out.keep = in.whole && keepAlive(&x.req, x.st.http10) && !closes(x.st.header)
	out.unread = !in.whole
	out.chunked = x.st.chunked && !out.http10
	if !x.perform(out) || !out.keep {
		switch {
		case out.drain:
			_, _ = io.Copy(io.Discard, c.bare)
		case !out.broken:
			c.linger()
		}
		return false
	}
	return true
}

// writer is the connection's buffer, empty: an answer that was cut off may have
// left something in it.
func (c *conn) writer() *bufio.Writer {
	if c.bw == nil {
		c.bw = bufio.NewWriterSize(c, 64<<10)
	}
	c.bw.Reset(c)
	return c.bw
}

// body reads the request's body as far as the step wants it, after 100
// (Continue) where the client waits for that (RFC 9110 section 10.1.1).
func (c *conn) body(x *exchange, in *intake) bool {
	limit := x.st.read
	if in.none {
		limit = forever
	}
	expects := strings.EqualFold(x.req.Get("Expect"), "100-continue") && x.req.Proto != "HTTP/1.0"
	if expects && limit != 0 && !x.st.ignoreExpect && !in.none && c.br.Buffered() == 0 {
		if _, err := io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return false
		}
	}
	err := in.read(limit, x.keeps())
	x.received(in)
	if err != nil {
		x.done()
		return false
	}
	return true
}

// refuse logs and answers what is not a request; a connection that just ended
// leaves no trace.
func (c *conn) refuse(r *Record, first time.Time, err error) {
	if !errors.Is(err, errMalformed) {
		return
	}
	r.Method = cmp.Or(r.Method, "?")
	x := c.s.log(r, first)
	x.st = builtin(http.StatusBadRequest, err.Error())
	out := &http1Carrier{c: c, w: c.writer(), left: forever}
	x.perform(out)
	c.linger()
}

// keepAlive says whether the client lets the connection go on.
func keepAlive(r *Record, http10 bool) bool {
	tokens := strings.ToLower(strings.Join(r.Values("Connection"), ","))
	if r.Proto == "HTTP/1.0" || http10 {
		return strings.Contains(tokens, "keep-alive") && !http10
	}
	return !strings.Contains(tokens, "close")
}

// closes says whether the answer's own fields announce the end.
func closes(header []Field) bool {
	for _, f := range header {
		if strings.EqualFold(f.Name, "Connection") && strings.EqualFold(f.Value, "close") {
			return true
		}
	}
	return false
}

// http1Carrier writes one answer in HTTP/1.
type http1Carrier struct {
	c       *conn
	w       *bufio.Writer
	http10  bool
	keep    bool
	chunked bool
	broken  bool  // a fault has ended the connection
	left    int64 // bytes that may still pass; forever: all
	begun   bool
	drain   bool // what still comes is to be read after the answer's end
	unread  bool // the client may still be sending: closing at once would be a reset
}

func (h *http1Carrier) limit(n int64) { h.left = n }

// Write passes bytes on up to the limit.
func (h *http1Carrier) Write(p []byte) (int, error) {
	if h.left == forever {
		return h.w.Write(p)
	}
	n, err := h.w.Write(p[:min(int64(len(p)), h.left)])
	h.left -= int64(n)
	if err == nil && n < len(p) {
		err = errCut
	}
	return n, err
}

func (h *http1Carrier) interim(st *step) error {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", st.status, cmp.Or(st.reason, http.StatusText(st.status)))
	writeFields(&b, st.header)
	if _, err := io.WriteString(h, b.String()+"\r\n"); err != nil {
		return err
	}
	return h.flush()
}

func (h *http1Carrier) head(a *answer) error {
	h.begun = true
	proto := "HTTP/1.1"
	if h.http10 {
		proto = "HTTP/1.0"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d %s\r\n", proto, a.status, a.reason)
	writeFields(&b, a.header)
	switch {
	case h.chunked && a.status >= 200 && a.status != 204 && a.status != 304:
		b.WriteString("Transfer-Encoding: chunked\r\n")
		for _, f := range a.trailer {
			b.WriteString("Trailer: " + f.Name + "\r\n")
		}
	case a.declared != forever:
		b.WriteString("Content-Length: " + strconv.FormatInt(a.declared, 10) + "\r\n")
	case !a.noBody && !has(a.header, "Content-Length"):
		h.keep = false // the connection's end is the body's
	}
	switch {
	case has(a.header, "Connection"):
	case !h.keep:
		b.WriteString("Connection: close\r\n")
	case h.http10:
		b.WriteString("Connection: keep-alive\r\n")
	}
	_, err := io.WriteString(h, b.String()+"\r\n")
	return err
}

func writeFields(b *strings.Builder, fields []Field) {
	for _, f := range fields {
		b.WriteString(f.Name + ": " + f.Value + "\r\n")
	}
}

func (h *http1Carrier) data(p []byte) error {
	if h.chunked {
		if _, err := fmt.Fprintf(h, "%x\r\n", len(p)); err != nil {
			return err
		}
	}
	if _, err := h.Write(p); err != nil {
		return err
	}
	if h.chunked {
		_, err := io.WriteString(h, "\r\n")
		return err
	}
	return nil
}

func (h *http1Carrier) finish(a *answer) error {
	if h.chunked && !a.noBody {
		var b strings.Builder
		b.WriteString("0\r\n")
		writeFields(&b, a.trailer)
		if _, err := io.WriteString(h, b.String()+"\r\n"); err != nil {
			return err
		}
	}
	return h.flush()
}

func (h *http1Carrier) flush() error { return h.w.Flush() }

// fault ends the connection as st says; the faults of HTTP/2 close it.
func (h *http1Carrier) fault(st *step) {
	h.broken = true
	_ = h.w.Flush()
	switch st.end {
	case endReset, endRST:
		if h.begun { // let the client read what came before: a reset may overtake it
			h.c.s.sleep(20 * time.Millisecond)
		}
		h.c.reset()
		return
	case endGarbage:
		text := garbage
		if h.begun {
			text = "this is no chunk size\r\n"
		}
		_, _ = io.WriteString(h.c, text)
	case endRaw:
		_, _ = io.WriteString(h.c, st.raw)
	}
	// Without TLS's close_notify, as when the peer's machine dies.
	if h.unread {
		h.c.closeWrite(false)
		h.drain = true
		return
	}
	_ = h.c.bare.Close()
}
