package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

// runWait is bide wait: the root command with other defaults (flags.ParseWait).
// Its operations run side by side, so that one deadline holds for all.
func runWait(ctx context.Context, env Env, args []string) exitcode.Code {
	env.Args = args
	if len(env.Argv) > 0 {
		env.Argv = env.Argv[1:]
	}
	return requests(ctx, env, flags.ParseWait, "wait")
}

// refuseBadURLs reports a URL that cannot be asked before any other is: no
// waiting makes it right.
func (r *run) refuseBadURLs(ctx context.Context) (code exitcode.Code, bad bool) {
	j := job{}
	for i := range r.options.Groups {
		g := newPrepared(&r.options.Groups[i])
		for _, j.URLArg = range g.URLs {
			if err := r.checkURL(g, &j); err != nil {
				return r.refuseJob(ctx, nil, g, &j, err), true
			}
		}
	}
	return exitcode.OK, false
}

// checkURL reads all that the globs of j stand for, and leaves j at the one that
// cannot be asked.
func (r *run) checkURL(g *prepared, j *job) error {
	j.index++
	urls, err := glob(g, j.URL)
	if err != nil {
		return err
	}
	j.index--
	for match := range urls.All() {
		j.index++
		j.URL = match.URL
		u, err := r.parseURL(g, match.URL)
		if err != nil {
			return err
		}
		if u.Scheme != "tcp" {
			if err := allowScheme(g.Protocols, u); err != nil {
				return err
			}
		}
	}
	return nil
}

// glanceLimit is how much of a body bide wait reads before it believes that the
// rest will come, too.
const glanceLimit = 1 << 20

// glance reads a body that goes nowhere: one that breaks off is no answer yet.
// A stream of events has no end to wait for.
func (out *output) glance(ctx context.Context, r *exchange.Response, o *retry.Outcome) {
	if eventStream(r) {
		r.Discard()
		return
	}
	if out.check != nil {
		out.receive(ctx, r, io.Discard, o)
		return
	}
	after := r.Deliver(ctx, &sinkhole{left: glanceLimit}, *o)
	if !errors.Is(after.Err, errEnough) {
		*o = after
	}
}

// sinkhole drops what it is given, and has enough at some point.
type sinkhole struct{ left int }

func (s *sinkhole) Write(p []byte) (int, error) {
	if s.left -= len(p); s.left < 0 {
		return 0, errEnough
	}
	return len(p), nil
}

var _ io.Writer = (*sinkhole)(nil)

// waitCode is R10.3c: a limit that ended a wait leaves hope, whatever was last
// seen.
func waitCode(reason retry.Reason, code exitcode.Code) exitcode.Code {
	if code != exitcode.OK && (stoppedByLimit(reason) || reason == retry.DeadlineExceeded) {
		return exitcode.Temporary
	}
	return code
}

// overtaken: another URL of the same wait ended it, and that was told.
func (op *operation) overtaken(rec *retry.Record) bool {
	return op.run.options.Global.Wait && errors.Is(rec.Limit, earlyError{})
}

// board is the progress of bide wait: a line for each URL that does not answer
// yet. On a terminal they stand at its end; elsewhere each reason is told once,
// so that a log stays short, and nothing ticks.
type board struct {
	run *run
	// refresh draws the lines anew, done takes them from the terminal.
	refresh, done func()

	mu    sync.Mutex
	lines []*boardLine // in the order of the operations
}

// boardLine is one operation's.
type boardLine struct {
	render.NotYet
	board *board
	index int
	told  map[string]bool // reasons
}

// newBoard shows the board; nil where nobody looks.
func newBoard(r *run) *board {
	if r.console.silent {
		return nil
	}
	b := &board{run: r}
	b.refresh, b.done = r.console.live.Board(b.draw)
	return b
}

func (b *board) close() {
	if b != nil {
		b.done()
	}
}

func (b *board) draw() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	elapsed := b.run.env.Clock.Mono() - b.run.began
	lines := make([]string, 0, len(b.lines))
	for _, l := range b.lines {
		if l.Reason != "" || elapsed >= time.Second {
			l.Elapsed = elapsed
			lines = append(lines, l.Live(b.run.console.ascii))
		}
	}
	return lines
}

// enter puts op on the board; nil without one.
func (b *board) enter(op *operation) *boardLine {
	if b == nil {
		return nil
	}
	l := &boardLine{board: b, index: op.index, told: make(map[string]bool)}
	l.Name = op.run.redactor.Text(render.Origin(op.origin()))
	if path := op.template.URL.Path; len(path) > 1 { // several at one origin would be all the same
		l.Name = op.run.redactor.Text(op.run.redactor.URL(render.Origin(op.origin()) + path))
	}
	l.Deadline = op.group.Policy.Deadline
	b.mu.Lock()
	defer b.mu.Unlock()
	at := len(b.lines)
	for at > 0 && b.lines[at-1].index > l.index {
		at--
	}
	b.lines = append(b.lines[:at], append([]*boardLine{l}, b.lines[at:]...)...)
	return l
}

// notYet takes the outcome of an attempt down that is not the last.
func (l *boardLine) notYet(n render.Notices, e retry.Event) {
	c := l.board.run.console
	l.board.mu.Lock()
	before := l.Reason
	l.Reason, l.Attempts = n.Reason(e.Outcome), e.Number
	changed := l.Reason != before
	kind := fmt.Sprint(e.Outcome.Class, e.Outcome.Status, e.Outcome.Unmet)
	news := !l.told[kind]
	l.told[kind] = true
	l.board.mu.Unlock()
	if changed { // what else has changed can wait for the second
		l.board.refresh()
	}
	if !news || c.live.Terminal() {
		return
	}
	until := ""
	if l.Deadline > 0 {
		until = render.Clock(l.board.run.env.Clock.Wall().Add(l.Deadline-e.Offset), n.Location)
	}
	c.live.Println(l.Line(until))
}

// leave takes the line away, and says so when there was something to wait for.
func (l *boardLine) leave(rec *retry.Record) {
	b := l.board
	b.mu.Lock()
	for i, other := range b.lines {
		if other == l {
			b.lines = append(b.lines[:i], b.lines[i+1:]...)
			break
		}
	}
	b.mu.Unlock()
	b.refresh()
	if n := len(rec.Attempts); n > 1 && rec.Reason == retry.Success {
		b.run.console.notice(render.Answered(l.Name, rec.Attempts[n-1].Outcome.Status, n, rec.Elapsed, b.run.console.ascii))
	}
}
