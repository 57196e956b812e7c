package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/outfile"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

// What stands where (cli.md, contract §9): a success goes to the sink; a final
// error goes to stdout, but never onto an -o file and not with -f; attempts
// that are given up go nowhere.

const (
	captureLimit  = 1 << 20         // of a body inside the timeline document
	excerptLimit  = 300             // of an error body on the error line
	excerptWithin = 2 * time.Second // that it may take to read it
)

// output is where one operation's final body goes.
type output struct {
	op        *operation
	sink      outfile.Sink
	capture   *outfile.Memory // the sink, when the body goes into the document
	path      string          // of the file, "" stdout
	urlPath   string          // of the file unless the response names it, "" none
	delivered *exchange.Response
	headSize  int64  // of the header blocks before the body (-i)
	excerpt   []byte // the start of an error body that the user would not see
	check     *verification

	terminal bool // stdout, and a terminal
	dropped  bool // the body goes nowhere (bide wait)
	explicit bool // -o - was given: binary bodies are welcome, too
	midLine  bool // what the terminal was sent did not end its line
	failed   bool // delivered is an error: a status of 400 or above, or a transient one (R10.3d)
	kept     bool // the sink holds what is to be committed
	headOwed bool // of an answer whose body must not be added to what is there: -i shows it alone
	remote   bool // the response may name the file (-J)
	unmet    bool // the answer is not what -z asked for
}

// newOutput decides where the body goes; nothing is created yet.
func (op *operation) newOutput(arg *flags.URLArg) error {
	out := &op.output
	if op.page.follows() && op.page.sink != nil {
		*out = op.page.output(op)
		return nil
	}
	out.op = op
	name, remote, err := op.outputName(*arg)
	if err != nil {
		return err
	}
	out.remote = remote
	if out.check, err = op.verification(*arg, name); err != nil {
		return err
	}
	switch r := op.run; {
	case name != "" || remote:
		out.path, out.urlPath = name, name
		out.sink = outfile.File(outfile.FileSpec{
			Path: name, CreateDirs: op.group.CreateDirs, TempDir: r.tempDir, Stdout: r.env.Stdout, Stderr: r.env.Stderr, Unheld: op.group.NoBuffer,
			Existing: op.existing(), Partial: outfile.PartialName(name), Whole: out.check != nil,
		})
	case r.timeline.ownsStdout() && !r.options.Global.Wait:
		out.capture = outfile.Capture(captureLimit)
		out.sink = out.capture
	case r.options.Global.Wait && !arg.HasOutput:
		out.dropped, out.sink = true, outfile.Capture(0)
	default:
		out.terminal, out.explicit = r.terminal, arg.HasOutput
		out.sink = outfile.Stdout(r.stdout, outfile.StreamOptions{
			Unheld: op.group.NoBuffer || out.terminal, Whole: out.check != nil, TempDir: r.tempDir, Turn: op.turn,
		})
	}
	op.page.adopt(out)
	return nil
}

// keepsErrors: a final error is output like any other (--fail-with-body, --no-fail).
func (out *output) keepsErrors() bool {
	g := out.op.group
	return g.Fail == flags.FailWithBody && !((g.RemoveOnError || g.Paginate) && out.isFile()) || g.Fail == flags.FailNone
}

// isFile: the output is a file, though its name may not be known yet.
func (out *output) isFile() bool { return out.path != "" || out.remote }

