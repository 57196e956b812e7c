package cmd

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/urlglob"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

// unbegun ends a run that never got to its operations. One that a signal stopped,
// while it read a FIFO or waited for a password, leaves its timeline all the same,
// of what the command line says without the files that it names.
func unbegun(ctx context.Context, env Env, parse parser, err error) exitcode.Code {
	code := reportUsage(ctx, env, err)
	if ctx.Err() == nil {
		return code
	}
	options, perr := parse(env.Args, flags.Env{
		Getenv: env.Getenv, Stdin: strings.NewReader(""),
		Open: func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil },
	})
	if perr != nil || options.Global.Help || options.Global.Version {
		return code
	}
	options.Global.Notes, options.Global.VerboseNotes = nil, nil
	r := &run{env: env, options: options, redactor: newRedactor(options)}
	if r.console, perr = newConsole(ctx, env, options); perr != nil {
		return code
	}
	if r.timeline, perr = newTimelineWriter(ctx, env, options, r.console); perr != nil {
		return code
	}
	for i := range options.Groups {
		code = r.tellAll(ctx, &prepared{Group: &options.Groups[i]}, code, err)
	}
	if cerr := r.timeline.close(); cerr != nil {
		r.console.failure(code, r.redactor.Text(cerr.Error()))
	}
	_ = r.console.close() // there is an exit code already
	return code
}

// refuseAll ends the operations of a group whose flags name what cannot be
// read: one error line, a timeline for each.
func (r *run) refuseAll(ctx context.Context, g *prepared, err error) exitcode.Code {
	return r.tellAll(ctx, g, r.refuse(ctx, err), err)
}

// tellAll writes the timelines of a group's operations, none of which began.
func (r *run) tellAll(ctx context.Context, g *prepared, code exitcode.Code, err error) exitcode.Code {
	for i := range g.URLs {
		arg := &g.URLs[i]
		r.index++
		op := &operation{run: r, index: r.index, group: g, given: arg.URL}
		code = op.tellRefusal(ctx, arg, code, err)
	}
	return code
}

// refuseJob ends an operation whose globs cannot be read: one, however many it
// would have been.
func (r *run) refuseJob(ctx context.Context, turn *stdoutTurn, g *prepared, j *job, err error) exitcode.Code {
	op := &operation{run: r, index: j.index, num: j.num, group: g, given: j.URL, turn: turn}
	return op.refuse(ctx, &j.URLArg, err)
}

// refuse ends an operation that never began: nothing was sent (class request or input).
func (op *operation) refuse(ctx context.Context, arg *flags.URLArg, err error) exitcode.Code {
	code := op.tellRefusal(ctx, arg, op.run.refuse(ctx, err), err)
	if err := op.writeOut(&retry.Record{Reason: retry.Usage}, code, nil); err != nil {
		return op.lateFailure(code, err)
	}
	return code
}

// refuse prints the line of what cannot be done, and gives its exit code.
func (r *run) refuse(ctx context.Context, err error) exitcode.Code {
	code := refusalCode(ctx, err)
	if !r.console.errors && !aboutOptions(err, code) {
		return code
	}
	var place *urlglob.Error
	if errors.As(err, &place) {
		r.console.live.Println(refusalLine(err, code, r.pointAt(place)))
		return code
	}
	r.console.live.Println(refusal(err, code, func(text string) string {
		if text = r.redactor.Text(text); r.console.curl {
			return render.Cause(text)
		}
		return text
	}))
	return code
}

// refusal is what is said of an error before any request: in as many lines as
// curl's, with a hint before it names the help, or in one.
func refusal(err error, code exitcode.Code, safe func(string) string) string {
	var usage *flags.UsageError
	switch {
	case !errors.As(err, &usage) || usage.Lines == nil && !usage.Warning:
		return refusalLine(err, code, safe(err.Error()))
	case usage.Warning:
		return render.Warning(safe(usage.Message), 0)
	}
	var b strings.Builder
	say := func(text string) { b.WriteString(render.ErrorLine(0, safe(text)) + "\n") }
	for _, line := range usage.Lines {
		say(line)
	}
	if usage.Hint != "" {
		say(usage.Hint)
	}
	return b.String() + render.ErrorLine(0, "try 'bide --help' for more information")
}

// refusalLine is the line for an error before any request. As in curl, what is
// wrong with the command line, and not with the URL on it, stands without a code.
func refusalLine(err error, code exitcode.Code, text string) string {
	if aboutOptions(err, code) {
		code = exitcode.OK
	}
	return render.ErrorLine(int(code), text)
}

// aboutOptions reports what is wrong with the command line itself: curl says
// it with -s, too.
func aboutOptions(err error, code exitcode.Code) bool {
	var usage *flags.UsageError
	return code == exitcode.Usage || errors.As(err, &usage) && usage.Option
}

// tellRefusal writes the timeline of an operation without attempts.
func (op *operation) tellRefusal(ctx context.Context, arg *flags.URLArg, code exitcode.Code, err error) exitcode.Code {
	r := op.run
	if !r.timeline.wants(0) {
		return code
	}
	reason, class := retry.Usage, retry.ClassRequest
	var classified retry.Classified
	if errors.As(err, &classified) {
		class = classified.RetryClass()
		reason = class.FinalReason()
	}
	if ctx.Err() != nil {
		reason, class = retry.Canceled, retry.ClassCanceled
	}
	if op.id == "" {
		op.id = r.newID()
	}
	rec := &retry.Record{Policy: &op.group.Policy, StartedAt: r.env.Clock.Wall(), Reason: reason}
	doc := &render.Document{
		Version: render.Version, Bide: version,
		Operation: render.Operation{
			ID: op.id, Index: op.index, Page: op.page.index(), Label: optional(op.group.Label), Method: methodOf(op.group.Group, *arg),
			URL: r.redactor.URL(op.given), StartedAt: render.Time{Time: rec.StartedAt},
		},
		Policy: describePolicy(*rec.Policy, r.options.Global.Seed), Attempts: []render.Attempt{},
		Outcome: describeOutcome(rec, 0, code),
	}
	doc.Outcome.Class = optional(string(class))
	doc.Outcome.Message = optional(r.redactor.Text(err.Error()))
	if err := r.timeline.operation(doc, op); err != nil {
		return op.lateFailure(code, err)
	}
	return code
}

// refusalCode is the exit code of an error before any request.
func refusalCode(ctx context.Context, err error) exitcode.Code {
	if errors.Is(err, context.Canceled) {
		return signalCode(ctx)
	}
	var usage *flags.UsageError
	if errors.As(err, &usage) {
		return usage.Code
	}
	var classified retry.Classified
	if errors.As(err, &classified) {
		return failureCode(&retry.Outcome{Class: classified.RetryClass(), Err: err})
	}
	return exitcode.Usage
}
