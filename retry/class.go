// Package retry decides whether, when and how often an operation is tried
// again. Policy.Decide is a pure function of what happened; Do is the loop that
// obeys it, with an injected clock and source of randomness. Nothing in it knows
// HTTP's Go types: a layer above describes each attempt as an Outcome.
//
// The rules are those of the retry contract (docs/contract.md), cited as R4.5.
package retry

// Class says what kind of failure ended an attempt. It is the row of the
// table in contract §3; every layer maps its errors onto it.
type Class string

// The classes of contract §3. ClassNone is a complete answer that is no failure.
const (
	ClassNone         Class = ""
	ClassStatus       Class = "status"
	ClassResolve      Class = "resolve"
	ClassNXDomain     Class = "nxdomain"
	ClassConnect      Class = "connect"
	ClassTLS          Class = "tls"
	ClassCert         Class = "cert"
	ClassProxy        Class = "proxy"
	ClassProxyRefused Class = "proxy_refused"
	ClassRefused      Class = "refused"
	ClassClosed       Class = "closed"
	ClassTimeout      Class = "timeout"
	ClassTruncated    Class = "truncated"
	ClassProtocol     Class = "protocol"
	ClassRedirect     Class = "redirect"
	ClassDecode       Class = "decode"
	ClassChecksum     Class = "checksum"
	ClassSize         Class = "size"
	ClassInput        Class = "input"
	ClassOutput       Class = "output"
	ClassRequest      Class = "request"
	ClassCanceled     Class = "canceled"
)

// ClassInfo is a row of the table in contract §3.
type ClassInfo struct {
	Class    Class
	Examples string
	// Transient by default. Statuses have their own rules, see DefaultRetryOn.
	Transient bool
	// NotActedOn: the server did nothing, so that a retry is safe for any method (R3.1).
	NotActedOn bool
	// Final is the reason of stopping where the class is not transient.
	Final Reason
	// Selectable: --retry-on knows it by this word (R3.3).
	Selectable bool
}

// classTable is contract §3, in its order; a class's bit in a Set is its place here.
// It is never written to.
var classTable = [...]ClassInfo{
	{Class: ClassStatus, Examples: "a complete answer that is a failure", Final: HTTPError},
	{Class: ClassResolve, Examples: "DNS temporary failure, server failure, timeout", Transient: true, NotActedOn: true, Final: TransportError, Selectable: true},
	{Class: ClassNXDomain, Examples: "DNS: no such host", NotActedOn: true, Final: TransportError, Selectable: true},
	{Class: ClassConnect, Examples: "refused, unreachable, no route, dial timeout, over all addresses", Transient: true, NotActedOn: true, Final: TransportError, Selectable: true},
	{Class: ClassTLS, Examples: "handshake cut, reset, timed out", Transient: true, NotActedOn: true, Final: TransportError, Selectable: true},
	{Class: ClassCert, Examples: "untrusted, wrong name, expired, pin mismatch, refused by the server", NotActedOn: true, Final: TransportError, Selectable: true},
	{Class: ClassProxy, Examples: "proxy unreachable, CONNECT answered 429 502 503 504", Transient: true, NotActedOn: true, Final: TransportError, Selectable: true},
	{Class: ClassProxyRefused, Examples: "CONNECT answered anything else, SOCKS refusal", NotActedOn: true, Final: TransportError, Selectable: true},
	{Class: ClassRefused, Examples: "HTTP/2 REFUSED_STREAM or GOAWAY, HTTP/3 REQUEST_REJECTED", Transient: true, NotActedOn: true, Final: TransportError, Selectable: true},
	{Class: ClassClosed, Examples: "reset or closed after a byte of the request went out and before the response's head", Transient: true, Final: TransportError, Selectable: true},
	{Class: ClassTimeout, Examples: "the attempt's own limit, low speed", Transient: true, Final: TransportError, Selectable: true},
	{Class: ClassTruncated, Examples: "body short of Content-Length, chunked without its end, stream reset in the body", Transient: true, Final: TransportError, Selectable: true},
	{Class: ClassProtocol, Examples: "the response is not HTTP or not TLS, header block too large", Final: TransportError, Selectable: true},
	{Class: ClassRedirect, Examples: "too many, refused scheme; a next page that is refused", Final: RedirectError},
	{Class: ClassDecode, Examples: "content coding wrong; a page of --slurp that is no array", Final: TransportError, Selectable: true},
	{Class: ClassChecksum, Examples: "--checksum does not match", Transient: true, Final: ChecksumMismatch},
	{Class: ClassSize, Examples: "over --max-filesize", Final: TransportError},
	{Class: ClassInput, Examples: "a body source cannot be read", Final: InputError},
	{Class: ClassOutput, Examples: "cannot write: disk full, closed pipe", Final: OutputError},
	{Class: ClassRequest, Examples: "bad URL, unsupported scheme, bad header", NotActedOn: true, Final: Usage},
	{Class: ClassCanceled, Examples: "signal, caller", Final: Canceled},
}

