package cmd

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"

	"github.com/bidehttp/bide/cmd/internal/cookies"
	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
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
	holds    *retry.MemoryHold
	rand     func() float64
	trace    *tracer
	headers  headerFiles
	index    int // of the operation, from 1
}

// runRequests is the root command: every URL on the command line, in order.
func runRequests(ctx context.Context, env Env) exitcode.Code {
	options, err := abandonable(ctx, func() (*flags.Options, error) { return flags.Parse(env.Args, parseEnv(env)) })
	if err != nil {
		return reportUsage(ctx, env, err)
	}
	if options.Global.Help {
		return printHelp(env, options.Global.HelpCategory)
	}
	if options.Global.Version {
		return printVersion(env)
	}
	flags.ScrubArgs(env.Argv, options.Secrets)
	if err := askPasswords(ctx, env, options); err != nil {
		return reportUsage(ctx, env, err)
	}
	r, err := abandonable(ctx, func() (*run, error) { return newRun(env, options) })
	if err != nil {
		return reportUsage(ctx, env, err)
	}
	code := r.operations(ctx)
	return r.close(code)
}

// reportUsage prints the one line of an error that stopped the run before any request.
func reportUsage(ctx context.Context, env Env, err error) exitcode.Code {
	complain(env, (&render.Redactor{}).Text(err.Error())) // a URL may stand where a value should
	return refusalCode(ctx, err)
}

func parseEnv(env Env) flags.Env {
	return flags.Env{
		Getenv: env.Getenv,
		Open:   func(name string) (io.ReadCloser, error) { return os.Open(name) },
		Stdin:  env.Stdin,
	}
}

func newRun(env Env, options *flags.Options) (*run, error) {
	r := &run{
		env: env, options: options,
		holds: &retry.MemoryHold{},
		pool:  &transport.Pool{Clock: env.Clock},
		rand:  env.Rand,
	}
	if seed := options.Global.Seed; seed != nil {
		r.rand = rand.New(rand.NewPCG(*seed, *seed)).Float64
	}
	r.redactor = newRedactor(options)
	var err error
	if r.console, err = newConsole(env, options); err != nil {
		return nil, err
	}
	if r.timeline, err = newTimelineWriter(env, options, r.console); err != nil {
		return nil, err
	}
	if r.jar, err = r.openJar(); err != nil {
		return nil, err
	}
	if r.trace, err = newTracer(r); err != nil {
		return nil, err
	}
	return r, nil
}

// operations runs one operation per URL. The exit code is that of the last one
// that failed (R10.3).
func (r *run) operations(ctx context.Context) exitcode.Code {
	code := exitcode.OK
	for i := range r.options.Groups {
		got, more := r.group(ctx, &r.options.Groups[i])
		if got != exitcode.OK {
			code = got
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
	for _, arg := range group.URLs {
		r.index++
		if ctx.Err() != nil {
			return signalCode(ctx), false
		}
		got := r.operate(ctx, g, arg)
		if got == exitcode.OK {
			continue
		}
		code = got
		if r.options.Global.FailEarly {
			return code, false
		}
	}
	return code, true
}

func (r *run) newClient(settings func(transport.Target) (*transport.Settings, error)) *exchange.Client {
	client := &exchange.Client{
		Pool: r.pool, Clock: r.env.Clock, Rand: r.rand, Jar: r.jar, Hold: r.holds, SettingsFor: settings,
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
	err := errors.Join(r.saveJar(), r.headers.close(), r.timeline.close(), r.trace.close())
	if err != nil {
		r.console.problem(r.redactor.Text(err.Error()))
		if code == exitcode.OK {
			code = exitcode.Output
		}
	}
	if err := r.console.close(); err != nil && code == exitcode.OK {
		code = exitcode.Output
	}
	return code
}
