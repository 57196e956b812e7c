package soak

import (
	"time"

	"github.com/bidehttp/bide/retry/retrytest"
)

// The model says what a play must look like: from the scenario, the contract and
// the flags' documentation alone. It asks the observation only for what the
// contract leaves to chance: the draws of the jitter.

// expectation is what the model predicts.
type expectation struct {
	requests []seen
	waits    []due
	runs     []ending
	stdout   []byte
	files    map[string][]byte
	effects  int
}

// due is a wait: how many requests go before it, and how long it is.
type due struct {
	after int
	window
	exact  time.Duration
	known  bool // exact holds: the draw was seen
	source string
}

// model plays the client's part.
type model struct {
	s      *scenario
	g      settings
	number int // of the operation
	server server
	saw    *observation
	drawn  map[int]int              // draws used, by the number of requests before them
	holds  map[string]time.Duration // until when a host is left alone

	elapsed time.Duration // since the play began; nothing but waits and silence takes time
	want    expectation

	// Of the running operation.
	began       time.Duration
	start       hop // of the next attempt
	limit       time.Duration
	deadline    bool // limit is the deadline's, not the attempt's own
	misdirected int
	sources     []string
	books       books
	rest        *rest
	earlier     earlier
	out         output
}

// attempt is one try and its outcome.
type attempt struct {
	class        string
	method, host string // of the last hop
	status, exit int    // exit: the failure's own code
	keyed        bool
	unsent       bool // nothing of the failing hop's request went out
	inBody       bool // it broke in the body
	replayed     bool
	told         guidance
	misdirected  int    // 421 answers before it
	stop         string // a reason that leaves no question
	held, total  int64  // of the body; total -1 unknown
	resumable    bool   // the next attempt asks for the rest
	continued    bool   // it was answered with the rest
	committed    bool   // bytes are beyond recall that this answer does not end
	blocks       []byte // header blocks of all hops
	answer       *reply // the last, its body not yet looked at; nil none
	delivered    bool   // the body was
	incomplete   bool   // the body of a final status broke off
	unshown      bool   // a complete answer whose body is not there to be shown
}

// predict is what the play of s must look like.
func predict(s *scenario, saw *observation) *expectation {
	m := &model{number: 1, s: s, g: s.settings(), saw: saw, drawn: map[int]int{}, holds: map[string]time.Duration{}}
	m.server.s = s
	m.want.files = map[string][]byte{}
	if s.existing != nil {
		m.want.files[outName] = []byte(*s.existing)
	}
	for range max(s.runs, 1) {
		clear(m.holds)
		m.run("/a")
	}
	if s.second {
		m.number, m.g.file = 2, false // an -o is for one URL
		m.run("/z")
	}
	m.want.effects = m.server.effects
	return &m.want
}

// run is one operation.
func (m *model) run(path string) {
	m.began, m.misdirected, m.books, m.rest, m.sources = m.elapsed, 0, books{}, nil, nil
	m.start = hop{method: m.g.method, path: path, host: firstHost, body: m.g.body, key: m.g.key != ""}
	m.out = output{g: &m.g, file: m.g.file}
	m.takeUp()
	if !m.begin() {
		return
	}
	for {
		a := m.try()
		m.books.enter(&m.g, a)
		reason, wait := m.decide(a)
		if reason != "" {
			m.finish(a, reason)
			return
		}
		m.elapsed += wait
		// The answer is given up; after waking the limits are asked about again, which
		// on a clock that wakes in time changes nothing.
	}
}

// begin is R4.12, R4.12a: what the origin said to an operation before.
func (m *model) begin() bool {
	left := m.held(firstHost)
	if left == 0 {
		return true
	}
	reason, d := "retry_after_exceeds_cap", m.place(m.g.pause(left), m.draw())
	switch {
	case left > m.g.limit():
	case m.g.deadline > 0 && d.exact >= m.g.deadline:
		reason = "deadline_before_retry"
	default:
		m.wait(d)
		m.elapsed += d.exact
		return true
	}
	m.want.runs = append(m.want.runs, ending{exit: 75, reason: reason, next: m.stamp(left)}) // R10.3a
	return false
}

// stamp is the timeline's form of a time so long from now.
func (m *model) stamp(d time.Duration) string {
	return m.wall().Add(d).Format("2006-01-02T15:04:05.000Z")
}

// decide asks the questions of R4.0 in their order. A reason ends the operation.
func (m *model) decide(a *attempt) (reason string, wait time.Duration) {
	g := &m.g
	if m.transient(a) {
		m.hold(a.host, m.minimum(a)) // also where the operation stops (R4.12a)
	}
	if a.stop == "" && a.class == classNone {
		return "success", 0
	}
	u := m.draw() // one for each failed attempt
	switch {
	case a.stop != "":
		return a.stop, 0
	case !m.transient(a):
		return finalReason(a.class), 0
	case !g.safe(a):
		return "unsafe_method", 0
	case !m.books.attemptsLeft(g):
		return "attempts_exhausted", 0
	}
	minimum, held := m.minimum(a), max(m.held(firstHost), m.held(m.start.host)) // R4.12e
	if max(minimum, held) > g.limit() {
		return "retry_after_exceeds_cap", 0
	}
	d := m.place(g.between(m.books.k(), minimum, held), u)
	d.source = g.source(m.books.k(), minimum, held)
	since := m.elapsed - m.began
	switch {
	case g.retryMaxTime > 0 && since+d.exact > g.retryMaxTime:
		return "retry_time_exceeded", 0
	case g.deadline > 0 && !(d.exact < g.deadline-since && g.deadline-since-d.exact >= g.reserve):
		return "deadline_before_retry", 0
	case a.committed && !a.resumable:
		return "output_committed", 0
	}
	m.wait(d)
	m.sources = append(m.sources, d.source)
	return "", d.exact
}

