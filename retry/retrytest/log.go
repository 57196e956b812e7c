package retrytest

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Field is one header line, name and value as they stood on the wire.
type Field struct{ Name, Value string }

// Record is one request as the server saw it, and what it answered. Instants
// are durations on the monotonic clock since the server's start or last Reset.
type Record struct {
	// Number counts all requests from 1, in the order in which they arrived.
	Number int
	// Group says which requests belong together ("POST /jobs a1b2c3d4"); see Log.GroupBy.
	Group string
	// Attempt counts the requests of the group from 1.
	Attempt int
	// Arrival is the instant at which the first byte of the request (HTTP/2: its
	// HEADERS frame) was read.
	Arrival time.Duration
	// Gap is the time from the end of the answer to the group's previous request (its
	// Done) to Arrival; 0 for the first. Where that answer was still under way, because
	// the client had given it up, it counts from Answered.
	Gap time.Duration
	// HeadGap is Arrival minus Answered of the group's previous request; 0 for the
	// first. A Retry-After counts from there.
	HeadGap time.Duration

	Proto   string  // "HTTP/1.1", "HTTP/1.0" or "HTTP/2.0"
	Method  string  // as received
	Target  string  // the request-target as received; HTTP/2: :path, or :authority of a CONNECT
	Path    string  // of Target, without scheme, authority and query
	Header  []Field // in order and case as received; HTTP/2: without the pseudo-header fields
	RawHead []byte  // HTTP/1: request line and header block, the empty line included
	Trailer []Field // of a chunked or HTTP/2 body

	Body         []byte // its first MiB; see WithBriefLog
	BodyBytes    int64  // its length as far as it was read, without chunk framing
	BodySHA256   string // of those bytes, in hexadecimal
	BodyComplete bool   // it was read to its end

	Connection int    // from 1, in the order of opening
	Stream     uint32 // HTTP/2 stream id; 0 on HTTP/1

	// Answer is the step of the script as written, or what the idempotent stub
	// answered without one.
	Answer string
	// Status sent; 0 for a fault before the answer.
	Status int
	// Answered is the instant just before the final answer's head was sent or the
	// fault fired; valid when HasAnswer.
	Answered  time.Duration
	HasAnswer bool
	// Asked is the wait that the answer's Retry-After named, from Answered on (a
	// date to its one-second resolution); valid when HasAsked.
	Asked    time.Duration
	HasAsked bool
	// Done is the instant just before the last bytes of the answer were sent, or
	// its fault ended it; valid when HasDone.
	Done    time.Duration
	HasDone bool
	// Effect: the request had its effect, answered or not.
	Effect bool
	// RanOut: the script had no step left for it ("then=fail").
	RanOut bool

	fault string // the word of a fault before the answer
}

