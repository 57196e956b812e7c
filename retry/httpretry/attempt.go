package httpretry

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/bidehttp/bide/retry"
)

// What is read of an answer that is given up, so that its connection can be used
// again (R9.1).
const (
	drainLimit  = 64 << 10
	drainWithin = 500 * time.Millisecond
)

// operation is one call of Transport.RoundTrip.
type operation struct {
	base     http.RoundTripper
	req      *http.Request
	describe Describer
	header   http.Header // the request's, with the key
	body     bodySource  // nil none
	hold     int64       // Transport.HoldBody
}

// answer is what an attempt got.
type answer struct {
	resp   *http.Response
	ctx    context.Context // under which the body is read
	cancel func()
}

var (
	errNoResponse = errors.New("the RoundTripper returned neither a response nor an error")
	// errResend ends the context of an attempt that net/http would send again.
	errResend = errors.New("the connection broke before the answer, and the request was not sent again in silence")
)

// attempt sends the request once.
func (o *operation) attempt(ctx context.Context, _ int) (*answer, retry.Outcome) {
	ctx, cancel := context.WithCancelCause(ctx)
	f := &facts{
		refuse:     func() { cancel(errResend) },
		replayable: o.body == nil && replayable(o.req.Method, o.header),
		phase:      retry.PhaseConnect,
	}
	ctx = f.attach(ctx)
	out, body, err := o.outgoing(ctx)
	if err != nil {
		cancel(nil)
		return nil, o.unsent(ctx, err)
	}
	resp, err := o.base.RoundTrip(out)
	switch {
	case err != nil:
		resp = nil
	case resp == nil:
		err = errNoResponse
	case resp.Body == nil:
		resp.Body = http.NoBody
	}
	outcome := o.outcome(out, resp, err)
	if fault := body.fault(); err != nil && fault != nil {
		inputFailed(&outcome, fault)
	}
	if err == nil && outcome.Class == retry.ClassNone && o.hold > 0 {
		var complete bool
		if complete, err = hold(resp, o.hold); err != nil {
			_ = resp.Body.Close()
			outcome = o.outcome(out, resp, err)
		} else if complete {
			outcome.Phase = retry.PhaseDone
		}
	}
	if err != nil {
		cancel(nil)
		return nil, outcome
	}
	return &answer{resp: resp, ctx: ctx, cancel: func() { cancel(nil) }}, outcome
}

// outcome asks Describer about what was sent; the response is that of out, also
// where Base names another request.
func (o *operation) outcome(out *http.Request, resp *http.Response, err error) retry.Outcome {
	if resp != nil {
		named := *resp
		named.Request = out
		resp = &named
	}
	outcome := o.describe.Outcome(out, resp, err)
	if factsOf(out.Context()).state().refused && err != nil {
		outcome.Err = errResend
	}
	return outcome
}

// outgoing is the request of one attempt. GetBody is withheld, so that net/http
// cannot send a body again by itself.
func (o *operation) outgoing(ctx context.Context) (*http.Request, *watchedBody, error) {
	out := o.req.WithContext(ctx)
	out.Header = o.header
	out.GetBody = nil
	if o.body == nil {
		return out, nil, nil
	}
	source, err := o.body.open()
	if err != nil {
		return nil, nil, err
	}
	body := &watchedBody{ReadCloser: source}
	out.Body = body
	return out, body, nil
}

// unsent is the outcome of a body that cannot be had.
func (o *operation) unsent(ctx context.Context, err error) retry.Outcome {
	outcome := o.describe.Outcome(o.req.WithContext(ctx), nil, err)
	outcome.Sent, outcome.Phase = retry.SentNothing, retry.PhaseSend
	inputFailed(&outcome, err)
	return outcome
}

// inputFailed puts the blame on the body's source.
func inputFailed(o *retry.Outcome, err error) {
	o.Class, o.Err = retry.ClassInput, err
	switch {
	case errors.Is(err, retry.ErrBodyChanged):
		o.Stop = retry.BodyChanged
	case errors.Is(err, retry.ErrNotReplayable):
		o.Stop = retry.NotReplayable
	}
}

// replayable reports whether net/http would send a request without a body again
// when a reused HTTP/1 connection breaks before the answer.
func replayable(method string, header http.Header) bool {
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	_, key := header["Idempotency-Key"]
	_, xkey := header["X-Idempotency-Key"]
	return key || xkey
}

// discard gives an answer up, while the wait runs. What remains of its body after
// 408 and 421 is not worth reading: the connection is not used again (R3.5).
func (o *operation) discard(a *answer) {
	if a == nil {
		return
	}
	switch a.resp.StatusCode {
	case http.StatusRequestTimeout, http.StatusMisdirectedRequest:
		_ = a.resp.Body.Close()
		closeIdle(o.base)
	default:
		discard(a.resp, a.cancel)
	}
	a.cancel()
}

// Discard gives up a response that another attempt supersedes: it reads at most
// 64 KiB of its body, for at most 500 ms, so that the connection can be used again,
// and closes it. It is made to be retry.Do's discard; nil is allowed.
func Discard(resp *http.Response) {
	if resp != nil && resp.Body != nil {
		discard(resp, func() { _ = resp.Body.Close() })
	}
}

// discard ends the reading by abort when the time is over. That is real time, as
// all limits of input and output are.
func discard(resp *http.Response, abort func()) {
	timer := time.AfterFunc(drainWithin, abort)
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, resp.Body, drainLimit)
	_ = resp.Body.Close()
}
