package retrytest

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// gap judges gap number i of each group.
func (c check) gap(i int) (judge, *CheckError) {
	within, err := c.span()
	return needRequests(eachGroup(func(g []Record) (string, error) {
		if err := hasGap(g, i); err != nil {
			return "", err
		}
		return within(g[i].Gap, fmt.Sprintf("gap%d: %v", i, shown(g[i].Gap)))
	})), err
}

// hasGap reports why there is no gap i to be judged.
func hasGap(g []Record, i int) error {
	if i >= len(g) {
		return fmt.Errorf("cannot be evaluated: there is no gap %d among %d requests", i, len(g))
	}
	if !g[i-1].HasAnswer {
		return fmt.Errorf("cannot be evaluated: request %d was not answered", g[i-1].Number)
	}
	return nil
}

// shown is a duration to the microsecond.
func shown(d time.Duration) time.Duration { return d.Round(time.Microsecond) }

// gaps judges every gap of each group, against one duration or against what the
// answers asked for.
func (c check) gaps() (judge, *CheckError) {
	if c.value == "retry-after" {
		if c.op != ">=" {
			return nil, c.wrongOp(">=")
		}
		return needRequests(eachGroup(gapsKeepRetryAfter)), nil
	}
	within, err := c.span()
	return needRequests(eachGroup(func(g []Record) (string, error) {
		if len(g) < 2 {
			return "", vacuous("there is no gap")
		}
		all := make([]string, 0, len(g)-1)
		for i := 1; i < len(g); i++ {
			if err := hasGap(g, i); err != nil {
				return "", err
			}
			if _, err := within(g[i].Gap, fmt.Sprintf("gap%d: %v", i, shown(g[i].Gap))); err != nil {
				return "", fmt.Errorf("%w, not %s%s", err, c.op, c.value)
			}
			all = append(all, shown(g[i].Gap).String())
		}
		return "gaps: " + strings.Join(all, ", "), nil
	})), err
}

// gapsKeepRetryAfter wants each request at least the answer's Retry-After later
// than its head, where one was there.
func gapsKeepRetryAfter(g []Record) (string, error) {
	var all []string
	for i := 1; i < len(g); i++ {
		before := g[i-1]
		if !before.HasAsked {
			continue
		}
		if g[i].HeadGap < before.Asked {
			return "", fmt.Errorf("gap%d: %v, not >=%v", i, shown(g[i].HeadGap), shown(before.Asked))
		}
		all = append(all, fmt.Sprintf("gap%d: %v for %v", i, shown(g[i].HeadGap), shown(before.Asked)))
	}
	if len(all) == 0 {
		return "", vacuous("no answer before another request had a Retry-After")
	}
	return strings.Join(all, ", "), nil
}

func gapsGrow(g []Record) (string, error) {
	if len(g) < 3 {
		return "", vacuous(fmt.Sprintf("it needs two gaps, there are %d requests", len(g)))
	}
	for i := 2; i < len(g); i++ {
		if g[i].Gap <= g[i-1].Gap {
			return "", fmt.Errorf("gap%d is %v after %v", i, shown(g[i].Gap), shown(g[i-1].Gap))
		}
	}
	return fmt.Sprintf("%d gaps", len(g)-1), nil
}

const keyHeader = "Idempotency-Key"

// sameKeys wants one key on all requests of a group. A group without any key
// passes over where nothing was repeated or the method may be; some group must
// have one.
func (l *Log) sameKeys() (string, error) {
	keyed := 0
	detail, err := eachGroup(func(g []Record) (string, error) {
		without := true
		for i := range g {
			without = without && !g[i].Has(keyHeader)
		}
		switch {
		case !without:
			keyed++
			return sameHeader(g, keyHeader)
		case len(g) > 1 && !repeatable(g[0].Method):
			return "", fmt.Errorf("%s was repeated without a key", escape(g[0].Method))
		}
		return fmt.Sprintf("%s without a key", escape(g[0].Method)), nil
	})(l)
	if err == nil && keyed == 0 {
		return "", errors.New("cannot be evaluated: no request has a key")
	}
	return detail, err
}

// repeatable names the idempotent methods of RFC 9110 section 9.2.2.
func repeatable(method string) bool {
	switch method {
	case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE":
		return true
	}
	return false
}

func sameHeader(g []Record, name string) (string, error) {
	want := g[0].Values(name)
	if len(want) == 0 {
		return "", fmt.Errorf("cannot be evaluated: request %d has no %s", g[0].Number, name)
	}
	for i := range g {
		if strings.Join(g[i].Values(name), "\n") != strings.Join(want, "\n") {
			return "", fmt.Errorf("request %d has another %s than request %d", g[i].Number, name, g[0].Number)
		}
	}
	return fmt.Sprintf("one %s on %d requests", name, len(g)), nil
}

// freshKeys wants one key per group and no key in two.
func (l *Log) freshKeys() (string, error) {
	if l.groupBy == "key" || strings.EqualFold(l.groupBy, "header:"+keyHeader) {
		return "", errors.New("cannot be evaluated: the requests are grouped by the key itself")
	}
	owner := map[string]string{}
	for _, g := range l.Groups() {
		if _, err := sameHeader(g, keyHeader); err != nil {
			return "", fmt.Errorf("group %q: %w", escape(g[0].Group), err)
		}
		key := g[0].Get(keyHeader)
		if other, taken := owner[key]; taken {
			return "", fmt.Errorf("groups %q and %q have the same key", escape(other), escape(g[0].Group))
		}
		owner[key] = g[0].Group
	}
	return fmt.Sprintf("%d keys", len(owner)), nil
}

// sameBody looks at requests of one method and path, since a group may be made
// by the body itself.
func (l *Log) sameBody() (string, error) {
	if l.groupBy == DefaultGroup {
		byRoute, err := l.GroupBy("route")
		if err != nil {
			return "", err
		}
		l = byRoute
	}
	return eachGroup(func(g []Record) (string, error) {
		for i := range g {
			if !g[i].BodyComplete {
				return "", fmt.Errorf("cannot be evaluated: the body of request %d was not read to its end", g[i].Number)
			}
			if g[i].BodySHA256 != g[0].BodySHA256 {
				return "", fmt.Errorf("request %d has another body than request %d", g[i].Number, g[0].Number)
			}
		}
		return fmt.Sprintf("%d bytes on %d requests", g[0].BodyBytes, len(g)), nil
	})(l)
}

// noOverlap wants each request to arrive after the one before was done with.
func noOverlap(g []Record) (string, error) {
	for i := 1; i < len(g); i++ {
		before := g[i-1]
		if !before.HasAnswer || before.Answered > g[i].Arrival {
			return "", fmt.Errorf("request %d came before request %d was answered", g[i].Number, before.Number)
		}
	}
	return fmt.Sprintf("%d requests", len(g)), nil
}
