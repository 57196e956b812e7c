package retry

import "time"

// Outcome is what one attempt came to, in the engine's words.
type Outcome struct {
	// Class is ClassNone when the attempt needs no other: a complete answer
	// that is not listed in Policy.RetryOn and is below 400.
	Class Class
	// Status of the last complete response head; 0 when there was none.
	Status int
	// Method actually sent on the failing hop (R3.2), case kept.
	Method string
	// Keyed: the failing hop carried an idempotency key.
	Keyed bool
	// Replayed: the answer carried Idempotent-Replayed: true.
	Replayed bool
	// RateLimited: R5.7 makes this 403 transient.
	RateLimited bool
	// Unmet: the answer is whole, but not the one that is waited for (R3.3e): of
	// class status, and transient whatever its status.
	Unmet bool
	// Polling: the answer says that the result is not there yet, and the next
	// attempt asks for its state with GET, not for the operation again (R2.1b): safe,
	// and not counted.
	Polling bool
	// Committed: bytes of this attempt's body are beyond recall, so only an
	// exact continuation may follow (R9.3).
	Committed bool
	// Continued: this attempt's answer was a valid continuation of the body
	// (206), so the break before it does not count (R2.4).
	Continued bool
	// Resumable: a part of the body is held and the next attempt will ask for its
	// rest (Range with If-Range). If this attempt broke off in the body, it may
	// turn out uncounted (R2.4).
	Resumable bool
	// Sent says whether the request may have been acted on.
	Sent Sent
	// Phase is where the attempt ended.
	Phase Phase
	// Origin ("https://host:port") of the hop that gave this outcome.
	Origin string
	// Server is the minimum that the server named.
	Server Server
	// SeenAt is the monotonic instant at which the answer's head was complete
	// or the error was seen: waits are counted from it (R4.6). Zero means the
	// instant at which the attempt function returned.
	SeenAt time.Duration
	// Progress is how many bytes of the body are now held; Total is its full
	// size, -1 when unknown (R2.4).
	Progress, Total int64
	// Err is the evidence; nil for ClassNone and often for ClassStatus.
	Err error
	// Stop, when not empty, ends the operation with this reason whatever the
	// policy says: a hop's own limit was hit (R5.6), or the output is committed.
	Stop Reason
}

// Server is what a response said about when to come back (contract §5).
type Server struct {
	// Header is the field that decided, "" when none was there.
	Header string
	// Raw is its value as received.
	Raw string
	// Kind is "seconds", "milliseconds", "date", "invalid" or "absent" ("" = absent).
	Kind string
	// Minimum is the delay it names, never negative; valid when Valid.
	Minimum time.Duration
	// Clock is "server_date" or "local" for dates, else "".
	Clock string
	// Skew is Date minus the wall clock, valid when HasSkew.
	Skew           time.Duration
	Valid, HasSkew bool
}