// minimum is what the answer asks to wait, where that counts (R5.6).
func (m *model) minimum(a *attempt) time.Duration {
	if a.class != classStatus {
		return 0
	}
	return a.told.minimum
}

// hold is R4.12: nothing is sent to that host for so long.
func (m *model) hold(host string, minimum time.Duration) {
	if minimum > 0 {
		m.holds[host] = max(m.holds[host], m.elapsed+min(minimum, lastInstant-m.elapsed))
	}
}

// lastInstant is where the client's clock, which begins at FakeStart, ends.
const lastInstant = 1<<63 - 1 - retrytest.FakeStart

// held is how long nothing may be sent to a host.
func (m *model) held(host string) time.Duration { return max(m.holds[host]-m.elapsed, 0) }

func (m *model) transient(a *attempt) bool {
	if a.class == classStatus {
		return m.g.transientStatus(a)
	}
	return m.g.transientClass(a.class)
}

func finalReason(class string) string {
	switch class {
	case classStatus:
		return "http_error"
	case classRedirect:
		return "redirect_error"
	}
	return "transport_error"
}

// draw is the next draw that the client made since the last request; -1 is that
// it made none.
func (m *model) draw() float64 {
	n := len(m.want.requests)
	i, all := m.drawn[n], m.saw.draws[n]
	if i >= len(all) {
		return -1
	}
	m.drawn[n]++
	return all[i]
}

// place puts a wait into its window by a draw.
func (m *model) place(w window, u float64) due {
	d := due{after: len(m.want.requests), window: w, exact: w.floor}
	if u >= 0 {
		d.exact, d.known = w.draw(u), true
	}
	return d
}

// wait expects a wait; one of no length shows as none.
func (m *model) wait(d due) {
	if d.exact > 0 {
		m.want.waits = append(m.want.waits, d)
	}
}

// books count attempts (R2.1, R2.4, R4.4).
type books struct {
	attempts []bool // whether each of them counts
	counted  int    // attempts that do
	failures int    // k, the last attempt not included while it is open
	resumes  int    // attempts that did not count
	base     int64  // bytes held when the last counted attempt ended
	held     int64  // and when the last one did
	open     bool   // the last attempt counts only if the next is no continuation (R2.4a)
}

// enter takes an attempt down.
func (b *books) enter(g *settings, a *attempt) {
	if b.open {
		b.open = false
		if a.continued {
			b.attempts[len(b.attempts)-1] = false
			b.resumes++
			b.failures = 0
		} else {
			b.count(b.held)
		}
	}
	b.attempts = append(b.attempts, true)
	before := int64(0)
	if a.continued {
		before = b.held
	}
	growth := a.held - b.base
	grown := growth >= 1<<20 || a.total > 0 && growth > 0 && growth*100 >= a.total
	b.open = a.resumable && a.inBody && a.held > before && grown && g.attempts != 1 && b.resumes < g.maxResumes
	if !b.open {
		b.count(a.held)
	}
	b.held = a.held
}

func (b *books) count(held int64) {
	b.counted++
	b.failures++
	if held > 0 {
		b.base = held
	}
}

// k of the wait that follows.
func (b *books) k() int {
	if b.open {
		return 1
	}
	return b.failures
}

func (b *books) attemptsLeft(g *settings) bool {
	return g.attempts == 0 || b.open || b.counted < g.attempts
}

// finish is the end of the operation.
func (m *model) finish(a *attempt, reason string) {
	if a.answer != nil && !a.delivered && a.class == classStatus && a.stop == "" {
		// The status decided; its body is still to be shown (R2.3).
		m.last(a)
		if a.stop != "" {
			reason = a.stop
		}
	}
	e := ending{
		exit: m.exit(a, reason), reason: reason, attempts: len(m.books.attempts), retries: len(m.books.attempts) - 1,
		counted: m.books.attempts, sources: m.sources,
	}
	e.others = m.others(a, e.exit)
	if reason != "success" && a.told.valid {
		e.next = m.stamp(a.told.minimum)
	}
	for _, run := range m.want.runs {
		e.requests -= run.requests
	}
	e.requests += len(m.want.requests)
	m.want.runs = append(m.want.runs, e)
	m.show(a, reason)
}

// others are exit codes that contract §3 has beside the likeliest.
func (m *model) others(a *attempt, exit int) []int {
	switch {
	case a.class == classProtocol && exit == 1:
		return []int{8} // on a connection that was used before
	case !m.s.http2 && !m.s.tls || exit != a.exit:
		return nil
	case a.class == classClosed:
		return []int{52, 55, 56, 16, 92}
	case a.class == classRefused, a.class == classTruncated:
		return []int{16, 92}
	}
	return nil
}

// exit is R10.3.
func (m *model) exit(a *attempt, reason string) int {
	complete := a.class == classNone || a.class == classStatus
	switch reason {
	case "success":
		return 0
	case "deadline_exceeded":
		return 28
	case "output_committed":
		return 18
	}
	switch {
	case complete && m.g.fail == failNot && !a.incomplete && !a.unshown:
		return 0
	case !complete:
		return a.exit
	}
	switch reason {
	case "attempts_exhausted", "retry_after_exceeds_cap", "retry_time_exceeded", "deadline_before_retry":
		return 75
	}
	return 22
}
