package render

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/bidehttp/bide/retry"
)

// What Decision.Action may be.
const (
	ActionRetry = "retry"
	ActionStop  = "stop"
)

// slack is what rounding to microseconds may add up to in a comparison.
const slack = MS(5 * time.Microsecond)

// Consistent checks what a schema cannot say: counts, sums, order in time, and
// which values go with which action and class. All faults are joined.
func Consistent(d *Document) error {
	c := &checker{d: d}
	c.that(d.Version == Version, "version %d is not %d", d.Version, Version)
	for i := range d.Attempts {
		c.attempt(i)
	}
	if d.Outcome != nil {
		c.outcome(d.Outcome)
	}
	if r := d.Response; r != nil {
		c.that(r.Body == nil || r.BodyBase64 == nil, "response has both body and body_base64")
		c.that(r.BodyBytes >= 0, "response.body_bytes is %d", r.BodyBytes)
		c.that(r.Body == nil || int64(len(*r.Body)) == r.BodyBytes, "response.body_bytes is not the body's length")
		c.that(d.Outcome == nil || d.Outcome.Status != nil && *d.Outcome.Status == r.Status, "response.status %d is not outcome.status", r.Status)
	}
	return errors.Join(c.faults...)
}

type checker struct {
	d      *Document
	faults []error
}

func (c *checker) that(ok bool, format string, args ...any) {
	if !ok {
		c.faults = append(c.faults, fmt.Errorf(format, args...))
	}
}

func (c *checker) attempt(i int) {
	a := &c.d.Attempts[i]
	at := fmt.Sprintf("attempts[%d]", i)
	c.that(a.Number == i+1, "%s.number is %d", at, a.Number)
	c.that(a.OffsetMS >= 0 && a.DurationMS >= 0, "%s: negative offset or duration", at)
	if i == 0 {
		c.that(a.OffsetMS+slack >= c.d.Operation.InitialWaitMS, "%s starts within initial_wait_ms", at)
	} else {
		prev := &c.d.Attempts[i-1]
		c.that(a.OffsetMS+slack >= prev.OffsetMS+prev.DurationMS, "%s starts before the end of the attempt before it", at)
		c.that(a.OffsetMS+slack >= prev.OffsetMS+MS(prev.Decision.WaitMS.Duration()), "%s starts within the wait before it", at)
	}
	c.that(oneOf(a.Phase, phases()), "%s.phase %q is unknown", at, a.Phase)
	c.that(oneOf(a.Sent, []string{string(retry.SentNothing), string(retry.SentUnprocessed), string(retry.SentMaybe)}), "%s.sent %q is unknown", at, a.Sent)
	c.that(a.Class == nil || oneOf(*a.Class, classes()), "%s.class is unknown", at)
	c.that(a.Class != nil || a.Error == nil, "%s has an error and no class", at)
	c.that(a.Until == nil || *a.Until || a.Class != nil, "%s: --until is not true, yet there is no class", at)
	c.that(a.Until == nil || a.Status != nil, "%s: --until was asked without an answer", at)
	c.that(a.Class == nil || *a.Class != string(retry.ClassStatus) || a.Status != nil, "%s: class status without a status", at)
	c.that(a.SentBytes >= 0 && a.ReceivedBytes >= 0, "%s: negative byte count", at)
	c.that(a.ResumedFromBytes == nil || *a.ResumedFromBytes >= 0, "%s: negative resumed_from_bytes", at)
	c.that(a.Status == nil || hasStatus(a.Hops, *a.Status), "%s.status %v is that of no hop", at, deref(a.Status))
	c.server(at, &a.Server)
	c.decision(at, a, i == len(c.d.Attempts)-1)
}

