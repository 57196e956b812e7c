package render

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/bidehttp/bide/retry"
)

// streams puts documents together again from JSONL events. What events do not
// tell (the policy, hops, connections) stays empty.
type streams struct {
	open  map[string]*stream
	begun int
}

type stream struct {
	doc  *Document // its Index is the place in the order in which streams began
	held bool      // a hold came before the first attempt
}

// take enters an event; the document is not nil where it ends its operation.
// Events of other names are left alone: a later release may have more.
func (s *streams) take(name string, raw []byte) (*Document, error) {
	var head EventHead
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, err
	}
	if head.Operation == "" {
		return nil, errors.New("it names no operation")
	}
	var event Event
	switch name {
	case "attempt_started":
		event = &AttemptStarted{}
	case "response":
		event = &Responded{}
	case "wait":
		event = &Waiting{}
	case "resumed":
		event = &Resumed{}
	case "outcome":
		event = &Ended{}
	default:
		return nil, nil
	}
	if err := json.Unmarshal(raw, event); err != nil {
		return nil, err
	}
	st := s.of(head.Operation)
	st.enter(event)
	if _, over := event.(*Ended); !over {
		return nil, nil
	}
	delete(s.open, head.Operation)
	return st.doc, nil
}

func (s *streams) of(operation string) *stream {
	if st := s.open[operation]; st != nil {
		return st
	}
	if s.open == nil {
		s.open = map[string]*stream{}
	}
	s.begun++
	st := &stream{doc: &Document{Version: Version, Operation: Operation{ID: operation, Index: s.begun}, Attempts: []Attempt{}}}
	s.open[operation] = st
	return st
}

// rest are the documents whose streams have no end, in the order of their begin.
func (s *streams) rest() []*Document {
	var docs []*Document
	for _, st := range s.open {
		docs = append(docs, st.doc)
	}
	slices.SortFunc(docs, func(a, b *Document) int { return a.Operation.Index - b.Operation.Index })
	return docs
}

// last is the attempt under way, or a first one where its start was not told.
func (st *stream) last() *Attempt {
	d := st.doc
	if len(d.Attempts) == 0 {
		d.Attempts = append(d.Attempts, startedAttempt(1, 0))
	}
	return &d.Attempts[len(d.Attempts)-1]
}

func startedAttempt(number int, offset MS) Attempt {
	return Attempt{
		Number: number, Counted: true, OffsetMS: offset, Connections: []Connection{}, Hops: []Hop{}, Headers: map[string]string{},
		Server: Server{Kind: "absent"}, Decision: Decision{Action: ActionStop},
	}
}

func (st *stream) enter(event Event) {
	d := st.doc
	switch e := event.(type) {
	case *AttemptStarted:
		if len(d.Attempts) == 0 {
			d.Operation.Method, d.Operation.URL = e.Method, e.URL
			if st.held {
				d.Operation.InitialWaitMS = e.OffsetMS
			}
		}
		d.Attempts = append(d.Attempts, startedAttempt(e.Attempt, e.OffsetMS))
	case *Responded:
		a := st.last()
		a.DurationMS, a.Status, a.Class, a.Phase, a.Sent = e.DurationMS, e.Status, e.Class, e.Phase, e.Sent
		a.Error, a.Server, a.ResumedFromBytes, a.Checksum = e.Error, e.Server, e.ResumedFromBytes, e.Checksum
	case *Waiting:
		st.wait(e)
	case *Resumed:
		if len(d.Attempts) > 0 && st.last().Decision.Action == ActionRetry {
			waited := e.WaitedMS
			st.last().Decision.WaitedMS = &waited
		}
	case *Ended:
		outcome := e.Outcome
		d.Outcome, d.Response = &outcome, e.Response
		if n := len(d.Attempts); n > 0 {
			last := &d.Attempts[n-1].Decision
			last.Action, last.Reason = ActionStop, &outcome.Reason
			last.WouldWaitMS, last.WaitMS = last.WaitMS, nil // of a wait that was given up
		}
	}
}

// wait is a decision to retry, or a hold, which has no window.
func (st *stream) wait(e *Waiting) {
	d := st.doc
	if d.Operation.StartedAt.IsZero() && !e.Until.IsZero() {
		d.Operation.StartedAt = Time{e.Until.Add(-time.Duration(e.OffsetMS) - time.Duration(e.WaitMS))}
	}
	if e.FloorMS == nil || e.Source == string(retry.SourceShared) && len(d.Attempts) == 0 {
		st.held = st.held || len(d.Attempts) == 0
		return
	}
	source, wait := e.Source, e.WaitMS
	st.last().Decision = Decision{Action: ActionRetry, Source: &source, FloorMS: e.FloorMS, CeilingMS: e.CeilingMS, WaitMS: &wait}
}
