package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

// operation is the work that one URL asks for: one template, one key, one
// budget, one outcome.
type operation struct {
	run      *run
	index    int
	group    *prepared
	given    string // the URL as given
	template request.Template
	exchange exchange.Operation
	id       string // see identity

	began       time.Duration         // instant of the start of its attempts
	responses   []*exchange.Response  // one per attempt, in order
	response    [1]*exchange.Response // room for the first: mostly there is no other
	last        context.Context       // of the last attempt: its limits hold until its body is read (R6.3a)
	misdirected int32                 // 421 answers so far
	answered    bool                  // the last answer is there to be shown
	kept        bool                  // its head is: it was not given up for a wait
	polling     bool                  // --poll: the request was accepted, its result is asked for
	output      output

	num    int         // of the URL among those of the command line: %{urlnum}
	page   *page       // of --paginate; nil without
	turn   *stdoutTurn // to write to standard output
	waited func()      // takes the notice of the present wait away; nil none
	passed func()      // lets others go to the origin; nil when none waits for that
	line   *boardLine  // of bide wait; nil without one

	verdicts map[*exchange.Response]bool // of --until
}

// operate runs one operation from its template to its exit code.
func (r *run) operate(ctx context.Context, l *lane, g *prepared, j *job, pg *page) exitcode.Code {
	op := &operation{run: r, index: j.index, num: j.num, group: g, given: j.URL, page: pg, turn: &l.turn}
	op.responses = op.response[:0]
	if err := op.prepare(&j.URLArg); err != nil {
		return op.refuse(ctx, &j.URLArg, err)
	}
	op.turn.within(ctx)
	if r.crew != nil {
		if op.passed = l.enter(ctx, &r.crew.gate, op.origin()); op.passed != nil {
			defer op.passed()
		}
	}
	if j.HasUpload {
		defer op.template.Body.Close() // -d's body belongs to the group
	}
	if op.skips(ctx) {
		return exitcode.OK
	}
	defer op.output.abandon()
	if err := op.output.takeUp(); err != nil {
		return op.refuse(ctx, &j.URLArg, err)
	}
	op.line = r.board.enter(op)
	l.guard(ctx, &op.output)
	defer l.release()

	rec := op.attempts(ctx)
	if op.last != nil {
		defer retry.Release(op.last)
	}
	l.release()
	op.turn.within(ctx)
	return op.finish(ctx, rec)
}

// prepare freezes everything before attempt 1 (R7.3).
func (op *operation) prepare(arg *flags.URLArg) error {
	var err error
	if op.template, err = op.newTemplate(arg); err != nil {
		return err
	}
	if err = op.newOutput(arg); err != nil {
		return err
	}
	op.exchange = exchange.Operation{
		Settings: op.group.settings, Template: &op.template, Policy: op.policy(),
		Continue: op.group.Policy.Attempts != 1 || op.continues(),
	}
	return nil
}

func (op *operation) origin() string { return op.template.URL.Origin() }

// newTemplate freezes the request: that of the URL, or of a page behind it.
func (op *operation) newTemplate(arg *flags.URLArg) (request.Template, error) {
	if op.page.follows() {
		return op.page.template()
	}
	return op.run.template(op.group, arg)
}

// policy is the group's, or for a page what is left of it.
func (op *operation) policy() *retry.Policy {
	if op.page != nil {
		return &op.page.policy
	}
	return &op.group.Policy
}

// attempts runs the engine's loop, and delivers what it kept.
func (op *operation) attempts(ctx context.Context) *retry.Record {
	if op.page.tooLate() {
		return &retry.Record{Policy: &op.group.Policy, StartedAt: op.run.env.Clock.Wall(), Reason: retry.DeadlineBeforeRetry}
	}
	op.began = op.run.env.Clock.Mono()
	op.run.console.patience.forOperation(op.began, op.policy().Deadline, op.run.crew != nil)
	loop := retry.Loop{
		Policy: op.policy(), Clock: op.run.env.Clock, Rand: op.run.rand,
		Origin: op.origin(), Hold: (*startHold)(op), Observe: op.observer(),
	}
	if op.template.Body != nil {
		loop.Replay = op.exchange.Replay
	}
	if from := op.exchange.From; from != nil {
		loop.Held = from.Offset
	}
	response, rec, err := retry.Do(ctx, loop, op.attempt, (*exchange.Response).Discard)
	op.settle()
	op.kept = response != nil
	op.answered = err == nil && op.kept
	if op.answered {
		op.deliverKept(ctx, response, rec)
	}
	return rec
}

