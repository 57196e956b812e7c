package mock

import (
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry/retrytest"
)

// document is the report for machines.
func (r *report) document() *render.MockLog {
	d := &render.MockLog{
		Version: render.MockVersion, Bide: r.m.Version, Kind: "log", StartedAt: render.Time{Time: r.m.started},
		URL: r.url, Script: r.script, GroupBy: r.log.Grouping(), Requests: len(r.log.Records), Groups: len(r.log.Groups()),
		Connections: r.log.Connections, Effects: r.log.Effects,
		Log: make([]render.MockRequest, 0, len(r.log.Records)), Checks: checks(r.results), OK: r.failed() == 0,
	}
	for i := range r.log.Records {
		d.Log = append(d.Log, r.request(&r.log.Records[i]))
	}
	if r.end != nil {
		d.Command = &render.MockCommand{Name: r.m.Command[0], Exit: r.end.code, DurationMS: render.MS(r.end.took), TimedOut: r.end.timedOut}
	}
	return d
}

func checks(results []retrytest.Result) []render.MockCheck {
	all := make([]render.MockCheck, 0, len(results))
	for _, c := range results {
		all = append(all, render.MockCheck{Check: c.Check, OK: c.OK, Detail: c.Detail})
	}
	return all
}

// request is one record without its secrets.
func (r *report) request(q *retrytest.Record) render.MockRequest {
	red := r.m.Redactor
	d := render.MockRequest{
		Number: q.Number, Group: q.Group, Attempt: q.Attempt, ArrivalMS: render.MS(q.Arrival),
		Connection: q.Connection, Protocol: q.Proto, Method: q.Method, Target: red.URL(q.Target), Path: red.URL(q.Path),
		Headers:   make([]render.MockField, 0, len(q.Header)),
		BodyBytes: q.BodyBytes, BodySHA256: q.BodySHA256, BodyComplete: q.BodyComplete, Effect: q.Effect, RanOut: q.RanOut,
	}
	if q.Attempt > 1 {
		d.GapMS, d.HeadGapMS = render.Millis(q.Gap), render.Millis(q.HeadGap)
	}
	if q.Stream != 0 {
		d.Stream = &q.Stream
	}
	for _, f := range q.Header {
		d.Headers = append(d.Headers, render.MockField{Name: f.Name, Value: red.HeaderValue(f.Name, f.Value)})
	}
	if !q.HasAnswer {
		return d
	}
	d.Answer = &render.MockAnswer{Step: q.Answer, AnsweredMS: render.MS(q.Answered)}
	if fault := q.Fault(); fault != "" {
		d.Answer.Fault = &fault
	} else {
		d.Answer.Status = &q.Status
	}
	if q.HasDone {
		d.Answer.DoneMS = render.Millis(q.Done)
	}
	if q.HasAsked {
		d.Answer.RetryAfterMS = render.Millis(q.Asked)
	}
	return d
}