// deliver writes r's body where it belongs. o becomes the outcome of the whole
// attempt.
func (out *output) deliver(ctx context.Context, r *exchange.Response, o *retry.Outcome) {
	if crew := out.op.run.crew; crew != nil {
		defer crew.transfer(r)()
	}
	out.op.turn.within(ctx)
	out.delivered, out.kept, out.excerpt = r, false, nil
	out.failed = o.Class == retry.ClassStatus
	out.within(ctx)
	if r.Continued() {
		out.goOn(ctx, r, o)
		return
	}
	if out.sink.Committed() {
		out.excluded(r, o)
		return
	}
	if out.dropped {
		out.glance(ctx, r, o)
		return
	}
	failed := out.failed && !out.keepsErrors()
	switch {
	case out.op.exchange.From != nil:
		out.beside(ctx, r, o)
		return
	case failed && (out.isFile() || out.op.group.Fail == flags.FailSilent || out.op.page != nil && out.capture == nil):
		out.excerptOnly(ctx, r, o)
		return
	case r.Status == 304 && out.isFile() && !(out.op.group.AsCurl && out.op.includesHead()):
		*o = r.Deliver(ctx, io.Discard, *o)
		return
	}
	if out.unmet = out.op.group.timeCond.unmet(r, out.op.run.env.Clock); out.unmet {
		out.headOnly(r, o)
		return
	}
	if err := out.begin(r); err != nil {
		r.Discard()
		unwritten(o, err)
		return
	}
	out.takeTime(r)
	out.write(ctx, r, o, failed)
	out.doubt(o)
	out.kept = o.Class == retry.ClassNone || o.Class == retry.ClassStatus || failed && o.Class != retry.ClassOutput
	if out.leaves(o) && (r.Arrived() > 0 || out.op.includesHead()) {
		out.kept = true
	}
	if o.Class != retry.ClassNone && o.Class != retry.ClassStatus {
		o.Committed = out.sink.Committed()
	}
}

// begin makes the sink ready for r's body.
func (out *output) begin(r *exchange.Response) error {
	if err := out.startOver(); err != nil {
		return err
	}
	if err := out.takeName(r); err != nil {
		return err
	}
	return out.keepPartial(r)
}

// within makes the end of ctx call off what waits for a reader.
func (out *output) within(ctx context.Context) {
	if s, ok := out.target().(interface{ Within(context.Context) }); ok {
		s.Within(ctx)
	}
}

// goOn adds to what the attempts before r have written: the rest of the body,
// or nothing where it was there already (a 416).
func (out *output) goOn(ctx context.Context, r *exchange.Response, o *retry.Outcome) {
	if from := out.op.exchange.From; from != nil && r.ResumedFrom() == from.Offset {
		if out.sink.Reset() != nil { // it had gone on without a validator
			out.excluded(r, o)
			return
		}
		out.check.reset()
	}
	if err := out.keepPartial(r); err != nil {
		r.Discard()
		unwritten(o, err)
		return
	}
	out.write(ctx, r, o, false)
	out.doubt(o)
	out.kept = o.Class == retry.ClassNone || out.leaves(o)
	o.Committed = !out.kept && out.sink.Committed()
}

// leaves: --as-curl keeps of a broken body what has come, as curl does, unless it
// was to be verified.
func (out *output) leaves(after *retry.Outcome) bool {
	return out.op.group.AsCurl && after.Class != retry.ClassOutput && out.check == nil && !out.op.group.RemoveOnError
}

// excluded refuses a body that does not continue what is beyond recall (R9.3).
func (out *output) excluded(r *exchange.Response, o *retry.Outcome) {
	r.Discard()
	if o.Class == retry.ClassNone {
		unwritten(o, errNoRest)
	}
	o.Stop = retry.OutputCommitted
}

// unwritten makes o that of an output which failed.
func unwritten(o *retry.Outcome, err error) {
	o.Class, o.Phase, o.Err = retry.ClassOutput, retry.PhaseBody, err
}

// errNoRest is why an answer with the whole body is of no use.
var errNoRest = errors.New("the server sent the whole body again instead of its rest")

// headOnly gives the body up, and shows the head where it was asked for.
func (out *output) headOnly(r *exchange.Response, o *retry.Outcome) {
	r.Discard()
	if out.isFile() && !out.op.group.AsCurl || !out.op.includesHead() {
		return
	}
	if err := writeBlocks(out.sink, r.Blocks); err != nil {
		unwritten(o, err)
		return
	}
	out.kept = true
}

// takeTime gives the file the time of Last-Modified (-R).
func (out *output) takeTime(r *exchange.Response) {
	if !out.op.group.RemoteTime {
		return
	}
	if file, ok := out.sink.(*outfile.FileSink); ok {
		t, _ := lastModified(r, out.op.run.env.Clock)
		file.SetModTime(t)
	}
}

