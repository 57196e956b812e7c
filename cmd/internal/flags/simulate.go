package flags

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bidehttp/bide/retry"
)

// SimulateOptions is the command line of bide simulate.
type SimulateOptions struct {
	Options                   // of Groups, the first is there; of its flags those about retries and -X count
	Clients     int           // 1 or more
	Spread      time.Duration // of the first requests
	AttemptTime time.Duration
	Down        time.Duration
	DownAnswer  string        // DownRefused or a status
	RetryAfter  time.Duration // the instant that the answer while down names; 0 none
	Capacity    int           // requests in CapacityIn
	CapacityIn  time.Duration
	Burst       int // 1 or more
	BusyAnswer  string
	BusySilent  bool // without Retry-After
	Bin         time.Duration
	Compare     []Compared
	Format      string
}

// Compared is a policy to be played beside the first.
type Compared struct {
	Label  string // as given
	Policy retry.Policy
	Keyed  bool // with an idempotency key
}

// DownRefused is the DownAnswer of a server that refuses connections.
const DownRefused = "refused"

const (
	maxClients = 10_000_000
	maxBurst   = 10_000_000
)

func simulateLine(to *SimulateOptions) *subline {
	return &subline{name: "simulate", own: simulateFlags(), borrowed: planBorrows(), retry: true, goal: to}
}

func simulateFlags() []Flag {
	goal := func(p *parser) *SimulateOptions { return p.sub.goal.(*SimulateOptions) }
	return []Flag{
		{Name: "clients", Arg: "N", Kind: Value, Own: true, Default: "1000", Help: "How many clients there are, each with one operation",
			set: func(p *parser, v string) error { return countTo(&goal(p).Clients, v, maxClients) }},
		{Name: "spread", Arg: "D", Kind: Value, Own: true, Default: "0", Help: "Their first requests come at random within D",
			Long: "0 is all at the same instant.", dur: func(p *parser) *time.Duration { return &goal(p).Spread }},
		{Name: "down", Arg: "D", Kind: Value, Own: true, Default: "30s", Help: "How long the server is down, from the start",
			dur: func(p *parser) *time.Duration { return &goal(p).Down }},
		{Name: "down-answer", Arg: "WHAT", Kind: Value, Own: true, Default: DownRefused, Values: []string{DownRefused, "500", "502", "503", "504"},
			Help: "What it does meanwhile: refused, or a status", set: func(p *parser, v string) error {
				goal(p).DownAnswer = v
				return oneOf(v, DownRefused, "500", "502", "503", "504")
			}},
		{Name: "server-retry-after", Arg: "D", Kind: Value, Own: true, Help: "While down, it tells all clients to come back D after the start",
			Long: "By the Retry-After of its 503, so that all are told one instant. Not with --down-answer refused.",
			dur:  func(p *parser) *time.Duration { return &goal(p).RetryAfter }},
		{Name: "capacity", Arg: "N/UNIT", Kind: Value, Own: true, Default: "100/s", Help: "What it takes once it is back: 200/s, 100/10s, 30/m",
			Long: "A token bucket, that of the mock's [bucket=200/s].", set: func(p *parser, v string) error {
				n, in, ok := parseRate(v)
				if !ok || in/time.Duration(n) == 0 {
					return notRate(v)
				}
				goal(p).Capacity, goal(p).CapacityIn = n, in
				return nil
			}},
		{Name: "burst", Arg: "N", Kind: Value, Own: true, Help: "Tokens that the full bucket holds; default the capacity's number",
			set: func(p *parser, v string) error { return countTo(&goal(p).Burst, v, maxBurst) }},
		{Name: "busy-answer", Arg: "STATUS", Kind: Value, Own: true, Default: "429", Values: []string{"429", "503"}, Help: "Its answer to what is beyond the capacity: 429 or 503",
			set: func(p *parser, v string) error { goal(p).BusyAnswer = v; return oneOf(v, "429", "503") }},
		{Name: "busy-silent", Own: true, Help: "That answer has no Retry-After",
			Long: "Otherwise it names the time until the next token in whole seconds.", flag: func(p *parser) *bool { return &goal(p).BusySilent }},
		attemptTimeRow(func(p *parser) *time.Duration { return &goal(p).AttemptTime }),
		{Name: "bin", Arg: "D", Kind: Value, Own: true, Default: "1s", Help: "A peak is the most requests within D",
			dur: func(p *parser) *time.Duration { return &goal(p).Bin }},
		{Name: "compare", Arg: "FLAGS", Kind: Value, Own: true, Repeats: true, Help: "Play another policy, too: 'jitter=0', 'attempts=5 cap=10'",
			Long: "Retry flags without their dashes, split by blanks; the others are those of the command line.",
			set: func(p *parser, v string) error {
				goal(p).Compare = append(goal(p).Compare, Compared{Label: v})
				return nil
			}},
		formatRow(func(p *parser) *string { return &goal(p).Format }),
	}
}

