package soak

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd"
	"github.com/bidehttp/bide/retry"
)

// mutant is a client that does one thing wrong, or an observation that shows one.
type mutant struct {
	client client
	edit   func(*observation)
}

// asking is a client that is asked for something else than the model knows of.
func asking(args ...string) client {
	return func(ctx context.Context, env cmd.Env) int {
		env.Args = slices.Concat(env.Args, args)
		return cmd.Main(ctx, env)
	}
}

// with is a client in another world.
func with(change func(env *cmd.Env)) client {
	return func(ctx context.Context, env cmd.Env) int {
		change(&env)
		return cmd.Main(ctx, env)
	}
}

func mutants() map[string]mutant {
	return map[string]mutant{
		"sends what is unsafe again":          {client: asking("--idempotent")},
		"comes before the server's minimum":   {client: asking("--retry-after-mode", "replace")},
		"hears limits it was not told to":     {client: asking("--rate-limit-headers")},
		"takes errors for success":            {client: asking("--no-fail")},
		"holds nothing back":                  {client: asking("-N")},
		"tries whatever happened":             {client: asking("--retry-all-errors")},
		"shows credentials to other origins":  {client: asking("--location-trusted")},
		"counts every broken attempt":         {client: asking("--max-resumes", "0")},
		"follows one redirect":                {client: asking("--max-redirs", "1")},
		"spreads by another ratio":            {client: asking("--jitter", "0.3")},
		"is an hour late for its deadline":    {client: late},
		"forgets the key":                     {client: dropping("--idempotency-key")},
		"forgets the file":                    {client: dropping("-o")},
		"begins again in each run":            {client: dropping("-C")},
		"sends another body":                  {client: with(func(env *cmd.Env) { env.Stdin = strings.NewReader("amount=43") })},
		"wakes too early":                     {client: with(func(env *cmd.Env) { env.Clock = &hasty{Clock: env.Clock} })},
		"draws by itself":                     {client: with(func(env *cmd.Env) { draw := env.Rand; env.Rand = func() float64 { draw(); return 0.5 } })},
		"writes twice":                        {client: with(func(env *cmd.Env) { env.Stdout = twice{env.Stdout} })},
		"swallows the output":                 {client: with(func(env *cmd.Env) { env.Stdout = io.Discard })},
		"leaves a file behind":                {client: littering},
		"dates by a clock of its own":         {client: with(func(env *cmd.Env) { env.Clock = &shifted{env.Clock} })},
		"drops the key on the second attempt": {edit: func(o *observation) { o.second(func(r *seen) { r.hasKey, r.key = false, "" }) }},
		"makes a new key for each attempt":    {edit: func(o *observation) { o.second(func(r *seen) { r.key = strings.ToUpper(r.key) + "0" }) }},
		"keeps the method after a 303":        {edit: func(o *observation) { o.second(func(r *seen) { r.method = "POST" }) }},
		"asks for the rest without If-Range":  {edit: func(o *observation) { o.second(func(r *seen) { r.hasIfRange, r.ifRange = false, "" }) }},
		"sends a request twice":               {edit: func(o *observation) { o.requests = append(o.requests, o.requests[len(o.requests)-1]) }},
		"ends for another reason":             {edit: func(o *observation) { o.runs[0].reason = "transport_error" }},
		"counts attempts otherwise":           {edit: func(o *observation) { o.runs[0].counted[0] = !o.runs[0].counted[0] }},
		"has an effect more":                  {edit: func(o *observation) { o.effects++ }},
		"shows a secret":                      {edit: func(o *observation) { o.stderr += secret }},
	}
}

// TestMutantsAreSeen: the soak can fail. Each mutant is found within a
// few hundred scenarios.
func TestMutantsAreSeen(t *testing.T) {
	const enough = 400
	for name, m := range mutants() {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(enough) {
				if m.seen(t, generate(seed), seed) {
					return
				}
			}
			t.Errorf("none of %d scenarios shows a client that %s", enough, name)
		})
	}
}