func (c *checker) server(at string, s *Server) {
	switch s.Kind {
	case "absent":
		c.that(s.Header == nil && s.Raw == nil && s.MinimumMS == nil && s.Clock == nil, "%s.server: absent, yet it says something", at)
	case "invalid":
		c.that(s.Header != nil && s.Raw != nil && s.MinimumMS == nil, "%s.server: invalid needs header and raw, and no minimum", at)
	case "seconds", "milliseconds", "date":
		c.that(s.Header != nil && s.Raw != nil && s.MinimumMS != nil, "%s.server: %s needs header, raw and minimum_ms", at, s.Kind)
		c.that(s.MinimumMS.Duration() >= 0, "%s.server.minimum_ms is negative", at)
		c.that(s.Kind != "date" || s.Clock != nil, "%s.server: a date needs its clock", at)
	default:
		c.that(false, "%s.server.kind %q is unknown", at, s.Kind)
	}
	c.that(s.Clock == nil || *s.Clock == "server_date" || *s.Clock == "local", "%s.server.clock is unknown", at)
}

func (c *checker) decision(at string, a *Attempt, last bool) {
	d := &a.Decision
	switch d.Action {
	case ActionRetry:
		c.that(d.Reason == nil && d.WouldWaitMS == nil, "%s: a retry has no reason and no would_wait_ms", at)
		c.that(d.WaitMS != nil && d.FloorMS != nil && d.CeilingMS != nil && d.Source != nil, "%s: a retry needs wait_ms, floor_ms, ceiling_ms and source", at)
		c.that(a.Class != nil, "%s: a retry after a success", at)
		c.wait(at, a)
		c.that(!last || c.d.Outcome == nil || endsAWait(c.d.Outcome.Reason), "%s: the last attempt says retry, yet the outcome is no end of a wait", at)
		// A wait counts from the answer's head, so a part of it may lie within the attempt.
		c.that(last || d.WaitedMS != nil && *d.WaitedMS+a.DurationMS+slack >= *orZero(d.WaitMS), "%s.waited_ms is less than wait_ms", at)
	case ActionStop:
		c.that(last, "%s: stop, yet another attempt follows", at)
		c.that(d.Reason != nil && oneOf(*d.Reason, reasons()), "%s: a stop needs a known reason", at)
		c.that(d.WaitMS == nil, "%s: a stop has no wait_ms", at)
		if o := c.d.Outcome; last && o != nil && d.Reason != nil {
			c.that(*d.Reason == o.Reason || overrules(o.Reason), "%s.decision.reason %q is not the outcome's %q", at, *d.Reason, o.Reason)
		}
	default:
		c.that(false, "%s.decision.action %q is unknown", at, d.Action)
	}
}

// wait checks the arithmetic of a wait that was decided (R4.1).
func (c *checker) wait(at string, a *Attempt) {
	d := &a.Decision
	if d.WaitMS == nil || d.FloorMS == nil || d.CeilingMS == nil || d.Source == nil {
		return
	}
	c.that(*d.FloorMS <= *d.WaitMS+slack && *d.WaitMS <= *d.CeilingMS+slack, "%s: wait_ms is not between floor_ms and ceiling_ms", at)
	c.that(oneOf(*d.Source, []string{string(retry.SourceServer), string(retry.SourceBackoff), string(retry.SourceShared)}), "%s.decision.source %q is unknown", at, *d.Source)
	if *d.Source == string(retry.SourceServer) {
		c.that(a.Server.MinimumMS != nil && *d.FloorMS+slack >= *orZero(a.Server.MinimumMS), "%s: floor_ms is below the server's minimum", at)
	}
	if limit := c.d.Policy.CapMS; limit != nil {
		c.that(*d.WaitMS <= *limit+slack, "%s.wait_ms is above cap_ms", at)
	}
}

