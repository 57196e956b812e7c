package render

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bidehttp/bide/retry"
)

// Message says in one line why the operation of d failed: the limit that
// stopped it, the last real error or status, when another try may succeed
// (R6.5), what would have made a retry safe (R3.2), and the idempotency key
// (R7.4). It is "" after a success. Instants are in loc; nil is UTC. It comes
// from the document alone, Outcome.Message excepted, and is escaped.
func Message(d *Document, loc *time.Location) string {
	o := d.Outcome
	if o == nil || retry.Reason(o.Reason) == retry.Success {
		return ""
	}
	parts := []string{reasonText(d)}
	if own := outputText(d); own != "" {
		parts[0] = own
	} else if last := lastFailure(d); last != "" {
		parts[0] += ": " + last
	}
	if next := nextText(d, loc); next != "" {
		parts = append(parts, next)
	}
	if hint := hintText(d); hint != "" {
		parts = append(parts, hint)
	}
	if k := d.Operation.IdempotencyKey; k != nil && len(d.Attempts) > 0 {
		parts = append(parts, "to run the same operation again: --idempotency-key "+shellWord(*k))
	}
	return strings.Join(parts, "; ")
}

// outputText is the whole story of an output that cannot be written: its error
// names the file, and the answer's status has no part in it.
func outputText(d *Document) string {
	n := len(d.Attempts)
	if n == 0 || retry.Reason(d.Outcome.Reason) != retry.OutputError || classOf(&d.Attempts[n-1]) != string(retry.ClassOutput) {
		return ""
	}
	if text := d.Attempts[n-1].Error; text != nil {
		return shortTo(Text(*text), 300)
	}
	return ""
}

// nextText says when another try may succeed, while that lies ahead.
func nextText(d *Document, loc *time.Location) string {
	end := d.Operation.StartedAt.Add(time.Duration(d.Outcome.ElapsedMS))
	if next := d.Outcome.NextAttemptAt; next != nil && next.After(end) {
		return "another try may succeed at " + NextTry(next.Time, end, loc)
	}
	return ""
}

// StopLine is Message as it stands on stderr, with the prefix.
func StopLine(d *Document, loc *time.Location) string {
	m := Message(d, loc)
	if m == "" {
		return ""
	}
	return Prefix + m
}

// reasonText names the limit or the rule that stopped the operation.
func reasonText(d *Document) string {
	p, n := &d.Policy, len(d.Attempts)
	wait := wouldWait(d)
	switch retry.Reason(d.Outcome.Reason) {
	case retry.HTTPError:
		return "not retried"
	case retry.AttemptsExhausted:
		return "gave up after " + plural(n, "attempt")
	case retry.RetryAfterExceedsCap:
		return "the server asks for " + serverAsks(d) + ", more than --cap " + limit(p.CapMS)
	case retry.RetryTimeExceeded:
		return "no retry may start after --retry-max-time " + limit(p.RetryMaxTimeMS)
	case retry.DeadlineBeforeRetry:
		if last := d.Attempts; len(last) > 0 && last[len(last)-1].Decision.WaitedMS != nil {
			return "--deadline " + limit(p.DeadlineMS) + " ran out during the wait"
		}
		if n == 0 {
			return "--deadline " + limit(p.DeadlineMS) + " leaves no time for an attempt"
		}
		if wait == "" {
			return "--deadline " + limit(p.DeadlineMS) + " leaves no time for another attempt"
		}
		return "a wait of " + wait + " does not fit into --deadline " + limit(p.DeadlineMS)
	case retry.DeadlineExceeded:
		return "--deadline " + limit(p.DeadlineMS) + " was reached during attempt " + strconv.Itoa(n)
	case retry.UnsafeMethod:
		return "not retried, since " + method(d) + " may have been acted on"
	case retry.NotReplayable:
		return "not retried, since the request body cannot be read again"
	case retry.BodyChanged:
		return "not retried, since the request body changed after the first attempt"
	case retry.BudgetExhausted:
		return "the shared retry budget is used up"
	case retry.OutputCommitted:
		return "not retried, since a part of the body is already written"
	case retry.TransportError:
		return "failed after " + plural(n, "attempt")
	case retry.RedirectError:
		return "redirect not followed"
	case retry.ChecksumMismatch:
		return "checksum does not match"
	case retry.InputError:
		return "cannot read the request body"
	case retry.OutputError:
		return "cannot write the output"
	case retry.Usage:
		return "cannot make the request"
	case retry.Canceled:
		return canceledText(d)
	}
	return Text(d.Outcome.Reason)
}

func canceledText(d *Document) string {
	n := len(d.Attempts)
	switch {
	case n == 0:
		return "canceled before the first attempt"
	case d.Attempts[n-1].Class != nil && *d.Attempts[n-1].Class == string(retry.ClassCanceled):
		return "canceled during attempt " + strconv.Itoa(n)
	case d.Attempts[n-1].Decision.Action == ActionRetry, d.Attempts[n-1].Decision.WouldWaitMS != nil:
		return "canceled while waiting for attempt " + strconv.Itoa(n+1)
	}
	return "canceled after " + plural(n, "attempt")
}

