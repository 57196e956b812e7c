package exchange

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/wire"
	"github.com/bidehttp/bide/httpdate"
	"github.com/bidehttp/bide/retry"
)

// Resume is the part of a body that earlier attempts got, for the next one to
// go on from (RFC 9110 §14.2, §13.1.5).
type Resume struct {
	Offset int64 // bytes held
	Total  int64 // of the whole body; -1 unknown
	// Validator is the strong entity tag, or the Last-Modified, of what is held,
	// as received.
	Validator string
}

// verdict is what an answer to a request for the rest of a body is.
type verdict uint8

const (
	other     verdict = iota // the policy's business
	continues                // the rest, or some of it
	complete                 // there is no rest: what is held is the whole
	over                     // the whole body again, from its start
	astray                   // of no use: the next attempt begins from zero
	refused                  // of no use, and there is no beginning again (curl)
)

// accept judges an answer by its head. Of one that continues, the span is the
// part that it brings. length is that of the answer's body, -1 unknown.
func accept(want Resume, status int, head fieldsOf, length int64) (verdict, span) {
	switch status {
	case 200:
		return over, span{}
	case 206:
		part, ok := want.continuedBy(head, length)
		if !ok {
			return astray, span{}
		}
		return continues, part
	case 416:
		part, ok := parseContentRange(single(head, "Content-Range"))
		if ok && part.from < 0 && part.total == want.Offset && want.sameVersion(head) {
			return complete, span{}
		}
		return astray, span{}
	case 412:
		return astray, span{}
	}
	if status < 400 {
		return astray, span{}
	}
	return other, span{}
}

// continuedBy reports whether a 206 begins where the body broke off and belongs
// to it. A part that is shorter than what was asked for is one, too.
func (want Resume) continuedBy(head fieldsOf, length int64) (span, bool) {
	part, ok := parseContentRange(single(head, "Content-Range"))
	switch {
	case !ok || part.from != want.Offset || coded(head) || !want.sameVersion(head):
		return span{}, false
	case want.Total >= 0 && (part.to >= want.Total || part.total >= 0 && part.total != want.Total):
		return span{}, false
	case length >= 0 && length != part.size():
		return span{}, false
	}
	return part, true
}

// sameVersion compares the validator with that of the answer, if it has one.
func (want Resume) sameVersion(head fieldsOf) bool {
	name := "ETag"
	if !strings.HasPrefix(want.Validator, `"`) {
		name = "Last-Modified"
	}
	got := trim(head.get(name))
	return got == "" || want.Validator == "" || got == want.Validator
}

// span is a Content-Range (RFC 9110 §14.4): from and to are inclusive, from is
// -1 where it names no part; total is -1 where it is not known.
type span struct{ from, to, total int64 }

func (s span) size() int64 { return s.to - s.from + 1 }

// parseContentRange reads "bytes 0-9/20", "bytes 0-9/*" and "bytes */20".
func parseContentRange(text string) (span, bool) {
	unit, rest, _ := strings.Cut(text, " ")
	part, size, ok := strings.Cut(rest, "/")
	if !ok || !strings.EqualFold(unit, "bytes") {
		return span{}, false
	}
	s := span{from: -1, to: -1, total: -1}
	if size != "*" {
		if s.total, ok = digits(size); !ok {
			return span{}, false
		}
	}
	if part == "*" {
		return s, s.total >= 0
	}
	first, last, _ := strings.Cut(part, "-")
	var okFirst, okLast bool
	s.from, okFirst = digits(first)
	s.to, okLast = digits(last)
	if !okFirst || !okLast || s.to < s.from || s.total >= 0 && s.to >= s.total {
		return span{}, false
	}
	return s, true
}

// digits reads what is nothing but ASCII digits. The largest number is left out:
// one more than it must be a number, too.
func digits(s string) (int64, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n < 1<<63-1
}

// blindly is the verdict where no validator tells whose rest it is: as in curl,
// nothing but a part at the right place is added.
func blindly(v verdict, want Resume, resp *wire.Response) verdict {
	switch {
	case v == over && startsAt(resp.Header, want.Offset):
		return continues
	case v == over && resp.Length == want.Offset:
		return complete
	case v == over:
		return refused
	case v == astray && resp.Status == 416:
		if part, ok := parseContentRange(single(resp.Header, "Content-Range")); !ok || part.total == want.Offset {
			return complete
		}
		return refused
	case v == astray && resp.Status == 304:
		return other
	case v == astray:
		return refused
	}
	return v
}

// startsAt reports whether an answer says that its body begins there, if only
// in a Content-Range that is none of RFC 9110 (curl).
func startsAt(head fieldsOf, offset int64) bool {
	first := strings.TrimLeft(single(head, "Content-Range"), "bytesBYTES ")
	n, ok := digits(first[:max(strings.IndexByte(first, '-'), 0)])
	return ok && n == offset
}

// CannotResume is curl's error for a server that does not send the rest.
func CannotResume() error {
	return failure(retry.ClassProtocol, exitcode.Range, retry.PhaseResponse,
		words("HTTP server doesn't seem to support byte ranges. Cannot resume."))
}

// single is the value of a field that must not be repeated, "" where it is.
func single(head fieldsOf, name string) string {
	if values := head.values(name); len(values) == 1 {
		return trim(values[0])
	}
	return ""
}

func trim(s string) string { return strings.Trim(s, " \t") }

// coded reports whether the body is under a content coding.
func coded(head fieldsOf) bool {
	for _, line := range head.values("Content-Encoding") {
		if trim(line) != "" && !strings.EqualFold(trim(line), "identity") {
			return true
		}
	}
	return false
}

