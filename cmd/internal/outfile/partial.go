package outfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// RecordSuffix is what the name of the record beside a partial file ends in.
const RecordSuffix = ".json"

// maxRecord bounds what is read of a record.
const maxRecord = 64 << 10

// TakeUp begins with what an earlier run left in FileSpec.Partial, and gives its
// size and record; a size of 0 is none. The file is claimed: of two runs at the
// same time only one gets it.
func (f *FileSink) TakeUp() (size int64, record []byte, err error) {
	s, err := f.staged()
	if s == nil || err != nil {
		return 0, nil, err
	}
	return s.takeUp(f.spec.Partial)
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
// beside it; nil takes that back. It stays, too, when the process is killed:
// where that is possible the body grows at its place from now on.
func (f *FileSink) Keep(record []byte) error {
	s, err := f.staged()
	if s == nil || err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != stagedOpen {
		return wrap(s.name, ErrAbandoned)
	}
	s.partial = f.spec.Partial
	if record == nil {
		s.withdraw()
		return nil
	}
	s.place(record)
	return nil
}

// Partial is FileSpec.Partial.
func (f *FileSink) Partial() string { return f.spec.Partial }

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

// takeUp makes partial the temporary file, under its own name; given up at once,
// it is as before.
func (s *staged) takeUp(partial string) (int64, []byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != stagedOpen {
		return 0, nil, wrap(s.name, ErrAbandoned)
	}
	file := takeOver(partial)
	if file == nil {
		return 0, nil, nil
	}
	record, err := readRecord(partial + RecordSuffix)
	size, serr := file.Seek(0, io.SeekEnd)
	if err != nil || serr != nil || size == 0 { // it is of no use
		return 0, nil, file.Close()
	}
	if err := s.drop(); err != nil { // nothing was written
		_ = file.Close()
		return 0, nil, wrap(s.name, err)
	}
	s.file, s.temp, s.base = file, partial, size
	s.partial, s.record, s.placed = partial, record, true
	return size, record, nil
}

// place makes the temporary file the partial, with its record: what was received
// survives whatever ends the process. Where it cannot be done now, stay tries
// again. It wants the lock.
func (s *staged) place(record []byte) {
	if s.placed && bytes.Equal(s.record, record) {
		return
	}
	s.record = record
	if s.inPlace != nil {
		return
	}
	if !s.placed && s.move() != nil {
		return
	}
	s.temp, s.placed = s.partial, true
	if writeRecord(s.partial+RecordSuffix, record) != nil {
		s.withdraw()
		s.record = record
	}
}

// move gives the temporary file the partial's name, if nobody has it, or what has
// it was left there by an earlier run, with its record, and no run works on it.
// Of two runs at the same time only one gets the name.
func (s *staged) move() error {
	err := errors.ErrUnsupported
	if removesOpen {
		err = os.Link(s.temp, s.partial) // a rename would replace what comes meanwhile
	}
	if err == nil {
		return os.Remove(s.temp)
	}
	if !os.IsExist(err) { // no links here
		if _, err := os.Lstat(s.partial); os.IsNotExist(err) {
			return os.Rename(s.temp, s.partial)
		}
	}
	if _, err := readRecord(s.partial + RecordSuffix); err != nil {
		return err
	}
	left := takeOver(s.partial)
	if left == nil {
		return os.ErrExist
	}
	defer left.Close()
	if !removesOpen {
		_ = left.Close()
	}
	return os.Rename(s.temp, s.partial)
}

// withdraw takes place back. It wants the lock.
func (s *staged) withdraw() {
	s.record = nil
	if !s.placed {
		return
	}
	_ = os.Remove(s.partial + RecordSuffix) // a record without a body says nothing
	f, path, _, err := createStaging(filepath.Dir(s.partial), filepath.Base(s.path), 0o600)
	if err != nil {
		return // without its record it is of no use under this name, either
	}
	if err := os.Rename(s.temp, path); err != nil {
		_ = os.Remove(path)
	} else {
		s.temp, s.placed = path, false
	}
	_ = f.Close()
}

// writeRecord replaces a record. It never writes through what somebody else has
// put at its name.
func writeRecord(path string, record []byte) error {
	f, temp, err := createTemp(filepath.Dir(path), 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(record)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return err
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

// stay leaves what was received under the partial's name; it wants the lock.
// False is that there is nothing to keep, or no way.
func (s *staged) stay() bool {
	if s.record == nil || s.temp == "" || s.inPlace != nil {
		return false
	}
	info, err := s.file.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	if !s.placed { // some systems do not rename what is open
		if s.file.Close() != nil {
			return false
		}
		if s.place(s.record); !s.placed {
			return false
		}
	} else if s.file.Close() != nil {
		return false
	}
	s.temp, s.kept = "", info.Size()
	return true
}
