package cmd

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/tied"
)

// crew runs the operations of -Z side by side.
type crew struct {
	run    *run
	limit  int        // operations at a time
	queue  sync.Mutex // held while the next task is fetched
	next   func() (t task, more bool)
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
	gate   gate
	turn   chan struct{} // of standard output: holds the one token there is

	done, failed, running, waiting atomic.Int64
	received                       atomic.Int64 // by transfers that have ended
	began                          time.Duration
	total                          int64
	shown                          bool // status shows the run

	mu        sync.Mutex
	code      exitcode.Code
	over      bool    // an operation ended the others: their codes do not count
	lanes     []*lane // of the workers
	transfers map[*exchange.Response]struct{}
}

// earlyError is the cause of a run that --fail-early ended.
type earlyError struct{}

func (earlyError) Error() string { return "another operation failed" }

// Is makes it a cancellation to everyone who asks for the cause's kind.
func (earlyError) Is(target error) bool { return target == context.Canceled }

// affordable is how many of limit operations at a time have room for a connection,
// an output and a file more, of the files that the process may have open (0: any
// number).
func affordable(limit, files int) int {
	const each, others = 3, 32
	if files == 0 {
		return limit
	}
	return max(min(limit, (files-others)/each), 1)
}

// newCrew is nil without -Z.
func newCrew(r *run) *crew {
	global := &r.options.Global
	if !global.Parallel {
		return nil
	}
	limit := global.ParallelMax
	if limit == 0 {
		limit = flags.DefaultParallel
	}
	limit = affordable(limit, openFiles())
	c := &crew{
		run: r, limit: limit, turn: make(chan struct{}, 1), total: -1,
		transfers: make(map[*exchange.Response]struct{}),
	}
	c.turn <- struct{}{}
	c.gate = gate{clock: r.env.Clock, open: global.ParallelImmediate}
	return c
}

// operations runs them all. The exit code is that of the last one that failed,
// with --fail-early of the first, which cancels the others.
func (c *crew) operations(ctx context.Context) exitcode.Code {
	ctx, c.cancel = context.WithCancelCause(ctx)
	defer c.cancel(context.Canceled)
	defer c.status()()
	var groups []*prepared
	next, stop := iter.Pull(c.tasks(ctx, &groups))
	defer stop()
	c.next = func() (t task, more bool) {
		c.queue.Lock()
		defer c.queue.Unlock()
		if ctx.Err() != nil {
			return t, false
		}
		return next()
	}
	// As many workers as there may be operations at a time, if there are as many.
	for range c.limit {
		first, more := c.next()
		if !more {
			break
		}
		c.wg.Go(func() { c.work(ctx, first) })
	}
	c.wg.Wait()
	for _, g := range groups {
		g.close()
	}
	if c.code == exitcode.OK && ctx.Err() != nil {
		return signalCode(ctx)
	}
	return c.code
}

// task is an operation to be, or the reason why there is none.
type task struct {
	group *prepared
	job   job
	err   error
}

// tasks gives the operations of all groups, in order. A group is prepared when
// the first of its operations is asked for, and goes to groups.
func (c *crew) tasks(ctx context.Context, groups *[]*prepared) iter.Seq[task] {
	r := c.run
	return func(yield func(task) bool) {
		for i := range r.options.Groups {
			if ctx.Err() != nil {
				return
			}
			g, err := r.prepare(ctx, &r.options.Groups[i])
			*groups = append(*groups, g)
			if err != nil {
				c.ended(r.refuseAll(ctx, g, err))
				continue
			}
			for j, err := range r.jobs(g) {
				if r.unread.Load() && !j.Saves() {
					if !r.options.SavesAny() {
						return
					}
					continue
				}
				if !yield(task{g, j, err}) {
					return
				}
			}
		}
	}
}

// work does first and then one task after the other. A worker fetches them
// itself, and is not woken for each: that costs more than a small transfer.
func (c *crew) work(ctx context.Context, first task) {
	// A context of its own keeps workers from meeting at the lock of one.
	own := tied.New(ctx)
	defer own.End()
	ctx = own
	l := &lane{turn: stdoutTurn{turn: c.turn}}
	c.mu.Lock()
	c.lanes = append(c.lanes, l)
	c.mu.Unlock()
	defer l.watch(ctx)()
	whole := false
	defer func() {
		if !whole {
			c.crashed()
		}
	}()
	t, more := first, true
	for ; more; t, more = c.next() {
		if ctx.Err() == nil {
			c.tally(&c.running, 1)
			c.ended(c.run.perform(ctx, l, t.group, &t.job, t.err))
			c.tally(&c.running, -1)
		}
	}
	whole = true
}

// crashed gives up the outputs of all workers: a panic ends the process under
// them, and each of them cleans up only what is its own.
func (c *crew) crashed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.lanes {
		if out := l.output.Load(); out != nil {
			out.abandon()
		}
	}
}

