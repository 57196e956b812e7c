package soak

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// scenario is one play: what the server does and what the user types. It is plain
// data, so that it can be drawn, shrunk, printed and compared.
type scenario struct {
	steps []step
	// idempotent puts the whole script on retrytest's idempotent stub.
	idempotent bool
	http2      bool // with prior knowledge, or by ALPN
	tls        bool
	flags      []option
	// existing is what the -o file holds before the run; nil: there is none.
	existing *string
	second   bool // another URL of the same origin follows
	runs     int  // of the process, with -C -; 0 and 1: one
}

// option is one argument of the command line, with its value if it has one.
type option struct{ name, value string }

// step is one entry of the server's script. Zero values leave an option out.
type step struct {
	status int    // 0: the fault alone
	fault  string // see faults below
	cut    int64  // bytes: of truncate and close-after

	interim    bool     // a 103 goes ahead
	retryAfter []string // values as they stand on the wire
	date       string   // value of the Date field; "" none
	age        string
	etag       string
	modified   string   // Last-Modified
	location   string   // "@" stands for the first origin, "@@" for the other one
	fields     []option // further header fields, in order
	ranges     bool
	body       content
	chunked    bool
	noLength   bool
	http10     bool
	effect     bool
	times      int // 0 and 1: once

	own string // body of an answer that the idempotent stub gives by itself
}

// The faults of a step. Those of a body need a status.
const (
	faultReset      = "reset"       // before the answer; with a status in mid-body
	faultClose      = "close"       // before the answer
	faultCloseAfter = "close-after" // within the head
	faultGarbage    = "garbage"     // before the answer; with chunked a broken chunk
	faultTruncate   = "truncate"
	faultLost       = "lost"          // in the place of an answer that has its effect
	faultRefuse     = "refuse-stream" // HTTP/2: the server says that it did nothing
	faultGoAway     = "goaway"        // likewise
	faultStall      = "stall"         // before the answer or in mid-body, until the client gives up
)

// content is a body: the size first bytes of the pattern, or of another text
// when version is not 0. size -1 is the status line's text.
type content struct {
	version int
	size    int64
}

// args is the command line for a server at base, in the folder dir.
func (s *scenario) args(base, dir string) []string {
	var args []string
	for _, f := range s.flags {
		value := strings.ReplaceAll(f.value, "{dir}", dir)
		switch {
		case !hasValue(f.name):
			args = append(args, f.name)
		default:
			args = append(args, f.name, value)
		}
	}
	if s.tls {
		args = append(args, "-k")
	}
	if s.http2 && !s.tls {
		args = append(args, "--http2-prior-knowledge")
	}
	if s.crosses() {
		args = append(args, "--resolve", otherHost+base[strings.LastIndexByte(base, ':'):]+":127.0.0.1")
	}
	if args = append(args, base+"/a"); s.second {
		args = append(args, base+"/z")
	}
	return args
}

// otherHost is the name under which the same server is another origin.
const otherHost = "other.test"

// elsewhere is that origin.
func elsewhere(origin string) string { return strings.Replace(origin, firstHost, otherHost, 1) }

func (s *scenario) scheme() string {
	if s.tls {
		return "https"
	}
	return "http"
}

// crosses reports whether a redirect leads to the other origin.
func (s *scenario) crosses() bool {
	return slices.ContainsFunc(s.steps, func(st step) bool { return strings.HasPrefix(st.location, "@@") })
}

// hasValue reports whether a flag takes a value.
func hasValue(name string) bool {
	switch name {
	case "-I", "-L", "-f", "-i", "-N", "-s", "--idempotent", "--retry-all-errors", "--rate-limit-headers",
		"--fail-with-body", "--no-fail", "--location-trusted", "--raw", "--retry-connrefused":
		return false
	}
	return true
}

// get is the value of a flag.
func (s *scenario) get(name string) (string, bool) {
	for _, f := range s.flags {
		if f.name == name {
			return f.value, true
		}
	}
	return "", false
}

func (s *scenario) has(names ...string) bool {
	return slices.ContainsFunc(s.flags, func(f option) bool { return slices.Contains(names, f.name) })
}

