package cmd

import (
	"errors"
	"os"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

// document joins the engine's record (policy, waits, reasons) with the
// exchange's facts (hops, connections) into the timeline document.
func (op *operation) document(rec *retry.Record, code exitcode.Code) *render.Document {
	doc := &render.Document{
		Version:   render.Version,
		Bide:      version,
		Operation: op.describe(rec),
		Policy:    op.group.policy(op.run.options.Global.Seed),
		Attempts:  make([]render.Attempt, 0, len(rec.Attempts)),
	}
	requests := 0
	for i, a := range rec.Attempts {
		described := op.describeAttempt(a, op.responses[i])
		requests += len(described.Hops)
		doc.Attempts = append(doc.Attempts, described)
	}
	doc.Response = op.describeResponse()
	doc.Outcome = describeOutcome(rec, requests, code)
	doc.Outcome.Message = optional(render.Message(doc, op.run.env.Location))
	return doc
}

func (op *operation) describe(rec *retry.Record) render.Operation {
	return render.Operation{
		ID:             op.identity(),
		Index:          op.index,
		Page:           op.page.index(),
		Label:          optional(op.group.Label),
		Method:         op.template.Method,
		URL:            op.run.redactor.URL(op.template.URL.String()),
		IdempotencyKey: optional(op.template.KeyValue),
		StartedAt:      render.Time{Time: rec.StartedAt},
		InitialWaitMS:  render.MS(rec.InitialWait),
	}
}

// policy is the group's policy for documents, made once: there may be thousands.
func (g *prepared) policy(seed *uint64) render.Policy {
	g.described.Do(func() { g.description = describePolicy(g.Policy, seed) })
	return g.description
}

func describePolicy(p retry.Policy, seed *uint64) render.Policy {
	d := render.Policy{
		BaseMS: render.MS(p.Base), CapMS: limit(p.Cap),
		JitterRatio: p.Jitter, JitterMode: string(p.JitterMode), Backoff: string(p.Backoff), RetryAfterMode: string(p.RetryAfterMode),
		DeadlineMS: limit(p.Deadline), RetryMaxTimeMS: limit(p.RetryMaxTime), AttemptReserveMS: render.MS(p.AttemptReserve), MaxTimeMS: limit(p.MaxTime),
		RetryOn: p.RetryOn.List(), Idempotent: p.Idempotent, SafeOn: p.SafeOn.List(), Seed: seed,
	}
	if p.Attempts != retry.Unlimited {
		d.Attempts = &p.Attempts
	}
	return d
}

func (op *operation) describeAttempt(a retry.Attempt, r *exchange.Response) render.Attempt {
	d := render.Attempt{
		Number: a.Number, Counted: a.Counted, OffsetMS: render.MS(a.Offset), DurationMS: render.MS(a.Duration),
		Connections: make([]render.Connection, 0, len(r.Dials)),
		Hops:        make([]render.Hop, 0, len(r.Hops)),
		Class:       optional(string(a.Outcome.Class)), Phase: string(a.Outcome.Phase), Sent: string(a.Outcome.Sent),
		Headers:   make(map[string]string),
		SentBytes: r.SentBytes(), ReceivedBytes: r.ReceivedBytes,
		Checksum: op.checksumOf(r),
		Until:    op.describeVerdict(r), Server: describeServer(a.Outcome.Server), Decision: describeDecision(a),
	}
	if r.Continued() {
		d.ResumedFromBytes = &r.Resumed.Offset
	}
	if a.Outcome.Status != 0 {
		d.Status = &a.Outcome.Status
	}
	if a.Outcome.Err != nil {
		d.Error = optional(op.run.redactor.Text(a.Outcome.Err.Error()))
	}
	for _, dial := range r.Dials {
		c := render.Connection{Address: dial.Address, ConnectMS: phase(dial.Took)}
		if dial.Err != nil {
			c.Error = optional(op.run.redactor.Text(dialCause(dial.Err)))
		}
		d.Connections = append(d.Connections, c)
	}
	for i := range r.Hops {
		d.Hops = append(d.Hops, op.describeHop(&r.Hops[i]))
	}
	for _, f := range r.Header {
		if render.AllowedHeader(f.Name, op.run.options.Global.TimelineHeaders) {
			name, value := strings.ToLower(f.Name), op.run.redactor.HeaderValue(f.Name, f.Value)
			if before, several := d.Headers[name]; several {
				value = before + ", " + value // RFC 9110, section 5.3
			}
			d.Headers[name] = value
		}
	}
	return d
}

// dialCause is what went wrong with one address, without repeating the address.
func dialCause(err error) string {
	var call *os.SyscallError
	if errors.As(err, &call) {
		return call.Err.Error()
	}
	return err.Error()
}

func (op *operation) describeHop(h *exchange.Hop) render.Hop {
	d := render.Hop{
		Method: h.Method, URL: op.run.redactor.URL(h.URL.String()),
		RemoteAddress: optional(h.Facts.Remote), Protocol: optional(h.Proto), ConnectionReused: h.Reused,
		DNSMS: phase(h.Facts.DNS), ConnectMS: phase(h.Facts.Connect), TLSMS: phase(h.Facts.TLSTime), SendMS: phase(h.Send()),
		FirstByteMS: phase(h.FirstByte()), BodyMS: phase(h.Body()), TotalMS: render.MS(h.Total()),
		WaitMS: phase(h.Wait),
	}
	if h.Status != 0 {
		d.Status = &h.Status
	}
	if h.Location != "" {
		d.Location = optional(op.run.redactor.Location(h.Location))
	}
	if facts := h.Facts.TLS; facts != nil {
		d.TLS = &render.TLS{
			Version: facts.Version, Cipher: facts.Cipher, ALPN: optional(facts.ALPN),
			Issuer: op.run.redactor.Text(facts.Issuer), NotAfter: render.Time{Time: facts.NotAfter},
		}
	}
	return d
}

func describeServer(s retry.Server) render.Server {
	d := render.Server{Header: optional(s.Header), Kind: s.Kind, Clock: optional(s.Clock)}
	if d.Kind == "" {
		d.Kind = "absent"
	}
	if s.Header != "" {
		raw := s.Raw
		d.Raw = &raw
	}
	if s.Valid {
		d.MinimumMS = ms(s.Minimum)
	}
	if s.HasSkew {
		d.SkewMS = ms(s.Skew)
	}
	return d
}

func describeDecision(a retry.Attempt) render.Decision {
	d := render.Decision{Action: "stop", Reason: optional(string(a.Decision.Reason)), Source: optional(string(a.Decision.Source))}
	if a.Decision.HasWait {
		d.LocalMS, d.FloorMS, d.CeilingMS = ms(a.Decision.Local), ms(a.Decision.Floor), ms(a.Decision.Ceiling)
	}
	if a.Decision.Retry {
		d.Action = "retry"
		d.WaitMS, d.WaitedMS = ms(a.Decision.Wait), ms(a.Waited)
		return d
	}
	if a.Decision.HasWait {
		d.WouldWaitMS = ms(a.Decision.Wait)
	}
	d.WaitedMS = phase(a.Waited) // a wait that was cut short
	return d
}

// describeResponse is the final answer; nil when there was none.
func (op *operation) describeResponse() *render.Response {
	r := op.final()
	if r == nil || r.Status == 0 {
		return nil
	}
	d := &render.Response{Status: r.Status, Protocol: r.Proto, Headers: make([][2]string, 0, len(r.Header)), SavedTo: optional(op.output.savedTo())}
	for _, f := range r.Header {
		d.Headers = append(d.Headers, [2]string{strings.ToLower(f.Name), op.run.redactor.HeaderValue(f.Name, f.Value)})
	}
	d.BodyBytes = r.Arrived()
	if capture := op.output.capture; capture != nil && op.output.kept {
		d.SetBody(capture.Bytes())
	}
	return d
}

// final is the answer of the last attempt; nil when there was no attempt.
func (op *operation) final() *exchange.Response {
	if n := len(op.responses); n > 0 {
		return op.responses[n-1]
	}
	return nil
}

func describeOutcome(rec *retry.Record, requests int, code exitcode.Code) *render.Outcome {
	d := &render.Outcome{
		Reason: string(rec.Reason), ExitCode: int(code),
		Attempts: len(rec.Attempts), Retries: max(0, len(rec.Attempts)-1), Requests: requests,
		ElapsedMS: render.MS(rec.Elapsed), WaitedMS: render.MS(rec.Waited),
	}
	if n := len(rec.Attempts); n > 0 {
		last := rec.Attempts[n-1].Outcome
		d.Class = optional(string(last.Class))
		if last.Status != 0 {
			d.Status = &last.Status
		}
	}
	if !rec.NextAttemptAt.IsZero() {
		d.NextAttemptAt = &render.Time{Time: rec.NextAttemptAt}
		epoch := float64(rec.NextAttemptAt.UnixMilli()) / 1000
		d.NextAttemptEpoch = &epoch
	}
	return d
}

// optional is nil for a text that does not exist.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func ms(d time.Duration) *render.MS {
	v := render.MS(d)
	return &v
}

// limit is nil for a bound that was not set.
func limit(d time.Duration) *render.MS {
	if d == 0 {
		return nil
	}
	return ms(d)
}

// phase is nil for a phase that did not happen.
func phase(d time.Duration) *render.MS { return limit(d) }
