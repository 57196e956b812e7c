package outfile

import (
	"errors"
	"io"
	"os"
)

// spool is the temporary file of a Stream that has to hold more than fits into
// memory. Its methods want the Stream's lock.
type spool struct {
	dir  string // of the file
	file *os.File
	path string
}

// current is the file; nil while there is none.
func (s *spool) current() *os.File {
	if s == nil {
		return nil
	}
	return s.file
}

// add writes p behind what is held, which moves to the file first.
func (s *spool) add(held *[]byte, p []byte) error {
	if s.file == nil {
		var err error
		if s.file, s.path, err = createTemp(s.dir, 0o600); err != nil {
			return err
		}
		if _, err := s.file.Write(*held); err != nil {
			return err
		}
		*held = nil
	}
	_, err := s.file.Write(p)
	return err
}

// drop removes the file.
func (s *spool) drop() error {
	if s.current() == nil {
		return nil
	}
	_ = s.file.Close() // its bytes are no longer wanted
	s.file = nil
	if err := os.Remove(s.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// sendSpooled copies all of the file to w, without the Stream's lock: w may be a
// pipe that nobody reads.
func sendSpooled(w io.Writer, f *os.File) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(w, f)
	return err
}
