package soak

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

func rangeFrom(offset int64) string { return fmt.Sprintf("bytes=%d-", offset) }

// output is what becomes of bodies (contract §9, cli.md).
type output struct {
	g         *settings
	file      bool
	head      []byte // in front of the body (-i)
	body      []byte
	committed bool // beyond recall (R9.3)
	kept      bool // it is to be shown
}

// holdLimit is how much of a body is held back from stdout (R9.3).
const holdLimit = 1 << 20

// put adds to what is held, or lets it go.
func (o *output) put(p []byte) {
	o.body = append(o.body, p...)
	size := len(o.head) + len(o.body)
	if !o.file && (size > holdLimit || o.g.unheld && size > 0) {
		o.committed = true
	}
}

// final judges the answer on which the attempt ends.
func (m *model) final(a *attempt, r *reply, at hop) {
	g := &m.g
	a.answer = r
	if r.status == 421 {
		defer func() { m.misdirected++ }()
	}
	a.class = classNone
	if r.status >= 400 || g.named(strconv.Itoa(r.status)) == putIn {
		a.class, a.exit = classStatus, 22
	}
	if m.rest != nil && m.judge(a, r) {
		return
	}
	if a.class == classStatus && g.transientStatus(a) {
		m.restStays(a)
		if a.resumable || m.out.committed {
			a.committed = m.out.committed
		}
		return
	}
	m.deliver(a, r, at)
	m.restStaysAfter(a)
}

// restStaysAfter: an error that is no word on the body leaves its rest to be asked
// for, but nothing asks: it is final.
func (m *model) restStaysAfter(a *attempt) {
	if a.class == classStatus {
		m.restStays(a)
	}
}

// judge is R2.4d: what an answer makes of the body that is held. It reports
// whether that decides the attempt.
func (m *model) judge(a *attempt, r *reply) bool {
	want := *m.rest
	if want.validator == "" {
		return m.judgeBlindly(a, r, want)
	}
	switch {
	case r.status == 200:
		m.startOver()
		return false
	case r.status == 206 && m.fits(r, want):
		a.class, a.continued = classNone, true
		a.delivered = true
		m.goOn(a, r, want)
		return true
	case r.status == 416 && r.value("Content-Range") == fmt.Sprintf("bytes */%d", want.offset) && sameVersion(r, want):
		m.complete(a, want)
		return true
	case r.status == 206 || r.status == 416 || r.status == 412 || r.status < 400:
		m.startOver()
		a.class, a.exit = classTruncated, 18
		a.committed = m.out.committed
		a.answer = nil
		return true
	}
	return false
}

// complete: nothing is missing of what is held.
func (m *model) complete(a *attempt, want rest) {
	a.class, a.continued, a.delivered = classNone, true, true
	a.held, a.total = want.offset, want.offset
	m.out.reHead(a.blocks)
	m.out.kept = true
}

// span reads "bytes a-b/t"; total -1 is "*".
func span(text string) (from, to, total int64, ok bool) {
	total = -1
	if _, err := fmt.Sscanf(text, "bytes %d-%d/%d", &from, &to, &total); err == nil {
		return from, to, total, to >= from && to < total
	}
	var star string
	_, err := fmt.Sscanf(text, "bytes %d-%d/%s", &from, &to, &star)
	return from, to, -1, err == nil && star == "*" && to >= from
}

// fits: a 206 that begins where the body broke off and belongs to it.
func (m *model) fits(r *reply, want rest) bool {
	lines := r.values("Content-Range")
	if len(lines) != 1 {
		return false
	}
	from, to, total, ok := span(lines[0])
	switch {
	case !ok || from != want.offset || !sameVersion(r, want):
		return false
	case want.total >= 0 && (to >= want.total || total >= 0 && total != want.total):
		return false
	}
	return r.length < 0 || r.length == to-from+1
}

// sameVersion: the validator is the one of what is held, if the answer has one.
func sameVersion(r *reply, want rest) bool {
	name := "ETag"
	if !strings.HasPrefix(want.validator, `"`) {
		name = "Last-Modified"
	}
	got := r.value(name)
	return got == "" || want.validator == "" || got == want.validator
}