func countTo(to *int, v string, most int) error {
	n, err := parseCount(v)
	switch {
	case err != nil:
		return err
	case n < 1 || n > most:
		return fmt.Errorf("%s is not within 1 and %d", quote(v), most)
	}
	*to = n
	return nil
}

// ParseSimulate reads the command line of bide simulate (without that word),
// BIDE_* variables and config files. The error is a *UsageError.
func ParseSimulate(args []string, env Env) (*SimulateOptions, error) {
	var stdin bytes.Buffer // for -K -, which is read for each policy
	if env.Stdin != nil {
		env.Stdin = io.TeeReader(env.Stdin, &stdin)
	}
	to, err := parseFleet(args, env)
	if err != nil || to.Global.Help {
		return to, err
	}
	if err := to.settle(); err != nil {
		return nil, err
	}
	for i := range to.Compare {
		env.Stdin = bytes.NewReader(stdin.Bytes())
		if err := to.Compare[i].parse(args, env); err != nil {
			return nil, usagef("--compare %s: %v", quote(to.Compare[i].Label), err)
		}
	}
	return to, nil
}

// parse reads the command line again, with the flags of the label at its end.
func (c *Compared) parse(args []string, env Env) error {
	extra, err := comparedArgs(c.Label)
	if err != nil {
		return err
	}
	o, err := parseFleet(slices.Concat(args, extra), env)
	if err != nil {
		return err
	}
	c.Policy, c.Keyed = o.Groups[0].Policy, o.Groups[0].IdempotencyKey != ""
	return o.checkTime()
}

func parseFleet(args []string, env Env) (*SimulateOptions, error) {
	to := &SimulateOptions{
		Clients: 1000, Down: 30 * time.Second, Capacity: 100, CapacityIn: time.Second,
		BusyAnswer: "429", Bin: time.Second, Format: FormatHuman,
	}
	o, _, err := simulateLine(to).parse(args, env)
	if err != nil {
		return nil, err
	}
	to.Options = *o
	return to, nil
}

// settle fills in what follows from other flags, and refuses what cannot be.
func (o *SimulateOptions) settle() error {
	if o.DownAnswer == "" {
		o.DownAnswer = DownRefused
		if o.RetryAfter > 0 {
			o.DownAnswer = "503"
		}
	}
	if o.Burst == 0 {
		o.Burst = min(o.Capacity, maxBurst)
	}
	token := o.CapacityIn / time.Duration(o.Capacity)
	const longest = 100 * 365 * 24 * time.Hour
	switch {
	case o.RetryAfter > 0 && o.DownAnswer == DownRefused:
		return usagef("--server-retry-after and --down-answer refused: a refused connection says nothing")
	case o.Bin == 0:
		return usagef("--bin 0: a peak needs a time to count in")
	case max(o.Down, o.Spread, o.AttemptTime, o.RetryAfter, o.Bin) > longest || token > longest/time.Duration(max(o.Burst, o.Clients)):
		return usagef("the simulation would last more than 100 years")
	}
	return o.checkTime()
}

func (o *SimulateOptions) checkTime() error {
	if p := &o.Groups[0].Policy; p.MaxTime > 0 && o.AttemptTime > p.MaxTime {
		return usagef("--attempt-time (%v) is longer than --max-time (%v) lets an attempt be", o.AttemptTime, p.MaxTime)
	}
	return nil
}

// comparedArgs turns "jitter=0 idempotent" into flags; they must be about retries.
func comparedArgs(label string) ([]string, error) {
	var args []string
	for word := range strings.FieldsSeq(label) {
		word = strings.TrimPrefix(word, "--")
		name, _, _ := strings.Cut(word, "=")
		if name == "seed" {
			return nil, errors.New("the seed is one for all")
		}
		if !isRetryFlag(name) {
			return nil, fmt.Errorf("%s is not a retry flag; bide -h retry lists them", quote(name))
		}
		args = append(args, "--"+word)
	}
	if args == nil {
		return nil, errors.New("no retry flag; jitter=0 would be one")
	}
	return args, nil
}

func isRetryFlag(name string) bool {
	for i := range retryFlags {
		if f := &retryFlags[i]; f.Name == name || f.negatedBy(name) {
			return true
		}
	}
	return false
}

func simulateCommand() Subcommand {
	return Subcommand{
		Name: "simulate", Args: "[retry flags]", Short: "Play a fleet of clients with this policy against a server that was down",
		Long: "In virtual time, with a seed that is printed. An arrival histogram with the capacity's line, peak and capacity, the time until all have succeeded, " +
			"requests per success, and how many gave up; --compare plays other policies beside it.",
		Flags: simulateFlags(), Borrowed: planBorrows(), Retry: true,
	}
}
