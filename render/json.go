package render

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"strconv"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON writes d as one line. Lists and maps that are nil become empty, so that
// `.attempts[].hops[]` never meets null. Characters that could act on a terminal
// (C1 controls, bidirectional controls and the like) are written as \u escapes,
// which any JSON reader undoes; invalid UTF-8 becomes U+FFFD. The line goes out
// in one Write.
func JSON(w io.Writer, d *Document) error {
	return writeLine(w, normal(d))
}

// Decode reads a stream of documents, as JSON wrote them, to its end.
func Decode(r io.Reader) ([]*Document, error) {
	var docs []*Document
	for dec := json.NewDecoder(r); ; {
		var d Document
		switch err := dec.Decode(&d); err {
		case nil:
			docs = append(docs, &d)
		case io.EOF:
			return docs, nil
		default:
			return docs, err
		}
	}
}

func writeLine(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeJSON(b.Bytes()))
	return err
}

// escapeJSON replaces runes beyond ASCII that do not print by their escapes;
// outside of strings JSON has none of them.
func escapeJSON(b []byte) []byte {
	clean := true
	for _, c := range b {
		if c >= 0x7f {
			clean = false
			break
		}
	}
	if clean {
		return b
	}
	out := make([]byte, 0, len(b)+16)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r < 0x7f || strconv.IsPrint(r):
			out = append(out, b[:n]...)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = appendHex4(appendHex4(out, hi), lo)
		default:
			out = appendHex4(out, r)
		}
		b = b[n:]
	}
	return out
}

func appendHex4(b []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

// normal is d with empty lists and maps in place of nil ones; d is not changed.
func normal(d *Document) *Document {
	c := *d
	c.Policy.RetryOn = list(c.Policy.RetryOn)
	c.Policy.SafeOn = list(c.Policy.SafeOn)
	c.Attempts = append(make([]Attempt, 0, len(d.Attempts)), d.Attempts...)
	for i := range c.Attempts {
		a := &c.Attempts[i]
		a.Connections, a.Hops = list(a.Connections), list(a.Hops)
		if a.Headers == nil {
			a.Headers = map[string]string{}
		}
	}
	if d.Response != nil {
		r := *d.Response
		r.Headers = list(r.Headers)
		c.Response = &r
	}
	return &c
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// SetBody puts body into r: as text where it is UTF-8, else in base64. It sets
// BodyBytes too.
func (r *Response) SetBody(body []byte) {
	r.BodyBytes, r.Body, r.BodyBase64 = int64(len(body)), nil, nil
	if utf8.Valid(body) {
		s := string(body)
		r.Body = &s
		return
	}
	s := base64.StdEncoding.EncodeToString(body)
	r.BodyBase64 = &s
}

// EventHead is what every JSONL event starts with.
type EventHead struct {
	Event     string `json:"event"`
	Operation string `json:"operation"` // Operation.ID
	Attempt   int    `json:"attempt"`   // its number; 0 before the first (a hold)
	OffsetMS  MS     `json:"offset_ms"` // since the operation's start
}

// AttemptStarted is the event "attempt_started".
type AttemptStarted struct {
	EventHead
	Method string `json:"method"`
	URL    string `json:"url"`
}

// Responded is the event "response": the attempt ended, with an answer or
// without one.
type Responded struct {
	EventHead
	DurationMS MS      `json:"duration_ms"`
	Status     *int    `json:"status"`
	Class      *string `json:"class"`
	Phase      string  `json:"phase"`
	Sent       string  `json:"sent"`
	Error      *string `json:"error"`
	Server     Server  `json:"server"`
	// ResumedFromBytes is where the body went on, null where it began anew.
	ResumedFromBytes *int64    `json:"resumed_from_bytes"`
	Checksum         *Checksum `json:"checksum"`
	// Until is whether --until was true of the answer, null where it was not asked.
	Until *bool `json:"until"`
}

// Waiting is the event "wait", sent when the wait begins.
type Waiting struct {
	EventHead
	Source    string `json:"source"`
	WaitMS    MS     `json:"wait_ms"`
	FloorMS   *MS    `json:"floor_ms"` // null for a hold before the first attempt
	CeilingMS *MS    `json:"ceiling_ms"`
	Until     Time   `json:"until"`
}

// Resumed is the event "resumed": the wait is over.
type Resumed struct {
	EventHead
	WaitedMS MS `json:"waited_ms"`
}

// Ended is the event "outcome", the last of an operation.
type Ended struct {
	EventHead
	Outcome  Outcome   `json:"outcome"`
	Response *Response `json:"response"`
}

// Event is one of the JSONL events.
type Event interface{ name() string }

func (AttemptStarted) name() string { return "attempt_started" }
func (Responded) name() string      { return "response" }
func (Waiting) name() string        { return "wait" }
func (Resumed) name() string        { return "resumed" }
func (Ended) name() string          { return "outcome" }

// Events writes JSONL events. Each is one Write, followed by Flush where the
// writer has one. Safe for concurrent use.
type Events struct {
	mu sync.Mutex
	w  io.Writer
}

// NewEvents writes to w.
func NewEvents(w io.Writer) *Events { return &Events{w: w} }

// Write sends e at once; it fills in EventHead.Event.
func (s *Events) Write(e Event) error {
	var v any
	switch e := e.(type) {
	case AttemptStarted:
		e.Event = e.name()
		v = e
	case Responded:
		e.Event = e.name()
		v = e
	case Waiting:
		e.Event = e.name()
		v = e
	case Resumed:
		e.Event = e.name()
		v = e
	case Ended:
		e.Event = e.name()
		if e.Response != nil {
			r := *e.Response
			r.Headers = list(r.Headers)
			e.Response = &r
		}
		v = e
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := writeLine(s.w, v); err != nil {
		return err
	}
	if f, ok := s.w.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}
