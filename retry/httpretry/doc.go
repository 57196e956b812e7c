// Package httpretry puts net/http on the retry engine: Transport is an
// http.RoundTripper that sends requests again as the retry contract
// (docs/contract.md) says, and Classify, Describer and ReadServer describe an exchange to
// programs that write their own loop with retry.Do.
//
//	client := &http.Client{Transport: &httpretry.Transport{}}
//
// # What Transport promises
//
//   - Counting: an attempt is one request, and each request is an attempt in the
//     Record (R1.1). net/http would resend some requests in silence when a reused connection
//     dies; here that becomes an attempt of its own, or an error. See below.
//   - Method gate: what the server may have acted on is sent again only if its
//     method is idempotent, it carries an idempotency key, or the policy vouches for it
//     (R3.1, R3.2). Whether anything was sent is a fact, found with httptrace.
//   - Server minimum: Retry-After is a minimum that nothing shortens, within
//     Policy.Cap; it says when, never whether (R4, R5).
//   - Time: Policy.MaxTime bounds an attempt, Policy.Deadline or the context's deadline
//     the operation, reading the final body included (R6). A wait that could not end in
//     time does not begin.
//   - Answers: every complete answer is returned with a nil error, a final 503 too;
//     RecordFrom tells the reason. Without an answer the error is a *retry.Error
//     with the Record in it.
//   - Bodies: each attempt sends the same bytes (R8.2): by GetBody, or else from what
//     was kept of them, up to MaxBody. A request that cannot be replayed stops with
//     not_replayable instead of sending half a body.
//   - Given-up answers are drained (64 KiB and 500 ms at most) and closed; the connection
//     is used again, but not after 408 and 421 (R9.1, R3.5). The final one is the
//     caller's, and its Close releases everything.
//   - One owner: within another retry.Do, or under another Transport, it passes through:
//     attempts do not multiply, and the outer loop alone waits and takes from budgets.
//   - The key of a request that http.Client redirects to another origin does not go
//     along (R7.6). The caller's request is never changed.
//
// # What it cannot promise
//
// An operation is one call of RoundTrip. http.Client follows redirects above it: each
// hop is an operation of its own, and follows at once, whatever Retry-After a 3xx
// names. A body that breaks off after RoundTrip has returned is the caller's to
// notice; Transport.HoldBody, or an outer retry.Do with Describer.Outcome, tries that again.
//
// # Silent resends
//
// http.Transport sends a request again, by itself, when a connection from its pool
// breaks before the answer and the request is a GET, HEAD, OPTIONS or TRACE or
// carries Idempotency-Key or X-Idempotency-Key; over HTTP/2 also after
// REFUSED_STREAM, GOAWAY and PROTOCOL_ERROR, whatever the method. Transport
// prevents it in two ways. With a body: GetBody is withheld, and without it
// net/http cannot. Without a body: when httptrace tells that a request whose
// header was already written gets another connection, its context is canceled,
// which stops HTTP/2 before the first frame; an HTTP/1 connection gets a write
// deadline that has passed.
//
// The price, and the limits:
//
//   - A connection that was closed while idle, so late that net/http had already
//     begun to write, costs an attempt. Where net/http knows that no byte left, Sent is
//     "nothing", and any method is tried again.
//   - net/http does not say why it wanted to send again. Over HTTP/2 it counts as
//     refused, even where a request without a body was answered with PROTOCOL_ERROR, which
//     net/http takes for a refusal as well.
//   - A Base that is not net/http, or whose connections have no deadlines, must not
//     resend by itself.
package httpretry
