package outfile

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// FileSpec is what -o and its kin ask for.
type FileSpec struct {
	// Path as the user gave it, --output-dir joined.
	Path string
	// CreateDirs makes missing folders of Path (--create-dirs).
	CreateDirs bool
	// TempDir is where a body is staged when it cannot be staged beside Path.
	TempDir string
	// Stdout and Stderr stand for /dev/stdout and /dev/stderr (and their other
	// names); nil: descriptors 1 and 2.
	Stdout, Stderr io.Writer
	// Unheld passes the bytes on at once where Path is no regular file (-N).
	Unheld bool
	// Whole holds a body of any size until Commit where Path is no regular file,
	// beyond HoldLimit in a file in TempDir.
	Whole bool
	// Partial is where an unfinished body stays until the next run (-C -): see
	// TakeUp and Keep. "" nowhere.
	Partial string
	// Existing is what becomes of a file that is there already.
	Existing Existing
}

// Existing says what becomes of a file that bears the output's name already.
// FIFOs, devices and descriptors are written to in any case, unless refused.
type Existing uint8

// The ways to treat a file that exists.
const (
	Replace Existing = iota
	Refuse           // fail with fs.ErrExist (-J)
	Number           // write to NAME.1, NAME.2 and so on (--no-clobber)
)

// FileSink is the sink of -o. What Path is decides, at the first byte, how it
// is written: a regular file, or none yet, is staged and renamed; everything
// else (FIFO, device, descriptor) is a Stream.
type FileSink struct {
	spec      FileSpec
	mu        sync.Mutex
	inner     inner // nil until the first byte
	modTime   time.Time
	unheld    bool
	within    context.Context
	abandoned bool
}

// inner is what a FileSink turns out to be.
type inner = Marker

// File is the sink for a path. Nothing is touched or looked at before the
// first byte.
func File(spec FileSpec) *FileSink {
	return &FileSink{spec: spec, unheld: spec.Unheld}
}

// Path is the path as the user gave it, or after Commit the one that Number made of it.
func (f *FileSink) Path() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, ok := f.inner.(*staged); ok {
		return s.finalName()
	}
	return f.spec.Path
}

// SetPath changes the path before the first byte of an attempt: the response
// names its file (-J). What an attempt before it staged is dropped.
func (f *FileSink) SetPath(path string, existing Existing) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.abandoned || path == f.spec.Path && existing == f.spec.Existing {
		return nil
	}
	f.spec.Path, f.spec.Existing = path, existing
	if f.inner == nil {
		return nil
	}
	err := f.inner.Abandon()
	f.inner = nil
	return err
}

// SetModTime gives a regular file that time when it is committed (-R); the zero
// time leaves it alone.
func (f *FileSink) SetModTime(t time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.modTime = t
	if s, ok := f.inner.(*staged); ok {
		s.setModTime(t)
	}
}

// Notice is what the user should know of how the file was written, "" nothing.
// It is known after Commit.
func (f *FileSink) Notice() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, ok := f.inner.(*staged); ok {
		return s.notice()
	}
	return ""
}

// Swept is the name of a temporary file for the same target that an earlier run
// had left and that was removed, "" none.
func (f *FileSink) Swept() string {
	s, ok := f.peek().(*staged)
	if !ok {
		return ""
	}
	return s.swept
}

// Unhold is Stream.Unhold, where Path is no regular file.
func (f *FileSink) Unhold() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unheld = true
	if s, ok := f.inner.(*Stream); ok {
		s.Unhold()
	}
}

// Write stages p, or passes it on as Stream does.
func (f *FileSink) Write(p []byte) (int, error) {
	in, err := f.target()
	if err != nil {
		return 0, err
	}
	return in.Write(p)
}

// ReadFrom stages all that r gives; see Sink.
func (f *FileSink) ReadFrom(r io.Reader) (int64, error) {
	in, err := f.target()
	if err != nil {
		return 0, err
	}
	return in.ReadFrom(r)
}

// Reset drops what was written since the opening.
func (f *FileSink) Reset() error {
	if in := f.peek(); in != nil {
		return in.Reset()
	}
	return nil
}

// Commit renames the staged file onto the target; a body without a byte makes
// an empty file, as curl does.
func (f *FileSink) Commit() error {
	in, err := f.target()
	if err != nil {
		return err
	}
	return in.Commit()
}

// Within is Stream.Within, where Path is no regular file.
func (f *FileSink) Within(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.within = ctx
	if s, ok := f.inner.(*Stream); ok {
		s.Within(ctx)
	}
}

// Abandon removes what was staged. It waits for a Commit that is under way, so
// that a copy in place is not left half done.
func (f *FileSink) Abandon() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.abandoned = true
	if f.inner == nil {
		return nil
	}
	return f.inner.Abandon()
}

