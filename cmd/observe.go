package cmd

import (
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

// observer shows the loop's steps as they happen: waits on stderr, and every
// step in a JSONL timeline.
func (op *operation) observer() func(retry.Event) {
	r := op.run
	if r.console.silent && r.timeline.events == nil {
		return op.unseen()
	}
	notices := render.Notices{
		Location: r.env.Location, Redactor: r.redactor, Attempts: op.group.Policy.Attempts, ASCII: r.console.ascii,
	}
	var waiting time.Duration // instant at which the wait began; valid while paused
	paused := false
	var began time.Duration // offset at which the attempt began
	return func(e retry.Event) {
		switch e.Kind {
		case retry.EventWait:
			op.wayFree()
			op.wait(notices, notices.NoticeWait(e), e)
		case retry.EventHold:
			op.wait(notices, notices.NoticeHold(op.origin(), e), e)
		case retry.EventStop:
			op.wayFree()
			op.settle()
		default:
			op.settle()
		}
		if r.timeline.events == nil {
			return
		}
		switch e.Kind {
		case retry.EventWait, retry.EventHold:
			waiting, paused = r.env.Clock.Mono(), true
		case retry.EventAttempt:
			began = e.Offset
			if paused {
				paused = false
				r.timeline.event(render.Resumed{EventHead: op.head(e), WaitedMS: render.MS(r.env.Clock.Mono() - waiting)}, op.lastWords())
			}
		}
		if event := op.event(e, e.Offset-began); event != nil {
			r.timeline.event(event, op.lastWords())
		}
	}
}

// unseen is the observer when nobody looks: nil, but where others of -Z wait.
func (op *operation) unseen() func(retry.Event) {
	if op.passed == nil {
		return nil
	}
	return func(e retry.Event) {
		if e.Kind == retry.EventWait || e.Kind == retry.EventStop {
			op.wayFree()
		}
	}
}

// wait shows a wait until settle.
func (op *operation) wait(notices render.Notices, plain string, e retry.Event) {
	op.settle()
	if op.run.options.Global.Wait {
		if op.line != nil && e.Kind == retry.EventWait {
			op.line.notYet(notices, e)
		}
		return
	}
	op.waited = op.run.console.wait(notices, plain, e)
	if crew := op.run.crew; crew != nil {
		crew.waiting.Add(1)
		shown := op.waited
		op.waited = func() { crew.waiting.Add(-1); shown() }
	}
}

func (op *operation) head(e retry.Event) render.EventHead {
	return render.EventHead{Operation: op.identity(), Attempt: e.Number, OffsetMS: render.MS(e.Offset)}
}

// event is e as a JSONL event; nil when the stream has none for it.
func (op *operation) event(e retry.Event, took time.Duration) render.Event {
	switch e.Kind {
	case retry.EventAttempt:
		return render.AttemptStarted{EventHead: op.head(e), Method: op.template.Method, URL: op.run.redactor.URL(op.template.URL.String())}
	case retry.EventOutcome:
		a := op.describeAttempt(retry.Attempt{Number: e.Number, Outcome: e.Outcome}, op.responses[len(op.responses)-1])
		return render.Responded{
			EventHead: op.head(e), DurationMS: render.MS(took), Status: a.Status, Class: a.Class,
			Phase: a.Phase, Sent: a.Sent, Error: a.Error, Server: a.Server,
			ResumedFromBytes: a.ResumedFromBytes, Checksum: a.Checksum, Until: a.Until,
		}
	case retry.EventWait:
		return render.Waiting{
			EventHead: op.head(e), Source: string(e.Decision.Source), WaitMS: render.MS(e.Wait),
			FloorMS: ms(e.Decision.Floor), CeilingMS: ms(e.Decision.Ceiling), Until: render.Time{Time: e.Until},
		}
	case retry.EventHold:
		return render.Waiting{
			EventHead: op.head(e), Source: string(retry.SourceShared), WaitMS: render.MS(e.Wait), Until: render.Time{Time: e.Until},
		}
	}
	return nil
}

// explain prints the error line: why it ended, and the start of an error body
// that the user would not see otherwise.
func (op *operation) explain(doc *render.Document, last *retry.Outcome) {
	c := op.run.console
	if !c.errors {
		return
	}
	line := render.StopLine(doc, op.run.env.Location)
	if c.curl {
		c.live.Println(render.Cause(line))
		return
	}
	if hint := op.hint(last); hint != "" {
		line += "; " + hint
	}
	if excerpt := render.Excerpt(op.output.excerpt); excerpt != "" {
		line += "; the body says: " + op.run.redactor.Scrub(excerpt)
	}
	c.live.Println(line)
}

// ended is the last event of a JSONL timeline.
func ended(doc *render.Document) render.Ended {
	return render.Ended{
		EventHead: render.EventHead{Operation: doc.Operation.ID, Attempt: len(doc.Attempts), OffsetMS: doc.Outcome.ElapsedMS},
		Outcome:   *doc.Outcome, Response: doc.Response,
	}
}

// lateCode is the exit code of an output that failed after the operation.
func lateCode(code exitcode.Code) exitcode.Code {
	if code != exitcode.OK {
		return code
	}
	return exitcode.Output
}
