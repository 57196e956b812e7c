package render

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bidehttp/bide/retry"
)

// Message says in one line why the operation of d failed. It starts with what
// went wrong last, in curl's words where curl has some; after a semicolon come
// bide's own: the limit that stopped it, when another try may succeed (R6.5),
// what would have made a retry safe (R3.2), and the idempotency key (R7.4).
// Where the policy allows one attempt only, or no other could mend the failure of
// the first, the message is curl's alone. It is "" after a success. Instants are
// in loc; nil is UTC. It comes from the document alone, Outcome.Message
// excepted, and is escaped.
func Message(d *Document, loc *time.Location) string {
	o := d.Outcome
	if o == nil || retry.Reason(o.Reason) == retry.Success {
		return ""
	}
	var parts []string
	if own := outputText(d); own != "" {
		return own
	}
	if last := lastFailure(d); last != "" {
		parts = append(parts, last)
	}
	if why := reasonText(d); why != "" || len(parts) == 0 {
		parts = append(parts, cmp.Or(why, Text(o.Reason)))
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

// Cause is what a message says before bide's own words: curl's text alone.
func Cause(message string) string {
	cause, _, _ := strings.Cut(message, "; ")
	return cause
}

// outputText is the whole story of an output that cannot be written: its error
// names the file, and the answer's status has no part in it.
func outputText(d *Document) string {
	n := len(d.Attempts)
	if n == 0 || retry.Reason(d.Outcome.Reason) != retry.OutputError || classOf(&d.Attempts[n-1]) != string(retry.ClassOutput) {
		return ""
	}
	if text := d.Attempts[n-1].Error; text != nil {
		return bounded(Text(*text), longestError)
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

// StopLine is Message as it stands on stderr: with the prefix and, as curl
// has it, the exit code in parentheses.
func StopLine(d *Document, loc *time.Location) string {
	m := Message(d, loc)
	if m == "" {
		return ""
	}
	return ErrorLine(d.Outcome.ExitCode, m)
}

// ErrorLine is curl's form of an error: "bide: (7) Failed to connect ...".
// Where nothing fails but the operation (exit code 0) it stands without a code.
func ErrorLine(code int, message string) string {
	if code == 0 {
		return Prefix + message
	}
	return Prefix + "(" + strconv.Itoa(code) + ") " + message
}

// single: the policy allows one attempt, so that nothing is to be said of others.
func single(d *Document) bool { return d.Policy.Attempts != nil && *d.Policy.Attempts == 1 }

// hopeless: the first attempt failed in a way that no other could mend.
func hopeless(d *Document) bool {
	return len(d.Attempts) == 1 && retry.Reason(d.Outcome.Reason) == retry.TransportError
}

// reasonText names the limit or the rule that stopped the operation; "" where
// the failure says it all.
func reasonText(d *Document) string {
	p, n := &d.Policy, len(d.Attempts)
	wait := wouldWait(d)
	switch retry.Reason(d.Outcome.Reason) {
	case retry.HTTPError:
		return unlessSingle(d, "not retried")
	case retry.AttemptsExhausted:
		if single(d) {
			return ""
		}
		return "gave up after " + plural(n, "attempt")
	case retry.RetryAfterExceedsCap:
		return "the server asks for " + serverAsks(d) + ", more than --cap " + limit(p.CapMS)
	case retry.RetryTimeExceeded:
		return "no retry may start after --retry-max-time " + limit(p.RetryMaxTimeMS)
	case retry.DeadlineBeforeRetry:
		if last := d.Attempts; len(last) > 0 && last[len(last)-1].Decision.WaitedMS != nil {
			return deadline(d) + " ran out during the wait"
		}
		if n == 0 {
			return deadline(d) + " leaves no time for an attempt"
		}
		if wait == "" {
			return deadline(d) + " leaves no time for another attempt"
		}
		return "a wait of " + wait + " does not fit into " + deadline(d)
	case retry.DeadlineExceeded:
		return deadline(d) + " was reached during attempt " + strconv.Itoa(n)
	case retry.UnsafeMethod:
		return unlessSingle(d, "not retried, since "+method(d)+" may have been acted on")
	case retry.NotReplayable:
		return unlessSingle(d, "not retried, since the request body cannot be read again")
	case retry.BodyChanged:
		return "not retried, since the request body changed after the first attempt"
	case retry.BudgetExhausted:
		return "the shared retry budget is used up"
	case retry.OutputCommitted:
		return unlessSingle(d, "not retried, since a part of the body is already written")
	case retry.TransportError:
		if n == 1 {
			return ""
		}
		return "failed after " + plural(n, "attempt")
	case retry.ChecksumMismatch:
		return unlessSingle(d, "no attempt brought what --checksum asks for ("+plural(n, "attempt")+")")
	case retry.RedirectError, retry.InputError, retry.OutputError, retry.Usage:
		return ""
	case retry.Canceled:
		return canceledText(d)
	}
	return Text(d.Outcome.Reason)
}

// deadline names the one that the operation had.
func deadline(d *Document) string {
	text := "--deadline " + limit(d.Policy.DeadlineMS)
	if d.Operation.Page != nil {
		text += " for all pages"
	}
	return text
}

// unlessSingle is text, or "" where no other attempt was wanted.
func unlessSingle(d *Document, text string) string {
	if single(d) {
		return ""
	}
	return text
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
	if single(d) {
		return ""
	}
	switch retry.Reason(d.Outcome.Reason) {
	case retry.UnsafeMethod:
		return "make it safe to repeat with --idempotency-key auto where the server knows keys, or vouch for it with --idempotent"
	case retry.NotReplayable:
		return "leave out --no-spool to keep the body"
	case retry.RetryAfterExceedsCap:
		return "allow it with a larger --cap"
	case retry.AttemptsExhausted:
		if n := len(d.Attempts); n > 0 && unmet(&d.Attempts[n-1]) {
			return "--attempts unlimited --deadline D asks for as long as you like"
		}
	}
	return ""
}

// lastFailure is the last real error or status. An attempt that a limit or a
// signal merely cut off is joined with the failure before it.
func lastFailure(d *Document) string {
	var cut string
	for i := len(d.Attempts) - 1; i >= 0; i-- {
		a := &d.Attempts[i]
		text := failure(a, single(d))
		if text == "" {
			continue
		}
		origin := where(a, d)
		if single(d) || hopeless(d) {
			origin = "" // curl's words, and no others
		}
		if unmet(a) {
			text = from(StatusText(*a.Status), origin) + ", " + unmetText(a)
		} else if a.Error != nil && answered(a) && classOf(a) != string(retry.ClassStatus) && origin != "" {
			text += " (" + StatusText(*a.Status) + " from " + origin + ")"
		} else if origin != "" && a.Error == nil {
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

// failure describes what went wrong in a; "" when nothing did. A status is told
// in curl's words where they are all that is told.
func failure(a *Attempt, curls bool) string {
	switch {
	case a.Class == nil && (a.Error == nil || *a.Error == ""):
		return ""
	case answered(a) && (classOf(a) == string(retry.ClassStatus) || a.Error == nil || *a.Error == ""):
		if curls && !unmet(a) {
			return "The requested URL returned error: " + strconv.Itoa(*a.Status)
		}
		if a.Error != nil && *a.Error != "" && *a.Status < 400 && !unmet(a) {
			return StatusText(*a.Status) + ", " + bounded(Text(*a.Error), longestError)
		}
		return StatusText(*a.Status)
	case a.Error != nil && *a.Error != "":
		return bounded(Text(*a.Error), longestError)
	}
	return Text(*a.Class) + " error"
}

// unmet: --until was not true of the answer.
func unmet(a *Attempt) bool { return a.Until != nil && !*a.Until }

func unmetText(a *Attempt) string {
	if a.Error != nil {
		return bounded(Text(*a.Error), longestError)
	}
	return notMet
}

// notMet is said of an answer that --until is not content with.
const notMet = "--until is not true"

// longestError bounds an error's text in bytes: it may quote a long name.
const longestError = 400

func answered(a *Attempt) bool { return a.Status != nil && *a.Status > 0 }

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
