package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// SavedError is what is wrong with a saved timeline, and where.
type SavedError struct {
	Line int // from 1, of the value's start or of the fault in it
	Text string
}

// Error gives "line 3: ...".
func (e *SavedError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// Saved reads timelines again that were saved as JSON or JSONL: documents, in
// one line each or in several, arrays of them, and streams of events, whose
// operations may be mixed. It holds one document, and the operations whose
// events have not ended.
type Saved struct {
	lines   *lineReader
	dec     *json.Decoder
	source  io.Reader // of dec
	base    int64     // offset at which dec began
	ready   []*Document
	faults  []*SavedError
	streams streams
	end     error // io.EOF or what stopped the reading
}

// NewSaved reads from r. A byte order mark at the start is skipped.
func NewSaved(r io.Reader) *Saved {
	s := &Saved{lines: &lineReader{r: bufio.NewReaderSize(r, 1<<16)}}
	s.skipMark()
	return s
}

func (s *Saved) restart(r io.Reader, base int64) {
	s.dec, s.source, s.base = json.NewDecoder(r), r, base
}

const byteOrderMark = "\xef\xbb\xbf"

func (s *Saved) skipMark() {
	head := make([]byte, len(byteOrderMark))
	n, err := io.ReadFull(s.lines, head)
	if err == nil && string(head) == byteOrderMark {
		s.restart(s.lines, int64(n))
		return
	}
	s.restart(io.MultiReader(bytes.NewReader(head[:n]), s.lines), 0)
}

// Next gives the next document in the order in which they are complete; at the
// end those of event streams that were cut off, with Outcome nil; then io.EOF.
// A *SavedError is about one value: Next goes on with the one after it. Any
// other error is that of reading, and final.
func (s *Saved) Next() (*Document, error) {
	for {
		switch {
		case len(s.ready) > 0:
			d := s.ready[0]
			s.ready = s.ready[1:]
			return d, nil
		case len(s.faults) > 0:
			fault := s.faults[0]
			s.faults = s.faults[1:]
			return nil, fault
		case s.end != nil:
			return nil, s.end
		}
		s.read()
	}
}

// read takes the next value in.
func (s *Saved) read() {
	var raw json.RawMessage
	err := s.dec.Decode(&raw)
	switch {
	case err == nil:
		start := s.base + s.dec.InputOffset() - int64(len(raw))
		s.value(raw, s.lines.at(start))
	case err == io.EOF:
		s.ready, s.end = s.streams.rest(), io.EOF
	case errors.Is(err, io.ErrUnexpectedEOF):
		s.resync("it is cut off: the value that begins here has no end")
	default:
		var syntax *json.SyntaxError
		if !errors.As(err, &syntax) {
			s.ready, s.end = s.streams.rest(), err
			return
		}
		s.resync("not JSON: " + syntax.Error())
	}
}

// resync drops what cannot be read, up to the next line that may begin a document.
func (s *Saved) resync(text string) {
	start := s.base + s.dec.InputOffset()
	rest := io.MultiReader(s.dec.Buffered(), s.source)
	lead, first := blanks(rest)
	start += lead
	s.fault(s.lines.at(start), "%s", text)
	skipped, after, err := untilDocument(io.MultiReader(bytes.NewReader(first), rest))
	if err != nil && err != io.EOF {
		s.ready, s.end = s.streams.rest(), err
		return
	}
	s.restart(after, start+skipped)
}

// blanks skips white space; first is the byte after it.
func blanks(r io.Reader) (n int64, first []byte) {
	b := make([]byte, 1)
	for {
		if _, err := io.ReadFull(r, b); err != nil {
			return n, nil
		}
		if !strings.ContainsRune(" \t\r\n", rune(b[0])) {
			return n, b
		}
		n++
	}
}

// untilDocument skips the line and those after it that begin with neither { nor [.
func untilDocument(r io.Reader) (n int64, rest io.Reader, err error) {
	b := make([]byte, 1)
	fresh := false
	for {
		if _, err := io.ReadFull(r, b); err != nil {
			return n, r, err
		}
		if fresh && (b[0] == '{' || b[0] == '[') {
			return n, io.MultiReader(bytes.NewReader([]byte{b[0]}), r), nil
		}
		fresh = b[0] == '\n'
		n++
	}
}

func (s *Saved) fault(line int, format string, a ...any) {
	s.faults = append(s.faults, &SavedError{Line: line, Text: fmt.Sprintf(format, a...)})
}

// probe tells what a value is.
type probe struct {
	Version   json.RawMessage `json:"version"`
	Operation json.RawMessage `json:"operation"`
	Attempts  json.RawMessage `json:"attempts"`
	Event     *string         `json:"event"`
}

// value takes one JSON value in: a document, an event, or an array of them.
func (s *Saved) value(raw json.RawMessage, line int) {
	if raw[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			s.fault(line, "%v", err)
		}
		at := 0
		for _, item := range list {
			at += bytes.Index(raw[at:], item)
			s.value(item, line+bytes.Count(raw[:at], []byte("\n")))
			at += len(item)
		}
		return
	}
	var d Document // most are one: the closer look is for the others
	err := json.Unmarshal(raw, &d)
	if err == nil && d.Version == Version && d.Operation.ID != "" && d.Attempts != nil {
		s.ready = append(s.ready, &d)
		return
	}
	var p probe
	if raw[0] != '{' || json.Unmarshal(raw, &p) != nil {
		s.fault(line, "not a timeline: %s", excerpt(raw))
		return
	}
	switch {
	case p.Event != nil:
		s.event(*p.Event, raw, line)
	case p.Version == nil || p.Operation == nil || p.Attempts == nil:
		s.fault(line, "not a timeline, which has version, operation and attempts: %s", excerpt(raw))
	case string(p.Version) != fmt.Sprint(Version):
		s.fault(line, "a timeline of version %s; this bide reads version %d", excerpt(p.Version), Version)
	case err != nil:
		s.fault(line, "not a timeline of version %d: %s", Version, strings.TrimPrefix(err.Error(), "json: "))
	default:
		s.ready = append(s.ready, &d)
	}
}

func (s *Saved) event(name string, raw json.RawMessage, line int) {
	d, err := s.streams.take(name, raw)
	if err != nil {
		s.fault(line, "not an event of a timeline: %s", strings.TrimPrefix(err.Error(), "json: "))
		return
	}
	if d != nil {
		s.ready = append(s.ready, d)
	}
}

// excerpt is the start of a value, on one line.
func excerpt(raw []byte) string {
	const most = 40
	return bounded(Text(strings.Join(strings.Fields(string(raw[:min(len(raw), 2*most)])), " ")), most)
}

// lineReader knows the lines of what was read through it.
type lineReader struct {
	r     io.Reader
	read  int64
	lines int     // line ends that are forgotten
	ends  []int64 // offsets of line ends beyond those, in order
}

func (l *lineReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i := range n {
		if p[i] == '\n' {
			l.ends = append(l.ends, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

// at is the line of an offset; offsets are asked for in rising order.
func (l *lineReader) at(offset int64) int {
	i := 0
	for i < len(l.ends) && l.ends[i] < offset {
		i++
	}
	l.lines += i
	l.ends = l.ends[i:]
	return l.lines + 1
}
