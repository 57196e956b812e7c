package retrytest

import "time"

// forever is a number of repetitions, or a pause, without end ("xinf", "stall=inf").
const forever = -1

// script is a parsed script: what to answer to which request.
type script struct {
	routes []route
}

// route is the steps for the requests that it matches.
type route struct {
	method     string // "" any
	path       string // "" any; a trailing * matches any rest
	steps      []step
	then       then
	idempotent bool
	limit      limit
}

// then says what happens when a route's steps have run out.
type then string

const (
	thenLast then = "last" // the last step again
	thenFail then = "fail" // 500, and the log says that the script ran out
	thenLoop then = "loop" // from the first step again
)

// ending is how an answer is broken, if it is.
type ending int

const (
	endNone       ending = iota
	endClose             // close without an answer; after a status: after the whole answer, unannounced
	endReset             // TCP reset; after a status: in the middle of the body
	endCloseAfter        // close after so many bytes of the answer, head included
	endTruncate          // close after so many bytes of the body
	endGarbage           // bytes that are not HTTP; with chunked: a chunk size that is none
	endGoAway            // HTTP/2 GOAWAY
	endRefuse            // HTTP/2 RST_STREAM(REFUSED_STREAM)
	endRST               // HTTP/2 RST_STREAM with a chosen code
	endRaw               // these bytes, then close
)

// whenForm is how a Retry-After value is written.
type whenForm int

const (
	whenRaw     whenForm = iota // text as it stands
	whenIMF                     // the three forms of HTTP-date, RFC 9110 section 5.6.7
	whenRFC850                  //
	whenASCTime                 //
)

// when is one Retry-After value.
type when struct {
	form  whenForm
	text  string        // whenRaw
	after time.Duration // a date: counted from the answer's own clock
}

// step is one entry of a script.
type step struct {
	src     string // as written, for the log
	status  int    // 0: a fault alone
	reason  string // status text; "" the registered one
	interim []step // 1xx answers before this one
	times   int    // 1 or more, or forever

	header     []Field
	trailer    []Field
	retryAfter []when
	dateOffset time.Duration
	noDate     bool

	body     string
	bodyFile string // "" none
	hasBody  bool
	size     int64 // -1 not given
	etag     string
	ranges   bool
	chunked  bool
	noLength bool // delimited by the connection's end
	http10   bool

	delay        time.Duration // before the answer's head
	stall        time.Duration // in the middle of the body, or instead of the answer
	dripBytes    int64
	dripEvery    time.Duration
	end          ending
	endBytes     int64  // endTruncate, endCloseAfter
	lastStream   int64  // endGoAway: the chosen id; forever: the one before this stream
	code         uint32 // endRST
	raw          string // endRaw
	read         int64  // of the request's body before answering; forever: all
	ignoreExpect bool   // no 100 (Continue)
	effect       bool
	lost         bool
}

// fault reports whether the step gives no answer at all.
func (s *step) fault() bool { return s.status == 0 }

// name is the word under which the log shows a fault.
func (s *step) name() string {
	switch {
	case s.lost:
		return "lost"
	case s.end == endNone:
		return "stall"
	}
	switch s.end {
	case endClose:
		return "close"
	case endReset:
		return "reset"
	case endGarbage:
		return "garbage"
	case endGoAway:
		return "goaway"
	case endRefuse:
		return "refuse-stream"
	case endRST:
		return "rst-stream"
	default:
		return "raw"
	}
}
