package exchange

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/retry"
)

// next is the hop that the answer asks for; nil when the answer is final.
func (a *attempt) next(x *answer) (*hopState, error) {
	status := x.resp.Status
	if status == 417 && x.expected {
		again := a.at
		again.noExpect = true
		return &again, nil
	}
	if a.challenged(x) {
		again := a.at
		return &again, nil
	}
	location := strings.Trim(fieldsOf(x.resp.Header).get("Location"), " \t")
	if status < 300 || status > 399 || location == "" {
		return nil, nil
	}
	to, err := a.at.url.Resolve(location)
	if !a.op.Template.Follow && !a.op.polls(status) {
		var refused *request.Error
		switch {
		case err == nil:
			a.r.RedirectURL = to.String()
		case errors.As(err, &refused) && refused.Code == exitcode.BadProtocol:
			a.r.RedirectURL = location // of a scheme that is not spoken here
		}
		return nil, nil
	}
	return a.follow(status, to, err)
}

// follow is the hop after a redirect, if it may be followed.
func (a *attempt) follow(status int, to *request.URL, err error) (*hopState, error) {
	t := a.op.Template
	if t.MaxRedirects >= 0 && int(a.at.redirects) >= t.MaxRedirects {
		if err == nil {
			a.r.RedirectURL = to.String()
		}
		return nil, failure(retry.ClassRedirect, exitcode.TooManyRedirect, retry.PhaseDone,
			words(fmt.Sprintf("Maximum (%d) redirects followed", t.MaxRedirects)))
	}
	if err != nil {
		return nil, err
	}
	to = a.op.Client.Upgrade(to)
	if err := a.op.mayGo(a.at.url, to); err != nil {
		return nil, err
	}
	next := a.at
	next.url = to
	next.redirects++
	a.changeMethod(status, &next)
	next.left = a.at.left || !a.at.url.SameOrigin(to) && !t.LocationTrusted
	if next.left || a.at.body && !next.body {
		// For good: what comes back from elsewhere is not what the key was for (R7.6).
		next.key = false
	}
	if t.AutoReferer {
		next.referer = a.at.url
	}
	a.r.Redirects++
	return &next, nil
}

// mayGo refuses what must not be asked because a server at from said so.
func (o *Operation) mayGo(from, to *request.URL) error {
	t := o.Template
	if t.SchemesRedir != nil && !slices.Contains(t.SchemesRedir, to.Scheme) {
		return failure(retry.ClassRedirect, exitcode.BadProtocol, retry.PhaseDone,
			words(`Protocol "`+to.Scheme+`" disabled in redirect`))
	}
	if t.NoUserinfo && to.HasUser && !from.HasUser {
		return failure(retry.ClassRedirect, exitcode.Login, retry.PhaseDone, words("Login denied; the redirect's URL holds a user name"))
	}
	return nil
}

// Upgrade gives u with https where its host is known to want that (RFC 6797 §8.3).
func (c *Client) Upgrade(u *request.URL) *request.URL {
	if c.HSTS == nil || u.Scheme != "http" || !c.HSTS.Wants(u.ASCIIHost(), c.Clock.Wall()) {
		return u
	}
	u = u.WithScheme("https")
	if c.Trace != nil {
		c.Trace.Info("Switched from HTTP to HTTPS due to HSTS => " + u.Redacted(false))
	}
	return u
}

// changeMethod is curl's reading of RFC 9110 §15.4: 301 and 302 turn a POST
// into a GET, 303 everything but GET and HEAD, each unless --post30x asks to
// keep it. A method given by -X stays, but its body goes the same way.
func (a *attempt) changeMethod(status int, next *hopState) {
	t := a.op.Template
	kind := a.kind()
	var keep bool
	switch status {
	case 301:
		keep = kind != "POST" || t.Post301
	case 302:
		keep = kind != "POST" || t.Post302
	case 303:
		keep = kind == "GET" || kind == "HEAD" || kind == "POST" && t.Post303
	default:
		keep = true
	}
	if keep {
		return
	}
	next.body = false
	if !t.MethodGiven || a.op.polls(status) {
		next.method = "GET"
	}
}