// hintText says what the user can do about it.
func hintText(d *Document) string {
	switch retry.Reason(d.Outcome.Reason) {
	case retry.UnsafeMethod:
		return "make it safe to repeat with --idempotency-key auto where the server knows keys, or vouch for it with --idempotent"
	case retry.NotReplayable:
		return "leave out --no-spool to keep the body"
	case retry.RetryAfterExceedsCap:
		return "allow it with a larger --cap"
	}
	return ""
}

// lastFailure is the last real error or status. An attempt that a limit or a
// signal merely cut off is joined with the failure before it.
func lastFailure(d *Document) string {
	var cut string
	for i := len(d.Attempts) - 1; i >= 0; i-- {
		a := &d.Attempts[i]
		text := failure(a)
		if text == "" {
			continue
		}
		if origin := where(a, d); origin != "" && a.Error == nil {
			text += " from " + origin
		} else if origin != "" && !strings.Contains(text, hostOf(origin)) {
			text += " (" + origin + ")"
		}
		if !cutOff(d, i) {
			if cut != "" {
				return cut + ", after " + text + " in attempt " + strconv.Itoa(a.Number)
			}
			return text
		}
		cut = text
	}
	return cut
}

// cutOff: attempt i was ended by the operation's own end, not by the server.
func cutOff(d *Document, i int) bool {
	if i != len(d.Attempts)-1 {
		return false
	}
	switch retry.Reason(d.Outcome.Reason) {
	case retry.DeadlineExceeded, retry.Canceled:
		c := d.Attempts[i].Class
		return c != nil && (*c == string(retry.ClassTimeout) || *c == string(retry.ClassCanceled))
	}
	return false
}

// failure describes what went wrong in a; "" when nothing did.
func failure(a *Attempt) string {
	switch {
	case a.Error != nil && *a.Error != "":
		text := shortTo(Text(*a.Error), 300) // the last word on it: what to do may stand at its end
		if a.Status != nil && *a.Status > 0 && classOf(a) != string(retry.ClassStatus) && classOf(a) != string(retry.ClassRedirect) {
			text = StatusText(*a.Status) + ", then " + text
		} else if a.Status != nil && classOf(a) == string(retry.ClassStatus) {
			text = StatusText(*a.Status)
		}
		return text
	case a.Class == nil:
		return ""
	case a.Status != nil && *a.Status > 0:
		return StatusText(*a.Status)
	}
	return Text(*a.Class) + " error"
}

func classOf(a *Attempt) string {
	if a.Class == nil {
		return ""
	}
	return *a.Class
}

// StatusText is "429 Too Many Requests", or the number alone.
func StatusText(status int) string {
	n := strconv.Itoa(status)
	if t := http.StatusText(status); t != "" {
		return n + " " + t
	}
	return n
}

// where is the origin that a's last hop asked.
func where(a *Attempt, d *Document) string {
	if n := len(a.Hops); n > 0 {
		return Text(Origin(a.Hops[n-1].URL))
	}
	return Text(Origin(d.Operation.URL))
}

// hostOf is the host of an origin, without scheme and port.
func hostOf(origin string) string {
	_, host, _ := strings.Cut(origin, "://")
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	return strings.Trim(host, "[]")
}

func method(d *Document) string {
	for i := len(d.Attempts) - 1; i >= 0; i-- {
		if h := d.Attempts[i].Hops; len(h) > 0 {
			return Text(h[len(h)-1].Method)
		}
	}
	return Text(d.Operation.Method)
}

func serverAsks(d *Document) string {
	if n := len(d.Attempts); n > 0 && d.Attempts[n-1].Server.MinimumMS != nil {
		s := &d.Attempts[n-1].Server
		text := Duration(s.MinimumMS.Duration(), true)
		if s.Header != nil && s.Raw != nil {
			text += fmt.Sprintf(" (%s: %s)", Text(*s.Header), short(Text(*s.Raw)))
		}
		return text
	}
	return "a longer wait"
}

func wouldWait(d *Document) string {
	if n := len(d.Attempts); n > 0 && d.Attempts[n-1].Decision.WouldWaitMS != nil {
		return Duration(d.Attempts[n-1].Decision.WouldWaitMS.Duration(), true)
	}
	return ""
}

func limit(m *MS) string {
	if m == nil {
		return "none"
	}
	return Duration(m.Duration(), true)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// shellWord quotes s for a POSIX shell where it needs it.
func shellWord(s string) string {
	s = Text(s)
	plain := s != ""
	for i := 0; i < len(s) && plain; i++ {
		c := s[i]
		plain = c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-_.:/@+=", c) >= 0
	}
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
