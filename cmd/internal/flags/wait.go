package flags

import (
	"strings"
	"time"

	"github.com/bidehttp/bide/retry"
)

// The presets of bide wait (contract R2.1a).
const (
	waitBase     = time.Second
	waitMaxTime  = 5 * time.Second
	waitDeadline = 5 * time.Minute
)

// maxWaits is how many URLs one bide wait takes: all are asked at once, so that
// one deadline holds for them.
const maxWaits = 1000

// ParseWait reads the command line of bide wait: like Parse, but with its
// presets in place of the defaults. A flag or a -K file overrides a preset,
// variables and the default config file do not: they speak of requests.
func ParseWait(args []string, env Env) (*Options, error) {
	p := newParser(env)
	p.wait = true
	o, err := p.parse(args)
	if err != nil || o.Global.Help || o.Global.Version {
		return o, err
	}
	n := o.Operations()
	if n > maxWaits {
		return nil, usagef("%d URLs are more than the %d that one bide wait asks at once", n, maxWaits)
	}
	g := &o.Global
	g.Wait = true
	if n > 1 {
		g.Parallel, g.ParallelImmediate, g.ParallelMax = true, true, int(n)
	}
	if g.Timeline == "" && g.TimelineFile == "" {
		g.Timeline = "none"
	}
	return o, nil
}

// preset is the policy before any setting is applied.
func (p *parser) preset() retry.Policy {
	pol := retry.DefaultPolicy()
	if !p.wait {
		return pol
	}
	pol.Attempts, pol.Base, pol.Backoff = retry.Unlimited, waitBase, retry.Fixed
	pol.MaxTime, pol.Deadline = waitMaxTime, waitDeadline
	pol.RetryOn = waitsOn(pol.RetryOn)
	return pol
}

// overruled reports whether a preset of bide wait stands above f's value from
// the source at hand.
func (p *parser) overruled(f *Flag) bool {
	if !p.wait || p.src != srcEnv && p.src != srcDefault {
		return false
	}
	switch f.Name {
	case "attempts", "retry", "base", "retry-delay", "backoff", "max-time", "deadline", "retry-max-time", "retry-on", "retry-all-errors":
		return true
	}
	return false
}

// waitsOn is what bide wait takes for "not yet": every status from 400 on and
// every class but cert, and those that no waiting changes.
func waitsOn(set retry.Set) retry.Set {
	set.AddStatuses(400, 999)
	for _, row := range retry.Classes() {
		switch row.Class {
		case retry.ClassStatus, retry.ClassRequest, retry.ClassInput, retry.ClassOutput, retry.ClassCanceled:
		case retry.ClassCert:
			set.RemoveClass(row.Class)
		default:
			set.AddClass(row.Class)
		}
	}
	return set
}

// IsTCP reports whether a URL names a TCP port to connect to and no more. Only
// bide wait knows such URLs.
func IsTCP(url string) bool {
	const scheme = "tcp://"
	return len(url) >= len(scheme) && strings.EqualFold(url[:len(scheme)], scheme)
}

// waitCommand describes bide wait.
func waitCommand() Subcommand {
	return Subcommand{
		Name: "wait", Args: "[flags] URL...", All: true,
		Short: "Ask until every URL answers; tcp://HOST:PORT: until it accepts a connection",
		Long: "Presets, each overridden by its flag: --attempts unlimited, --base 1s, --backoff fixed, --max-time 5s, --deadline 5m, " +
			"--retry-on with every status from 400 on and every class but cert; the body is dropped, and no timeline shown. " +
			"Variables and the default config file do not change them. " +
			"A name that does not resolve, a refused port, a 502, a TLS listener that is not ready are \"not yet\"; a wrong certificate or URL ends the wait at once. " +
			"Exit code 0 when all have answered, 75 when a limit came first.",
	}
}