// kind is what sort of request the hop is, whatever -X calls it: one with a
// form or data is a POST, an upload a PUT.
func (a *attempt) kind() string {
	t := a.op.Template
	switch {
	case !t.MethodGiven:
		return a.at.method
	case !a.at.body && a.at.method == "HEAD":
		return "HEAD"
	case !a.at.body:
		return "GET"
	case t.Upload:
		return "PUT"
	}
	return "POST"
}

func hasLine(lines []request.HeaderLine, name string) bool {
	return slices.ContainsFunc(lines, func(l request.HeaderLine) bool { return strings.EqualFold(l.Name, name) })
}

// pause waits before the next hop where the answer named a minimum (R5.6) or
// another operation was told to leave that origin alone (R4.12). It reports
// whether the attempt ends here, with o changed to say why.
func (a *attempt) pause(x *answer, next *hopState, o *retry.Outcome) (stop bool) {
	c := a.op.Client
	seen := x.resp.Timing.Head
	server := o.Server
	if next.redirects == a.at.redirects {
		server = retry.Server{} // only a redirect may name a minimum (R5.6)
	}
	if c.Hold != nil {
		if server.Valid && server.Minimum > 0 {
			c.Hold.Tell(o.Origin, later(seen, server.Minimum))
		}
		if held := c.Hold.Until(next.url.Origin()) - seen; held > 0 && (!server.Valid || held > server.Minimum) {
			server = retry.Server{Valid: true, Minimum: held}
		}
	}
	u := 0.0
	if server.Valid && server.Minimum > 0 {
		u = c.Rand()
	}
	d := a.bounds(seen).DecideHop(server, 0, u)
	if !d.Retry {
		return a.stopped(o, d.Reason)
	}
	from := c.Clock.Mono()
	if d.Wait > 0 {
		if err := sleepUntil(a.ctx, c.Clock, later(seen, d.Wait)); err != nil {
			a.interrupted(next, o)
			return true
		}
		a.r.Hops[len(a.r.Hops)-1].Wait = c.Clock.Mono() - from
	}
	if a.ctx.Err() != nil {
		a.interrupted(next, o)
		return true
	}
	if left, bounded := retry.Remaining(a.ctx); bounded && left <= 0 {
		if d.Wait == 0 {
			return a.stopped(o, retry.DeadlineExceeded) // R6.3, between two hops
		}
		return a.stopped(o, retry.DeadlineBeforeRetry) // R6.2, after waking
	}
	return false
}

// stopped ends the attempt at a redirect whose pause is not to be had.
func (a *attempt) stopped(o *retry.Outcome, why retry.Reason) bool {
	o.Class, o.Stop = retry.ClassStatus, why
	a.r.ReceivedBytes = a.r.Received()
	return true
}

// interrupted is the outcome of a pause that the context ended: nothing of the
// next hop was sent.
func (a *attempt) interrupted(next *hopState, o *retry.Outcome) {
	last, status := a.at, o.Status
	a.at = *next
	a.broke(a.ended(retry.PhaseConnect), o)
	a.at, o.Status = last, status
}

// bounds is the policy at seen, with what is left of the deadline then as its own:
// the operation may have begun long before its attempts (R4.12).
func (a *attempt) bounds(seen time.Duration) retry.Policy {
	p := *a.op.Policy
	p.Deadline = 0
	if left, bounded := retry.Remaining(a.ctx); bounded {
		p.Deadline = max(later(left, a.op.Client.Clock.Mono()-seen), 1) // 0 would be none
	}
	return p
}

// sleepUntil returns at instant on the monotonic clock, never earlier.
func sleepUntil(ctx context.Context, clock retry.Clock, instant time.Duration) error {
	for {
		left := instant - clock.Mono()
		if left <= 0 {
			return nil
		}
		if err := clock.Sleep(ctx, left); err != nil {
			return err
		}
	}
}

// later is instant + d, saturating (R4.5).
func later(instant, d time.Duration) time.Duration {
	if sum := instant + d; d <= 0 || sum >= instant {
		return sum
	}
	return 1<<63 - 1
}
