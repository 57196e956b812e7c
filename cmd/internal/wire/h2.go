package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/header"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
)

// ErrHTTP11Required is in the chain when an HTTP/2 server asks for HTTP/1.1
// (RFC 9113 §7): the caller may ask again with that, as a hop of its own.
var ErrHTTP11Required = errors.New("HTTP/1.1 is required")

// refusedError says that the server did nothing with the request.
type refusedError struct {
	code exitcode.Code
	text string
}

func (e *refusedError) Error() string { return e.text }

// resetError is a RST_STREAM from the peer.
type resetError struct{ code http2.ErrCode }

func (e *resetError) Error() string {
	return fmt.Sprintf("HTTP/2 stream was not closed cleanly: %s (err %d)", e.code, uint32(e.code))
}

func (e *resetError) Unwrap() error {
	if e.code == http2.ErrCodeHTTP11Required {
		return ErrHTTP11Required
	}
	return nil
}

// stream is the request at hand on a session, and its answer.
type stream struct {
	*flight
	s       *session
	id      uint32
	ended   bool // END_STREAM received
	data    []byte
	left    int64 // of Content-Length, -1 unknown
	unacked int64
	trail   string // the trailer section
	done    bool
	keep    bool
}

func roundTrip2(ctx context.Context, c *transport.Conn, r *Request, lines []header.Line) (*Response, error) {
	s, ok := c.Session.(*session)
	if !ok {
		s = newSession(c)
		c.Session = s
	}
	f := new(flight)
	f.begin(ctx, c, r)
	st := &stream{flight: f, s: s, id: s.next, left: -1}
	s.next += 2
	unhook := context.AfterFunc(ctx, s.halt)
	defer unhook()
	if err := st.run(r, lines); err != nil {
		err = st.failed(err)
		s.broken = true
		f.wake.release()
		st.abandon()
		_ = c.Close()
		return &Response{Timing: f.figures()}, err
	}
	return &f.resp, nil
}

func (st *stream) run(r *Request, lines []header.Line) error {
	st.resp.Timing.Start = st.clock.Mono()
	st.resp.Proto = "HTTP/2"
	complete, err := st.open(r, lines)
	if err != nil {
		return err
	}
	if !complete {
		if err := st.upload(r); err != nil {
			return err
		}
	} else {
		st.resp.Timing.Sent = st.clock.Mono()
	}
	return st.answer()
}

// answer reads the head of the answer, and those of 1xx before it.
func (st *stream) answer() error {
	resp := &st.resp
	for resp.Status == 0 {
		if err := st.step(); err != nil {
			return err
		}
	}
	resp.Timing.Head = st.clock.Mono()
	if err := st.measure(); err != nil {
		return err
	}
	if st.up != nil {
		st.up.overtaken()
	}
	if resp.Status >= 300 {
		st.dropped = true
		st.abandon()
	}
	st.figures()
	resp.Body = &Body{src: st}
	if st.ended && (st.up == nil || st.up.whole() || st.up.stop.Load()) {
		resp.Body.end(st.atEnd())
	}
	return nil
}

// open writes HEADERS, with a body that is small and within the windows; complete
// says that the request is over with them.
func (st *stream) open(r *Request, lines []header.Line) (complete bool, err error) {
	if err := checkLines(r, lines); err != nil {
		return false, fault(retry.ClassRequest, exitcode.Usage, retry.SentNothing, retry.PhaseSend, err)
	}
	complete = r.Body == nil || r.Length == 0
	if complete {
		if err := nothing(r); err != nil {
			return false, err
		}
	}
	s := st.s
	s.fmu.Lock()
	s.out, s.halted = s.initial, false
	small := !complete && r.Expect == 0 && r.Length >= 0 && r.Length <= min(int64(s.maxFrame), s.out, s.connOut)
	maxFrame := s.maxFrame
	s.fmu.Unlock()
	s.idle.Store(0)
	var body []byte
	if small {
		body = make([]byte, r.Length)
		n, err := io.ReadFull(r.Body, body)
		if err != nil {
			return false, shortInput(err, int64(n), r.Length)
		}
		if err := checkEnd(r.Body, r.Length); err != nil {
			return false, err
		}
		_, _ = s.take(len(body))
		complete = true
	}
	shown := shown(r, lines, "HTTP/2")
	st.trace.headerOut(shown)
	st.trace.dataOut(body)
	var b bytes.Buffer
	fr := http2.NewFramer(&b, nil)
	if !s.started {
		s.preface(&b, fr)
	}
	st.writeHeaders(fr, r, lines, maxFrame, complete && body == nil)
	if body != nil {
		_ = fr.WriteData(st.id, true, body)
	}
	n, err := s.write(b.Bytes())
	st.out = n > 0
	if err != nil {
		return false, &writeError{err}
	}
	st.resp.Timing.HeadOut, st.resp.Timing.BodyOut = int64(len(shown)), int64(len(body))
	advance(r.Progress, int64(len(body)))
	return complete, nil
}

