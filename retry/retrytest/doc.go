// Package retrytest is a scripted HTTP server with an attempt log, for tests of
// anything that retries.
//
// A test that looks only at the final result proves nothing about retries: a
// client that asks twenty times at once succeeds, too. Here each request is
// answered by the next step of a script, and the log tells when it came, how
// long after the answer before it, and with what:
//
//	s := retrytest.Serve(t, "429 retry-after=1, 503, 200 body=done")
//	... let the client ask s.URL ...
//	s.Log().Check(t, "attempts=3", "gap1>=1s", "last-status=200")
//
// # Scripts
//
// A script is steps, separated by commas or new lines, in order. A step is a
// status or a fault, with options separated by blanks. Values with commas, blanks or brackets
// are quoted: 'as it stands' or "with the \t escapes of a Go string". A # where
// a step may begin starts a comment.
//
// A status sends an answer whose body is the status line's text, unless one of
// these says otherwise:
//
//	body=TEXT  body=@FILE    the body
//	size=10MB                a generated body: see Pattern (B, kB, MB, GB, KiB, MiB, GiB)
//	header='Name: value'     a header line as it stands; may be repeated
//	retry-after=2            seconds; may be repeated
//	retry-after=date+2s      a date by the answer's own clock; also rfc850+2s, asctime-5s
//	retry-after=raw:TEXT     any text
//	date=-90s  date=none     the answer's clock is off by that; no Date
//	age=30  location=/next  etag='"a"'
//	ranges                   Range and If-Range are honoured: 206, 416
//	delay=2s                 before the head
//	chunked                  with trailer='Name: value' at the end
//	no-length                the body ends with the connection
//	http=1.0  reason=TEXT    version and text of the status line
//	read=0B                  answer after so many bytes of the request's body
//	ignore-expect            wait for the body without sending 100 (Continue)
//	effect                   the request has its effect (Log.Effects)
//	effect lost              it has, and the connection dies before the answer
//	x3  xinf                 the step three times, for ever
//
// A 1xx step goes ahead of the answer that follows: 103 header='Link: </a>', 200.
//
// Faults stand alone, or after a status to break its answer:
//
//	reset                    TCP reset; in an answer, in the middle of the body
//	close                    close after reading the request; in an answer, unannounced after it
//	close-after=100B         close after that much of the answer, head included (HTTP/2: of the body)
//	truncate=20B             close after that much of the body
//	stall=5s  stall=inf      silence, then close; in an answer, silence in mid-body, then the rest
//	drip=10B/100ms           the body in pieces
//	garbage                  bytes that are not HTTP; in a chunked answer, a broken chunk
//	raw=TEXT                 these bytes, then close
//	goaway  goaway=1         HTTP/2: GOAWAY that leaves this stream out, or names that last stream; after
//	                         a status, one that lets it finish
//	refuse-stream            HTTP/2: RST_STREAM with REFUSED_STREAM
//	rst-stream=CANCEL        HTTP/2: RST_STREAM with that code (INTERNAL_ERROR)
//
// On HTTP/1 the faults of HTTP/2 close the connection (rst-stream resets it).
//
// When the steps have run out the last one is repeated; "then=loop" starts
// again, "then=fail" answers 500, marks the request (Record.RanOut) and fails the
// test (Serve).
//
// "POST /jobs: 429, 201" begins a route; "/jobs/*:" takes every method and any
// rest, "*:" everything else, as do steps before the first route. After a route's steps
// stand its options in brackets. [idempotent] keeps the first result of each
// Idempotency-Key: same key and body, the same answer again; another body, 422; still
// in progress, 409; no key, 400. A result is kept when the request had its
// effect, which a 2xx always has. [bucket=5/s burst=10] is a token bucket, [window=100/10s] a
// fixed window: what is over the limit is answered 429 with the right Retry-After
// and takes no step of the script. burst is as much as the rate's number by default.
//
// Durations are 500ms, 1m30s, or a number of seconds. ParseScript finds what is
// wrong with a script without a server.
//
// # From the command line
//
// "bide mock" is this package around any program: docs/mock.md.
package retrytest
