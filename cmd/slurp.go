package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/outfile"
	"github.com/bidehttp/bide/retry"
)

// slurpedPart is one page of --slurp: held until it is known to be an array,
// whose elements its Commit then writes, as they came, to the output of all.
type slurpedPart struct {
	*outfile.Held
	page       *page
	last       bool
	done       atomic.Bool
	start, end int64 // of the elements in the body; equal: it has none
}

// SetLast is pagePart's.
func (s *slurpedPart) SetLast() { s.last = true }

// accept holds a page that has come whole to what --slurp asks of it.
func (pg *page) accept(o *retry.Outcome) {
	if pg == nil {
		return
	}
	s, ok := pg.part.(*slurpedPart)
	if !ok || o.Class != retry.ClassNone && !(o.Class == retry.ClassStatus && pg.group.Fail == flags.FailNone) {
		return
	}
	var err error
	if s.start, s.end, err = arrayWithin(s.Content()); err != nil {
		text := fmt.Sprintf("page %d is not a JSON array, as --slurp wants it: %v", pg.number, err)
		o.Class, o.Phase, o.Err = retry.ClassDecode, retry.PhaseBody, &pageError{text, retry.ClassDecode, exitcode.Decode}
	}
}

// Commit writes the elements.
func (s *slurpedPart) Commit() error {
	if err := s.write(); err != nil {
		return err
	}
	s.done.Store(true)
	return s.Held.Abandon()
}

func (s *slurpedPart) write() error {
	p := s.page
	sink := p.sink
	lead := ""
	if p.number == 1 {
		lead = "["
	}
	if s.end > s.start && p.elements {
		lead += ","
	}
	if _, err := io.WriteString(sink, lead); err != nil {
		return err
	}
	if s.end > s.start {
		p.elements = true
		if _, err := sink.ReadFrom(io.NewSectionReader(s.Content(), s.start, s.end-s.start)); err != nil {
			return err
		}
	}
	if !s.last {
		return sink.Mark()
	}
	if _, err := io.WriteString(sink, "]\n"); err != nil {
		return err
	}
	return sink.Commit()
}

// Abandon gives up the output of all while this page is not committed.
func (s *slurpedPart) Abandon() error {
	if s.done.Load() {
		return nil
	}
	return errors.Join(s.Held.Abandon(), s.page.sink.Abandon())
}

// arrayWithin finds where the elements of a JSON array stand, from the first to
// the last; equal: it has none. The whole of r must be that array. Memory is
// bounded by the largest element.
func arrayWithin(r io.Reader) (start, end int64, err error) {
	d := json.NewDecoder(r)
	first, err := d.Token()
	if err != nil {
		return 0, 0, inJSON(err)
	}
	if first != json.Delim('[') {
		return 0, 0, errors.New("it is " + kindOf(first))
	}
	for d.More() {
		var element json.RawMessage
		if err := d.Decode(&element); err != nil {
			return 0, 0, inJSON(err)
		}
		end = d.InputOffset()
		if start == 0 {
			start = end - int64(len(element))
		}
	}
	if _, err := d.Token(); err != nil {
		return 0, 0, inJSON(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return 0, 0, errors.New("something follows it")
	}
	return start, end, nil
}

func inJSON(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends early")
	}
	return err
}

// kindOf names what a JSON text begins with.
func kindOf(t json.Token) string {
	switch t.(type) {
	case json.Delim:
		return "an object"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case nil:
		return "null"
	}
	return "a number"
}
