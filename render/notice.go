package render

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bidehttp/bide/retry"
)

// Prefix starts every line on stderr.
const Prefix = "bide: "

// Notices writes the plain lines about waits and holds. Read-only.
type Notices struct {
	Location *time.Location // of instants; nil is UTC, which is then said
	Redactor *Redactor      // nil hides what R11.1 hides
	Attempts int            // Policy.Attempts, 0 unlimited
	ASCII    bool           // no micro sign
}

// NoticeWait is the one line for an EventWait: what happened where, who decided
// the wait, how long it is and until when. It names origins only (R11.1).
func (n Notices) NoticeWait(e retry.Event) string {
	cause := n.cause(e.Outcome)
	waiting := fmt.Sprintf("waiting %s until %s", Duration(e.Wait, n.ASCII), Clock(e.Until, n.Location))
	next := n.next(e.Number+1, !e.Outcome.Polling)
	switch s := e.Outcome.Server; {
	case e.Decision.Source == retry.SourceServer && s.Valid:
		return fmt.Sprintf("%s%s, server asks for %s; %s%s", Prefix, cause, Duration(s.Minimum, n.ASCII), waiting, next)
	case e.Decision.Source == retry.SourceShared:
		return fmt.Sprintf("%s%s, shared hold on this origin; %s%s", Prefix, cause, waiting, next)
	case s.Kind == "invalid":
		return fmt.Sprintf("%s%s, %s %q is not valid; backoff, %s%s", Prefix, cause, Text(s.Header), short(s.Raw), waiting, next)
	}
	return fmt.Sprintf("%s%s; backoff, %s%s", Prefix, cause, waiting, next)
}

// NoticeHold is the one line for an EventHold: another operation was told to
// wait by the origin, and this one waits too (R4.12).
func (n Notices) NoticeHold(origin string, e retry.Event) string {
	return fmt.Sprintf("%s%s asked another request to wait; holding %s until %s%s", Prefix, n.text(Origin(origin)),
		Duration(e.Wait, n.ASCII), Clock(e.Until, n.Location), n.next(max(e.Number, 1), true))
}

// Countdown is the live form of a wait's line: the same facts with what is left,
// in whole seconds rounded up; what may be cut at the line's end comes last.
func (n Notices) Countdown(e retry.Event, left time.Duration) string {
	secs := (left + time.Second - 1) / time.Second * time.Second
	number, why := e.Number+1, "backoff"
	switch e.Decision.Source {
	case retry.SourceServer:
		why = "server asks for " + Duration(e.Outcome.Server.Minimum, n.ASCII)
	case retry.SourceShared:
		why = "shared hold"
	}
	if e.Kind == retry.EventHold {
		number, why = max(e.Number, 1), "shared hold"
	} else {
		why += ", " + n.cause(e.Outcome)
	}
	return fmt.Sprintf("%s%s left until %s%s: %s", Prefix, Duration(secs, n.ASCII), Clock(e.Until, n.Location), n.next(number, !e.Outcome.Polling), why)
}

func (n Notices) next(number int, counted bool) string {
	if !counted || n.Attempts == retry.Unlimited || number > n.Attempts {
		return fmt.Sprintf(" (attempt %d)", number)
	}
	return fmt.Sprintf(" (attempt %d of %d)", number, n.Attempts)
}

func (n Notices) cause(o retry.Outcome) string {
	origin := n.text(Origin(o.Origin))
	if o.Unmet {
		return from(strconv.Itoa(o.Status), origin) + ", " + n.unmet(o)
	}
	if o.Err == nil || o.Class == retry.ClassStatus && o.Status > 0 {
		return from(strconv.Itoa(o.Status), origin)
	}
	return from(string(o.Class)+" error", origin) + " (" + short(n.text(rootText(o.Err))) + ")"
}

// unmet says what --until had against an answer.
func (n Notices) unmet(o retry.Outcome) string {
	if o.Err != nil {
		return short(n.text(o.Err.Error()))
	}
	return notMet
}

func from(what, origin string) string {
	if origin == "" {
		return what
	}
	return what + " from " + origin
}

// rootText is the innermost error's text: outer ones repeat method and URL.
func rootText(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil || inner.Error() == "" {
			return err.Error()
		}
		if _, classified := err.(retry.Classified); classified {
			return err.Error()
		}
		err = inner
	}
}

func (n Notices) text(s string) string {
	r := n.Redactor
	if r == nil {
		r = &Redactor{}
	}
	return r.Text(s)
}

// short bounds a server's or an error's text within a line.
func short(s string) string {
	const most = 120
	return bounded(s, most)
}

func bounded(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-3], "") + "..."
}

// Clock shows an instant in loc to the second; nil is UTC, marked Z.
func Clock(at time.Time, loc *time.Location) string {
	if loc == nil {
		return at.UTC().Format("15:04:05Z")
	}
	return at.In(loc).Format("15:04:05")
}

// Instant is Clock with the date where at is not on the same day as now.
func Instant(at, now time.Time, loc *time.Location) string {
	zone := loc
	if zone == nil {
		zone = time.UTC
	}
	y, m, d := at.In(zone).Date()
	y0, m0, d0 := now.In(zone).Date()
	if y == y0 && m == m0 && d == d0 {
		return Clock(at, loc)
	}
	return at.In(zone).Format("2006-01-02 ") + Clock(at, loc)
}

// NextTry is Instant rounded up to the second: who follows it is never early.
func NextTry(at, now time.Time, loc *time.Location) string {
	if t := at.Truncate(time.Second); t.Before(at) {
		at = t.Add(time.Second)
	}
	return Instant(at, now, loc)
}