// tally counts for the status, where it is shown.
func (c *crew) tally(count *atomic.Int64, n int64) {
	if c.shown {
		count.Add(n)
	}
}

// ended takes an operation's exit code down.
func (c *crew) ended(code exitcode.Code) {
	c.tally(&c.done, 1)
	if code == exitcode.OK {
		return
	}
	c.tally(&c.failed, 1)
	hopeless := c.run.options.Global.Wait && code != exitcode.Temporary
	early := c.run.options.Global.FailEarly || hopeless
	c.mu.Lock()
	if !c.over && (!early || c.code == exitcode.OK || hopeless) {
		c.code = code
	}
	c.over = c.over || early
	c.mu.Unlock()
	if early {
		c.cancel(earlyError{})
	}
}

// status shows the run on a terminal while it lasts, unless bodies go there.
func (c *crew) status() (done func()) {
	r := c.run
	if r.options.Global.Wait || !r.console.meters || r.terminal && !r.options.SavesAll() {
		return func() {}
	}
	if !r.console.live.Terminal() {
		return func() {}
	}
	c.shown, c.total = true, r.options.Operations()
	c.began = r.env.Clock.Mono()
	return r.console.live.Status(func() string {
		return render.Running{
			Total: c.total, Done: c.done.Load(), Failed: c.failed.Load(), Running: c.running.Load(), Waiting: c.waiting.Load(),
			Received: c.bytes(), Elapsed: r.env.Clock.Mono() - c.began,
		}.Line()
	})
}

// bytes is what has been received so far.
func (c *crew) bytes() int64 {
	n := c.received.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	for r := range c.transfers {
		n += r.Received()
	}
	return n
}

// transfer counts r's bytes while they come, for the status.
func (c *crew) transfer(r *exchange.Response) (done func()) {
	if !c.shown {
		return func() {}
	}
	c.mu.Lock()
	c.transfers[r] = struct{}{}
	c.mu.Unlock()
	return func() {
		c.mu.Lock()
		delete(c.transfers, r)
		c.mu.Unlock()
		c.received.Add(r.Received())
	}
}

// errTurn ends the wait for standard output of an operation that is given up.
var errTurn = errors.New("given up while another operation had standard output")

// stdoutTurn is an operation's hold on standard output: with -Z one at a time
// writes there, from its first byte to its end. A lane has one, for one operation
// after the other. The zero value, of a run without -Z, has standard output
// always, as has nil, of an operation that never began. One goroutine uses it.
type stdoutTurn struct {
	turn chan struct{} // the crew's; nil without -Z
	ctx  context.Context
	held bool
}

// Take waits until the operation has standard output for itself.
func (t *stdoutTurn) Take(done <-chan struct{}) error {
	if t.Free() {
		return nil
	}
	select {
	case <-t.turn:
		t.held = true
		return nil
	case <-done:
	case <-t.ctx.Done():
	}
	return errTurn
}

// Free takes it if nobody has it, and reports whether the operation has it now.
func (t *stdoutTurn) Free() bool {
	if t == nil || t.turn == nil || t.held {
		return true
	}
	select {
	case <-t.turn: // mostly it is free
		t.held = true
	default:
	}
	return t.held
}

// within bounds waits for the turn: by an attempt, or by the whole operation.
func (t *stdoutTurn) within(ctx context.Context) { t.ctx = ctx }

// give lets the next operation write.
func (t *stdoutTurn) give() {
	if t.held {
		t.held = false
		t.turn <- struct{}{}
	}
}

// gate lets one operation go ahead to each origin and the others follow when the
// origin has answered it: what it says about waiting counts for them, too (R4.12).
type gate struct {
	clock retry.Clock
	open  bool // --parallel-immediate

	origins sync.Map // of contexts by origin; one ends when the way is free
}

// ahead is how long the others wait for that answer.
const ahead = time.Second

// enter returns when the operation may go to origin, or ctx has ended. The
// caller must call passed when it knows what the origin answers, or at its end;
// it is nil for those that followed.
func (g *gate) enter(ctx context.Context, origin string) (passed func()) {
	if g.open {
		return nil
	}
	other, known := g.origins.Load(origin)
	if !known {
		var free context.Context
		free, passed = context.WithCancel(context.Background())
		if other, known = g.origins.LoadOrStore(origin, free); !known {
			g.clear(free, passed)
			return passed
		}
		passed()
	}
	free := other.(context.Context)
	if free.Err() != nil { // mostly the way has been free for long
		return nil
	}
	select {
	case <-free.Done():
	case <-ctx.Done():
	}
	return nil
}

// clear ends free, whose end is passed, when others have waited long enough.
func (g *gate) clear(free context.Context, passed func()) {
	go func() {
		_ = g.clock.Sleep(free, ahead) // the end of free is its end, too
		passed()
	}()
}