// writeHeaders encodes the request (RFC 9113 §8.3.1) in its order.
func (st *stream) writeHeaders(fr *http2.Framer, r *Request, lines []header.Line, maxFrame int, end bool) {
	s := st.s
	s.hbuf.Reset()
	put := func(name, value string) { _ = s.henc.WriteField(hpack.HeaderField{Name: name, Value: value}) }
	put(":method", r.Method)
	put(":path", r.Target)
	put(":scheme", r.Scheme)
	put(":authority", authority(r, lines))
	for name, value := range carried(lines) {
		put(name, value)
	}
	block := s.hbuf.Bytes()
	part := block[:min(len(block), maxFrame)]
	block = block[len(part):]
	_ = fr.WriteHeaders(http2.HeadersFrameParam{
		StreamID: st.id, BlockFragment: part, EndStream: end, EndHeaders: len(block) == 0,
	})
	for len(block) > 0 {
		part = block[:min(len(block), maxFrame)]
		block = block[len(part):]
		_ = fr.WriteContinuation(st.id, len(block) == 0, part)
	}
}

// carried are the lines that go out on HTTP/2 and HTTP/3 (RFC 9113 §8.2.2), with
// names in lower case.
func carried(lines []header.Line) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, l := range lines {
			name := strings.ToLower(l.Name)
			switch name {
			case "", "host", "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade", "http2-settings":
				continue
			case "te":
				if !header.Same(strings.TrimSpace(l.Value), "trailers") {
					continue
				}
			}
			if !ofConnection(lines, name) && !yield(name, l.Value) {
				return
			}
		}
	}
}

func authority(r *Request, lines []header.Line) string {
	for _, l := range lines {
		if header.Same(l.Name, "Host") {
			return l.Value
		}
	}
	return r.Authority
}

// shown is the request as -v shows it: in HTTP/1's form.
func shown(r *Request, lines []header.Line, proto string) []byte {
	b := append([]byte(nil), r.Method+" "+r.Target+" "+proto+"\r\n"...)
	for _, l := range lines {
		b = append(append(append(append(b, l.Name...), ": "...), l.Value...), "\r\n"...)
	}
	return append(b, "\r\n"...)
}

// upload starts the body, after an answer to Expect where that is asked for.
func (st *stream) upload(r *Request) error {
	st.up = newUpload(st.flight, r)
	st.up.h2 = st
	if r.Expect > 0 {
		err := st.await100h2(r.Expect)
		if err != nil || st.resp.Status >= 300 {
			st.up.skip()
			return err
		}
	}
	go st.up.run()
	return nil
}

func (st *stream) await100h2(within time.Duration) error {
	limit := time.Now().Add(within)
	defer st.wake.readBy(time.Time{})
	for st.resp.Status == 0 && len(st.resp.Interim) == 0 {
		st.wake.readBy(limit)
		_, err := st.c.Buf.Peek(9)
		if errors.Is(err, os.ErrDeadlineExceeded) && st.ctx.Err() == nil {
			return nil
		}
		st.wake.readBy(time.Time{})
		if err != nil {
			return err
		}
		if err := st.step(); err != nil {
			return err
		}
	}
	return nil
}

// step reads one frame while the head is awaited.
func (st *stream) step() error {
	f, err := st.s.frame(st)
	if err != nil {
		return err
	}
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		return st.head(f)
	case *http2.RSTStreamFrame:
		return st.reset(f.ErrCode)
	case *http2.DataFrame:
		return h2Fault("DATA before HEADERS")
	}
	return nil
}

func (st *stream) reset(code http2.ErrCode) error {
	if code == http2.ErrCodeRefusedStream {
		return &refusedError{exitcode.HTTP2Stream, "HTTP/2 stream was refused: REFUSED_STREAM"}
	}
	return &resetError{code}
}

