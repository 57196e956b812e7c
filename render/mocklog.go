package render

import (
	"encoding/json"
	"io"
)

// MockVersion is the version of the documents of bide mock. Within it fields are only added.
const MockVersion = 1

// MockLog is what bide mock saw (docs/mock-log.schema.json). Instants are
// milliseconds on the monotonic clock since the server's start or last reset.
type MockLog struct {
	Version     int           `json:"version"`
	Bide        string        `json:"bide"`
	Kind        string        `json:"kind"` // "log"
	StartedAt   Time          `json:"started_at"`
	URL         string        `json:"url"`
	Script      string        `json:"script"`
	GroupBy     string        `json:"group_by"`
	Requests    int           `json:"requests"`
	Groups      int           `json:"groups"`
	Connections int           `json:"connections"`
	Effects     int           `json:"effects"`
	Log         []MockRequest `json:"log"`
	Checks      []MockCheck   `json:"checks"`
	Command     *MockCommand  `json:"command"`
	OK          bool          `json:"ok"`
}

// MockRequest is one request and what it was answered.
type MockRequest struct {
	Number       int         `json:"number"`
	Group        string      `json:"group"`
	Attempt      int         `json:"attempt"`
	ArrivalMS    MS          `json:"arrival_ms"`
	GapMS        *MS         `json:"gap_ms"`      // from the end of the answer before; null for a group's first
	HeadGapMS    *MS         `json:"head_gap_ms"` // from its head
	Connection   int         `json:"connection"`
	Stream       *uint32     `json:"stream"`
	Protocol     string      `json:"protocol"`
	Method       string      `json:"method"`
	Target       string      `json:"target"`
	Path         string      `json:"path"`
	Headers      []MockField `json:"headers"`
	BodyBytes    int64       `json:"body_bytes"`
	BodySHA256   string      `json:"body_sha256"`
	BodyComplete bool        `json:"body_complete"`
	Answer       *MockAnswer `json:"answer"`
	Effect       bool        `json:"effect"`
	RanOut       bool        `json:"ran_out"`
}

// MockField is one header line.
type MockField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// MockAnswer is what the script did with a request.
type MockAnswer struct {
	Step         string  `json:"step"`
	Status       *int    `json:"status"` // null: a fault
	Fault        *string `json:"fault"`
	AnsweredMS   MS      `json:"answered_ms"` // just before the head, or when the fault fired
	DoneMS       *MS     `json:"done_ms"`     // the last byte
	RetryAfterMS *MS     `json:"retry_after_ms"`
}

// MockCheck is one check and what became of it.
type MockCheck struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// MockCommand is how the client under test ended.
type MockCommand struct {
	Name       string `json:"name"` // without its arguments, which may hold secrets
	Exit       int    `json:"exit"`
	DurationMS MS     `json:"duration_ms"`
	TimedOut   bool   `json:"timed_out"`
}

// MockLine is one request as a line of a JSONL log.
type MockLine struct {
	Version int    `json:"version"`
	Kind    string `json:"kind"` // "request"
	MockRequest
}

// MockConformance is the matrix of bide mock --conformance.
type MockConformance struct {
	Version int       `json:"version"`
	Bide    string    `json:"bide"`
	Kind    string    `json:"kind"`    // "conformance"
	Command string    `json:"command"` // its name
	Rows    []MockRow `json:"rows"`
	OK      bool      `json:"ok"`
}

// MockRow is one row of the matrix.
type MockRow struct {
	Row      string      `json:"row"`
	Wants    string      `json:"wants"`
	OK       bool        `json:"ok"`
	Detail   string      `json:"detail"`
	Script   string      `json:"script"`
	Runs     int         `json:"runs"` // of the command; 0: judged from other rows
	Exit     int         `json:"exit"` // of the last run
	TimedOut bool        `json:"timed_out"`
	Requests int         `json:"requests"`
	GapsMS   []MS        `json:"gaps_ms"`
	Checks   []MockCheck `json:"checks"`
}

// MockJSON writes a MockLog, MockLine or MockConformance as one line, escaped as JSON does.
func MockJSON(w io.Writer, document any) error { return writeLine(w, document) }

// DecodeMockLog reads a MockLog.
func DecodeMockLog(r io.Reader) (*MockLog, error) {
	var l MockLog
	if err := json.NewDecoder(r).Decode(&l); err != nil {
		return nil, err
	}
	return &l, nil
}