func (out *output) write(ctx context.Context, r *exchange.Response, o *retry.Outcome, failed bool) {
	if eventStream(r) {
		if s, ok := out.sink.(interface{ Unhold() }); ok {
			s.Unhold()
		}
	}
	var w io.Writer = out.sink
	if out.terminal {
		w = &terminalGuard{w: w, out: out, checked: out.explicit || r.Continued()}
	}
	if out.op.includesHead() {
		if err := out.putHead(r); err != nil {
			r.Discard()
			unwritten(o, err)
			return
		}
	}
	if failed && !out.terminal {
		w = &excerptWriter{w: w, out: out}
	}
	stop := out.op.run.console.transfer(r, out.terminal)
	defer stop()
	heads := len(r.Blocks)
	status := *o
	out.receive(ctx, r, w, o)
	out.op.page.accept(o)
	if failed && errors.Is(o.Err, errBinary) { // the status is the news
		out.op.run.console.problem(errBinary.Error())
		*o = status
		return
	}
	if trailers := r.Blocks[heads:]; len(trailers) > 0 && out.op.includesHead() {
		if err := writeBlocks(out.sink, trailers); err != nil {
			unwritten(o, err)
		}
	}
}

// excerptOnly reads the start of an error body for the error line, and gives
// up the rest.
func (out *output) excerptOnly(ctx context.Context, r *exchange.Response, o *retry.Outcome) {
	if !out.op.run.console.showsErrors() {
		r.Discard()
		return
	}
	ctx, cancel := context.WithTimeout(ctx, excerptWithin)
	defer cancel()
	r.Deliver(ctx, &excerptWriter{out: out}, *o)
}

// finish commits what is to be kept, and writes the header file. The end of ctx
// calls off what waits for a FIFO's reader; its cause is the error.
func (out *output) finish(ctx context.Context) error {
	if r := out.op.final(); r != nil && out.op.kept && len(r.Blocks) > 0 {
		if err := out.dumpHead(ctx, r.Blocks); err != nil {
			return err
		}
		if out.headAlone() {
			if err := out.showHead(r.Blocks); err != nil {
				return err
			}
		}
	}
	if !out.kept {
		return errors.Join(out.sink.Abandon(), out.saveETag())
	}
	out.within(ctx)
	if err := out.sink.Commit(); err != nil {
		out.kept = false
		return err
	}
	if file := out.file(); file != nil {
		out.path = file.Path()
	}
	return out.saveETag()
}

// file is the file that the body goes to, with others or alone; nil where it is none.
func (out *output) file() *outfile.FileSink {
	file, _ := out.target().(*outfile.FileSink)
	return file
}

// target is where the body goes, alone or with those of other pages.
func (out *output) target() outfile.Sink {
	if pg := out.op.page; pg != nil && pg.sink != nil {
		return pg.sink
	}
	return out.sink
}

// abandon leaves the output as it was; any goroutine may call it, at any time.
func (out *output) abandon() { _ = out.sink.Abandon() }

// notice says what the user should know of the file.
func (out *output) notice(o *retry.Outcome) string {
	if out.path == "" || out.delivered == nil {
		return ""
	}
	if file, ok := out.sink.(*outfile.FileSink); ok && file.Kept() > 0 {
		return fmt.Sprintf("%s keeps %d bytes; -C - goes on from there", render.Text(file.Partial()), file.Kept())
	}
	if out.unmet {
		return render.Text(out.path) + " not written: the server has nothing that -z asks for"
	}
	if file := out.file(); file != nil && out.kept {
		return file.Notice()
	}
	if (out.failed || o.Status >= 300) && !out.op.group.AsCurl && (o.Class == retry.ClassNone || o.Class == retry.ClassStatus) {
		return fmt.Sprintf("%s not written (HTTP %d)", render.Text(out.path), o.Status)
	}
	return ""
}

// swept is what an earlier run that was killed had left beside the file, "" nothing.
func (out *output) swept() string {
	if file, ok := out.sink.(*outfile.FileSink); ok {
		return file.Swept()
	}
	return ""
}

// savedTo is the file that holds the body, "" none.
func (out *output) savedTo() string {
	if !out.kept || !out.op.page.ends() {
		return ""
	}
	return out.path
}

func eventStream(r *exchange.Response) bool {
	for _, f := range r.Header {
		if strings.EqualFold(f.Name, "Content-Type") {
			return strings.HasPrefix(strings.ToLower(f.Value), "text/event-stream")
		}
	}
	return false
}