// startHold is the run's holds, asked also for the origin at which the next
// attempt starts where that is not the first one (R1.2, R4.12e).
type startHold operation

func (h *startHold) Until(origin string) time.Duration {
	until := h.run.holds.Until(origin)
	if start := h.exchange.MovedTo(); start != "" {
		until = max(until, h.run.holds.Until(start))
	}
	return until
}

func (h *startHold) Tell(origin string, until time.Duration) { h.run.holds.Tell(origin, until) }

// attempt makes attempt n. A body that no retry can follow on its status is
// delivered here, so that a break in it is an outcome the engine sees (R2.2);
// the body of a transient status waits for the engine's decision.
func (op *operation) attempt(ctx context.Context, n int) (response *exchange.Response, outcome retry.Outcome) {
	if op.template.URL.Scheme == "tcp" {
		response, outcome = op.exchange.Connect(ctx, n)
	} else {
		response, outcome = op.exchange.Attempt(ctx, n)
	}
	op.responses, op.last = append(op.responses, response), ctx
	op.judge(ctx, response, &outcome)
	op.poll(response, &outcome)
	outcome.Committed = op.output.sink.Committed()
	if outcome.Err != nil && outcome.Class != retry.ClassStatus || outcome.Stop != "" {
		return response, outcome
	}
	if op.transient(&outcome) {
		return response, outcome
	}
	op.wayFree()
	op.output.deliver(ctx, response, &outcome)
	return response, outcome
}

// transient reports whether the status alone may be a reason for another attempt.
func (op *operation) transient(o *retry.Outcome) bool {
	state := retry.State{Misdirected: int(op.misdirected)} // all that the question needs of it
	if o.Status == 421 {
		op.misdirected++
	}
	return o.Class == retry.ClassStatus && op.policy().Transient(*o, state)
}

// identity is the operation's id, made when it is first asked for.
func (op *operation) identity() string {
	if op.id == "" {
		op.id = op.run.newID()
	}
	return op.id
}

// wayFree lets other operations go to the origin: it has said how it is.
func (op *operation) wayFree() {
	if op.passed != nil {
		op.passed()
	}
}

// settle takes the notice of a wait away: it is over.
func (op *operation) settle() {
	if op.waited != nil {
		op.waited()
		op.waited = nil
	}
}

// deliverKept writes the body of the last answer where the loop stopped on a
// status with the body unread (R2.3). A body that breaks off leaves the reason
// as it is, but the answer was not complete (R10.3); a signal or an output that
// cannot be written is the reason from then on.
func (op *operation) deliverKept(ctx context.Context, response *exchange.Response, rec *retry.Record) {
	if op.output.delivered == response || len(rec.Attempts) == 0 {
		return
	}
	last := &rec.Attempts[len(rec.Attempts)-1].Outcome
	if last.Class != retry.ClassStatus {
		return
	}
	if last.Stop != "" { // at a redirect whose pause was not to be had: its body is given up
		op.answered = false
		return
	}
	after := *last
	op.output.deliver(op.last, response, &after)
	switch {
	case after.Stop == retry.OutputCommitted:
		overrule(rec, retry.OutputCommitted, last.Class, last.Err)
	case after.Stop == retry.ChecksumMismatch:
		overrule(rec, retry.ChecksumMismatch, after.Class, after.Err)
	case after.Class == retry.ClassStatus:
	case ctx.Err() != nil:
		rec.Limit = context.Cause(ctx)
		overrule(rec, retry.Canceled, retry.ClassCanceled, after.Err)
	case after.Class == retry.ClassOutput:
		overrule(rec, retry.OutputError, retry.ClassOutput, after.Err)
	default:
		op.answered = false
		op.run.console.problem(op.run.redactor.Text("the error's body is incomplete: " + after.Err.Error()))
	}
}

// overrule makes the operation end with reason, whatever the loop said.
func overrule(rec *retry.Record, reason retry.Reason, class retry.Class, err error) {
	rec.Reason = reason
	if n := len(rec.Attempts); n > 0 {
		a := &rec.Attempts[n-1]
		a.Outcome.Class, a.Outcome.Err = class, err
		a.Decision = retry.Decision{Reason: reason}
	}
}

