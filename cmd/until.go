package cmd

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/until"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

// compileUntil compiles the expressions of --until, all before the first request.
func (r *run) compileUntil() error {
	for i := range r.options.Groups {
		g := &r.options.Groups[i]
		if g.Until == "" {
			continue
		}
		expr, err := until.Compile(g.Until)
		if err != nil {
			return &flags.UsageError{Message: "option --until: " + render.Text(err.Error()), Code: exitcode.Usage, Option: true}
		}
		if r.untils == nil {
			r.untils = make(map[*flags.Group]*until.Expr)
		}
		r.untils[g] = expr
	}
	return nil
}

// judge asks --until about a whole answer (R3.3e), o being its outcome. What it
// reads of the body for that goes to the output all the same, if the answer is
// taken.
func (op *operation) judge(ctx context.Context, r *exchange.Response, o *retry.Outcome) {
	answered := o.Err == nil && o.Stop == "" && r.Status != 0
	if op.group.until == nil || !answered || r.Continued() { // what goes on was judged at its beginning
		return
	}
	answer := until.Answer{Status: r.Status, Header: make([]until.Field, len(r.Header))}
	for i, f := range r.Header {
		answer.Header[i] = until.Field{Name: f.Name, Value: f.Value}
	}
	if !eventStream(r) && r.Method() != "HEAD" { // the one has no end to read up to, the other no body
		var err error
		if answer.Body, answer.Whole, err = r.Preview(ctx, until.BodyLimit); err != nil {
			op.brokenAhead(ctx, r, o)
			return
		}
	}
	holds, err := op.group.until.Holds(ctx, answer)
	if ctx.Err() != nil {
		r.Discard()
		o.Class, o.Phase, o.Err = retry.ClassTimeout, retry.PhaseBody, context.Cause(ctx) // the engine knows who ended it
		return
	}
	op.verdict(r, holds)
	switch {
	case !holds:
		o.Class, o.Unmet = retry.ClassStatus, true
		if err != nil {
			o.Err = op.shown(ctx, answer, err)
		}
	case o.Class == retry.ClassStatus && op.group.until.Wants(ctx, answer):
		o.Class = retry.ClassNone
	}
}

// brokenAhead makes o that of a body that broke off while it was read for the
// expression, which has not seen its beginning: the next attempt begins from zero.
// An error's body changes nothing about the error.
func (op *operation) brokenAhead(ctx context.Context, r *exchange.Response, o *retry.Outcome) {
	after := r.Deliver(ctx, io.Discard, *o)
	op.exchange.Resume, after.Resumable = nil, false
	if o.Class != retry.ClassStatus || ctx.Err() != nil {
		*o = after
	}
}

// untilError is what --until failed with at run time.
type untilError struct{ text string }

func (e untilError) Error() string { return "--until: " + e.text }

// shown is err without what must not be shown: the texts of gojq quote the values
// they are about, cut or changed, secret header fields among them. With such
// fields it is the text for the answer as it may be shown, if the expression
// fails of that in the same way.
func (op *operation) shown(ctx context.Context, a until.Answer, err error) error {
	text := err.Error()
	if hidden, secret := op.redacted(a); secret && !until.Limited(err) {
		_, again := op.group.until.Holds(ctx, hidden)
		if kind := fmt.Sprintf("%T", err); kind == fmt.Sprintf("%T", again) {
			text = again.Error()
		} else {
			text = "it failed with a text that may hold a secret (" + kind + ")"
		}
	}
	const longest = 300
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "..."
	}
	return untilError{text}
}

// redacted is a with its header fields as they may be shown. It reports whether
// they are others.
func (op *operation) redacted(a until.Answer) (hidden until.Answer, secret bool) {
	hidden = a
	hidden.Header = make([]until.Field, len(a.Header))
	for i, f := range a.Header {
		shown := op.run.redactor.HeaderValue(f.Name, f.Value)
		hidden.Header[i] = until.Field{Name: f.Name, Value: shown}
		secret = secret || shown != f.Value
	}
	return hidden, secret
}

// verdict keeps what --until said of r.
func (op *operation) verdict(r *exchange.Response, holds bool) {
	if op.verdicts == nil {
		op.verdicts = make(map[*exchange.Response]bool)
	}
	op.verdicts[r] = holds
}

// describeVerdict is what --until said of r; nil when it was not asked.
func (op *operation) describeVerdict(r *exchange.Response) *bool {
	if holds, asked := op.verdicts[r]; asked {
		return &holds
	}
	return nil
}