// Get is the value of the first header line of that name, in any case; "" if none.
func (r *Record) Get(name string) string {
	for _, f := range r.Header {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Values are the values of all header lines of that name, in any case, in order.
func (r *Record) Values(name string) []string {
	var all []string
	for _, f := range r.Header {
		if strings.EqualFold(f.Name, name) {
			all = append(all, f.Value)
		}
	}
	return all
}

// Has reports whether a header line of that name is there.
func (r *Record) Has(name string) bool { return len(r.Values(name)) > 0 }

// Log is a copy of what a server has seen. It does not change any more.
type Log struct {
	// Records in order of arrival.
	Records []Record
	// Connections is how many were accepted.
	Connections int
	// Effects is how many requests had their effect.
	Effects int

	// Exit is when the client under test ended; valid when HasExit (Server.MarkExit).
	Exit    time.Duration
	HasExit bool

	groupBy string
	hidden  func(header string) bool // nil: none
}

// Gaps are the gaps of all groups, group by group: of three requests of one
// operation, two.
func (l *Log) Gaps() []time.Duration {
	var all []time.Duration
	for _, g := range l.Groups() {
		for _, r := range g[1:] {
			all = append(all, r.Gap)
		}
	}
	return all
}

// RanOut tells which requests came after the end of a script with "then=fail".
func (l *Log) RanOut() []Record {
	var all []Record
	for _, r := range l.Records {
		if r.RanOut {
			all = append(all, r)
		}
	}
	return all
}

// Grouping is how the requests are grouped: see GroupBy.
func (l *Log) Grouping() string { return l.groupBy }

// DefaultGroup puts requests of one method, path and body together.
const DefaultGroup = "route+body"

// GroupBy gives the same log with the requests grouped otherwise: "route+body"
// (method, path, body), "route" (method and path), "key" (Idempotency-Key), "header:NAME" or "all".
// Group, Attempt and Gap of each record follow.
func (l *Log) GroupBy(by string) (*Log, error) {
	key, err := grouping(by)
	if err != nil {
		return nil, err
	}
	if name, ok := strings.CutPrefix(by, "header:"); ok && l.hides(name) {
		key = numbered(name, key)
	}
	n := *l
	n.groupBy = by
	n.Records = slices.Clone(l.Records)
	last := map[string]*Record{}
	for i := range n.Records {
		r := &n.Records[i]
		r.Group, r.Attempt, r.Gap, r.HeadGap = key(r), 1, 0, 0
		if before := last[r.Group]; before != nil {
			r.Attempt = before.Attempt + 1
			r.follow(before)
		}
		last[r.Group] = r
	}
	return &n, nil
}

// grouping is what requests of one group have in common.
func grouping(by string) (func(*Record) string, error) {
	switch name, isHeader := strings.CutPrefix(by, "header:"); {
	case by == DefaultGroup:
		return func(r *Record) string { return r.route() + " " + r.BodySHA256[:min(8, len(r.BodySHA256))] }, nil
	case by == "route":
		return (*Record).route, nil
	case by == "key":
		return func(r *Record) string { return r.Get(keyHeader) }, nil
	case isHeader && name != "":
		return func(r *Record) string { return r.Get(name) }, nil
	case by == "all":
		return func(*Record) string { return "all" }, nil
	}
	return nil, fmt.Errorf("unknown grouping %q (known: %s)", by, groupings)
}

// numbered names groups by the order in which they came instead of by what they
// have in common.
func numbered(name string, key func(*Record) string) func(*Record) string {
	numbers := map[string]string{}
	return func(r *Record) string {
		value := key(r)
		if numbers[value] == "" {
			numbers[value] = fmt.Sprintf("%s #%d", name, len(numbers)+1)
		}
		return numbers[value]
	}
}

// hides reports whether a header's values must not be shown.
func (l *Log) hides(name string) bool { return l.hidden != nil && l.hidden(name) }

const groupings = "route+body, route, key, header:NAME, all"

// follow measures r's distance from the answer to the request before.
func (r *Record) follow(before *Record) {
	if !before.HasAnswer {
		return
	}
	r.HeadGap = r.Arrival - before.Answered
	r.Gap = r.HeadGap
	if before.HasDone && before.Done <= r.Arrival {
		r.Gap = r.Arrival - before.Done
	}
}

// Groups are the requests group by group, groups in order of their first request.
func (l *Log) Groups() [][]Record {
	index := map[string]int{}
	var all [][]Record
	for _, r := range l.Records {
		i, ok := index[r.Group]
		if !ok {
			i = len(all)
			index[r.Group] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], r)
	}
	return all
}

// String is one line per request, for people: no header values, no query, and
// nothing that could upset a terminal.
func (l *Log) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s\n", counted(len(l.Records), "request"), counted(l.Connections, "connection"))
	for i := range l.Records {
		b.WriteString(l.Records[i].String() + "\n")
	}
	return b.String()
}

// String is the record's line in Log.String.
func (r *Record) String() string {
	gap := ""
	if r.Attempt > 1 {
		gap = fmt.Sprintf("gap %.3fs", r.Gap.Seconds())
	}
	line := fmt.Sprintf("%3d  at %8.3fs  %-12s  conn %d  %s %s", r.Number, r.Arrival.Seconds(), gap, r.Connection, escape(r.Method), escape(r.Path))
	if r.BodyBytes > 0 {
		line += fmt.Sprintf("  %d bytes", r.BodyBytes)
	}
	return line + "  -> " + r.told()
}

// told is what was answered, on one line.
func (r *Record) told() string {
	if !r.HasAnswer {
		return "nothing yet"
	}
	const longest = 80
	text := []rune(escape(r.Answer))
	if len(text) > longest {
		text = append(text[:longest], []rune("...")...)
	}
	return string(text)
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// Fault is the word of a fault in the place of an answer; "" when there was none.
func (r *Record) Fault() string { return r.fault }

func (r *Record) route() string { return r.Method + " " + r.Path }

// snapshot copies a record that its connection may still be working on.
func (r *Record) snapshot() Record {
	c := *r
	c.Header, c.Trailer = slices.Clone(r.Header), slices.Clone(r.Trailer)
	c.RawHead, c.Body = slices.Clone(r.RawHead), slices.Clone(r.Body)
	return c
}

// escape makes what a client sent fit for a line on a terminal.
func escape(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c >= 0x7f && c < 0xa0 || c == '\u2028' || c == '\u2029' || c == '\ufffd' {
			return '?'
		}
		return c
	}, s)
}

// pathOf is the path of a request-target in any of its four forms.
func pathOf(target string) string {
	if strings.HasPrefix(target, "/") {
		path, _, _ := strings.Cut(target, "?")
		return path
	}
	if u, err := url.Parse(target); err == nil && u.Host != "" {
		return cmp.Or(u.EscapedPath(), "/")
	}
	return target
}
