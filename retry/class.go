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

// Source says who decided a wait (R4.11).
type Source string

// The sources of a wait.
const (
	SourceServer  Source = "server"
	SourceBackoff Source = "backoff"
	SourceShared  Source = "shared"
)