// validatorOf is what If-Range may carry for this answer: a strong entity tag,
// or, where there is no tag at all, a date that is a strong validator: the body
// cannot have changed again within its second (RFC 9110 §8.8.2.2, §13.1.5). ""
// is none.
func validatorOf(head fieldsOf, now time.Time) string {
	if tags := head.values("ETag"); len(tags) > 0 {
		tag := single(head, "ETag")
		if len(tag) < 2 || tag[0] != '"' || tag[len(tag)-1] != '"' {
			return ""
		}
		return tag
	}
	text := single(head, "Last-Modified")
	modified, err := httpdate.Parse(text, now)
	if err != nil {
		return ""
	}
	date, err := httpdate.Parse(single(head, "Date"), now)
	if err != nil || date.Sub(modified) < time.Second {
		return ""
	}
	return text
}

// asksForRest reports whether this hop asks for the rest of a body.
func (a *attempt) asksForRest() bool { return a.op.Resume != nil && a.at.method == "GET" }

// resumes reports whether the next attempt may ask for the rest of this
// answer's body if it breaks off, as far as the request tells: see rest.
func (a *attempt) resumes(x *answer) bool {
	op := a.op
	if !op.Continue || op.Raw || len(x.codings) > 0 || op.Template.Range != "" {
		return false
	}
	if a.r.Continued() {
		return true
	}
	start := op.start
	if start == nil {
		first := firstHop(op.Template)
		start = &first
	}
	return x.resp.Status == 200 && a.at.method == "GET" && start.method == "GET" && !start.body
}

// rest is what the next attempt may go on from if the body breaks off, its
// Offset aside; nil when it has to begin again.
func (l *live) rest() *Resume {
	if !l.resumes {
		return nil
	}
	head, now := fieldsOf(l.r.Header), l.op.Client.Clock.Wall()
	if l.r.Continued() {
		rest := *l.r.Resumed
		if rest.Validator == "" {
			rest.Validator = validatorOf(head, now)
		}
		return &rest
	}
	lines := l.op.Template.Headers
	if coded(head) || hasLine(lines, "Range") || hasLine(lines, "If-Range") {
		return nil
	}
	validator := validatorOf(head, now)
	if validator == "" {
		return nil
	}
	return &Resume{Total: l.r.Length, Validator: validator}
}

// judge is what the answer makes of the body that is held. It reports whether
// that decides the attempt.
func (a *attempt) judge(x *answer, o *retry.Outcome) (done bool) {
	want := *a.op.Resume
	v, part := accept(want, x.resp.Status, x.resp.Header, x.resp.Length)
	if v == continues && len(x.resp.Codings) > 0 {
		v = astray // what is held could not be counted
	}
	if want.Validator == "" {
		v = blindly(v, want, x.resp)
	}
	switch v {
	case continues:
		if part.total >= 0 {
			want.Total = part.total
		}
		a.r.Resumed, o.Continued = &want, true
		a.op.Resume, x.part = &want, part.size()
		o.Class = retry.ClassNone
	case complete:
		a.r.Resumed, o.Continued = &want, true
		o.Class, o.Progress, o.Total = retry.ClassNone, want.Offset, want.Offset
		x.give(true)
		return true
	case over:
		a.op.Resume, a.op.From = nil, nil
	case refused:
		x.give(false)
		o.Class, o.Phase, o.Err = retry.ClassProtocol, retry.PhaseResponse, CannotResume()
		return true
	case astray:
		a.op.Resume, a.op.From = nil, nil
		x.give(false)
		o.Class, o.Phase = retry.ClassTruncated, retry.PhaseResponse
		o.Err = failure(retry.ClassTruncated, exitcode.Truncated, retry.PhaseResponse,
			fmt.Errorf("the answer %d does not continue the body from byte %d", x.resp.Status, want.Offset))
		return true
	}
	return false
}

// held notes what is held of the body after n more bytes, and whether its rest
// can be asked for.
func (r *Response) held(o *retry.Outcome, n int64) {
	l := r.live
	o.Progress, o.Total, o.Resumable = r.ResumedFrom()+n, r.Whole(), false
	if len(l.codings) > 0 {
		o.Total = -1
	}
	l.op.Resume = nil
	switch o.Class {
	case retry.ClassProtocol, retry.ClassDecode:
		if r.Continued() {
			o.Class = retry.ClassTruncated // the part was wrong, not the body
		}
		return
	case retry.ClassTruncated, retry.ClassTimeout, retry.ClassClosed:
	default:
		return
	}
	rest := l.rest()
	if rest == nil || rest.Validator == "" || o.Progress == 0 || errors.Is(o.Err, errLonger) {
		return
	}
	rest.Offset = o.Progress
	o.Resumable, l.op.Resume = true, rest
}

// errLonger: a part of a body is not what its Content-Range says.
var errLonger = errors.New("the part of the body is longer than its Content-Range")

func longer() error {
	return failure(retry.ClassTruncated, exitcode.Truncated, retry.PhaseBody, errLonger)
}

// unfinished is the error of a part that is whole where the body is not.
func (l *live) unfinished(n int64) error {
	if l.part == 0 {
		return nil
	}
	rest := l.rest()
	if rest == nil || rest.Total < 0 && rest.Validator == "" || rest.Total >= 0 && l.r.ResumedFrom()+n >= rest.Total {
		return nil
	}
	text := "the rest of the body is still to come"
	if rest.Total >= 0 {
		text = fmt.Sprintf("the part ended with %d bytes of the body remaining", rest.Total-l.r.ResumedFrom()-n)
	}
	return failure(retry.ClassTruncated, exitcode.Truncated, retry.PhaseBody, errors.New(text))
}