// Classes returns the table of contract §3, in its order.
func Classes() []ClassInfo { return append([]ClassInfo(nil), classTable[:]...) }

// FinalReason is the reason for which an operation stops at a failure of class
// c that is not worth another attempt. An unknown class counts as a transport
// error; ClassNone is Success.
func (c Class) FinalReason() Reason {
	if c == ClassNone {
		return Success
	}
	if i := c.row(); i >= 0 {
		return classTable[i].Final
	}
	return TransportError
}

// row is the place of c in classTable, -1 for a class that is not there.
func (c Class) row() int {
	for i := range classTable {
		if classTable[i].Class == c {
			return i
		}
	}
	return -1
}

// bit is the place of c in Set; 0 for a class that is not in the table.
func (c Class) bit() uint32 {
	if i := c.row(); i >= 0 {
		return 1 << i
	}
	return 0
}

// Classified is an error that knows its class. Layers below the engine return
// errors that implement it, so that no text is ever parsed (R3.4).
type Classified interface {
	error
	RetryClass() Class
}

// Sent says how much of the request the server may have acted on (R3.1, R3.2).
type Sent string

// SentNothing: no byte of the request left. SentUnprocessed: bytes left, but
// the server has said that it did nothing with them (REFUSED_STREAM, 421,
// CONNECT refused). SentMaybe: it may have been acted on.
const (
	SentNothing     Sent = "nothing"
	SentUnprocessed Sent = "unprocessed"
	SentMaybe       Sent = "maybe"
)

// Phase is where an attempt ended.
type Phase string

// The phases of an attempt, in order.
const (
	PhaseResolve  Phase = "resolve"
	PhaseConnect  Phase = "connect"
	PhaseTLS      Phase = "tls"
	PhaseSend     Phase = "send"
	PhaseResponse Phase = "response"
	PhaseBody     Phase = "body"
	PhaseDone     Phase = "done"
)

// Reason is why an operation ended: contract R10.2, the complete list.
type Reason string

// The reasons of contract R10.2.
const (
	Success              Reason = "success"
	HTTPError            Reason = "http_error"
	AttemptsExhausted    Reason = "attempts_exhausted"
	RetryAfterExceedsCap Reason = "retry_after_exceeds_cap"
	RetryTimeExceeded    Reason = "retry_time_exceeded"
	DeadlineBeforeRetry  Reason = "deadline_before_retry"
	DeadlineExceeded     Reason = "deadline_exceeded"
	UnsafeMethod         Reason = "unsafe_method"
	NotReplayable        Reason = "not_replayable"
	BodyChanged          Reason = "body_changed"
	BudgetExhausted      Reason = "budget_exhausted"
	OutputCommitted      Reason = "output_committed"
	TransportError       Reason = "transport_error"
	RedirectError        Reason = "redirect_error"
	ChecksumMismatch     Reason = "checksum_mismatch"
	InputError           Reason = "input_error"
	OutputError          Reason = "output_error"
	Usage                Reason = "usage"
	Canceled             Reason = "canceled"
)

// Reasons returns the complete list of contract R10.2, in its order.
func Reasons() []Reason {
	return []Reason{
		Success, HTTPError, AttemptsExhausted, RetryAfterExceedsCap, RetryTimeExceeded, DeadlineBeforeRetry,
		DeadlineExceeded, UnsafeMethod, NotReplayable, BodyChanged, BudgetExhausted, OutputCommitted,
		TransportError, RedirectError, ChecksumMismatch, InputError, OutputError, Usage, Canceled,
	}
}

// Source says who decided a wait (R4.11).
type Source string

// The sources of a wait.
const (
	SourceServer  Source = "server"
	SourceBackoff Source = "backoff"
	SourceShared  Source = "shared"
)
