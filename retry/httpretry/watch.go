package httpretry

import (
	"context"
	"crypto/tls"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"github.com/bidehttp/bide/retry"
)

// Watch returns a context for one attempt: a request made with it can be
// described more exactly by Describer.Outcome, because httptrace tells whether
// anything was sent and in which phase a failure struck. Of several requests made
// with it one after the other (redirects), the last one counts.
func Watch(ctx context.Context) context.Context {
	return (&facts{phase: retry.PhaseConnect}).attach(ctx)
}

type factsKey struct{}

// facts is what httptrace told about the last request on a context. Hooks may be
// called from several goroutines, and a dial may go on after its request has ended.
type facts struct {
	// refuse is called, if it is there, when net/http is about to send a request
	// again by itself. Over HTTP/1 it does so with a request that it deems replayable;
	// others it sends again only when no byte of them left, which is no resend.
	refuse     func()
	replayable bool

	mu       sync.Mutex
	seen     bool        // the hooks are called: there is net/http below
	phase    retry.Phase // reached
	got      bool        // a connection
	sending  bool        // a header field went to it, or to the buffer before it
	http2    bool
	answered bool
	refused  bool // a silent resend
}

func factsOf(ctx context.Context) *facts {
	f, _ := ctx.Value(factsKey{}).(*facts)
	return f
}

func (f *facts) attach(ctx context.Context) context.Context {
	ctx = context.WithValue(ctx, factsKey{}, f)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:              func(string) { f.getConn() },
		GotConn:              f.gotConn,
		DNSStart:             func(httptrace.DNSStartInfo) { f.reach(retry.PhaseResolve) },
		DNSDone:              func(d httptrace.DNSDoneInfo) { f.reachIf(d.Err == nil, retry.PhaseConnect) },
		ConnectStart:         func(string, string) { f.reach(retry.PhaseConnect) },
		TLSHandshakeStart:    func() { f.reach(retry.PhaseTLS) },
		TLSHandshakeDone:     func(_ tls.ConnectionState, err error) { f.reachIf(err == nil, retry.PhaseConnect) },
		WroteHeaderField:     f.wroteField,
		WroteRequest:         func(w httptrace.WroteRequestInfo) { f.reachIf(w.Err == nil, retry.PhaseResponse) },
		GotFirstResponseByte: f.gotAnswer,
	})
}

// reach notes the phase that begins. Dials of the past do not matter any more
// once there is a connection.
func (f *facts) reach(p retry.Phase) { f.reachIf(true, p) }

func (f *facts) reachIf(ok bool, p retry.Phase) {
	f.mu.Lock()
	defer f.mu.Unlock()
	dialing := p != retry.PhaseSend && p != retry.PhaseResponse
	if ok && dialing == !f.got {
		f.phase = p
	}
}

// getConn is where a request begins, and where one begins again.
func (f *facts) getConn() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = true
	if !f.again() {
		f.got, f.sending, f.answered, f.phase = false, false, false, retry.PhaseConnect
	}
}

func (f *facts) gotConn(info httptrace.GotConnInfo) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = true
	if !f.again() {
		f.got, f.sending, f.answered, f.phase = true, false, false, retry.PhaseSend
		return
	}
	// HTTP/2 looks at the context before it writes, HTTP/1 does not: there the
	// connection, which nobody shares, must not take the request.
	if !f.http2 && info.Conn != nil {
		_ = info.Conn.SetWriteDeadline(time.Unix(1, 0)) // has passed
	}
}

// again reports whether a request that was sent and not answered is about to be
// sent again, and refuses it. A request that follows an answer is the work of a
// RoundTripper in between (authentication), and none of this.
func (f *facts) again() bool {
	if f.refuse == nil || !f.sending || f.answered || (!f.http2 && !f.replayable) {
		return false
	}
	f.refused = true
	f.refuse()
	return true
}

func (f *facts) wroteField(name string, _ []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.sending {
		f.sending, f.http2 = true, strings.HasPrefix(name, ":")
	}
}

func (f *facts) gotAnswer() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answered = true
}

// state is a copy of what facts knows so far.
type state struct {
	seen, got, sending, http2, refused bool
	phase                              retry.Phase
}

func (f *facts) state() state {
	if f == nil {
		return state{phase: retry.PhaseConnect}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return state{seen: f.seen, got: f.got, sending: f.sending, http2: f.http2, refused: f.refused, phase: f.phase}
}
