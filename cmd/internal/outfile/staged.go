package outfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// staged is a regular file in the making: bytes go to a temporary file and
// replace the target on Commit.
type staged struct {
	name   string // as the user gave it
	path   string // links followed
	exists bool   // the target was there at the opening

	mu      sync.Mutex
	file    *os.File
	temp    string // its path; "" once renamed or removed
	inPlace error  // why the target cannot be replaced by renaming; nil it can
	state   stagedState

	base    int64  // what Reset leaves: the beginning came from elsewhere
	partial string // where a body that is given up stays
	record  []byte // beside it; nil: it does not stay
	kept    int64  // size of what stayed
	placed  bool   // temp is the partial, and the record stands beside it
	swept   string // what an earlier run had left

	existing Existing
	modTime  time.Time // of the file when it is committed; zero leaves it
}

type stagedState int

const (
	stagedOpen stagedState = iota
	stagedDone
	stagedAbandoned
)

// newStaged opens the temporary file. What will make the commit impossible is
// found here, before a body is received for nothing.
func newStaged(name, path string, info os.FileInfo, tempDir string) (*staged, error) {
	s := &staged{name: name, path: path, exists: info != nil}
	if s.exists {
		if err := mayWrite(path); err != nil {
			return nil, err
		}
	}
	mode := os.FileMode(0o666) // and the umask
	if s.exists {
		mode = 0o600 // not more open than the target, at no time
	}
	var err error
	s.file, s.temp, s.swept, err = createStaging(filepath.Dir(path), filepath.Base(path), mode)
	switch {
	case err == nil && s.exists:
		if err := adopt(s.file, info); err != nil {
			s.inPlace = err
		}
	case err != nil && s.exists && tempDir != "" && !errors.Is(err, os.ErrNotExist):
		s.inPlace = err
		s.file, s.temp, s.swept, err = createStaging(tempDir, absolute(path), 0o600)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// adopt gives the staged file the target's owner and mode, the owner first:
// changing it clears mode bits.
func adopt(f *os.File, target os.FileInfo) error {
	if err := adoptOwner(f, target); err != nil {
		return err
	}
	return f.Chmod(target.Mode().Perm())
}

// open gives the file to write to. The lock is not held while writing, so that
// Abandon need not wait for a slow disk: closing the file ends the write.
func (s *staged) open() (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case stagedDone:
		return nil, wrap(s.name, ErrCommitted)
	case stagedAbandoned:
		return nil, wrap(s.name, ErrAbandoned)
	}
	return s.file, nil
}

func (s *staged) Write(p []byte) (int, error) {
	f, err := s.open()
	if err != nil {
		return 0, err
	}
	n, err := f.Write(p)
	return n, wrap(s.name, err)
}

func (s *staged) ReadFrom(r io.Reader) (int64, error) {
	f, err := s.open()
	if err != nil {
		return 0, err
	}
	return copyTo(s.name, f, r)
}

// body gives the temporary file, and where in it the body begins.
func (s *staged) body() (f *os.File, base int64, err error) {
	if f, err = s.open(); err != nil {
		return nil, 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return f, s.base, nil
}

// Reset begins the temporary file anew.
func (s *staged) Reset() error {
	f, base, err := s.body()
	if err != nil {
		return err
	}
	if err := f.Truncate(base); err != nil {
		return wrap(s.name, err)
	}
	_, err = f.Seek(base, io.SeekStart)
	return wrap(s.name, err)
}

// Commit replaces the target.
func (s *staged) Commit() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case stagedDone:
		return nil
	case stagedAbandoned:
		return wrap(s.name, ErrAbandoned)
	}
	defer s.holdLock()()
	if err := s.reserve(); err != nil {
		return wrap(s.name, errors.Join(err, s.drop()))
	}
	if s.inPlace == nil {
		done, err := s.rename()
		if err != nil {
			err = errors.Join(err, s.release())
		}
		if done || err != nil {
			return wrap(s.name, err)
		}
	}
	return wrap(s.name, s.copyInPlace())
}