func (c *checker) outcome(o *Outcome) {
	d := c.d
	n := len(d.Attempts)
	requests, waited, end := 0, d.Operation.InitialWaitMS, d.Operation.InitialWaitMS
	for i := range d.Attempts {
		a := &d.Attempts[i]
		requests += len(a.Hops)
		waited += *orZero(a.Decision.WaitedMS)
		end = max(end, a.OffsetMS+a.DurationMS)
	}
	each := slack * MS(n+1)
	c.that(o.Attempts == n, "outcome.attempts %d is not %d", o.Attempts, n)
	c.that(o.Retries == max(n-1, 0), "outcome.retries %d is not attempts - 1", o.Retries)
	c.that(o.Requests == requests, "outcome.requests %d is not the number of hops %d", o.Requests, requests)
	c.that(o.WaitedMS-waited <= each && waited-o.WaitedMS <= each, "outcome.waited_ms %v is not initial_wait_ms and the sum of the attempts, %v", time.Duration(o.WaitedMS), time.Duration(waited))
	c.that(n == 0 || o.ElapsedMS+slack >= end, "outcome.elapsed_ms %v is before the end of the last attempt %v", time.Duration(o.ElapsedMS), time.Duration(end))
	c.that(oneOf(o.Reason, reasons()), "outcome.reason %q is unknown", o.Reason)
	c.that(o.Class == nil || oneOf(*o.Class, classes()), "outcome.class is unknown")
	success := o.Reason == string(retry.Success)
	c.that(!success || o.Class == nil && o.ExitCode == 0 && n > 0, "a success has no class, exit code 0 and an attempt")
	c.that(!success || n == 0 || d.Attempts[n-1].Class == nil, "a success whose last attempt failed")
	c.that((o.NextAttemptAt == nil) == (o.NextAttemptEpoch == nil), "next_attempt_at and next_attempt_epoch: one is null")
	if o.NextAttemptAt != nil && o.NextAttemptEpoch != nil {
		c.that(math.Abs(o.NextAttemptAt.Epoch()-*o.NextAttemptEpoch) <= 0.001, "next_attempt_epoch is another instant than next_attempt_at")
	}
}

// endsAWait lists the reasons that can end a wait which was already decided.
func endsAWait(reason string) bool {
	switch retry.Reason(reason) {
	case retry.Canceled, retry.DeadlineBeforeRetry, retry.DeadlineExceeded, retry.RetryTimeExceeded, retry.BodyChanged, retry.NotReplayable:
		return true
	}
	return false
}

// overrules lists the reasons that can come after the last decision.
func overrules(reason string) bool {
	switch retry.Reason(reason) {
	case retry.Canceled, retry.OutputError, retry.ChecksumMismatch:
		return true
	}
	return false
}

func hasStatus(hops []Hop, status int) bool {
	for i := range hops {
		if hops[i].Status != nil && *hops[i].Status == status {
			return true
		}
	}
	return false
}

func orZero(m *MS) *MS {
	if m == nil {
		return new(MS)
	}
	return m
}

func deref(p *int) any {
	if p == nil {
		return nil
	}
	return *p
}

func oneOf(s string, list []string) bool {
	for _, x := range list {
		if s == x {
			return true
		}
	}
	return false
}

func phases() []string {
	return words(retry.PhaseResolve, retry.PhaseConnect, retry.PhaseTLS, retry.PhaseSend, retry.PhaseResponse, retry.PhaseBody, retry.PhaseDone)
}

func classes() []string {
	return words(retry.ClassStatus, retry.ClassResolve, retry.ClassNXDomain, retry.ClassConnect, retry.ClassTLS, retry.ClassCert, retry.ClassProxy,
		retry.ClassProxyRefused, retry.ClassRefused, retry.ClassClosed, retry.ClassTimeout, retry.ClassTruncated, retry.ClassProtocol, retry.ClassRedirect,
		retry.ClassDecode, retry.ClassChecksum, retry.ClassSize, retry.ClassInput, retry.ClassOutput, retry.ClassRequest, retry.ClassCanceled)
}

func reasons() []string {
	return words(retry.Success, retry.HTTPError, retry.AttemptsExhausted, retry.RetryAfterExceedsCap, retry.RetryTimeExceeded, retry.DeadlineBeforeRetry,
		retry.DeadlineExceeded, retry.UnsafeMethod, retry.NotReplayable, retry.BodyChanged, retry.BudgetExhausted, retry.OutputCommitted, retry.TransportError,
		retry.RedirectError, retry.ChecksumMismatch, retry.InputError, retry.OutputError, retry.Usage, retry.Canceled)
}

func words[T ~string](list ...T) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = string(x)
	}
	return out
}
