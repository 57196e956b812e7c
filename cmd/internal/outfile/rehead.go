package outfile

import (
	"io"
	"os"
	"slices"
)

// Reheader is a Sink whose beginning can be exchanged while it is not committed:
// an answer that continues a body has a head of its own (-i).
type Reheader interface {
	// Rehead puts head in the place of the first old bytes. It fails with
	// ErrCommitted when they are beyond recall. Old bytes are counted from the last
	// Mark, where there was one.
	Rehead(old int64, head []byte) error
}

// Rehead is Reheader's.
func (s *Stream) Rehead(old int64, head []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.committed.Load() {
		return wrap(s.name, ErrCommitted)
	}
	if s.spool.current() != nil {
		return wrap(s.name, rehead(s.spool.file, 0, old, head))
	}
	s.held = slices.Replace(s.held, 0, int(min(old, int64(len(s.held)))), head...)
	return nil
}

// Rehead is Reheader's.
func (m *Memory) Rehead(old int64, head []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.body = slices.Replace(m.body, 0, int(min(old, int64(len(m.body)))), head...)
	return nil
}

// Rehead is Reheader's.
func (f *FileSink) Rehead(old int64, head []byte) error {
	in, err := f.target()
	if err != nil {
		return err
	}
	return in.Rehead(old, head)
}

// Rehead is Reheader's.
func (s *staged) Rehead(old int64, head []byte) error {
	f, base, err := s.body()
	if err != nil {
		return err
	}
	return wrap(s.name, rehead(f, base, old, head))
}

// rehead exchanges the head that stands at base in a file: what stands behind it
// is moved.
func rehead(f *os.File, base, old int64, head []byte) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	old = min(old, size-base)
	if err := move(f, base+old, size, int64(len(head))-old); err != nil {
		return err
	}
	if _, err := f.WriteAt(head, base); err != nil {
		return err
	}
	_, err = f.Seek(0, io.SeekEnd)
	return err
}

// move shifts the bytes from from to size by so many, in blocks, those first
// whose place would be taken by the others.
func move(f *os.File, from, size, by int64) error {
	if by == 0 {
		return nil
	}
	buf := make([]byte, copyBuffer)
	for left := size - from; left > 0; {
		n := min(left, copyBuffer)
		at := size - left
		if by > 0 {
			at = from + left - n
		}
		if _, err := f.ReadAt(buf[:n], at); err != nil {
			return err
		}
		if _, err := f.WriteAt(buf[:n], at+by); err != nil {
			return err
		}
		left -= n
	}
	if by < 0 {
		return f.Truncate(size + by)
	}
	return nil
}
