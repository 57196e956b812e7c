package retrytest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Result is what became of one check.
type Result struct {
	Check  string
	OK     bool
	Detail string // the figures: what was seen, and where it fell short
}

// Check fails the test for each check that does not hold, and shows the log.
// See Verify for the checks.
func (l *Log) Check(tb TB, checks ...string) {
	tb.Helper()
	var failed strings.Builder
	for _, r := range l.Verify(checks...) {
		if !r.OK {
			fmt.Fprintf(&failed, "  %s: %s\n", r.Check, r.Detail)
		}
	}
	if failed.Len() > 0 {
		tb.Errorf("retrytest: checks failed:\n%s%s", failed.String(), l)
	}
}

// Verify judges each check. A check that cannot be evaluated (nothing arrived,
// no such gap, unknown words) has failed and says why.
//
// Of each group (see GroupBy; "group-by=BY" as a check changes it for those after it):
//
//	attempts=3  attempts<=5  attempts>=2     requests of the group
//	gap1>=1s  gap2<=3s  gap1=0.5s..3s        time between an answer's head (or fault) and the next request
//	gaps>=1s                                 all of them
//	gaps>=retry-after                        each at least what the answer before it asked for
//	gaps-grow                                each longer than the one before
//	same-key  same-body  same-header:NAME    on all its requests (same-body: of one method and path)
//	fresh-key-per-operation                  one key in a group, another in each
//	no-overlap                               none arrives before the one before was answered
//	last-status=200  statuses=429,reset,200  as answered; a fault by its word
//
// Over all requests:
//
//	requests=3  requests<=5                  their number
//	connections=1  effects=1                 as counted by the server
//	amplification<=2                         requests ÷ groups
//	no-request-after-exit                    needs Server.MarkExit
//	header:NAME=VALUE  no-header:NAME        of every request
//	body=TEXT  method=POST                   of every request
func (l *Log) Verify(checks ...string) []Result {
	out := make([]Result, 0, len(checks))
	for _, text := range checks {
		if by, ok := strings.CutPrefix(text, "group-by="); ok {
			grouped, err := l.GroupBy(by)
			if err != nil {
				out = append(out, Result{text, false, err.Error()})
				continue
			}
			l = grouped
			out = append(out, Result{text, true, ""})
			continue
		}
		detail, err := l.evaluate(text)
		if err != nil {
			detail = err.Error()
		}
		out = append(out, Result{text, err == nil, detail})
	}
	return out
}

var errUnknownCheck = errors.New("unknown check")

// check is one check taken apart: NAME, NAMEopVALUE.
type check struct {
	name, op, value string
}

func parseCheck(text string) check {
	at := strings.IndexAny(text, "<>=")
	if at < 0 {
		return check{name: text}
	}
	op := text[at : at+1]
	if strings.HasPrefix(text[at+1:], "=") && op != "=" {
		op = text[at : at+2]
	}
	return check{text[:at], op, text[at+len(op):]}
}

// evaluate judges one check; the error says why it failed.
func (l *Log) evaluate(text string) (string, error) {
	c := parseCheck(text)
	switch c.name {
	case "requests":
		return c.count("requests", len(l.Records))
	case "connections":
		return c.count("connections", l.Connections)
	case "effects":
		return c.count("effects", l.Effects)
	}
	if len(l.Records) == 0 {
		return "", errors.New("no request arrived")
	}
	switch c.name {
	case "attempts":
		return l.each(func(g []Record) (string, error) { return c.count("attempts", len(g)) })
	case "amplification":
		return l.amplification(c)
	case "last-status":
		return l.each(func(g []Record) (string, error) { return c.text(g[len(g)-1].answered()) })
	case "statuses":
		return l.each(func(g []Record) (string, error) { return c.text(statuses(g)) })
	case "gaps":
		return l.each(c.gaps)
	case "method":
		return l.all(func(r *Record) error { return c.match(r.Method) })
	case "body":
		return l.all(func(r *Record) error { return c.match(string(r.Body)) })
	}
	if n, ok := strings.CutPrefix(c.name, "gap"); ok {
		if i, err := strconv.Atoi(n); err == nil && i > 0 {
			return l.each(func(g []Record) (string, error) { return c.gap(g, i) })
		}
	}
	if name, ok := strings.CutPrefix(c.name, "header:"); ok && name != "" {
		return l.all(func(r *Record) error { return c.match(strings.Join(r.Values(name), ", ")) })
	}
	if c.op == "" {
		return l.property(c.name)
	}
	return "", errUnknownCheck
}