// script is the text for retrytest. origin and other are the two origins.
func (s *scenario) script(origin, other string) string {
	var lines []string
	for i := range s.steps {
		lines = append(lines, s.steps[i].text(origin, other))
	}
	text := strings.Join(lines, "\n")
	if s.idempotent {
		text += "\n[idempotent]"
	}
	return text
}

// text is the step in retrytest's notation. The order of the options is that in
// which model.head expects the fields.
func (st *step) text(origin, other string) string {
	var w words
	if st.interim {
		w.add("103 header=" + quote("Link: </style.css>") + ",")
	}
	if st.status == 0 {
		w.addFault(st)
		return w.repeated(st.times)
	}
	w.add(strconv.Itoa(st.status))
	w.add("date=none")
	for _, v := range st.retryAfter {
		w.add("retry-after=" + quote("raw:"+v))
	}
	if st.etag != "" {
		w.add("etag=" + quote(st.etag))
	}
	if st.ranges {
		w.add("ranges")
	}
	for _, f := range st.headerFields(origin, other) {
		w.add("header=" + quote(f.name+": "+f.value))
	}
	switch {
	case st.body.size < 0:
	case st.body.version == 0:
		w.add("size=" + strconv.FormatInt(st.body.size, 10))
	default:
		w.add("body=" + quote(string(st.body.bytes(st.status))))
	}
	for _, o := range []struct {
		on   bool
		word string
	}{{st.chunked, "chunked"}, {st.noLength, "no-length"}, {st.http10, "http=1.0"}, {st.effect, "effect"}} {
		if o.on {
			w.add(o.word)
		}
	}
	w.addFault(st)
	return w.repeated(st.times)
}

// headerFields are the fields that stand in the script as header=..., in order.
func (st *step) headerFields(origin, other string) []option {
	var all []option
	for _, f := range []option{{"Date", st.date}, {"Age", st.age}, {"Last-Modified", st.modified}} {
		if f.value != "" {
			all = append(all, f)
		}
	}
	if st.location != "" {
		all = append(all, option{"Location", st.target(origin, other)})
	}
	return append(all, st.fields...)
}

// target is the Location as the server sends it.
func (st *step) target(origin, other string) string {
	if rest, ok := strings.CutPrefix(st.location, "@@"); ok {
		return other + rest
	}
	if rest, ok := strings.CutPrefix(st.location, "@"); ok {
		return origin + rest
	}
	return st.location
}

// words are the words of a step.
type words struct{ all []string }

func (w *words) add(word string) { w.all = append(w.all, word) }

func (w *words) addFault(st *step) {
	switch st.fault {
	case "":
	case faultTruncate, faultCloseAfter:
		w.add(fmt.Sprintf("%s=%d", st.fault, st.cut))
	case faultStall:
		w.add("stall=inf")
	default:
		w.add(st.fault)
	}
}

func (w *words) repeated(times int) string {
	if times > 1 {
		w.add("x" + strconv.Itoa(times))
	}
	return strings.Join(w.all, " ")
}

// quote puts a value into the script's quotes.
func quote(v string) string {
	if strings.ContainsAny(v, "'\n") {
		return strconv.Quote(v)
	}
	return "'" + v + "'"
}

// String is the scenario as one can type it: the script for bide mock and the
// command line.
func (s *scenario) String() string {
	var b strings.Builder
	b.WriteString("script:\n")
	for line := range strings.Lines(s.script(s.scheme()+"://HOST:PORT", s.scheme()+"://"+otherHost+":PORT")) {
		b.WriteString("  " + line)
	}
	b.WriteString("\ncommand:\n  bide")
	for _, a := range s.args(s.scheme()+"://HOST:PORT", ".") {
		b.WriteString(" " + shellWord(a))
	}
	b.WriteByte('\n')
	if s.existing != nil {
		fmt.Fprintf(&b, "the -o file holds %d bytes before\n", len(*s.existing))
	}
	if s.runs > 1 {
		fmt.Fprintf(&b, "the command runs %d times\n", s.runs)
	}
	return b.String()
}

// shellWord quotes a word for a POSIX shell where it has to be.
func shellWord(v string) string {
	if v != "" && strings.Trim(v, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,:/+=%@") == "" {
		return v
	}
	return "'" + strings.ReplaceAll(v, "'", `'\''`) + "'"
}

// wallStart is the client's wall clock at the start of a play: the dates of
// scripts are counted from it.
func wallStart() time.Time { return time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC) }
