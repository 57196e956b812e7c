package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

// book collects rules of the contract.
type book []render.PlanRule

func (b *book) say(rule, format string, a ...any) {
	*b = append(*b, render.PlanRule{Rule: rule, Text: fmt.Sprintf(format, a...)})
}

// rules are those of the contract that this policy brings into play, in the
// order of the contract.
func (r *Request) rules() []render.PlanRule {
	var b book
	r.counting(&b)
	r.transient(&b)
	r.awaited(&b)
	r.safety(&b)
	r.waiting(&b)
	r.server(&b)
	r.limits(&b)
	r.ending(&b)
	return b
}

func (r *Request) counting(b *book) {
	p := &r.Policy
	switch p.Attempts {
	case retry.Unlimited:
		b.say("R2.1", "The number of attempts has no bound; time ends them.")
	case 1:
		b.say("R2.1", "One attempt: nothing is retried.")
		return
	default:
		b.say("R2.1", "%d attempts at most, the first included.", p.Attempts)
	}
	if p.MaxResumes > 0 {
		b.say("R2.4", "A body that breaks off after progress is continued where the server allows that; up to %d such continuations do not count as attempts.", p.MaxResumes)
	}
}

func (r *Request) transient(b *book) {
	p := &r.Policy
	on := p.RetryOn.List()
	if len(on) == 0 {
		on = []string{"nothing"}
	}
	text := "Worth another attempt: " + strings.Join(on, ", ")
	for _, c := range [...]struct {
		outcome retry.Outcome
		words   string
	}{
		{retry.Outcome{Class: retry.ClassStatus, Status: 409, Keyed: r.Keyed}, "409, since a key is sent"},
		{retry.Outcome{Class: retry.ClassStatus, Status: 413, Server: retry.Server{Valid: true}}, "413 with a valid Retry-After"},
		{retry.Outcome{Class: retry.ClassStatus, Status: 421}, "421 once, on a new connection"},
		{retry.Outcome{Class: retry.ClassStatus, Status: 403, RateLimited: r.RateLimitHeaders}, "403 of a rate limit"},
	} {
		if !p.RetryOn.HasStatus(c.outcome.Status) && !p.AllErrors && p.Transient(c.outcome, retry.State{}) {
			text += "; " + c.words
		}
	}
	b.say("R3.3", "%s. Every other failure is final.", text)
	if p.AllErrors {
		b.say("R3.3c", "--retry-all-errors: beyond that list every status from 400 on and every failure but request, input, output and canceled.")
	}
}

// awaited are the answers that are no failures, and not what is waited for.
func (r *Request) awaited(b *book) {
	if r.Until {
		b.say("R3.3e", "An answer of which --until is not true is worth another attempt, whatever its status.")
	}
	if r.Poll {
		b.say("R2.1b", "--poll: an answer that says that the result is not there yet is no failure and does not count; its state is asked for with GET.")
	}
}

func (r *Request) safety(b *book) {
	p := &r.Policy
	switch {
	case retry.IdempotentMethod(r.Method):
		b.say("R3.2", "%s is idempotent: it is sent again after any of these failures.", r.Method)
	case r.Keyed:
		b.say("R3.2", "%s with an idempotency key is sent again after any of these failures; every attempt carries the same key (R7.1).", r.Method)
	case p.Idempotent:
		b.say("R3.2", "--idempotent: the user vouches that %s may be repeated.", r.Method)
	default:
		var untouched []string
		for _, c := range retry.Classes() {
			if c.NotActedOn && p.RetryOn.HasClass(c.Class) {
				untouched = append(untouched, string(c.Class))
			}
		}
		b.say("R3.1", "%s is sent again where the server did nothing: %s, 421.", r.Method, strings.Join(untouched, ", "))
		if on := p.SafeOn.List(); len(on) > 0 {
			b.say("R3.2", "--safe-on: it is sent again also on %s, on which this server is known to have done nothing.", strings.Join(on, ", "))
		}
		b.say("R3.2", "After any other failure %s may have been acted on and is not sent again: unsafe_method.", r.Method)
	}
}

