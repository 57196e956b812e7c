package cmd

import (
	"context"
	"io"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/plan"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

// runPlan prints what the retry flags would do; it sends nothing.
func runPlan(ctx context.Context, env Env, args []string) exitcode.Code {
	o, err := flags.ParsePlan(args, parseEnv(env))
	if err != nil {
		return reportUsage(ctx, env, err)
	}
	if o.Global.Help {
		return printCommandHelp(env, "plan")
	}
	group := &o.Groups[0]
	request := plan.Request{
		Policy: group.Policy, Method: methodOf(group, flags.URLArg{}), Keyed: group.IdempotencyKey != "",
		RateLimitHeaders: group.RateLimitHeaders, Until: group.Until != "", Poll: group.Poll, ConnectTimeout: group.ConnectTimeout,
		Seed: o.Global.Seed, AttemptTime: o.AttemptTime,
		ExitCode: func(reason retry.Reason, last retry.Outcome) int { return int(exitCode(ctx, reason, &last, false)) },
	}
	for _, g := range o.Given {
		request.Given = append(request.Given, plan.Outcome{Text: g.String(), Status: g.Status, Class: g.Class, Named: g.Named, Minimum: g.Minimum})
	}
	doc := plan.Make(request)
	doc.Version, doc.Bide, doc.Policy = render.PlanVersion, version, describePolicy(group.Policy, o.Global.Seed)
	return printed(env, func(w io.Writer) error {
		if o.Format == flags.FormatJSON {
			return render.PlanJSON(w, doc)
		}
		return render.PlanHuman(w, doc, sheetOptions(env, o.Global.Color))
	})
}

// sheetOptions are those of what a sub-command prints on stdout for a person.
func sheetOptions(env Env, color string) render.Options {
	width, terminal := env.Terminal(env.Stdout)
	return render.Options{
		Width: width, Color: colored(color, env.Getenv, terminal), ASCII: plainASCII(env.Getenv), Location: env.Location,
	}
}
