package retrytest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
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
// no such gap, unknown words) has failed and says why; ParseCheck finds wrong
// words beforehand.
//
// Of each group (see GroupBy; "group-by=BY" as a check changes it for those after it).
// Where others have gaps or a Retry-After, a group without them passes over:
//
//	attempts=3  attempts<=5  attempts>=2     requests of the group
//	gap1>=1s  gap2<=3s  gap1=0.5s..3s        time from an answer's end (or fault) to the next request
//	gaps>=1s                                 all of them
//	gaps>=retry-after                        each at least what the answer before it asked for, from its head on
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
		if by, ok := strings.CutPrefix(text, groupByCheck); ok {
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

// evaluate judges one check; the error says why it failed.
func (l *Log) evaluate(text string) (string, error) {
	judge, err := compile(text)
	if err != nil {
		return "", err
	}
	return judge(l)
}

// needRequests fails a check of requests when there are none.
func needRequests(j judge) judge {
	return func(l *Log) (string, error) {
		if len(l.Records) == 0 {
			return "", errors.New("cannot be evaluated: no request arrived")
		}
		return j(l)
	}
}

// vacuous says that a group has nothing that a check is about. It passes over
// where another group has; if none has, the check cannot be evaluated.
type vacuous string

func (v vacuous) Error() string { return "cannot be evaluated: " + string(v) }

// eachGroup judges group by group. The first that fails names itself, and how
// many do.
func eachGroup(f func([]Record) (string, error)) judge {
	return func(l *Log) (string, error) {
		groups := l.Groups()
		if len(groups) == 1 {
			return f(groups[0])
		}
		var first, nothing error
		var details []string
		failed, empty := 0, 0
		for _, g := range groups {
			detail, err := f(g)
			switch {
			case errors.As(err, new(vacuous)):
				nothing = cmp.Or(nothing, err)
				empty++
			case err != nil:
				first = cmp.Or(first, fmt.Errorf("group %q: %w", escape(g[0].Group), err))
				failed++
			case !slices.Contains(details, detail):
				details = append(details, detail)
			}
		}
		return summary{len(groups), failed, empty, details}.of(cmp.Or(first, nothing))
	}
}

// summary is how many groups failed, or had nothing to judge.
type summary struct {
	groups, failed, empty int
	details               []string // of the others, each once
}

func (s summary) of(err error) (string, error) {
	const most = 5
	switch {
	case s.failed > 1:
		return "", fmt.Errorf("%w (%d of %d groups fail)", err, s.failed, s.groups)
	case s.failed == 1 || s.empty == s.groups:
		return "", err
	case len(s.details) == 1:
		return fmt.Sprintf("%s in each of %d groups", s.details[0], s.groups-s.empty), nil
	case len(s.details) > most:
		return fmt.Sprintf("%s; and so on, in %d groups", strings.Join(s.details[:most], "; "), s.groups-s.empty), nil
	}
	return strings.Join(s.details, "; "), nil
}

// eachRequest judges request by request.
func eachRequest(f func(*Record) error) judge {
	return func(l *Log) (string, error) {
		for i := range l.Records {
			if err := f(&l.Records[i]); err != nil {
				return "", fmt.Errorf("request %d: %w", l.Records[i].Number, err)
			}
		}
		return fmt.Sprintf("all %d", len(l.Records)), nil
	}
}

func noHeader(name string) judge {
	return eachRequest(func(r *Record) error {
		if r.Has(name) {
			return fmt.Errorf("it carries %s", escape(name))
		}
		return nil
	})
}

// compare applies an operator.
func compare[T cmp.Ordered](op string, got, want T, detail string) (string, error) {
	var ok bool
	switch op {
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
	}
	if !ok {
		return "", errors.New(detail)
	}
	return detail, nil
}

// unanswered is the word for a request without an answer.
const unanswered = "none"

// faultWords are what a request can come to other than a status (step.name).
func faultWords() []string {
	return []string{"reset", "close", "stall", "garbage", "raw", "lost", "goaway", "refuse-stream", "rst-stream", unanswered}
}

// answered is the status, or the word of the fault.
func (r *Record) answered() string {
	switch {
	case !r.HasAnswer:
		return unanswered
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

// afterExit needs the instant at which the client ended.
func (l *Log) afterExit() (string, error) {
	if !l.HasExit {
		return "", errors.New("cannot be evaluated: the client's exit was not marked")
	}
	for _, r := range l.Records {
		if r.Arrival > l.Exit {
			return "", fmt.Errorf("request %d came %v after the exit", r.Number, (r.Arrival - l.Exit).Round(time.Millisecond))
		}
	}
	return "none", nil
}
