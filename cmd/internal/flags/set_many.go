package flags

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/variables"
)

// Of --parallel-max, as in curl.
const (
	DefaultParallel = 50
	maxParallel     = 300
)

func setParallelMax(p *parser, v string) error {
	n, err := parseCount(v)
	if err != nil {
		return err
	}
	switch {
	case n == 0:
		n = DefaultParallel
	case n > maxParallel:
		p.note("--parallel-max %d: taking %d, the most there can be", n, maxParallel)
		n = maxParallel
	}
	p.o.Global.ParallelMax = n
	return nil
}

// setRate reads N[/[M]UNIT]: N starts in M seconds, minutes, hours or days.
// Without a unit it is hours, as in curl.
func setRate(p *parser, v string) error {
	rate := v
	if !strings.Contains(v, "/") {
		rate += "/h"
	}
	n, per, ok := parseRate(rate)
	if !ok {
		return notRate(v)
	}
	p.o.Global.StartEvery = per / time.Duration(n)
	return nil
}

// parseRate reads N/[M]UNIT: N, which is 1 or more, in a time.
func parseRate(v string) (n int, in time.Duration, ok bool) {
	starts, per, timed := strings.Cut(v, "/")
	n, err := parseCount(starts)
	if err != nil || n == 0 || !timed {
		return 0, 0, false
	}
	digits := strings.TrimRight(per, "smhd")
	units := 1
	if digits != "" {
		if units, err = parseCount(digits); err != nil || units == 0 {
			return 0, 0, false
		}
	}
	var unit time.Duration
	switch per[len(digits):] {
	case "s":
		unit = time.Second
	case "m":
		unit = time.Minute
	case "h":
		unit = time.Hour
	case "d":
		unit = 24 * time.Hour
	default:
		return 0, 0, false
	}
	const longest = 366 * 24 * time.Hour
	if units > int(longest/unit) {
		return 0, 0, false
	}
	return n, unit * time.Duration(units), true
}

func notRate(v string) error {
	return fmt.Errorf("%s is not a rate: 5/s, 10/m, 3/15s, 100/h, 500/d", quote(v))
}

func (p *parser) lookupEnv(name string) (string, bool) {
	if p.env.LookupEnv != nil {
		return p.env.LookupEnv(name)
	}
	value := p.env.Getenv(name)
	return value, value != ""
}

// setVariable defines a variable for the --expand- flags that follow.
func setVariable(p *parser, v string) error {
	err := p.vars.Define(v, variables.Source{
		Lookup: p.lookupEnv,
		Open:   func(name string) (io.ReadCloser, error) { return p.open(name) },
	})
	var broken *variables.ReadError
	if errors.As(err, &broken) {
		return inputError{broken.Name, broken.Err}
	}
	return err
}

// expandPrefix before a flag's name expands the variables in its value.
const expandPrefix = "expand-"

// lookupExpand finds the flag in "expand-NAME"; nil where there is none that takes a value.
func (p *parser) lookupExpand(name string) *Flag {
	rest, ok := strings.CutPrefix(name, expandPrefix)
	if !ok {
		return nil
	}
	if f, _ := p.lookup(rest); f != nil && f.Kind == Value && f.Name == rest {
		return f
	}
	return nil
}

// expand is f's value with its variables in place. No error holds a content.
func (p *parser) expand(f *Flag, text string) (string, error) {
	out, warnings, err := p.vars.Expand(text)
	if err != nil {
		return "", &UsageError{Message: fmt.Sprintf("--%s%s: %s", expandPrefix, f.Name, printable(err.Error())), Code: exitcode.Usage}
	}
	for _, w := range warnings {
		p.note("--%s%s: %s", expandPrefix, f.Name, printable(w))
	}
	return out, nil
}
