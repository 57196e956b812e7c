package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bidehttp/bide/cmd/internal/cookies"
	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/hsts"
	"github.com/bidehttp/bide/cmd/internal/outfile"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/cmd/internal/until"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/tied"
)

// run is what the operations of one command line share.
type run struct {
	env      Env
	options  *flags.Options
	redactor *render.Redactor
	console  *console
	timeline *timelineWriter
	pool     *transport.Pool
	jar      *cookies.Jar
	hsts     *hsts.Cache
	holds    *retry.MemoryHold
	rand     func() float64
	trace    *tracer
	headers  headerFiles
	stdout   io.Writer                    // env.Stdout, known to outfile
	terminal bool                         // stdout is one
	tempDir  string                       // for what is held until it is whole
	crew     *crew                        // -Z, nil without
	board    *board                       // of bide wait, nil without
	untils   map[*flags.Group]*until.Expr // of --until
	unread   atomic.Bool                  // nobody reads stdout any more: what would go there is not asked for
	index    int                          // of the last operation that was begun, from 1
	urls     int                          // of the arguments that were begun

	started   bool // an operation was, at lastStart
	lastStart time.Duration

	mu     sync.Mutex // guards what follows
	totals render.Totals
	began  time.Duration
}

// gcPercent lets the heap of a run of many operations grow to some 28 MiB before
// it is collected: what one operation leaves is small, and soon there are many.
const gcPercent = 700

// runRequests is the root command: every URL on the command line, in order.
func runRequests(ctx context.Context, env Env) exitcode.Code {
	return requests(ctx, env, flags.Parse, "")
}

// parser reads a command line.
type parser func(args []string, env flags.Env) (*flags.Options, error)

// requests runs a command line of requests that parse reads. help is the topic
// of a plain -h.
func requests(ctx context.Context, env Env, parse parser, help string) exitcode.Code {
	options, err := abandonable(ctx, func() (*flags.Options, error) { return parse(env.Args, parseEnv(env)) })
	if err != nil {
		return unbegun(ctx, env, parse, err)
	}
	if options.Global.Help {
		return printHelp(env, cmp.Or(options.Global.HelpCategory, help))
	}
	if options.Global.Version {
		return printVersion(env)
	}
	flags.ScrubArgs(env.Argv, options.Secrets)
	if err := askPasswords(ctx, env, options); err != nil {
		return unbegun(ctx, env, parse, err)
	}
	r, err := abandonable(ctx, func() (*run, error) { return newRun(ctx, env, options) })
	if err != nil {
		return unbegun(ctx, env, parse, err)
	}
	r.hintAtShell()
	code := r.operations(ctx)
	return r.close(code)
}

// reportUsage prints an error that stopped the run before any request.
func reportUsage(ctx context.Context, env Env, err error) exitcode.Code {
	code := refusalCode(ctx, err)
	fmt.Fprintln(env.Stderr, refusal(err, code, (&render.Redactor{}).Text)) // a URL may stand where a value should
	return code
}

func parseEnv(env Env) flags.Env {
	return flags.Env{
		Getenv: env.Getenv, LookupEnv: env.lookup,
		Open:  func(name string) (io.ReadCloser, error) { return os.Open(name) },
		Stdin: env.Stdin,
	}
}

func newRun(ctx context.Context, env Env, options *flags.Options) (*run, error) {
	if options.Global.Parallel {
		env.Rand, env.Random = locked(env.Rand), &lockedReader{r: env.Random}
	}
	r := &run{
		env: env, options: options,
		holds: &retry.MemoryHold{},
		pool:  &transport.Pool{Clock: env.Clock, Random: env.Random},
		rand:  env.Rand,
	}
	r.began = env.Clock.Mono()
	r.stdout, r.tempDir = outfile.Know(env.Stdout), os.TempDir()
	_, r.terminal = env.Terminal(env.Stdout)
	if seed := options.Global.Seed; seed != nil {
		r.rand = locked(rand.New(rand.NewPCG(*seed, *seed)).Float64)
	}
	if err := r.compileUntil(); err != nil {
		return nil, err
	}
	r.redactor = newRedactor(options)
	if r.crew = newCrew(r); r.crew != nil {
		r.pool.MaxIdle = r.crew.limit
	}
	if r.crew != nil || len(options.Groups) > 1 || options.Groups[0].Several() {
		debug.SetGCPercent(gcPercent)
	}
	var err error
	if r.console, err = newConsole(ctx, env, options); err != nil {
		return nil, err
	}
	if r.timeline, err = newTimelineWriter(ctx, env, options, r.console); err != nil {
		return nil, err
	}
	if r.hsts, err = r.openHSTS(); err != nil {
		return nil, err
	}
	if r.jar, err = r.openJar(); err != nil {
		return nil, err
	}
	if r.trace, err = newTracer(ctx, r); err != nil {
		return nil, err
	}
	return r, r.findSums()
}

