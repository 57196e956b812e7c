package cmd

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/simulate"
	"github.com/bidehttp/bide/render"
)

// runSimulate plays a fleet with the policy of the retry flags; it sends nothing.
func runSimulate(ctx context.Context, env Env, args []string) exitcode.Code {
	o, err := flags.ParseSimulate(args, parseEnv(env))
	if err != nil {
		return reportUsage(ctx, env, err)
	}
	if o.Global.Help {
		return printCommandHelp(env, "simulate")
	}
	config := fleetConfig(env, o)
	doc, err := abandonable(ctx, func() (*render.Simulation, error) { return playAll(ctx, o, config) })
	if ctx.Err() != nil {
		return signalCode(ctx)
	}
	if err != nil {
		complain(env, "simulate: "+err.Error())
		return exitcode.Usage
	}
	return printed(env, func(w io.Writer) error {
		if o.Format == flags.FormatJSON {
			return render.SimulationJSON(w, doc)
		}
		return render.SimulationHuman(w, doc, sheetOptions(env, o.Global.Color))
	})
}

// seedRange keeps a seed of our own short enough to be typed again.
const seedRange = 1_000_000

func fleetConfig(env Env, o *flags.SimulateOptions) simulate.Config {
	group := &o.Groups[0]
	c := simulate.Config{
		Clients: o.Clients, Spread: o.Spread, AttemptTime: o.AttemptTime,
		Method: methodOf(group, flags.URLArg{}),
		Down:   o.Down, RetryAfter: o.RetryAfter, Token: o.CapacityIn / time.Duration(o.Capacity), Burst: o.Burst, BusyNames: !o.BusySilent, Bin: o.Bin,
	}
	c.DownStatus, _ = strconv.Atoi(o.DownAnswer) // 0 for refused
	c.BusyStatus, _ = strconv.Atoi(o.BusyAnswer) // one of a list
	if seed := o.Global.Seed; seed != nil {
		c.Seed = *seed
	} else {
		c.Seed = uint64(env.Rand() * seedRange)
	}
	return c
}

func describeFleet(o *flags.SimulateOptions, c simulate.Config) *render.Simulation {
	return &render.Simulation{
		Version: render.SimulationVersion, Bide: version, Seed: c.Seed, Clients: c.Clients, SpreadMS: render.MS(c.Spread),
		AttemptTimeMS: render.MS(c.AttemptTime), Method: c.Method, BinMS: render.MS(c.Bin),
		Server: render.SimulatedServer{
			DownMS: render.MS(c.Down), DownAnswer: o.DownAnswer, RetryAfterMS: limit(c.RetryAfter),
			CapacityPerBin: c.CapacityPerBin(), TokenMS: float64(c.Token) / float64(time.Millisecond), Burst: c.Burst,
			BusyAnswer: c.BusyStatus, BusyRetryAfter: c.BusyNames, IdealMS: render.MS(c.Ideal()),
		},
	}
}

// playAll plays the policy and those to compare, as many at a time as there are
// processors. What comes out does not depend on that.
func playAll(ctx context.Context, o *flags.SimulateOptions, c simulate.Config) (*render.Simulation, error) {
	doc := describeFleet(o, c)
	all := append([]flags.Compared{{Label: "policy", Policy: o.Groups[0].Policy, Keyed: o.Groups[0].IdempotencyKey != ""}}, o.Compare...)
	doc.Runs = make([]render.SimulationRun, len(all))
	failed := make([]error, len(all))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var players sync.WaitGroup
	for i := range all {
		players.Go(func() {
			slots <- struct{}{}
			one := c
			one.Keyed = all[i].Keyed
			run, err := simulate.Run(ctx, one, all[i].Policy)
			run.Label, run.Keyed, run.Policy = all[i].Label, one.Keyed, describePolicy(all[i].Policy, &c.Seed)
			doc.Runs[i], failed[i] = run, err
			<-slots
		})
	}
	players.Wait()
	return doc, errors.Join(failed...)
}