// rename closes the temporary file, for its last errors, and moves it onto the
// target. Where that cannot work, but writing in place may, it notes why and
// done is false.
func (s *staged) rename() (done bool, err error) {
	if err := s.file.Close(); err != nil {
		return false, errors.Join(err, s.drop())
	}
	s.stamp(s.temp)
	err = os.Rename(s.temp, s.path)
	switch {
	case err == nil:
		s.temp, s.state = "", stagedDone
		if s.placed {
			_ = os.Remove(s.partial + RecordSuffix) // alone it says nothing
		}
		return true, nil
	case s.exists && unrenamable(err):
		s.inPlace = err
		return false, nil
	}
	return false, errors.Join(err, s.drop())
}

// holdLock keeps the temporary file's lock beyond its closing, until release:
// before it has its last name, or none, nobody may take it for one that was left.
// The lock goes with the last descriptor. (Where there is no dup, for a moment
// somebody may.)
func (s *staged) holdLock() (release func()) {
	lock, err := dup(int(s.file.Fd()), s.temp)
	if err != nil {
		return func() {}
	}
	return func() { _ = lock.Close() }
}

// unrenamable: mount points, other file systems, sticky folders.
func unrenamable(err error) bool {
	return errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV) ||
		errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES)
}

// copyInPlace writes the staged bytes over the target and removes the
// temporary file. It is not interrupted: half a copy would be the worst end.
// Where the disk ends it, the temporary file stays: it is all that is left.
func (s *staged) copyInPlace() error {
	src, err := os.Open(s.temp)
	if err != nil {
		return errors.Join(err, s.drop())
	}
	defer src.Close()
	dst, err := os.OpenFile(s.path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return errors.Join(err, s.drop())
	}
	_, err = io.Copy(dst, src)
	if cerr := dst.Close(); err == nil {
		err = cerr
	}
	s.stamp(s.path)
	s.state = stagedDone
	if err != nil {
		return s.rescue(err)
	}
	return s.drop()
}

// rescue keeps the temporary file, under a name that no later run sweeps, and
// adds it to err.
func (s *staged) rescue(err error) error {
	kept := s.temp
	if f, path, terr := createTemp(filepath.Dir(s.temp), 0o600); terr == nil {
		_ = f.Close()
		_ = s.file.Close() // some systems do not rename what is open
		if os.Rename(s.temp, path) == nil {
			kept = path
		} else {
			_ = os.Remove(path)
		}
	}
	s.temp = ""
	return fmt.Errorf("%w; the whole body is in %s", bare(err), kept)
}

// absolute is the path that identifies a target from everywhere.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// notice says that the target was not replaced in one step.
func (s *staged) notice() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inPlace == nil || s.state != stagedDone {
		return ""
	}
	return fmt.Sprintf("%s cannot be replaced (%v): it was written in place", s.name, bare(s.inPlace))
}

// Abandon removes the temporary file.
func (s *staged) Abandon() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == stagedDone {
		return nil
	}
	defer s.holdLock()()
	if s.state == stagedOpen && s.stay() {
		s.state = stagedAbandoned
		return nil
	}
	s.state = stagedAbandoned
	return wrap(s.name, s.drop())
}

// drop closes and removes the temporary file; a second call finishes what the
// first could not (a system that does not remove open files).
func (s *staged) drop() error {
	if s.temp == "" {
		return nil
	}
	if err := s.unlink(); err != nil && !os.IsNotExist(err) {
		return err
	}
	s.temp = ""
	if s.placed {
		_ = os.Remove(s.partial + RecordSuffix) // alone it says nothing
		s.placed = false
	}
	return nil
}

// unlink closes and removes the temporary file. Where it can it keeps the lock
// until the name is gone: a run that sweeps would give it to a file of its own.
func (s *staged) unlink() error {
	defer s.file.Close() // its bytes are no longer wanted
	if !removesOpen {
		_ = s.file.Close()
	}
	return os.Remove(s.temp)
}

func (s *staged) Committed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == stagedDone
}
