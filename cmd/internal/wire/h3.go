package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/header"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
)

// session3 is HTTP/3 on one QUIC connection: quic-go's client for a single
// connection, which neither pools nor sends anything twice.
type session3 struct{ client *http3.ClientConn }

// Usable reports whether another request may be sent.
func (s *session3) Usable() bool { return s.client.Context().Err() == nil }

// flight3 is one request on an HTTP/3 connection, and its answer.
type flight3 struct {
	ctx    context.Context
	cancel context.CancelCauseFunc // of the stream
	c      *transport.Conn
	s      *session3
	r      Request
	t      Timing
	wrote  bool // the head went out
	up     *upload3
	trace  *tracer
	resp   *http.Response
	left   int64 // of Content-Length, -1 unknown
	whole  bool
	late   *time.Timer // of readUntil
}

func roundTrip3(ctx context.Context, c *transport.Conn, r *Request, lines []header.Line) (*Response, error) {
	s, ok := c.Session.(*session3)
	if !ok {
		t := &http3.Transport{DisableCompression: true, MaxResponseHeaderBytes: maxHeads}
		s = &session3{t.NewClientConn(c.QUIC)}
		c.Session = s
	}
	f := &flight3{ctx: ctx, c: c, s: s, r: *r, trace: newTracer(r.Trace), left: -1}
	resp, err := f.run(lines)
	if err != nil {
		err = f.failed(err)
		f.cancel(context.Canceled)
		_ = c.Close()
		return &Response{Timing: f.figures()}, err
	}
	return resp, nil
}

func (f *flight3) run(lines []header.Line) (*Response, error) {
	resp := &Response{Proto: "HTTP/3"}
	var stream context.Context
	stream, f.cancel = context.WithCancelCause(f.ctx)
	f.t.Start = f.r.Clock.Mono()
	if err := checkLines(&f.r, lines); err != nil {
		return nil, fault(retry.ClassRequest, exitcode.Usage, retry.SentNothing, retry.PhaseSend, err)
	}
	req := f.request(lines)
	shown := shown(&f.r, lines, "HTTP/3")
	f.t.HeadOut = int64(len(shown))
	f.trace.headerOut(shown)
	var err error
	if f.resp, err = f.s.client.RoundTrip(req.WithContext(httptrace.WithClientTrace(stream, f.watch(resp)))); err != nil {
		if cause := context.Cause(stream); cause != nil && f.ctx.Err() == nil {
			err = cause // a body that cannot be read
		}
		return nil, err
	}
	f.t.Head = f.r.Clock.Mono()
	if f.t.FirstByte == 0 {
		f.t.FirstByte = f.t.Head
	}
	resp.Status = f.resp.StatusCode
	resp.Header, resp.Raw = f.block(resp.Status, f.resp.Header)
	if resp.Status >= 300 && f.up != nil {
		f.up.stop.Store(true)
	}
	resp.Length = f.resp.ContentLength
	if bodyless(f.r.Method == "HEAD", resp.Status) {
		resp.Length = 0
	}
	f.left = resp.Length
	resp.Timing = f.figures()
	resp.Body = &Body{src: f}
	return resp, nil
}

// request translates r. Fields that HTTP/3 does not carry fall away, as on HTTP/2.
func (f *flight3) request(lines []header.Line) *http.Request {
	r := &f.r
	u := &url.URL{Scheme: r.Scheme, Host: authority(r, lines), Opaque: r.Target}
	if strings.HasPrefix(r.Target, "//") {
		path, query, has := strings.Cut(r.Target, "?")
		plain, err := url.PathUnescape(path)
		if err != nil {
			plain = path
		}
		u.Opaque, u.Path, u.RawPath, u.RawQuery, u.ForceQuery = "", plain, path, query, has && query == ""
	}
	req := &http.Request{Method: r.Method, URL: u, Host: u.Host, Header: http.Header{"User-Agent": nil}, Proto: "HTTP/3", ProtoMajor: 3}
	for name, value := range carried(lines) {
		name = textproto.CanonicalMIMEHeaderKey(name)
		req.Header[name] = append(req.Header[name], value)
	}
	if r.Body != nil && r.Length != 0 {
		f.up = &upload3{f: f, over: make(chan struct{})}
		req.Body, req.ContentLength = f.up, r.Length
	}
	return req
}

// watch notes the instants and the informational answers.
func (f *flight3) watch(resp *Response) *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		WroteHeaders: func() {
			f.wrote = true
			if f.up == nil {
				f.t.Sent = f.r.Clock.Mono()
			}
		},
		Got1xxResponse: func(code int, values textproto.MIMEHeader) error {
			if f.t.FirstByte == 0 {
				f.t.FirstByte = f.r.Clock.Mono()
			}
			_, raw := f.block(code, http.Header(values))
			resp.Interim = append(resp.Interim, raw)
			return nil
		},
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if f.up != nil {
				f.up.sentAll(info.Err)
			}
		},
	}
}

