package outfile

import (
	"errors"
	"io"
	"os"
)

// RecordSuffix is what the name of the record beside a partial file ends in.
const RecordSuffix = ".json"

// maxRecord bounds what is read of a record.
const maxRecord = 64 << 10

// TakeUp begins with what an earlier run left in FileSpec.Partial, and gives its
// size and record; a size of 0 is none. The file is claimed: of two runs at the
// same time only one gets it.
func (f *FileSink) TakeUp() (size int64, record []byte, err error) {
	record, err = readRecord(f.spec.Partial + RecordSuffix)
	if err != nil {
		return 0, nil, nil //nolint:nilerr // without its record it is of no use
	}
	if info, err := os.Lstat(f.spec.Partial); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return 0, nil, nil //nolint:nilerr // likewise
	}
	s, err := f.staged()
	if s == nil || err != nil {
		return 0, nil, err
	}
	size, err = s.claim(f.spec.Partial, record)
	return size, record, err
}

// Append begins with what the file holds already, and gives its size.
func (f *FileSink) Append() (size int64, err error) {
	s, err := f.staged()
	if s == nil || err != nil {
		return 0, err
	}
	return s.preload()
}

// Anew makes Reset drop what TakeUp and Append began with, too.
func (f *FileSink) Anew() {
	if s, ok := f.peek().(*staged); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.base = 0
	}
}

// Keep makes a body that is given up stay as FileSpec.Partial, with record
// beside it; nil takes that back.
func (f *FileSink) Keep(record []byte) error {
	s, err := f.staged()
	if s == nil || err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.partial, s.record = f.spec.Partial, record
	return nil
}

// Kept is the size of the body that stayed, 0 none.
func (f *FileSink) Kept() int64 {
	s, ok := f.peek().(*staged)
	if !ok {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept
}

// staged is the regular file that the path leads to; nil where it is none.
func (f *FileSink) staged() (*staged, error) {
	in, err := f.target()
	if err != nil {
		return nil, err
	}
	s, _ := in.(*staged)
	return s, nil
}

func readRecord(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, os.ErrNotExist)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxRecord))
}

// claim makes partial the temporary file; given up at once, it is as before.
func (s *staged) claim(partial string, record []byte) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != stagedOpen {
		return 0, wrap(s.name, ErrAbandoned)
	}
	_ = s.file.Close() // nothing was written
	if err := os.Rename(partial, s.temp); err != nil && !os.IsNotExist(err) {
		return 0, wrap(partial, err)
	}
	s.partial, s.record = partial, record
	_ = os.Remove(partial + RecordSuffix) // it is written again with the partial
	file, err := os.OpenFile(s.temp, os.O_RDWR, 0)
	if err != nil {
		return 0, wrap(s.name, err)
	}
	s.file = file
	s.base, err = file.Seek(0, io.SeekEnd)
	return s.base, wrap(s.name, err)
}

func (s *staged) preload() (int64, error) {
	f, err := s.open()
	if err != nil || !s.exists {
		return 0, err
	}
	src, err := os.Open(s.path)
	if err != nil {
		return 0, wrap(s.name, err)
	}
	defer src.Close()
	n, err := io.Copy(f, src)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.base = n
	return n, wrap(s.name, err)
}

// stay moves what was received to the partial's name; it wants the lock. False
// is that there is nothing to keep, or no way.
func (s *staged) stay() bool {
	if s.record == nil || s.temp == "" || s.inPlace != nil {
		return false
	}
	info, err := s.file.Stat()
	if err != nil || info.Size() == 0 || s.file.Close() != nil {
		return false
	}
	record := s.partial + RecordSuffix
	if err := os.WriteFile(record, s.record, 0o600); err != nil {
		return false
	}
	if err := os.Rename(s.temp, s.partial); err != nil {
		_ = os.Remove(record)
		return false
	}
	s.temp, s.kept = "", info.Size()
	return true
}
