package soak

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/bidehttp/bide/retry/retrytest"
)

// bytes is the whole body.
func (c content) bytes(status int) []byte {
	switch {
	case c.size < 0:
		return []byte(strings.TrimSpace(strconv.Itoa(status)+" "+http.StatusText(status)) + "\n")
	case c.version == 0:
		return retrytest.Pattern(c.size)
	}
	line := fmt.Sprintf("version %d of the body\n", c.version)
	return bytes.Repeat([]byte(line), int(c.size)/len(line)+1)[:c.size]
}

// length is that of bytes.
func (c content) length(status int) int64 {
	if c.size >= 0 {
		return c.size
	}
	return int64(len(c.bytes(status)))
}

// server is what the scripted server does, as its documentation has it.
type server struct {
	s       *scenario
	step    int // the next one
	done    int // repetitions of it
	effects int
	results map[string]*stored // of the idempotent stub, by key
}

// stored is a result that the idempotent stub keeps.
type stored struct{ st step }

// reply is what goes over the wire for one request.
type reply struct {
	step   step
	fault  string // before the head: no answer
	status int
	fields []option // in order, those of framing included
	head   []byte
	early  []byte // the 1xx block ahead of it
	body   []byte // as far as it is sent
	whole  bool   // the body is sent to its end
	framed bool   // its end is told, by a length or chunks
	length int64  // announced, -1 not
	broken bool   // a chunk that is none stands where the body breaks off
}

// query is what of a request the answer depends on.
type query struct {
	method, key   string
	rangeFrom     int64 // -1: none
	ifRange       string
	hasIfRange    bool
	origin, other string
}

// next takes the step for a request.
func (v *server) next() step {
	st := v.s.steps[v.step]
	if v.done++; v.done >= max(st.times, 1) && v.step+1 < len(v.s.steps) {
		v.step, v.done = v.step+1, 0
	}
	return st
}

// answer is what the server does with a request.
func (v *server) answer(q query) reply {
	if !v.s.idempotent {
		return v.perform(v.next(), q)
	}
	if q.key == "" {
		return v.perform(builtin(400, "no Idempotency-Key"), q)
	}
	id := q.method + q.key
	if first := v.results[id]; first != nil {
		st := first.st
		st.fault, st.interim, st.effect = "", false, false
		st.fields = append(append([]option{}, st.fields...), option{"Idempotent-Replayed", "true"})
		return v.perform(st, q)
	}
	st := v.next()
	st.effect = st.effect || st.status/100 == 2
	if st.effect {
		if v.results == nil {
			v.results = map[string]*stored{}
		}
		v.results[id] = &stored{st}
	}
	return v.perform(st, q)
}

// builtin is an answer of the stub's own.
func builtin(status int, text string) step {
	return step{status: status, own: text + "\n", body: content{size: -1}}
}

func (v *server) perform(st step, q query) reply {
	if st.effect {
		v.effects++
	}
	r := reply{step: st, status: st.status, length: -1}
	if st.interim {
		r.early = []byte("HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n")
	}
	if st.status == 0 || st.fault == faultLost {
		r.fault = st.fault
		return r
	}
	body := st.body.bytes(st.status)
	if st.own != "" {
		body = []byte(st.own)
	}
	part := v.ranged(&r, st, q, body)
	v.frame(&r, st, q, body, part)
	if st.fault == faultCloseAfter { // whole lines are known for what they are
		r.fault, r.head = st.fault, r.head[:bytes.LastIndexByte(r.head[:min(int(st.cut), len(r.head))], '\n')+1]
	}
	return r
}

// ranged honours a Range and gives the part of the body that is sent.
func (v *server) ranged(r *reply, st step, q query, body []byte) []byte {
	size := int64(len(body))
	if !st.ranges || st.status != 200 || q.method != http.MethodGet || q.rangeFrom < 0 {
		return body
	}
	if q.hasIfRange && (q.ifRange != st.etag || strings.HasPrefix(q.ifRange, "W/")) {
		return body
	}
	if q.rangeFrom >= size {
		r.status = 416
		r.fields = append(r.fields, option{"Content-Range", fmt.Sprintf("bytes */%d", size)})
		return nil
	}
	r.status = 206
	r.fields = append(r.fields, option{"Content-Range", fmt.Sprintf("bytes %d-%d/%d", q.rangeFrom, size-1, size)})
	return body[q.rangeFrom:]
}

// frame writes the head and cuts the body as scripted.
func (v *server) frame(r *reply, st step, q query, body, part []byte) {
	span := r.fields // Content-Range, if any
	r.fields = nil
	if st.own != "" {
		r.fields = append(r.fields, option{"Date", "now"}) // the comparison leaves Date lines out
	}
	for _, value := range st.retryAfter {
		r.fields = append(r.fields, option{"Retry-After", value})
	}
	if st.etag != "" {
		r.fields = append(r.fields, option{"ETag", st.etag})
	}
	if st.ranges {
		r.fields = append(r.fields, option{"Accept-Ranges", "bytes"})
	}
	r.fields = append(r.fields, span...)
	bare := r.status == 204 || r.status == 304
	if len(part) > 0 && !bare {
		kind := "text/plain; charset=utf-8"
		if st.body.version == 0 && st.body.size >= 0 {
			kind = "application/octet-stream"
		}
		r.fields = append(r.fields, option{"Content-Type", kind})
	}
	r.fields = append(r.fields, st.headerFields(q.origin, q.other)...)
	none := q.method == http.MethodHead || bare
	chunked := st.chunked && !st.http10
	switch {
	case chunked && !bare:
		r.fields = append(r.fields, option{"Transfer-Encoding", "chunked"})
	case !st.noLength && !bare && !st.chunked:
		r.length = int64(len(part))
		r.fields = append(r.fields, option{"Content-Length", strconv.Itoa(len(part))})
	}
	if st.http10 || !none && !chunked && r.length < 0 {
		r.fields = append(r.fields, option{"Connection", "close"})
	}
	version := "HTTP/1.1"
	if st.http10 {
		version = "HTTP/1.0"
	}
	var head strings.Builder
	fmt.Fprintf(&head, "%s %d %s\r\n", version, r.status, http.StatusText(r.status))
	for _, f := range r.fields {
		head.WriteString(f.name + ": " + f.value + "\r\n")
	}
	r.head = []byte(head.String() + "\r\n")
	r.framed = chunked || r.length >= 0
	r.cut(st, part, none)
	if v.s.http2 && st.fault == faultTruncate && !none { // the stream's end is missing in any case
		r.whole = false
	}
}

// cut breaks the body off where the step says so.
func (r *reply) cut(st step, part []byte, none bool) {
	r.whole = true
	if none {
		return
	}
	r.body = part
	n := int64(len(part))
	switch st.fault {
	case faultTruncate:
		r.body, r.whole = part[:min(st.cut, n)], st.cut >= n && r.length >= 0
	case faultReset, faultStall:
		r.body, r.whole = part[:n/2], false
	case faultGarbage:
		r.body, r.whole, r.broken = part[:n/2], false, true
	}
	if !r.framed && st.fault == faultTruncate {
		r.whole = true // the connection's end is the body's
	}
}

// values are those of all lines of a field.
func (r *reply) values(name string) []string {
	var all []string
	for _, f := range r.fields {
		if strings.EqualFold(f.name, name) {
			all = append(all, f.value)
		}
	}
	return all
}

func (r *reply) value(name string) string {
	if all := r.values(name); len(all) > 0 {
		return all[0]
	}
	return ""
}