// Committed reports whether the target has changed, or may have.
func (f *FileSink) Committed() bool {
	in := f.peek()
	return in != nil && in.Committed()
}

func (f *FileSink) peek() inner {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.inner
}

// target finds out, once, what Path is. Staging happens under the lock: an
// Abandon that comes meanwhile must find the file that it has to remove.
func (f *FileSink) target() (inner, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.abandoned {
		return nil, wrap(f.spec.Path, ErrAbandoned)
	}
	if f.inner == nil {
		in, err := f.resolve()
		if err != nil {
			return nil, wrap(f.spec.Path, err)
		}
		f.inner = in
		if s, ok := in.(*Stream); ok && f.within != nil {
			s.Within(f.within)
		}
	}
	return f.inner, nil
}

// resolve decides how the path is written.
func (f *FileSink) resolve() (inner, error) {
	opts := StreamOptions{Unheld: f.unheld, Whole: f.spec.Whole, TempDir: f.spec.TempDir}
	if f.spec.Path == "" {
		return nil, os.ErrNotExist
	}
	if f.spec.Existing == Refuse {
		// Whatever it is: a server must not choose a FIFO or a device either.
		if _, err := os.Lstat(f.spec.Path); err == nil {
			return nil, os.ErrExist
		}
	}
	if n, ok := descriptor(f.spec.Path); ok {
		return newStream(f.spec.Path, opts, f.openDescriptor(n)), nil
	}
	if f.spec.CreateDirs {
		// 0750 as curl makes them.
		if err := os.MkdirAll(filepath.Dir(f.spec.Path), 0o750); err != nil {
			return nil, err
		}
	}
	path, info, err := follow(f.spec.Path)
	if err != nil {
		return nil, err
	}
	switch {
	case info == nil || info.Mode().IsRegular():
		if f.spec.Existing != Replace {
			path, info = f.spec.Path, nil // links are not followed, nothing is replaced
		}
		s, err := newStaged(f.spec.Path, path, info, f.spec.TempDir)
		if err != nil {
			return nil, err
		}
		s.modTime, s.existing = f.modTime, f.spec.Existing
		return s, s.vacant()
	case info.IsDir():
		return nil, errIsDir
	case info.Mode()&os.ModeNamedPipe != 0:
		return newStream(f.spec.Path, opts, opening(func(done <-chan struct{}) (*os.File, error) { return openFIFO(path, done) })), nil
	}
	s := newStream(f.spec.Path, opts, opening(func(<-chan struct{}) (*os.File, error) {
		return os.OpenFile(path, os.O_WRONLY, 0)
	}))
	if info.Mode()&os.ModeCharDevice != 0 && isNull(info) {
		s.void, s.hold, s.holds = true, false, false
	}
	return s, nil
}

// openDescriptor writes by descriptor: opening /dev/fd/N by name would begin
// a regular file anew.
func (f *FileSink) openDescriptor(n int) func(<-chan struct{}) (io.Writer, io.Closer, error) {
	return func(<-chan struct{}) (io.Writer, io.Closer, error) {
		if n == 1 && f.spec.Stdout != nil {
			return f.spec.Stdout, nil, nil
		}
		if n == 2 && f.spec.Stderr != nil {
			return f.spec.Stderr, nil, nil
		}
		file, err := dup(n, f.spec.Path)
		if err != nil {
			return nil, nil, err
		}
		return file, file, nil
	}
}

// descriptor reads the names of inherited descriptors.
func descriptor(path string) (int, bool) {
	if !hasDescriptorNames {
		return 0, false
	}
	path = filepath.Clean(path)
	switch path {
	case "/dev/stdin":
		return 0, true
	case "/dev/stdout":
		return 1, true
	case "/dev/stderr":
		return 2, true
	}
	for _, dir := range []string{"/dev/fd/", "/proc/self/fd/"} {
		if digits, ok := strings.CutPrefix(path, dir); ok {
			n, err := strconv.ParseUint(digits, 10, 31)
			return int(n), err == nil
		}
	}
	return 0, false
}

// maxLinks is how many symbolic links are followed, as Linux does.
const maxLinks = 40

// follow gives the file that path leads to, through symbolic links, whether or
// not it exists: info is nil when it does not.
func follow(path string) (string, os.FileInfo, error) {
	for range maxLinks {
		info, err := os.Lstat(path)
		if os.IsNotExist(err) {
			return path, nil, nil
		}
		if err != nil {
			return "", nil, err
		}
		if info.Mode()&os.ModeSymlink == 0 {
			return path, info, nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", nil, err
		}
		if !filepath.IsAbs(to) {
			// Not filepath.Join: "dir/../x" differs when dir is a link itself.
			to = filepath.Dir(path) + string(filepath.Separator) + to
		}
		path = to
	}
	return "", nil, errLinkLoop
}

var _ Marker = (*FileSink)(nil)