// block is a header block in curl's rendering. The order of the fields on the
// wire is not known any more: they come sorted.
func (f *flight3) block(status int, values http.Header) ([]Field, string) {
	raw := append([]byte(nil), "HTTP/3 "+strconv.Itoa(status)+" \r\n"...)
	fields := sorted(values)
	see := f.trace.headerIn()
	if see != nil {
		see(raw)
	}
	for _, field := range fields {
		from := len(raw)
		raw = append(raw, field.Name+": "+field.Value+"\r\n"...)
		if see != nil {
			see(raw[from:])
		}
	}
	raw = append(raw, "\r\n"...)
	if see != nil {
		see(raw[len(raw)-2:])
	}
	f.t.HeadIn += int64(len(raw))
	return fields, string(raw)
}

func sorted(values http.Header) []Field {
	fields := make([]Field, 0, len(values))
	for name, lines := range values {
		for _, v := range lines {
			fields = append(fields, Field{Name: strings.ToLower(name), Value: v})
		}
	}
	slices.SortStableFunc(fields, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return fields
}

func (f *flight3) figures() Timing {
	if f.up != nil {
		f.t.BodyOut = f.up.sent.Load()
		if end := f.up.end.Load(); end > 0 {
			f.t.Sent = time.Duration(end)
		}
	}
	return f.t
}

// failed gives an error before the final head its class.
func (f *flight3) failed(err error) error {
	sent, phase := retry.SentNothing, retry.PhaseSend
	if f.wrote {
		sent, phase = retry.SentMaybe, retry.PhaseResponse
	}
	var typed *transport.Error
	var input *inputError
	switch {
	case errors.As(err, &typed):
		return typed
	case errors.As(err, &input):
		return fault(retry.ClassInput, exitcode.Input, sent, retry.PhaseSend, input)
	case f.ctx.Err() != nil:
		return ended(f.ctx, sent, phase, "while waiting for the response")
	case !f.wrote:
		return fault(retry.ClassClosed, exitcode.HTTP3, sent, phase, &worded{"HTTP/3 connection is closed", err})
	}
	class, unprocessed, text := verdict3(err)
	if unprocessed {
		sent = retry.SentUnprocessed
	}
	return fault(class, exitcode.HTTP3, sent, phase, text)
}

// verdict3 says what an error of the stream or the connection means (RFC 9114 §8.1).
func verdict3(err error) (class retry.Class, unprocessed bool, evidence error) {
	var h3 *http3.Error
	var idle *quic.IdleTimeoutError
	var reset *quic.StatelessResetError
	var lost *quic.TransportError
	switch {
	case errors.As(err, &h3):
		text := fmt.Sprintf("HTTP/3 stream was not closed cleanly: error %#x", uint64(h3.ErrorCode))
		switch h3.ErrorCode {
		case http3.ErrCodeRequestRejected:
			return retry.ClassRefused, true, &worded{"HTTP/3 stream was refused: H3_REQUEST_REJECTED", err}
		case http3.ErrCodeVersionFallback:
			return retry.ClassProtocol, true, &worded{text, errors.Join(ErrHTTP11Required, err)}
		case http3.ErrCodeNoError, http3.ErrCodeInternalError, http3.ErrCodeRequestCanceled, http3.ErrCodeRequestIncomplete,
			http3.ErrCodeExcessiveLoad, http3.ErrCodeConnectError:
			return retry.ClassClosed, false, &worded{text, err}
		}
		return retry.ClassProtocol, false, &worded{text, err}
	case errors.As(err, &idle):
		return retry.ClassClosed, false, &worded{"HTTP/3 connection timed out: the server has vanished", err}
	case errors.As(err, &reset), errors.As(err, &lost):
		return retry.ClassClosed, false, &worded{"HTTP/3 connection was lost", err}
	}
	return retry.ClassProtocol, false, &worded{"HTTP/3: the answer cannot be read", err}
}

// upload3 is the request's body as quic-go reads it, beside the answer.
type upload3 struct {
	f    *flight3
	sent atomic.Int64
	end  atomic.Int64
	stop atomic.Bool
	once sync.Once
	over chan struct{} // closed when quic-go is done with it
	err  error         // how that went; valid after over
}

func (u *upload3) Read(p []byte) (int, error) {
	r := &u.f.r
	if u.stop.Load() {
		return 0, errStopped
	}
	n, err := r.Body.Read(p)
	if u.stop.Load() {
		return 0, errStopped
	}
	sent := u.sent.Add(int64(n))
	advance(r.Progress, int64(n))
	u.f.trace.dataOut(p[:n])
	switch {
	case r.Length >= 0 && sent > r.Length:
		return 0, u.fail(&inputError{fmt.Errorf("more than %d bytes", r.Length)})
	case errors.Is(err, io.EOF) && sent < r.Length:
		return 0, u.fail(shortInput(err, sent, r.Length))
	case errors.Is(err, io.EOF):
		u.end.Store(int64(r.Clock.Mono()))
	case err != nil:
		return 0, u.fail(&inputError{err})
	}
	return n, err
}

func (u *upload3) fail(err error) error {
	u.f.cancel(err)
	return err
}

// Close does nothing: the body belongs to the caller.
func (u *upload3) Close() error { return nil }

// sentAll notes that quic-go is done with the body.
func (u *upload3) sentAll(err error) {
	u.once.Do(func() {
		u.err = err
		close(u.over)
	})
}
