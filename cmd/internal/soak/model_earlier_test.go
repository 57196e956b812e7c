package soak

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// earlier is what -C - has to do with runs before and after this one (cli.md,
// "Files").
type earlier struct {
	part *rest  // what stands beside the -o file; nil nothing
	from *rest  // where attempts begin that have nothing better; nil: from zero
	base []byte // what is held of it
	keep *rest  // what a body that breaks off would be the beginning of; nil: none stays
}

// names of what stays beside the -o file.
const (
	partName   = outName + ".part"
	recordName = partName + ".json"
)

// takeUp finds what there is to go on from: a partial file with its record, else
// the file itself, of which nothing is known.
func (m *model) takeUp() {
	e := &m.earlier
	e.from, e.base, e.keep = nil, nil, nil
	switch old := m.want.files[outName]; {
	case !m.g.resume:
		return
	case e.part != nil:
		from := *e.part
		e.from, e.keep, e.base = &from, e.part, m.want.files[partName]
	case len(old) > 0:
		e.from, e.base = &rest{int64(len(old)), -1, ""}, old
	default:
		return
	}
	m.out.body = slices.Clone(e.base)
	m.books.base, m.books.held = e.from.offset, e.from.offset
}

// blind: nothing tells whether the rest belongs to what is held.
func (e *earlier) blind() bool { return e.from != nil && e.from.validator == "" }

// goOn prepares for a part of the body: what attempts added to that of an earlier
// run, and could not continue, is dropped.
func (e *earlier) goOn(o *output, want *rest, r *reply, now time.Time) {
	if e.from != nil && want.offset == e.from.offset {
		o.body = slices.Clone(e.base)
	}
	if want.validator == "" {
		want.validator = validator(r, now)
	}
	e.keep = nil
	if want.validator != "" && !e.blind() {
		record := *want
		e.keep = &record
	}
}

// startOver is R2.4d: the server has another body.
func (m *model) startOver() { m.rest, m.earlier.from = nil, nil }

// doubt: what came in a part that broke its own framing, or cannot be continued,
// does not stay.
func (e *earlier) doubt(a *attempt) {
	if !a.resumable && (a.class == classTruncated || a.class == classProtocol) {
		e.keep = nil
	}
}

// judgeBlindly is judge for a file without a record: as in curl, nothing but a part
// at the right place is added to it.
func (m *model) judgeBlindly(a *attempt, r *reply, want rest) bool {
	from, told := strings.CutPrefix(r.value("Content-Range"), "bytes */")
	switch {
	case r.status == 206 && m.fits(r, want):
		a.class, a.continued, a.delivered = classNone, true, true
		m.goOn(a, r, want)
	case r.status == 200 && r.length == want.offset, r.status == 416 && (!told || from == fmt.Sprint(want.offset)):
		m.complete(a, want)
	case r.status >= 400 && r.status != 416 && r.status != 412, r.status == 304:
		return false
	default:
		a.class, a.exit = classProtocol, 33
		a.answer = nil
		m.restStays(a)
	}
	return true
}

// beside is an answer that must not be added to what is there.
func (m *model) beside(a *attempt, shows bool) {
	if a.class == classStatus && shows {
		a.class, a.exit = classProtocol, 33
	}
}

// stay leaves a body that broke off for the next run.
func (m *model) stay() {
	e := &m.earlier
	e.part = nil
	delete(m.want.files, partName)
	delete(m.want.files, recordName)
	if e.keep == nil || len(m.out.body) == 0 || m.out.kept {
		return
	}
	e.part = &rest{int64(len(m.out.body)), e.keep.total, e.keep.validator}
	m.want.files[partName] = m.out.body
	m.want.files[recordName] = fmt.Appendf(nil, "%s of %d bytes", e.keep.validator, e.keep.total)
}
