package outfile

import (
	"io"
	"sync/atomic"
)

// Marker is a Sink that takes several bodies, one behind the other.
type Marker interface {
	Sink
	Reheader
	io.ReaderFrom
	// Mark ends one body: Reset does not go back behind it. A stream sends what it
	// holds; a file changes only with Commit, as ever.
	Mark() error
}

// Mark is Marker's.
func (s *Stream) Mark() error {
	if _, err := s.release(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold = s.holds
	s.committed.Store(false)
	return wrap(s.name, s.spool.drop())
}

// Mark is Marker's.
func (s *staged) Mark() error {
	f, err := s.open()
	if err != nil {
		return err
	}
	at, err := f.Seek(0, io.SeekCurrent)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.base = at
	return wrap(s.name, err)
}

// Mark is Marker's.
func (f *FileSink) Mark() error {
	in, err := f.target()
	if err != nil {
		return err
	}
	return in.Mark()
}

// Part is the Sink of one of the bodies that make an output together: its Commit
// is a Mark of the whole, that of the last one its Commit. Abandon gives up the
// whole, unless the part was committed.
type Part struct {
	Marker
	last bool
	done atomic.Bool
}

// PartOf is the next part of whole, whose parts are written one after the other.
func PartOf(whole Marker) *Part { return &Part{Marker: whole} }

// SetLast makes Commit that of the whole.
func (p *Part) SetLast() { p.last = true }

// Commit ends the part.
func (p *Part) Commit() error {
	commit := p.Mark
	if p.last {
		commit = p.Marker.Commit
	}
	err := commit()
	p.done.Store(err == nil)
	return err
}

// Abandon gives up the whole while this part is not committed.
func (p *Part) Abandon() error {
	if p.done.Load() {
		return nil
	}
	return p.Marker.Abandon()
}
