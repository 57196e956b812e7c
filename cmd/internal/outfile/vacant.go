package outfile

import (
	"io/fs"
	"os"
	"strconv"
	"time"
)

// maxNumber is how many names Number tries, as curl does.
const maxNumber = 100

// vacant finds out, before a body is received for nothing, whether the file
// can get a name that is still free.
func (s *staged) vacant() error {
	if s.existing == Replace {
		return nil
	}
	for i := range s.names() {
		if _, err := os.Lstat(s.numbered(i)); os.IsNotExist(err) {
			return nil
		}
	}
	return s.giveUp()
}

// reserve takes a free name by making an empty file of it, which the commit
// replaces: no other program can take it in between.
func (s *staged) reserve() error {
	if s.existing == Replace {
		return nil
	}
	for i := range s.names() {
		path := s.numbered(i)
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if os.IsExist(err) {
			continue
		}
		if err != nil {
			return err
		}
		s.path = path
		return f.Close()
	}
	return fs.ErrExist
}

// release gives a reserved name back.
func (s *staged) release() error {
	if s.existing == Replace {
		return nil
	}
	return os.Remove(s.path)
}

// giveUp removes the temporary file: no name is left.
func (s *staged) giveUp() error {
	_ = s.drop() // what is reported is why
	return fs.ErrExist
}

func (s *staged) names() int {
	if s.existing == Number {
		return 1 + maxNumber
	}
	return 1
}

func (s *staged) numbered(i int) string {
	if i == 0 {
		return s.name
	}
	return s.name + "." + strconv.Itoa(i)
}

// finalName is the user's name for the file, with the number it got.
func (s *staged) finalName() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.existing == Replace {
		return s.name
	}
	return s.path
}

func (s *staged) setModTime(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.modTime = t
}

// stamp sets the file's times. Where that is not possible the body is worth
// more than its date.
func (s *staged) stamp(path string) {
	if !s.modTime.IsZero() {
		_ = os.Chtimes(path, s.modTime, s.modTime)
	}
}
