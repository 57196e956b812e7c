package flags

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bidehttp/bide/retry"
)

// PlanOptions is the command line of bide plan.
type PlanOptions struct {
	Options             // of Groups, the first is there; of its flags those about retries and -X count
	Given       []Given // what the attempts come to, in order; none: each fails with what is transient
	AttemptTime time.Duration
	Format      string
}

// Given is what an attempt is said to come to.
type Given struct {
	Status  int         // an answer; 0 none
	Class   retry.Class // of a failure without an answer
	Named   bool        // the answer names Minimum in Retry-After
	Minimum time.Duration
}

// String is g as --given takes it.
func (g Given) String() string {
	text := string(g.Class)
	if g.Status != 0 {
		text = fmt.Sprint(g.Status)
	}
	if g.Named {
		text += ":" + g.Minimum.String()
	}
	return text
}

func planLine(to *PlanOptions) *subline {
	return &subline{name: "plan", own: planFlags(), borrowed: planBorrows(), retry: true, goal: to}
}

func planBorrows() []string { return []string{"request", "config", "disable", "color", "help"} }

func planFlags() []Flag {
	goal := func(p *parser) *PlanOptions { return p.sub.goal.(*PlanOptions) }
	return []Flag{
		{Name: "given", Arg: "OUTCOME", Kind: Value, Own: true, Repeats: true, Open: true, List: true, Values: append([]string{"429:3"}, retryOnWords[:]...),
			Help: "What the next attempt comes to: 503, 429:3, connect",
			Long: "A status, or a status with its Retry-After (429:3, 503:1m30s), or the class of a failure (connect, timeout); several in order, by commas or by further --given. Without it each attempt fails with what is worth a retry.",
			set: func(p *parser, v string) error {
				list, err := parseGiven(v)
				goal(p).Given = append(goal(p).Given, list...)
				return err
			}},
		attemptTimeRow(func(p *parser) *time.Duration { return &goal(p).AttemptTime }),
		formatRow(func(p *parser) *string { return &goal(p).Format }),
	}
}

// attemptTimeRow is the row of --attempt-time, for a command's own flags.
func attemptTimeRow(to func(p *parser) *time.Duration) Flag {
	return Flag{Name: "attempt-time", Arg: "D", Kind: Value, Own: true, Default: "0", Help: "What each attempt itself takes", dur: to}
}

// ParsePlan reads the command line of bide plan (without that word), BIDE_*
// variables and config files. The error is a *UsageError.
func ParsePlan(args []string, env Env) (*PlanOptions, error) {
	to := &PlanOptions{Format: FormatHuman}
	o, _, err := planLine(to).parse(args, env)
	if err != nil {
		return nil, err
	}
	to.Options = *o
	if p := &o.Groups[0].Policy; p.MaxTime > 0 && to.AttemptTime > p.MaxTime {
		return nil, usagef("--attempt-time (%v) is longer than --max-time (%v) lets an attempt be", to.AttemptTime, p.MaxTime)
	}
	return to, nil
}

// parseGiven reads "429:3,503,connect".
func parseGiven(v string) ([]Given, error) {
	var list []Given
	for item := range strings.SplitSeq(v, ",") {
		g, err := parseOutcome(strings.TrimSpace(item))
		if err != nil {
			return nil, err
		}
		list = append(list, g)
	}
	return list, nil
}

func parseOutcome(item string) (Given, error) {
	what, minimum, named := strings.Cut(item, ":")
	g := Given{Named: named}
	if n, err := parseCount(what); err == nil && n >= 100 && n <= 999 {
		g.Status = n
	} else if g.Class = retry.Class(what); !failureClass(g.Class) {
		return Given{}, fmt.Errorf("%s is neither a status (100 to 999) nor a class of failures: %s", quote(what), strings.Join(failureClasses(), " "))
	}
	if !named {
		return g, nil
	}
	if g.Status == 0 {
		return Given{}, fmt.Errorf("%s: only an answer has a Retry-After", quote(item))
	}
	d, err := parseDuration(minimum)
	if minimum == "" {
		err = errors.New("the Retry-After is empty")
	}
	g.Minimum = d
	return g, err
}

// failureClasses are the classes that an attempt without an answer may come to.
func failureClasses() []string {
	var words []string
	for _, c := range retry.Classes() {
		if c.Class != retry.ClassStatus && c.Class != retry.ClassCanceled {
			words = append(words, string(c.Class))
		}
	}
	return words
}

func failureClass(c retry.Class) bool {
	for _, word := range failureClasses() {
		if string(c) == word {
			return true
		}
	}
	return false
}

func planCommand() Subcommand {
	return Subcommand{
		Name: "plan", Args: "[retry flags]", Short: "Print the policy as a reviewable schedule, send nothing",
		Long: "For each wait the earliest, latest and mean, with running totals; the longest that the operation can take; " +
			"and each rule of the contract that applies, in words. --given shows what follows given answers.",
		Flags: planFlags(), Borrowed: planBorrows(), Retry: true,
	}
}
