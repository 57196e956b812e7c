package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
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

// The values of Group.Fail.
const (
	failSilent   = "fail"
	failWithBody = "with-body"
	failNone     = "none"
)

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
	terminal  bool            // stdout, and a terminal
	explicit  bool            // -o - was given: binary bodies are welcome, too
	midLine   bool            // what the terminal was sent did not end its line
	delivered *exchange.Response
	kept      bool   // the sink holds what is to be committed
	headOnly  bool   // -f drops the body, but -i, -I and -D - still show the head
	excerpt   []byte // the start of an error body that the user would not see
}

// newOutput decides where the body goes; nothing is created yet.
func (op *operation) newOutput(arg flags.URLArg) (*output, error) {
	out := &output{op: op}
	name, err := op.outputName(arg)
	if err != nil {
		return nil, err
	}
	env, stream := op.run.env, outfile.StreamOptions{Unheld: op.group.NoBuffer}
	switch {
	case name != "":
		out.path = name
		out.sink = outfile.File(outfile.FileSpec{
			Path: name, CreateDirs: op.group.CreateDirs, TempDir: os.TempDir(), Stdout: env.Stdout, Stderr: env.Stderr, Unheld: op.group.NoBuffer,
		})
	case op.run.timeline.ownsStdout():
		out.capture = outfile.Capture(captureLimit)
		out.sink = out.capture
	default:
		_, out.terminal = env.Terminal(env.Stdout)
		out.explicit = arg.HasOutput
		stream.Unheld = stream.Unheld || out.terminal
		out.sink = outfile.Stdout(env.Stdout, stream)
	}
	return out, nil
}

// outputName is the path that -o or -O names, "" for stdout.
func (op *operation) outputName(arg flags.URLArg) (string, error) {
	name := arg.Output
	if arg.RemoteName || op.group.RemoteNameAll && !arg.HasOutput {
		name = path.Base(op.template.URL.Path)
		if strings.HasSuffix(op.template.URL.Path, "/") || name == "." || name == "/" {
			return "", &outfile.Error{Path: "a file with the remote name", Err: errors.New("the URL has no file name")}
		}
	} else if !arg.HasOutput || name == "-" {
		return "", nil
	}
	if op.group.OutputDir != "" {
		name = filepath.Join(op.group.OutputDir, name)
	}
	return name, nil
}

// keepsErrors: a final error is output like any other (--fail-with-body, --no-fail).
func (out *output) keepsErrors() bool {
	return out.op.group.Fail == failWithBody || out.op.group.Fail == failNone
}

// deliver writes r's body where it belongs. The outcome is the attempt's.
func (out *output) deliver(ctx context.Context, r *exchange.Response, o retry.Outcome) retry.Outcome {
	out.delivered, out.kept, out.excerpt, out.headOnly = r, false, nil, false
	failed := r.Status >= 400 && !out.keepsErrors()
	switch {
	case failed && (out.path != "" || out.op.group.Fail == failSilent):
		out.headOnly = out.path == "" && out.capture == nil && out.op.includesHead()
		return out.excerptOnly(ctx, r, o)
	case r.Status == 304 && out.path != "":
		return r.Deliver(ctx, io.Discard, o)
	}
	if err := out.sink.Reset(); err != nil {
		r.Discard()
		o.Class, o.Err, o.Stop = retry.ClassOutput, err, retry.OutputCommitted
		return o
	}
	after := out.write(ctx, r, o, failed)
	out.kept = after.Class == retry.ClassNone || after.Class == retry.ClassStatus || failed && after.Class != retry.ClassOutput
	after.Committed = !out.kept && out.sink.Committed()
	return after
}

func (out *output) write(ctx context.Context, r *exchange.Response, o retry.Outcome, failed bool) retry.Outcome {
	if eventStream(r) {
		if s, ok := out.sink.(interface{ Unhold() }); ok {
			s.Unhold()
		}
	}
	var w io.Writer = out.sink
	if out.terminal {
		w = &terminalGuard{w: w, out: out, checked: out.explicit}
	}
	if out.op.includesHead() {
		if err := writeBlocks(out.sink, r.Blocks); err != nil {
			r.Discard()
			o.Class, o.Phase, o.Err = retry.ClassOutput, retry.PhaseBody, err
			return o
		}
	}
	if failed && !out.terminal {
		w = &excerptWriter{w: w, out: out}
	}
	stop := out.op.run.console.transfer(r, out.terminal)
	defer stop()
	after := r.Deliver(ctx, w, o)
	if failed && errors.Is(after.Err, errBinary) { // the status is the news
		out.op.run.console.problem(errBinary.Error())
		return o
	}
	return after
}