// operations runs one operation per URL. The exit code is that of the last one
// that failed (R10.3).
func (r *run) operations(ctx context.Context) exitcode.Code {
	if r.options.Global.Wait {
		code, bad := r.refuseBadURLs(ctx)
		if bad {
			return code
		}
		r.board = newBoard(r)
		defer r.board.close()
	}
	if r.crew != nil {
		return r.crew.operations(ctx)
	}
	code := exitcode.OK
	for i := range r.options.Groups {
		got, more := r.group(ctx, &r.options.Groups[i])
		if got != exitcode.OK || r.options.AsCurl() {
			code = got // curl: the last one's, whichever
		}
		if !more {
			break
		}
	}
	return code
}

// group runs the operations of one group; more is false when the run ends here.
func (r *run) group(ctx context.Context, group *flags.Group) (code exitcode.Code, more bool) {
	g, err := r.prepare(ctx, group)
	defer g.close()
	if err != nil {
		return r.refuseAll(ctx, g, err), !r.options.Global.FailEarly
	}
	own := tied.New(ctx) // attempts come and go more cheaply with it
	defer own.End()
	ctx = own
	l := &lane{}
	defer l.watch(ctx)()
	for j, err := range r.jobs(g) {
		if r.unread.Load() && !j.Saves() {
			if code = exitcode.Output; !r.options.SavesAny() {
				return code, false
			}
			continue
		}
		if !r.pace(ctx) {
			return signalCode(ctx), false
		}
		got := r.perform(ctx, l, g, &j, err)
		if got == exitcode.OK {
			if g.AsCurl {
				code = got
			}
			continue
		}
		code = got
		if r.options.Global.FailEarly {
			return code, false
		}
	}
	return code, true
}

// count adds a finished operation to the run's totals.
func (r *run) count(op *operation, rec *retry.Record, code exitcode.Code) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &r.totals
	t.Operations++
	if code != exitcode.OK {
		t.Failed++
	}
	t.Attempts += len(rec.Attempts)
	t.Waited += rec.Waited
	for _, response := range op.responses {
		t.Requests += len(response.Hops)
		t.Received += response.ReceivedBytes
	}
}

// sum shows the run's totals where its timelines are shown to a person.
func (r *run) sum() error {
	t := r.totals
	if t.Operations < 2 || !r.timeline.sums(t) {
		return nil
	}
	t.Elapsed = r.env.Clock.Mono() - r.began
	return r.timeline.line(t.Line(r.console.ascii))
}

// locked makes a source of random numbers safe for concurrent use.
func locked(source func() float64) func() float64 {
	var mu sync.Mutex
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return source()
	}
}

// lockedReader does the same for a source of bytes.
type lockedReader struct {
	mu sync.Mutex
	r  io.Reader
}

func (l *lockedReader) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(p)
}

func (r *run) newClient(settings func(transport.Target) (*transport.Settings, error)) *exchange.Client {
	client := &exchange.Client{
		Pool: r.pool, Clock: r.env.Clock, Rand: r.rand, Jar: r.jar, HSTS: r.hsts, Hold: r.holds, SettingsFor: settings,
	}
	if r.trace != nil {
		client.Trace = r.trace
	}
	return client
}

// close saves the cookies and closes what the run opened; a failure of it
// becomes the exit code of a run that had none.
func (r *run) close(code exitcode.Code) exitcode.Code {
	r.pool.Close()
	err := errors.Join(r.sum(), r.saveJar(), r.saveHSTS(), r.headers.close(), r.timeline.close(), r.trace.close())
	if err != nil {
		failed := lateCode(code)
		r.console.failure(failed, r.redactor.Text(err.Error()))
		code = failed
	}
	if err := r.console.close(); err != nil && code == exitcode.OK {
		code = exitcode.Output
	}
	return code
}
