package transport

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// Error is an error of the connection or of what is spoken on it (wire uses it,
// too). It implements retry.Classified.
type Error struct {
	Class retry.Class
	Code  exitcode.Code // curl's exit code where the class alone does not tell; 0 = the class's own
	Sent  retry.Sent
	Phase retry.Phase
	Facts *Facts // of a connection that was not made
	// ProxyServer is what a CONNECT answer said of when to come back.
	ProxyRetryAfter []string
	ProxyDate       string
	Err             error // evidence; its text is what a person reads, curl's words where curl has some
}

func (e *Error) Error() string           { return e.Err.Error() }
func (e *Error) Unwrap() error           { return e.Err }
func (e *Error) RetryClass() retry.Class { return e.Class }

// ExitCode is curl's code for this error; 0 leaves it to the class.
func (e *Error) ExitCode() exitcode.Code { return e.Code }

// problem is evidence with a text for people. The text holds no secret and no
// byte of a server as it came.
type problem struct {
	text string
	err  error
}

func (p *problem) Error() string { return p.text }
func (p *problem) Unwrap() error { return p.err }

// errConnectTimeout is the cause of a context that Settings.ConnectTimeout ended.
var errConnectTimeout = errors.New("connect timeout")

// undated hides a context's deadline, so that whatever waits on the network is
// woken by Done alone, and never sees a timeout before the context has ended.
type undated struct{ context.Context }

func (undated) Deadline() (time.Time, bool) { return time.Time{}, false }

// ContextClass says what an ended context means for a request: canceled when its
// cause is a cancellation, else timeout, with the exit code that the class
// alone does not tell (0: none).
func ContextClass(ctx context.Context) (retry.Class, exitcode.Code) {
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return retry.ClassCanceled, 0
	}
	return retry.ClassTimeout, exitcode.Timeout
}

// stopped returns the error for a context that ended in a phase, or nil when it
// has not ended.
func (m *maker) stopped(ctx context.Context, phase retry.Phase) *Error {
	if ctx.Err() == nil {
		return nil
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, errConnectTimeout) {
		return m.connectTimedOut(phase, cause)
	}
	class, code := ContextClass(ctx)
	text := m.timeoutText(phase)
	if class == retry.ClassCanceled {
		text = "Connection canceled"
	}
	return m.fail(class, code, phase, text+"; "+cause.Error(), cause)
}

// connectTimedOut is the error for ConnectTimeout: a failure of the phase in
// which it struck, so that it is known that nothing was sent.
func (m *maker) connectTimedOut(phase retry.Phase, cause error) *Error {
	class, code := retry.ClassConnect, exitcode.Timeout
	switch {
	case phase == retry.PhaseResolve:
		class = retry.ClassResolve
	case phase == retry.PhaseTLS:
		class, code = retry.ClassTLS, exitcode.TLS
	case m.route.proxy != nil:
		class = retry.ClassProxy
	}
	text := m.timeoutText(phase) + "; the connect timeout is " + m.s.ConnectTimeout.String()
	return m.fail(class, code, phase, text, cause)
}

func (m *maker) timeoutText(phase retry.Phase) string {
	switch phase {
	case retry.PhaseResolve:
		return "Resolving timed out after " + m.took() + " milliseconds"
	case retry.PhaseTLS:
		return "SSL connection timeout"
	default:
		return "Connection timed out after " + m.took() + " milliseconds"
	}
}

// took is how long the connection has been in the making, in milliseconds.
func (m *maker) took() string {
	return strconv.FormatInt((m.pool.mono() - m.began).Milliseconds(), 10)
}

// fail makes the error of a connection that was not made.
func (m *maker) fail(class retry.Class, code exitcode.Code, phase retry.Phase, text string, err error) *Error {
	return &Error{
		Class: class, Code: code, Sent: retry.SentNothing, Phase: phase,
		Facts: m.facts, Err: &problem{text: text, err: err},
	}
}

// printable returns s with what is not printable escaped: names may come from a
// redirect or a certificate.
func printable(s string) string {
	if strings.IndexFunc(s, unprintable) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if !unprintable(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRuneToASCII(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}

func unprintable(r rune) bool { return r == '\uFFFD' || !strconv.IsPrint(r) }