// excerptOnly reads the start of an error body for the error line, and gives
// up the rest.
func (out *output) excerptOnly(ctx context.Context, r *exchange.Response, o retry.Outcome) retry.Outcome {
	if !out.op.run.console.showsErrors() {
		r.Discard()
		return o
	}
	ctx, cancel := context.WithTimeout(ctx, excerptWithin)
	defer cancel()
	r.Deliver(ctx, &excerptWriter{out: out}, o)
	return o
}

// finish commits what is to be kept, and writes the header file.
func (out *output) finish() error {
	if out.delivered != nil {
		if err := out.dumpHead(); err != nil {
			return err
		}
	}
	if out.kept {
		return out.sink.Commit()
	}
	return out.sink.Abandon()
}

// dumpHead writes -D's file and the head without a body: the final attempt's
// header blocks (R9.2).
func (out *output) dumpHead() error {
	name := out.op.group.DumpHeader
	if out.headOnly && name != "-" {
		if err := out.headAlone(); err != nil {
			return err
		}
	}
	switch {
	case name == "":
		return nil
	case name != "-":
		return out.op.run.headers.write(name, out.delivered.Blocks)
	case out.path != "" || !out.kept:
		return out.headAlone()
	}
	return nil // it stands with the body
}

func (out *output) headAlone() error {
	return writeBlocks(outfile.Stdout(out.op.run.env.Stdout, outfile.StreamOptions{Unheld: true}), out.delivered.Blocks)
}

// includesHead: the header blocks stand before the body.
func (op *operation) includesHead() bool {
	return op.group.Include || op.group.Head || op.group.DumpHeader == "-" && op.output.path == ""
}

// abandon leaves the output as it was; any goroutine may call it, at any time.
func (out *output) abandon() { _ = out.sink.Abandon() }

// notice says what the user should know of the file.
func (out *output) notice(o retry.Outcome) string {
	if out.path == "" || out.delivered == nil {
		return ""
	}
	if file, ok := out.sink.(*outfile.FileSink); ok && out.kept {
		return file.Notice()
	}
	if o.Status >= 300 && (o.Class == retry.ClassNone || o.Class == retry.ClassStatus) {
		return fmt.Sprintf("%s not written (HTTP %d)", render.Text(out.path), o.Status)
	}
	return ""
}

// savedTo is the file that holds the body, "" none.
func (out *output) savedTo() string {
	if !out.kept {
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

func writeBlocks(w io.Writer, blocks [][]byte) error {
	for _, b := range blocks {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// headerFiles are the files of -D: emptied by the first operation of the run
// that writes to them, appended to by the next ones.
type headerFiles struct{ open map[string]*os.File }

func (h *headerFiles) write(name string, blocks [][]byte) error {
	f := h.open[name]
	if f == nil {
		var err error
		if f, err = os.Create(name); err != nil {
			return &outfile.Error{Path: name, Err: err}
		}
		if h.open == nil {
			h.open = make(map[string]*os.File)
		}
		h.open[name] = f
	}
	if err := writeBlocks(f, blocks); err != nil {
		return &outfile.Error{Path: name, Err: err}
	}
	return nil
}

func (h *headerFiles) close() error {
	var errs []error
	for name, f := range h.open {
		if err := f.Close(); err != nil {
			errs = append(errs, &outfile.Error{Path: name, Err: err})
		}
	}
	return errors.Join(errs...)
}

// errEnough ends a delivery of which no more is wanted.
var errEnough = errors.New("enough of the body was read")

// excerptWriter keeps the start of what passes; with no writer behind it, it
// stops when it has enough.
type excerptWriter struct {
	w   io.Writer
	out *output
}

func (e *excerptWriter) Write(p []byte) (int, error) {
	room := excerptLimit - len(e.out.excerpt)
	e.out.excerpt = append(e.out.excerpt, p[:min(room, len(p))]...)
	if e.w != nil {
		return e.w.Write(p)
	}
	if len(p) >= room {
		return 0, errEnough
	}
	return len(p), nil
}

// errBinary refuses a binary body on a terminal, as curl does.
var errBinary = errors.New("the body is binary and would garble the terminal; use -o FILE to save it, or -o - to print it all the same")

// terminalGuard looks at the first bytes of a body for a terminal, and at the
// last one: what follows on the terminal starts on a line of its own.
type terminalGuard struct {
	w       io.Writer
	out     *output
	checked bool
}

func (g *terminalGuard) Write(p []byte) (int, error) {
	if !g.checked {
		g.checked = true
		if bytes.IndexByte(p[:min(len(p), 2000)], 0) >= 0 {
			return 0, &outfile.Error{Path: "stdout", Err: errBinary}
		}
	}
	if len(p) > 0 {
		g.out.midLine = p[len(p)-1] != '\n'
	}
	return g.w.Write(p)
}

// outfileBroken reports whether err says that nobody reads the output any more.
func outfileBroken(err error) bool {
	var output *outfile.Error
	return errors.As(err, &output) && outfile.IsBrokenPipe(err)
}
