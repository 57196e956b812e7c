package outfile

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"unicode/utf8"
)

// A temporary file's name tells its target, so that the next run for the same
// target finds what one before it left behind (SIGKILL, a crash). Whoever lives
// holds a lock on his; the system takes it back from the dead.

// slots is how many runs at a time may have such a name for one target; the
// names of more of them come from chance, and nobody looks for those.
const slots = 8

// createStaging makes a temporary file in dir for the target called key. swept
// is the name of a file that had been left there, and is removed; "" none.
func createStaging(dir, key string, mode os.FileMode) (f *os.File, path, swept string, err error) {
	for n := range slots {
		path = filepath.Join(dir, slotName(key, n))
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if os.IsExist(err) && sweep(path) {
			swept = path
			f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		}
		switch {
		case os.IsExist(err):
		case err != nil:
			return nil, "", swept, err
		case occupy(f, path):
			return f, path, swept, nil
		default: // another run took it for one that was left
			_ = f.Close()
		}
	}
	f, path, err = createTemp(dir, mode)
	return f, path, swept, err
}

// slotName does not grow with the target's name, which may be as long as the
// file system allows.
func slotName(key string, n int) string {
	return ".bide-" + hashed(key) + "-" + strconv.Itoa(n) + ".tmp"
}

func hashed(text string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // a hash does not fail
	return strconv.FormatUint(h.Sum64(), 36)
}

// createTemp makes a file of its own in dir. mode is subject to the umask,
// unlike os.CreateTemp's.
func createTemp(dir string, mode os.FileMode) (*os.File, string, error) {
	for try := 0; ; try++ {
		path := filepath.Join(dir, ".bide-"+strconv.FormatUint(rand.Uint64(), 36)+".tmp")
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if os.IsExist(err) && try < 100 {
			continue
		}
		return f, path, err
	}
}

// occupy marks a new file as one that is in use. It fails when a run that sweeps
// came first. Where a file system knows no locks nothing is marked, and nothing swept.
func occupy(f *os.File, path string) bool {
	return !isLocked(lockFile(f)) && bears(f, path)
}

// bears reports whether f is still what path names.
func bears(f *os.File, path string) bool {
	named, err := os.Lstat(path)
	if err != nil {
		return false
	}
	own, err := f.Stat()
	return err == nil && os.SameFile(named, own)
}

// takeOver opens a regular file that was left at path, and locks it; nil when
// there is none, or somebody has it.
func takeOver(path string) *os.File {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := openLeft(path)
	if err != nil {
		return nil
	}
	if lockFile(f) != nil || !bears(f, path) {
		_ = f.Close()
		return nil
	}
	return f
}

// sweep removes what was left at path by a run that is dead.
func sweep(path string) bool {
	f := takeOver(path)
	if f == nil {
		return false
	}
	if !removesOpen {
		_ = f.Close() // a file that somebody has open cannot be removed
	}
	err := os.Remove(path)
	_ = f.Close()
	return err == nil
}

// maxName is how many bytes the last element of a path may have, about everywhere.
const maxName = 255

// PartialName is where an unfinished body for path stays (-C -): path with
// ".part", shortened where the record's name beside it would be too long.
func PartialName(path string) string {
	const suffix = ".part"
	dir, base := filepath.Split(path)
	if len(base)+len(suffix)+len(RecordSuffix) <= maxName {
		return path + suffix
	}
	mark := "~" + hashed(base) + suffix
	keep := maxName - len(mark) - len(RecordSuffix)
	for keep > 0 && !utf8.RuneStart(base[keep]) {
		keep--
	}
	return dir + base[:keep] + mark
}