func (r *Request) waiting(b *book) {
	p := &r.Policy
	switch {
	case p.Base == 0:
		b.say("§4", "There is no wait of its own: where the server names no minimum, the next attempt follows at once.")
	case p.Backoff == retry.Fixed:
		b.say("§4", "The local wait is %s after each failure.", exact(p.Base))
	default:
		b.say("R4.4", "The local wait is %s after the first failure and doubles with each that counts, whatever the server said in between.", exact(p.Base))
	}
	switch {
	case p.JitterMode == retry.Full:
		b.say("R4.2", "Full jitter: a wait lies anywhere between the server's minimum (0 without one) and the local wait.")
	case p.Jitter > 0:
		b.say("R4.2", "Waits are spread upwards by a ratio of %v, never downwards: %s.", p.Jitter, r.example())
	}
	if p.Cap > 0 {
		b.say("R4.1", "No wait is shorter than the server's minimum, none longer than %s.", exact(p.Cap))
		b.say("R4.0", "A server that asks for more than %s ends the operation at once: retry_after_exceeds_cap.", exact(p.Cap))
	} else {
		b.say("R4.1", "No wait is shorter than the server's minimum; no cap: however long it is, it is waited for.")
	}
}

// example is a wait of the engine's with its spread.
func (r *Request) example() string {
	p := r.Policy
	p.Attempts, p.Deadline, p.RetryMaxTime = retry.Unlimited, 0, 0
	minimum := 10 * time.Second
	if p.Cap > 0 {
		minimum = min(minimum, p.Cap/2)
	}
	d := p.Decide(retry.State{Failures: 1, Counted: 1}, r.named(minimum), 0)
	if !d.HasWait {
		return "many clients do not come back at once"
	}
	return fmt.Sprintf("%s becomes %s to %s", exact(d.Floor), exact(d.Floor), exact(d.Ceiling))
}

func (r *Request) server(b *book) {
	p := &r.Policy
	if p.RetryAfterMode == retry.Replace {
		b.say("R4.10", "A server's minimum takes the place of the local wait, also where it is shorter.")
	} else {
		b.say("R4.10", "A server's minimum (Retry-After, in seconds or as a date) is a floor under the wait: it makes it longer, never shorter.")
	}
	b.say("R4.3", "Retry-After: 0, or a date in the past, names no minimum; R5.3: nor does one that is not valid.")
	if r.RateLimitHeaders {
		b.say("R5.7", "Where Retry-After is absent, the RateLimit and X-RateLimit headers are read.")
	}
}

func (r *Request) limits(b *book) {
	p := &r.Policy
	if p.Deadline > 0 {
		b.say("R6.1", "The whole operation, the transfer in flight included, ends %s after its start.", exact(p.Deadline))
		text := "A wait that would not end before that"
		if p.AttemptReserve > 0 {
			text += ", with " + exact(p.AttemptReserve) + " left for the attempt,"
		}
		b.say("R6.2", "%s is not begun: deadline_before_retry, at once.", text)
	}
	if p.RetryMaxTime > 0 {
		b.say("R6.1", "No retry starts later than %s after the start: retry_time_exceeded.", exact(p.RetryMaxTime))
	}
	if r.ConnectTimeout > 0 && (p.MaxTime == 0 || r.ConnectTimeout < p.MaxTime) {
		b.say("§3", "Name, TCP and TLS have %s in each attempt, over all addresses: a failure that leaves the server untouched.", exact(r.ConnectTimeout))
	}
	if p.MaxTime > 0 {
		b.say("R6.3", "Each attempt ends after %s at the latest, as a failure of class timeout.", exact(p.MaxTime))
	}
	if p.MaxTime > 0 && p.Deadline == p.MaxTime {
		b.say("R6.4", "-m alone bounds the whole operation, too.")
	}
}

func (r *Request) ending(b *book) {
	if r.Keyed {
		b.say("R7.5", "With the key, 409 (the first request is in progress) is worth another attempt; 400 and 422 are final.")
	}
	if r.Seed != nil {
		b.say("R4.9", "--seed %d: the jitter is the same in each run.", *r.Seed)
	}
	if r.Policy.Attempts != 1 {
		b.say("R10.3", "Exit 75 when such a status came last and a limit ended it: a later run may succeed.")
	}
}

// exact is d in full, without zero units at its end.
func exact(d time.Duration) string {
	s := d.String()
	for _, zero := range [...]string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}