// finish commits or gives up the output, and tells how it ended.
func (op *operation) finish(ctx context.Context, rec *retry.Record) exitcode.Code {
	op.page.turnOver(op, rec.Reason)
	op.commit(ctx, rec)
	last := &retry.Outcome{}
	if n := len(rec.Attempts); n > 0 {
		last = &rec.Attempts[n-1].Outcome
	}
	code := exitCode(ctx, rec.Reason, last, op.answered && op.group.Fail == flags.FailNone && !last.Unmet && !last.Polling)
	if code == exitcode.Temporary && op.group.AsCurl && last.Status != 0 {
		code = exitcode.HTTPError // curl knows no 75
	}
	if op.run.options.Global.Wait {
		code = waitCode(rec.Reason, code)
	}
	return op.report(rec, last, code)
}

// commit makes the output what it is to be, within the last attempt's limits.
func (op *operation) commit(ctx context.Context, rec *retry.Record) {
	within := ctx
	if op.last != nil {
		within = op.last
	}
	err := op.output.finish(within)
	if err == nil || rec.Reason == retry.OutputError || rec.Reason == retry.Canceled {
		return
	}
	rec.Elapsed = op.run.env.Clock.Mono() - op.began
	switch cause := context.Cause(within); {
	case cause == nil || !errors.Is(err, cause):
		overrule(rec, retry.OutputError, retry.ClassOutput, err)
	case errors.Is(cause, retry.ErrDeadline):
		rec.Limit = cause
		overrule(rec, retry.DeadlineExceeded, retry.ClassTimeout, err)
	case errors.Is(cause, retry.ErrAttemptTimeout):
		overrule(rec, retry.TransportError, retry.ClassTimeout, err)
	default:
		rec.Limit = cause
		overrule(rec, retry.Canceled, retry.ClassCanceled, err)
	}
}

// report shows the end: the error line, the timeline, and -w's text.
func (op *operation) report(rec *retry.Record, last *retry.Outcome, code exitcode.Code) exitcode.Code {
	r := op.run
	failed := rec.Reason != retry.Success
	r.count(op, rec, code)
	if code != exitcode.OK && op.output.path == "" && outfileBroken(last.Err) {
		r.unread.Store(true)
	}
	var doc *render.Document
	if failed || r.timeline.wants(len(rec.Attempts)) {
		doc = op.document(rec, code)
	}
	if doc == nil && op.group.format == nil && op.page == nil {
		op.turn.give() // nothing more goes there
	}
	if doc != nil && op.output.midLine && r.console.live.Terminal() {
		r.console.live.Println("")
	}
	if op.line != nil {
		op.line.leave(rec)
	}
	if code != exitcode.OK && !outfileBroken(last.Err) && !op.overtaken(rec) {
		op.explain(doc, last)
	}
	if left := op.output.swept(); left != "" {
		r.console.notice("removed " + render.Text(left) + ", which an earlier run had left behind")
	}
	if notice := op.output.notice(last); notice != "" {
		r.console.notice(notice)
	}
	if f := op.final(); f != nil && f.Overtook && f.Status < 300 {
		r.console.notice(fmt.Sprintf("the answer came when %d bytes of the request's body were sent; the server took no more", f.Hops[len(f.Hops)-1].Timing.BodyOut))
	}
	if err := op.writeOut(rec, code, doc); err != nil {
		return op.lateFailure(code, err)
	}
	if doc != nil {
		if r.timeline.stdout {
			if err := op.turn.Take(nil); err != nil {
				return code // canceled meanwhile: nobody reads it
			}
		}
		if err := r.timeline.operation(doc, op); err != nil {
			return op.lateFailure(code, err)
		}
	}
	return code
}

// lateFailure reports an output that broke after the operation had ended.
func (op *operation) lateFailure(code exitcode.Code, err error) exitcode.Code {
	late := lateCode(code)
	if !outfileBroken(err) {
		op.run.console.failure(late, op.run.redactor.Text(err.Error()))
	} else if op.run.timeline.stdout || op.output.path == "" {
		op.run.unread.Store(true)
	}
	return late
}
