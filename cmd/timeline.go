package cmd

import (
	"context"
	"io"
	"os"
	"sync"

	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/outfile"
	"github.com/bidehttp/bide/render"
)

// timelineWriter puts the timeline where --timeline and --timeline-file ask
// for it.
type timelineWriter struct {
	console *console
	format  string    // "", human, json, jsonl or none; "" is human on a terminal after a retry
	w       io.Writer // of json, jsonl, or human into a file; nil when stderr takes it
	stdout  bool      // w is stdout
	file    *os.File
	events  *render.Events // jsonl

	mu    sync.Mutex   // one document at a time
	err   error        // the first of the stream's: nothing follows it
	ended func() error // why a write of the stream need not wait; of the operation that writes
}

func newTimelineWriter(ctx context.Context, env Env, options *flags.Options, c *console) (*timelineWriter, error) {
	global := &options.Global
	t := &timelineWriter{console: c, format: global.Timeline}
	target := global.TimelineFile
	if target != "" && t.format == "" {
		t.format = "json"
	}
	if target == "" && (t.format == "json" || t.format == "jsonl") {
		target = "-"
	}
	switch target {
	case "":
	case "-":
		t.w, t.stdout = env.Stdout, true
	case "%":
		t.w = c.live
	default:
		f, err := outfile.Create(ctx, target)
		if err != nil {
			return nil, err
		}
		t.w, t.file = f, f
	}
	if t.format == "jsonl" {
		t.events = render.NewEvents(t.w)
		if t.stdout {
			t.events = render.NewEvents(outfile.Bounded(env.Stdout, func() error { return t.ended() }))
		}
	}
	return t, nil
}

// ownsStdout: the document stands on stdout, so bodies go into it.
func (t *timelineWriter) ownsStdout() bool { return t.stdout && t.format != "human" }

// wants reports whether a successful operation of that many attempts is shown.
func (t *timelineWriter) wants(attempts int) bool {
	switch t.format {
	case "none":
		return false
	case "":
		return attempts > 1 && t.console.live.Terminal() && !t.console.silent
	}
	return true
}

// operation shows op, which has ended.
func (t *timelineWriter) operation(doc *render.Document, op *operation) error {
	if !t.wants(len(doc.Attempts)) {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.w
	if t.stdout {
		w = op.stdout()
	}
	switch t.format {
	case "json":
		return t.wrap(render.JSON(w, doc))
	case "jsonl":
		t.stream(ended(doc), op.lastWords())
		return t.wrap(t.err)
	}
	options := render.Options{Width: t.console.width, Color: t.console.color, ASCII: t.console.ascii, Location: t.console.env.Location}
	if t.w != nil {
		options.Color, options.Width = t.console.color && t.w == io.Writer(t.console.live), 0
		return t.wrap(render.Human(w, []*render.Document{doc}, options))
	}
	return render.Human(t.console.live, []*render.Document{doc}, options)
}

// event streams one JSONL event; its error is kept for the operation's end. A
// write that nobody takes ends when ended says so.
func (t *timelineWriter) event(e render.Event, ended func() error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stream(e, ended)
}

// stream wants the lock. After an error nothing follows: a line may be cut in two.
func (t *timelineWriter) stream(e render.Event, ended func() error) {
	if t.err == nil {
		t.ended = ended
		t.err = t.events.Write(e)
	}
}

// sums reports whether the totals of a run are shown: where each timeline is, or
// a terminal showed one because of a retry.
func (t *timelineWriter) sums(totals render.Totals) bool {
	return t.format == "human" || t.format == "" && totals.Attempts > totals.Operations && t.wants(2)
}

// line writes text where human timelines go.
func (t *timelineWriter) line(text string) error {
	var w io.Writer = t.console.live
	if t.w != nil {
		w = t.w
	}
	_, err := io.WriteString(w, "\n"+text+"\n")
	return t.wrap(err)
}

func (t *timelineWriter) wrap(err error) error {
	if err == nil {
		return nil
	}
	name := "stdout"
	if t.file != nil {
		name = t.file.Name()
	}
	return &outfile.Error{Path: name, Err: err}
}

func (t *timelineWriter) close() error {
	if t.file == nil {
		return nil
	}
	return t.wrap(t.file.Close())
}
