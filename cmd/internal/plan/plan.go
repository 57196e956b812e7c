// Package plan says what a retry policy would do before anything is sent. Every
// figure is a Decision of the engine (retry.Policy.Decide) on an outcome that is
// assumed or given.
package plan

import (
	"fmt"
	"time"

	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

// Request is what a plan is asked about.
type Request struct {
	Policy           retry.Policy // checked
	Method           string
	Keyed            bool // with an idempotency key
	RateLimitHeaders bool
	Until            bool // answers are held against an expression
	Poll             bool
	ConnectTimeout   time.Duration // 0 none
	Seed             *uint64
	Given            []Outcome // in order; none: each attempt fails with what is transient
	AttemptTime      time.Duration
	// ExitCode is what the process would end with.
	ExitCode func(retry.Reason, retry.Outcome) int
}

// Outcome is what an attempt comes to.
type Outcome struct {
	Text   string      // as --given has it
	Status int         // of an answer; 0 none
	Class  retry.Class // of a failure without an answer
	// Named: the answer names Minimum in Retry-After.
	Named   bool
	Minimum time.Duration
}

const (
	// listed is how many waits a plan lists, followed how many it follows to their end.
	listed   = 1000
	followed = 1_000_000
)

// Make follows the policy along its shortest and its longest waits. Version,
// Bide and Policy of the document are the caller's.
func Make(r Request) *render.Plan {
	doc := &render.Plan{Method: r.Method, Keyed: r.Keyed, AttemptTimeMS: render.MS(r.AttemptTime)}
	for _, g := range r.Given {
		doc.Given = append(doc.Given, g.Text)
	}
	w := &walk{r: &r, doc: doc, outcomes: r.outcomes(r.Given)}
	if len(r.Given) == 0 {
		assumed := r.assumed()
		doc.Assumed = &assumed.Text
		w.outcomes, w.repeats = r.outcomes([]Outcome{assumed}), true
	}
	w.run()
	doc.Longest = r.longest()
	doc.Rules = r.rules()
	doc.Warnings = r.warnings(doc)
	return doc
}

// outcome is g in the engine's words.
func (r *Request) outcome(g Outcome) retry.Outcome {
	o := retry.Outcome{Method: r.Method, Keyed: r.Keyed, Class: g.Class, Status: g.Status, Sent: retry.SentMaybe, Phase: retry.PhaseSend}
	if g.Status != 0 {
		o.Class, o.Phase = r.Policy.StatusClass(g.Status), retry.PhaseDone
		o.Server = retry.Server{Valid: g.Named, Minimum: g.Minimum}
		o.RateLimited = r.RateLimitHeaders && g.Status == 403 && g.Named
	}
	return o
}

// given is an Outcome with the engine's word for it.
type given struct {
	Outcome
	engine retry.Outcome
}

func (r *Request) outcomes(list []Outcome) []given {
	var all []given
	for _, g := range list {
		all = append(all, given{g, r.outcome(g)})
	}
	return all
}

// assumed is a failure that the policy retries: 503 where it does; where it
// retries nothing, 503 all the same.
func (r *Request) assumed() Outcome {
	first := Outcome{Text: "503", Status: 503}
	candidates := []Outcome{first}
	for status := 999; status >= 100; status-- { // 503 is not transient: then the highest that is
		if r.Policy.RetryOn.HasStatus(status) {
			candidates = append(candidates, Outcome{Text: fmt.Sprint(status), Status: status})
		}
	}
	candidates = append(candidates, failure(retry.ClassConnect))
	for _, c := range retry.Classes() {
		if c.Class != retry.ClassStatus && c.Class != retry.ClassChecksum { // which has to be asked for
			candidates = append(candidates, failure(c.Class))
		}
	}
	for _, c := range candidates {
		if o := r.outcome(c); r.Policy.Transient(o, retry.State{}) && r.Policy.Safe(o) {
			return c
		}
	}
	return first
}

func failure(c retry.Class) Outcome { return Outcome{Text: string(c), Class: c} }

// walk goes along the shortest waits and, beside them, the longest.
type walk struct {
	r        *Request
	doc      *render.Plan
	outcomes []given
	repeats  bool // the last outcome comes again and again
	// Of the attempt that comes next.
	misdirected int
	short, long lane
	mean        time.Duration // from the start, while the long lane lasts
	waits       int
}

// lane is one way through the operation.
type lane struct {
	elapsed time.Duration // at which the next attempt begins
	over    *render.PlanStop
}

func (w *walk) run() {
	for n := 1; n <= followed; n++ {
		if n > len(w.outcomes) && !w.repeats {
			return
		}
		g := &w.outcomes[min(n, len(w.outcomes))-1]
		short := w.decide(&w.short, n, g, 0)
		long := w.decide(&w.long, n, g, 1)
		if g.Status == 421 {
			w.misdirected++
		}
		w.doc.StopEarliest, w.doc.StopLatest = w.short.over, w.long.over
		if w.short.over != nil {
			return
		}
		w.add(n, g, short, long)
	}
	w.doc.StopEarliest, w.doc.StopLatest = nil, nil // too far to see
}

// decide is the engine's answer to attempt n on a lane, with that u; it moves
// the lane on to the next attempt, or ends it.
func (w *walk) decide(l *lane, n int, g *given, u float64) retry.Decision {
	if l.over != nil {
		return retry.Decision{}
	}
	p, seen := &w.r.Policy, saturated(l.elapsed, w.r.AttemptTime)
	if p.Deadline > 0 && seen >= p.Deadline {
		l.end(w.r, n, retry.DeadlineExceeded, &retry.Outcome{Class: retry.ClassTimeout})
		return retry.Decision{}
	}
	d := p.Decide(retry.State{Failures: n, Counted: n, Misdirected: w.misdirected, Elapsed: seen}, g.engine, u)
	if !d.Retry {
		l.end(w.r, n, d.Reason, &g.engine)
		return d
	}
	l.elapsed = saturated(seen, d.Wait)
	return d
}

func (l *lane) end(r *Request, n int, reason retry.Reason, o *retry.Outcome) {
	l.over = &render.PlanStop{Attempts: n, Reason: string(reason), ExitCode: r.ExitCode(reason, *o)}
}

// add lists the wait after attempt n. Where a time limit ends the long lane,
// what is left of that limit bounds the latest instant.
func (w *walk) add(n int, g *given, short, long retry.Decision) {
	mean := short.Floor + (short.Ceiling-short.Floor)/2
	w.mean = saturated(w.mean, saturated(w.r.AttemptTime, mean))
	row := render.PlanWait{
		Number: n, After: g.Text, Class: string(g.engine.Class), Source: string(short.Source),
		LocalMS: render.MS(short.Local), FloorMS: render.MS(short.Floor), CeilingMS: render.MS(short.Ceiling), MeanMS: render.MS(mean),
		EarliestMS: render.MS(w.short.elapsed), Sure: long.Retry,
	}
	if g.Status != 0 {
		row.Status = &g.Status
	}
	if g.Named {
		row.MinimumMS = render.Millis(g.Minimum)
	}
	if long.Retry {
		row.LatestMS, row.NextMeanMS = render.MS(w.long.elapsed), render.Millis(w.mean)
	} else {
		row.LatestMS = render.MS(w.limit())
	}
	w.waits++
	if w.waits > listed {
		w.doc.Omitted++
		return
	}
	w.doc.Waits = append(w.doc.Waits, row)
}

// limit is the latest instant at which a retry may start.
func (w *walk) limit() time.Duration {
	p := &w.r.Policy
	latest := p.RetryMaxTime
	if p.Deadline > 0 && (latest == 0 || p.Deadline-p.AttemptReserve < latest) {
		latest = p.Deadline - p.AttemptReserve
	}
	return max(latest, w.short.elapsed)
}

func saturated(a, b time.Duration) time.Duration {
	if sum := a + b; sum >= a {
		return sum
	}
	return 1<<63 - 1
}