// property judges the checks without a value.
func (l *Log) property(name string) (string, error) {
	switch name {
	case "gaps-grow":
		return l.each(gapsGrow)
	case "same-key":
		return l.sameKeys()
	case "fresh-key-per-operation":
		return l.freshKeys()
	case "same-body":
		return l.sameBody()
	case "no-overlap":
		return l.each(noOverlap)
	case "no-request-after-exit":
		return l.afterExit()
	}
	if header, ok := strings.CutPrefix(name, "same-header:"); ok && header != "" {
		return l.each(func(g []Record) (string, error) { return sameHeader(g, header) })
	}
	if header, ok := strings.CutPrefix(name, "no-header:"); ok && header != "" {
		return l.all(func(r *Record) error {
			if r.Has(header) {
				return fmt.Errorf("it carries %s", header)
			}
			return nil
		})
	}
	return "", errUnknownCheck
}

// each judges group by group; the first that fails names itself.
func (l *Log) each(f func([]Record) (string, error)) (string, error) {
	var details []string
	groups := l.Groups()
	for _, g := range groups {
		detail, err := f(g)
		if err != nil && len(groups) > 1 {
			return "", fmt.Errorf("group %q: %w", escape(g[0].Group), err)
		}
		if err != nil {
			return "", err
		}
		details = append(details, detail)
	}
	return strings.Join(details, "; "), nil
}

// all judges request by request.
func (l *Log) all(f func(*Record) error) (string, error) {
	for i := range l.Records {
		if err := f(&l.Records[i]); err != nil {
			return "", fmt.Errorf("request %d: %w", l.Records[i].Number, err)
		}
	}
	return fmt.Sprintf("all %d", len(l.Records)), nil
}

// count compares a number.
func (c check) count(what string, n int) (string, error) {
	want, err := strconv.Atoi(c.value)
	if err != nil || want < 0 {
		return "", fmt.Errorf("%s needs a whole number, not %q", what, c.value)
	}
	return c.compare(int64(n), int64(want), fmt.Sprintf("%s: %d", what, n))
}

// compare applies the operator.
func (c check) compare(got, want int64, detail string) (string, error) {
	var ok bool
	switch c.op {
	case "=":
		ok = got == want
	case "<=":
		ok = got <= want
	case ">=":
		ok = got >= want
	case "<":
		ok = got < want
	case ">":
		ok = got > want
	default:
		return "", fmt.Errorf("%s needs =, <=, >=, < or > and a value", c.name)
	}
	if !ok {
		return "", errors.New(detail)
	}
	return detail, nil
}

// match compares a text.
func (c check) match(got string) error {
	_, err := c.text(got)
	return err
}

func (c check) text(got string) (string, error) {
	if c.op != "=" {
		return "", fmt.Errorf("%s needs = and a value", c.name)
	}
	detail := fmt.Sprintf("%s: %s", c.name, strconv.QuoteToASCII(got[:min(len(got), 200)]))
	if got != c.value {
		return "", errors.New(detail)
	}
	return detail, nil
}

// answered is the status, or the word of the fault.
func (r *Record) answered() string {
	switch {
	case !r.HasAnswer:
		return "none"
	case r.Status == 0:
		return r.fault
	}
	return strconv.Itoa(r.Status)
}

func statuses(g []Record) string {
	all := make([]string, len(g))
	for i := range g {
		all[i] = g[i].answered()
	}
	return strings.Join(all, ",")
}

// amplification is requests ÷ groups.
func (l *Log) amplification(c check) (string, error) {
	want, err := strconv.ParseFloat(c.value, 64)
	if err != nil || c.op != "<=" {
		return "", errors.New("amplification needs <= and a number")
	}
	groups := len(l.Groups())
	got := float64(len(l.Records)) / float64(groups)
	detail := fmt.Sprintf("amplification: %d requests / %d operations = %.2f", len(l.Records), groups, got)
	if got > want {
		return "", errors.New(detail)
	}
	return detail, nil
}

// afterExit needs the instant at which the client ended.
func (l *Log) afterExit() (string, error) {
	if !l.hasExit {
		return "", errors.New("cannot be evaluated: the client's exit was not marked")
	}
	for _, r := range l.Records {
		if r.Arrival > l.exit {
			return "", fmt.Errorf("request %d came %v after the exit", r.Number, (r.Arrival - l.exit).Round(time.Millisecond))
		}
	}
	return "none", nil
}