// goOn adds a part to the body.
func (m *model) goOn(a *attempt, r *reply, want rest) {
	from, to, total, _ := span(r.value("Content-Range"))
	if total >= 0 {
		want.total = total
	}
	m.earlier.goOn(&m.out, &want, r, m.wall())
	m.out.reHead(a.blocks)
	part := r.body
	longer := int64(len(part)) > to-from+1
	if longer {
		part = part[:to-from+1]
	}
	m.out.put(part)
	a.held, a.total = want.offset+int64(len(part)), want.total
	missing := want.total < 0 && want.validator != "" || a.held < want.total
	if r.whole && !longer && int64(len(part)) == to-from+1 && !missing {
		m.rest = nil
		m.out.kept = true
		return
	}
	// Also a part that is whole where the body is not: progress (R2.4d).
	a.class, a.exit, a.inBody = classTruncated, 18, true
	m.rest = nil
	if r.broken { // the part was wrong: what it brought is not trusted
		a.exit = 56
	}
	if !longer && !r.broken && want.validator != "" {
		a.resumable = true
		m.rest = &rest{a.held, want.total, want.validator}
	}
	m.earlier.doubt(a)
	a.committed = m.out.committed
}

// reHead puts the head of the answer that continues the body in the place of the
// one before it, unless that has left (R2.4c).
func (o *output) reHead(blocks []byte) {
	if (o.g.include || o.g.head) && !o.committed {
		o.head = blocks
	}
}

// deliver takes the body of an answer that no retry can follow on its status.
func (m *model) deliver(a *attempt, r *reply, at hop) {
	g := &m.g
	a.delivered = true
	if m.out.committed {
		a.stop = "output_committed"
		return
	}
	shows := g.fail == failBody || g.fail == failNot
	failed := a.class == classStatus && !shows
	switch {
	case m.earlier.from != nil:
		m.beside(a, shows)
		return
	case failed && (g.file || g.fail == failSilent), r.status == 304 && g.file:
		return // its body is not asked for
	}
	m.out.head, m.out.body, m.out.kept = nil, nil, false
	m.earlier.keep = m.continuable(r, at)
	if g.include || g.head {
		m.out.head = a.blocks
	}
	m.out.put(r.body)
	a.held, a.total = int64(len(r.body)), r.length
	if r.whole {
		m.out.kept = true
		m.rest = nil
		return
	}
	a.class, a.exit, a.inBody = classTruncated, 18, true
	switch {
	case r.broken:
		a.class, a.exit = classProtocol, 56
	case r.step.fault == faultStall:
		m.timeout(a)
	}
	if m.rest = m.resumable(a, r, at); m.rest != nil {
		a.resumable = true
	}
	m.earlier.doubt(a)
	a.committed = m.out.committed
	m.out.kept = failed
}

// resumable is R2.4c: what the next attempt may ask the rest of.
func (m *model) resumable(a *attempt, r *reply, at hop) *rest {
	if len(r.body) == 0 || a.class != classTruncated {
		return nil
	}
	return m.continuable(r, at)
}

// continuable is the same for what may become of the body yet.
func (m *model) continuable(r *reply, at hop) *rest {
	g := &m.g
	if r.status != 200 || at.method != http.MethodGet || m.start.method != http.MethodGet || m.start.body ||
		g.attempts == 1 && !g.resume || g.userRange || g.raw {
		return nil
	}
	v := validator(r, m.wall())
	if v == "" {
		return nil
	}
	return &rest{int64(len(r.body)), r.length, v}
}

// validator is a strong ETag, or without any ETag a Last-Modified that is at
// least a second older than Date.
func validator(r *reply, now time.Time) string {
	if tags := r.values("ETag"); len(tags) > 0 {
		if tag := tags[0]; len(tags) == 1 && len(tag) >= 2 && tag[0] == '"' && tag[len(tag)-1] == '"' {
			return tag
		}
		return ""
	}
	modified, ok := date(r.value("Last-Modified"), now)
	sent, dated := date(r.value("Date"), now)
	if !ok || !dated || sent.Sub(modified) < time.Second {
		return ""
	}
	return r.value("Last-Modified")
}

// last shows the answer of a status that stopped the operation with its body
// unread (R2.3, R10.3a).
func (m *model) last(a *attempt) {
	m.deliver(a, a.answer, m.start)
	if a.class != classStatus && a.stop == "" {
		a.class, a.exit, a.incomplete = classStatus, 22, true
	}
}

// show is what the operation leaves.
func (m *model) show(a *attempt, reason string) {
	g, o := &m.g, &m.out
	if g.dump && len(a.blocks) > 0 {
		m.want.files[headName] = append(m.want.files[headName], a.blocks...)
	}
	if g.resume {
		m.stay()
	}
	data := slices.Concat(o.head, o.body)
	switch {
	case o.file && o.kept:
		m.want.files[outName] = data
	case o.file:
	case o.kept || o.committed:
		m.want.stdout = append(m.want.stdout, data...)
	case (g.include || g.head) && !a.inBody && !bytes.Equal(a.blocks, nil):
		m.want.stdout = append(m.want.stdout, a.blocks...)
	}
}