// head takes a header block: informational or final.
func (st *stream) head(f *http2.MetaHeadersFrame) error {
	resp, t := &st.resp, &st.resp.Timing
	if t.FirstByte == 0 {
		t.FirstByte = st.clock.Mono()
	}
	if f.Truncated {
		return &replyError{code: exitcode.Recv, text: fmt.Sprintf("Too large response headers: more than %d bytes", maxHeads)}
	}
	text := f.PseudoValue("status")
	status, err := strconv.Atoi(text)
	if err != nil || len(text) != 3 || status < 100 {
		return &replyError{code: exitcode.HTTP2Stream, text: "HTTP/2 stream: malformed status"}
	}
	raw := append([]byte(nil), "HTTP/2 "+text+" \r\n"...)
	fields := make([]Field, 0, len(f.Fields))
	see := st.trace.headerIn()
	if see != nil {
		see(raw)
	}
	for _, hf := range f.RegularFields() {
		fields = append(fields, Field{Name: hf.Name, Value: hf.Value})
		from := len(raw)
		raw = append(raw, hf.Name+": "+hf.Value+"\r\n"...)
		if see != nil {
			see(raw[from:])
		}
	}
	raw = append(raw, "\r\n"...)
	if see != nil {
		see(raw[len(raw)-2:])
	}
	t.HeadIn += int64(len(raw))
	if t.HeadIn > maxHeads {
		return &replyError{code: exitcode.Recv, text: fmt.Sprintf("Too large response headers: more than %d bytes", maxHeads)}
	}
	st.ended = f.StreamEnded()
	st.s.idle.Store(0)
	if status >= 200 {
		resp.Status, resp.Header, resp.Raw = status, fields, string(raw)
		return nil
	}
	resp.Interim = append(resp.Interim, string(raw))
	if status == 101 || st.ended || len(resp.Interim) > maxInterim {
		return &replyError{code: exitcode.HTTP2Stream, text: "HTTP/2 stream: wrong or too many informational responses"}
	}
	return nil
}

// measure finds the body's length.
func (st *stream) measure() error {
	resp := &st.resp
	length, err := contentLength(resp.Header, false)
	switch {
	case bodyless(st.alone, resp.Status):
		st.left, resp.Length = 0, 0
		return nil
	case err != nil:
		return err
	}
	st.left, resp.Length = length, length
	if length < 0 && st.ended {
		resp.Length = 0
	}
	return nil
}

// failed gives an error before the final head its class.
func (st *stream) failed(err error) error {
	sent := st.sentAny()
	var refused *refusedError
	var reset *resetError
	var input *inputError
	switch {
	case errors.As(err, &input), st.up != nil && errors.As(st.up.failure(), &input):
		return fault(retry.ClassInput, exitcode.Input, sent, retry.PhaseSend, input)
	case errors.As(err, &refused):
		return fault(retry.ClassRefused, refused.code, retry.SentUnprocessed, retry.PhaseResponse, err)
	case errors.As(err, &reset):
		return fault(resetClass(reset.code), exitcode.HTTP2Stream, sent, retry.PhaseResponse, err)
	case st.s.goaway != nil && isEOF(err):
		text := fmt.Sprintf("HTTP/2 connection closed after GOAWAY (%s)", *st.s.goaway)
		return fault(retry.ClassClosed, exitcode.HTTP2, sent, retry.PhaseResponse, &worded{text, err})
	}
	return st.flight.failed(err)
}

// resetClass tells resets that say "this is not HTTP/2" from the others.
func resetClass(code http2.ErrCode) retry.Class {
	switch code {
	case http2.ErrCodeProtocol, http2.ErrCodeFlowControl, http2.ErrCodeFrameSize, http2.ErrCodeCompression,
		http2.ErrCodeStreamClosed, http2.ErrCodeInadequateSecurity, http2.ErrCodeHTTP11Required:
		return retry.ClassProtocol
	}
	return retry.ClassClosed
}

// abandon ends the upload, if there is one. Replies to the peer can still be
// sent, unless that cut a frame in two.
func (st *stream) abandon() {
	if st.up != nil {
		st.up.stop.Store(true)
		st.s.halt()
		st.up.abandon()
		st.wake.allowWrites()
	}
}
