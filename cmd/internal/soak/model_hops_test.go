package soak

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// hop is what a request is made of, as far as redirects change it.
type hop struct {
	method, path, host string
	body, key          bool
	left               bool // the first origin was left
	redirects          int
}

// rest is what is held of a body that broke off (R2.4c).
type rest struct {
	offset, total int64 // total -1 unknown
	validator     string
}

// try makes one attempt.
func (m *model) try() *attempt {
	offset := m.elapsed - m.began
	m.limit, m.deadline = 0, false
	if m.g.maxTime > 0 {
		m.limit = offset + m.g.maxTime
	}
	if m.g.deadline > 0 && (m.limit == 0 || m.g.deadline <= m.limit) { // R6.3a
		m.limit, m.deadline = m.g.deadline, true
	}
	a := &attempt{misdirected: m.misdirected, total: -1}
	if m.rest == nil && m.earlier.from != nil {
		from := *m.earlier.from
		m.rest = &from
	}
	at := m.start
	for {
		r := m.send(a, at)
		if r.fault != "" {
			m.broke(a, r)
			return a
		}
		a.blocks = append(append(a.blocks, r.early...), r.head...)
		a.status, a.replayed = r.status, strings.EqualFold(r.value("Idempotent-Replayed"), "true")
		a.told = m.g.read(r, wallStart().Add(m.elapsed))
		location := r.value("Location")
		if r.status/100 != 3 || location == "" || !m.g.follow {
			m.final(a, r, at)
			return a
		}
		next, ok := m.follow(a, at, r, location)
		if !ok {
			return a
		}
		m.remember(a, next)
		if m.pause(a, at, next) {
			return a
		}
		at = next
	}
}

// send expects a request and takes its answer.
func (m *model) send(a *attempt, at hop) *reply {
	q := query{method: at.method, rangeFrom: -1, origin: m.saw.origin, other: elsewhere(m.saw.origin)}
	w := seen{method: at.method, path: at.path, host: at.host}
	if at.key {
		w.key, w.hasKey = m.g.key, true
		if w.key == "auto" {
			w.key = fmt.Sprint("auto ", m.number)
		}
		q.key = w.key
	}
	if at.host == firstHost || m.g.trusted { // R7.6a
		w.credential = m.g.credential
	}
	if at.body {
		w.body = bodyText
	}
	if m.rest != nil && at.method == http.MethodGet {
		w.rangeLine = rangeFrom(m.rest.offset)
		w.ifRange, w.hasIfRange = m.rest.validator, m.rest.validator != ""
		q.rangeFrom, q.ifRange, q.hasIfRange = m.rest.offset, w.ifRange, w.hasIfRange
	}
	m.want.requests = append(m.want.requests, w)
	a.method, a.host, a.keyed, a.unsent = at.method, at.host, at.key, false
	r := m.server.answer(q)
	if at.body && m.g.unsized { // it waits for 100 (Continue)
		r.early = append([]byte("HTTP/1.1 100 Continue\r\n\r\n"), r.early...)
	}
	return &r
}

// broke is a hop without an answer.
func (m *model) broke(a *attempt, r *reply) {
	a.blocks = append(append(a.blocks, r.early...), r.head...) // as far as it came
	a.status = 0
	a.told = guidance{}
	switch r.fault {
	case faultReset:
		a.class, a.exit = classClosed, 56
	case faultClose, faultLost:
		a.class, a.exit = classClosed, 52
	case faultCloseAfter:
		a.class, a.exit = classClosed, 56
		if r.step.cut == 0 {
			a.exit = 52
		}
	case faultRefuse, faultGoAway:
		a.class, a.exit, a.unsent = classRefused, 92, true
	case faultGarbage:
		a.class, a.exit = classProtocol, 1
	case faultStall:
		m.timeout(a)
	}
	m.restStays(a)
}

// timeout is a limit that strikes in mid-attempt (R6.3).
func (m *model) timeout(a *attempt) {
	m.elapsed = max(m.elapsed, m.began+m.limit)
	a.class, a.exit = classTimeout, 28
	if m.deadline {
		a.stop = "deadline_exceeded"
	}
}

// restStays: no word on the body, its rest is asked for once more (R2.4d).
func (m *model) restStays(a *attempt) {
	if m.rest != nil && a.class != classNone && !a.continued {
		a.resumable, a.held, a.total = true, m.rest.offset, m.rest.total
	}
}

// follow is the next hop of a redirect; false where it must not be followed.
func (m *model) follow(a *attempt, at hop, r *reply, location string) (hop, bool) {
	a.class, a.exit = classRedirect, 47
	if m.g.maxRedirects >= 0 && at.redirects >= m.g.maxRedirects {
		m.restStays(a)
		return hop{}, false
	}
	next := at
	switch {
	case strings.HasPrefix(location, "/"):
		next.path = location
	case strings.HasPrefix(location, m.s.scheme()+"://"):
		host, path, _ := strings.Cut(strings.TrimPrefix(location, m.s.scheme()+"://"), "/")
		next.host, _, _ = strings.Cut(host, ":")
		next.path = "/" + path
	default:
		a.exit = 1 // a scheme that bide does not speak
		m.restStays(a)
		return hop{}, false
	}
	a.class, a.exit = classNone, 0
	next.redirects++
	m.changeMethod(r.status, &next)
	if next.host != at.host && !m.g.trusted {
		next.left = true
	}
	if next.left || at.body && !next.body {
		next.key = false // R7.6
	}
	return next, true
}

// changeMethod is curl's: 301 and 302 make a GET of a POST, 303 of everything
// but GET and HEAD; a method given by -X stays, without its body.
func (m *model) changeMethod(status int, next *hop) {
	kind := m.g.kind
	if kind != http.MethodHead && !next.body {
		kind = http.MethodGet
	}
	post := kind == http.MethodPost
	if post && m.g.keepsRedirects[status] {
		return
	}
	switch {
	case (status == 301 || status == 302) && post:
	case status == 303 && kind != http.MethodGet && kind != http.MethodHead:
	default:
		return
	}
	next.body = false
	if !m.g.given {
		next.method = http.MethodGet
	}
}

// remember is R1.2.
func (m *model) remember(a *attempt, next hop) {
	if !m.g.repeatable(a) {
		m.start = next
	}
}

// pause is the wait before a followed redirect (R5.6). It reports whether the
// attempt ends here.
func (m *model) pause(a *attempt, at, next hop) bool {
	m.hold(at.host, a.told.minimum)
	minimum := max(a.told.minimum, m.held(next.host))
	if minimum == 0 {
		return false
	}
	a.unshown = true
	if minimum > m.g.limit() {
		a.class, a.stop = classStatus, "retry_after_exceeds_cap"
		return true
	}
	d := m.place(m.g.pause(minimum), m.draw())
	since := m.elapsed - m.began
	if m.g.deadline > 0 && d.exact >= m.g.deadline-since {
		a.class, a.stop = classStatus, "deadline_before_retry"
		return true
	}
	m.wait(d)
	if m.limit > 0 && since+d.exact >= m.limit && !m.deadline { // the attempt's own limit
		m.timeout(a)
		a.method, a.host, a.keyed, a.unsent = next.method, next.host, next.key, true
		a.told = guidance{} // it was about the next hop
		m.restStays(a)
		return true
	}
	m.elapsed += d.exact
	a.unshown = false
	return false
}

// firstHost is the host of the command line's URL.
const firstHost = "127.0.0.1"

// wall is the client's wall clock.
func (m *model) wall() time.Time { return wallStart().Add(m.elapsed) }
