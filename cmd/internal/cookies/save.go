package cookies

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Save writes the jar to a file (-c), or for "-" to stdout. A file is replaced
// at once by a rename, so that it is either the old or the new one; it keeps its mode, and
// a new one is readable by its owner alone. A symbolic link's target is
// replaced; what is no regular file is written in place.
func (j *Jar) Save(path string, stdout io.Writer, now time.Time) error {
	j.dropExpired(now)
	if path == "-" {
		_, err := j.WriteTo(stdout)
		return err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	mode := fs.FileMode(0o600)
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return j.writeInPlace(path)
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return j.replace(path, mode)
}

func (j *Jar) writeInPlace(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = j.WriteTo(f)
	return errors.Join(err, f.Close())
}

func (j *Jar) replace(path string, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".bide-cookies-*")
	if err != nil {
		return err
	}
	_, err = j.WriteTo(f)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