// seen plays the mutant and reports whether the model objects.
func (m *mutant) seen(t *testing.T, s *scenario, seed uint64) bool {
	t.Helper()
	run := m.client
	if run == nil {
		run = cmd.Main
	}
	got, err := play(s, seed, run)
	if err != nil {
		return false // a flag given twice, say: it proves nothing
	}
	want := predict(s, got)
	if m.edit != nil {
		m.edit(got)
	}
	return len(differ(s, want, got)) > 0
}

// second changes the second request, if there is one.
func (o *observation) second(change func(*seen)) {
	if len(o.requests) > 1 {
		change(&o.requests[1])
	}
}

// dropping is a client that overlooks a flag.
func dropping(name string) client {
	return with(func(env *cmd.Env) {
		if i := slices.Index(env.Args, name); i >= 0 {
			env.Args = slices.Concat(env.Args[:i], env.Args[i+2:])
		}
	})
}

// late is a client that reads another deadline than it was given.
func late(ctx context.Context, env cmd.Env) int {
	env.Args = slices.Clone(env.Args)
	if i := slices.Index(env.Args, "--deadline"); i >= 0 {
		env.Args[i+1] = "1h"
	}
	return cmd.Main(ctx, env)
}

// hasty makes its client believe that it slept as long as it wanted.
type hasty struct {
	retry.Clock
	gained time.Duration
}

func (h *hasty) Mono() time.Duration { return h.Clock.Mono() + h.gained }

func (h *hasty) Sleep(ctx context.Context, d time.Duration) error {
	h.gained += d / 100
	return h.Clock.Sleep(ctx, d-d/100)
}

// shifted is a wall clock that is wrong.
type shifted struct{ retry.Clock }

func (s *shifted) Wall() time.Time { return s.Clock.Wall().Add(time.Second) }

type twice struct{ io.Writer }

func (w twice) Write(p []byte) (int, error) {
	if n, err := w.Writer.Write(p); err != nil {
		return n, err
	}
	return w.Writer.Write(p)
}

// littering leaves a file beside the timeline.
func littering(ctx context.Context, env cmd.Env) int {
	code := cmd.Main(ctx, env)
	i := slices.Index(env.Args, "--timeline-file")
	_ = os.WriteFile(filepath.Join(filepath.Dir(env.Args[i+1]), "out.tmp"), nil, 0o600)
	return code
}

// TestShrink: what has nothing to do with a difference goes.
func TestShrink(t *testing.T) {
	t.Run("to_what_matters", func(t *testing.T) {
		big := generate(largest(t))
		big.steps = append(big.steps, step{status: 429, retryAfter: []string{"7", "soon"}, body: content{size: 1000}, chunked: true, times: 3})
		big.flags = append(big.flags, option{"--no-fail", ""})
		small := shrink(big, func(s *scenario) bool {
			told := slices.ContainsFunc(s.steps, func(st step) bool { return st.status == 429 && len(st.retryAfter) > 0 })
			return told && s.has("--no-fail")
		})
		want := &scenario{
			steps: []step{{status: 429, retryAfter: []string{"3"}, body: content{size: -1}}},
			flags: []option{{"--no-fail", ""}},
		}
		if small.String() != want.String() {
			t.Errorf("shrunk to\n%s\nwant\n%s", small, want)
		}
	})
	t.Run("a_real_difference", func(t *testing.T) {
		rash := asking("--idempotent")
		for seed := uint64(0); ; seed++ {
			s := generate(seed)
			if s.has("--idempotent") || len(judge(s, seed, rash)) == 0 {
				continue
			}
			small := shrink(s, func(c *scenario) bool { return len(judge(c, seed, rash)) > 0 })
			if len(small.steps) > 1 || len(small.flags) > 1 {
				t.Errorf("seed %d: an unsafe POST that is sent again needs one step and one flag:\n%s", seed, small)
			}
			if report := examine(seed, rash); !strings.Contains(report, small.String()) {
				t.Errorf("the report does not show the scenario:\n%s", report)
			}
			return
		}
	})
}

// largest is the seed of a scenario worth shrinking.
func largest(t *testing.T) uint64 {
	t.Helper()
	for seed := range uint64(10_000) {
		if s := generate(seed); len(s.steps) >= 5 && len(s.flags) >= 8 && !s.has("--no-fail", "-f", "--fail-with-body") {
			return seed
		}
	}
	t.Fatal("no large scenario")
	return 0
}
