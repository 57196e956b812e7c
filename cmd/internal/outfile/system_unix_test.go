//go:build unix

package outfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/bidehttp/bide/retry"
)

func TestFileMode(t *testing.T) {
	t.Run("umask_of_a_new_file", func(t *testing.T) {
		old := syscall.Umask(0o027)
		defer syscall.Umask(old)
		path := filepath.Join(t.TempDir(), "f")
		s := File(FileSpec{Path: path})
		put(t, s, "x")
		must(t, s.Commit())
		wantMode(t, path, 0o640)
	})
	for _, mode := range []os.FileMode{0o600, 0o644, 0o755, 0o666} {
		t.Run(fmt.Sprintf("kept_%o", mode), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			must(t, os.WriteFile(path, []byte("old"), 0o600))
			must(t, os.Chmod(path, mode))
			s := File(FileSpec{Path: path})
			put(t, s, "new")
			must(t, s.Commit())
			wantMode(t, path, mode)
			wantFile(t, path, "new")
		})
	}
	t.Run("owner_kept", func(t *testing.T) {
		if os.Getuid() != 0 {
			t.Skip("only root can give a file away")
		}
		path := filepath.Join(t.TempDir(), "f")
		must(t, os.WriteFile(path, []byte("old"), 0o640))
		must(t, os.Chown(path, 1234, 4321))
		s := File(FileSpec{Path: path})
		put(t, s, "new")
		must(t, s.Commit())
		info, err := os.Stat(path)
		must(t, err)
		if st := info.Sys().(*syscall.Stat_t); st.Uid != 1234 || st.Gid != 4321 {
			t.Errorf("owner %d:%d", st.Uid, st.Gid)
		}
		wantMode(t, path, 0o640)
	})
}

func wantMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != want {
		t.Errorf("mode %o, want %o", info.Mode().Perm(), want)
	}
}

func TestFileSymlink(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "real"), 0o755))
	target := filepath.Join(dir, "real", "f")
	for _, exists := range []bool{false, true} {
		link := filepath.Join(dir, fmt.Sprint("link", exists))
		hop := filepath.Join(dir, fmt.Sprint("hop", exists))
		must(t, os.Symlink(filepath.Base(hop), link))
		must(t, os.Symlink("real/f", hop))
		s := File(FileSpec{Path: link})
		put(t, s, fmt.Sprint("by link, ", exists))
		must(t, s.Commit())
		wantFile(t, target, fmt.Sprint("by link, ", exists))
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link itself was replaced")
		}
	}
	wantNames(t, filepath.Join(dir, "real"), "f")

	loop := filepath.Join(dir, "loop")
	must(t, os.Symlink("loop", loop))
	_, err := io.WriteString(File(FileSpec{Path: loop}), "x")
	wantOutput(t, err, loop)
	if !errors.Is(err, syscall.ELOOP) {
		t.Errorf("cause %v", err)
	}
}

// TestRenameImpossible/E15: what rename says where it cannot work, provoked
// without mounts: the table of errors, and a commit that meets one.
func TestRenameImpossible(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{syscall.EBUSY, true}, {syscall.EXDEV, true}, {syscall.EPERM, true}, {syscall.EACCES, true},
		{syscall.ENOSPC, false}, {syscall.EISDIR, false}, {syscall.EROFS, false}, {syscall.ENOENT, false},
	} {
		if got := unrenamable(&os.LinkError{Op: "rename", Err: c.err}); got != c.want {
			t.Errorf("unrenamable(%v) = %v", c.err, got)
		}
	}
	t.Run("E15_written_in_place_with_a_notice", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		must(t, os.WriteFile(path, []byte("old and longer"), 0o604))
		before, err := os.Stat(path)
		must(t, err)
		s := File(FileSpec{Path: path})
		put(t, s, "new")
		s.inner.(*staged).inPlace = &os.LinkError{Op: "rename", Err: syscall.EBUSY}
		wantFile(t, path, "old and longer")
		must(t, s.Commit())
		wantFile(t, path, "new")
		wantNames(t, dir, "f")
		after, err := os.Stat(path)
		must(t, err)
		if !os.SameFile(before, after) {
			t.Error("the file is another one")
		}
		if n := s.Notice(); !strings.Contains(n, path) || !strings.Contains(n, "resource busy") || !strings.Contains(n, "in place") {
			t.Errorf("notice %q", n)
		}
	})
}

// TestBindMount/E15 needs the right to mount.
func TestBindMount(t *testing.T) {
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("needs root on Linux")
	}
	dir := t.TempDir()
	path, source := filepath.Join(dir, "f"), filepath.Join(dir, "source")
	must(t, os.WriteFile(path, nil, 0o644))
	must(t, os.WriteFile(source, []byte("old"), 0o644))
	if err := bindMount(source, path); err != nil {
		t.Logf("mounting is not allowed here (%v): TestRenameImpossible stands for it", err)
		return
	}
	defer unmount(path)
	s := File(FileSpec{Path: path})
	put(t, s, "new")
	must(t, s.Commit())
	wantFile(t, source, "new")
	wantNames(t, dir, "f", "source")
	if !strings.Contains(s.Notice(), "in place") {
		t.Errorf("notice %q", s.Notice())
	}
}

// TestFullInPlace: a disk that fills up while a file is written in place has cost
// the old content; the new one must not be lost, too.
func TestFullInPlace(t *testing.T) {
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("needs root on Linux")
	}
	dir := t.TempDir()
	if err := smallMount(dir); err != nil {
		t.Logf("mounting is not allowed here (%v)", err)
		return
	}
	defer unmount(dir)
	path := filepath.Join(dir, "f")
	source := filepath.Join(dir, "source")
	must(t, os.WriteFile(path, nil, 0o644))
	must(t, os.WriteFile(source, []byte("old"), 0o644))
	must(t, bindMount(source, path))
	defer unmount(path)
	body := strings.Repeat("0123456789", 4000)
	s := File(FileSpec{Path: path})
	put(t, s, body)
	err := s.Commit()
	wantOutput(t, err, path)
	must(t, s.Abandon())
	_, kept, ok := strings.Cut(err.Error(), "; the whole body is in ")
	if !ok || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("%v: want the cause, and where the body is", err)
	}
	wantFile(t, kept, body)
	next := File(FileSpec{Path: path}) // whatever comes of it, that file is not its own
	_, _ = io.WriteString(next, "x")
	must(t, next.Abandon())
	wantFile(t, kept, body)
}

func TestUnwritable(t *testing.T) {
	if os.Getuid() == 0 {
		// The kernel asks root nothing; drop to a user that it asks.
		must(t, syscall.Seteuid(65534))
		defer func() { must(t, syscall.Seteuid(0)) }()
	}
	base, err := os.MkdirTemp("", "bide-outfile")
	must(t, err)
	defer os.RemoveAll(base)
	temp := filepath.Join(base, "temp")
	must(t, os.Mkdir(temp, 0o700))
	dir := filepath.Join(base, "dir")
	must(t, os.Mkdir(dir, 0o700))
	defer os.Chmod(dir, 0o700)
	path := filepath.Join(dir, "f")
	must(t, os.WriteFile(path, []byte("old"), 0o644))

	t.Run("target_not_writable_is_no_way_around_its_mode", func(t *testing.T) {
		must(t, os.Chmod(path, 0o444))
		defer os.Chmod(path, 0o644)
		_, err := io.WriteString(File(FileSpec{Path: path, TempDir: temp}), "x")
		wantOutput(t, err, path)
		wantFile(t, path, "old")
		wantNames(t, dir, "f")
	})
	t.Run("E15_folder_not_writable", func(t *testing.T) {
		must(t, os.Chmod(dir, 0o555))
		defer os.Chmod(dir, 0o700)
		s := File(FileSpec{Path: path, TempDir: temp})
		put(t, s, "new")
		wantFile(t, path, "old")
		must(t, s.Commit())
		wantFile(t, path, "new")
		wantNames(t, temp)
		if !strings.Contains(s.Notice(), "permission denied") {
			t.Errorf("notice %q", s.Notice())
		}
		other := filepath.Join(dir, "other")
		_, err := io.WriteString(File(FileSpec{Path: other, TempDir: temp}), "x")
		wantOutput(t, err, other)
		wantNames(t, temp)
	})
	t.Run("E15_abandoned_elsewhere", func(t *testing.T) {
		must(t, os.Chmod(dir, 0o555))
		defer os.Chmod(dir, 0o700)
		s := File(FileSpec{Path: path, TempDir: temp})
		put(t, s, "half")
		must(t, s.Abandon())
		wantNames(t, temp)
	})
}

func TestFIFO(t *testing.T) {
	newFIFO := func(t *testing.T) string {
		path := filepath.Join(t.TempDir(), "fifo")
		must(t, syscall.Mkfifo(path, 0o600))
		return path
	}
	t.Run("E8_written_directly_and_closed", func(t *testing.T) {
		path := newFIFO(t)
		got := make(chan string)
		go func() {
			b, err := os.ReadFile(path)
			got <- fmt.Sprint(string(b), err)
		}()
		s := File(FileSpec{Path: path})
		put(t, s, "first")
		must(t, s.Reset()) // held: nothing has left
		put(t, s, "second")
		must(t, s.Commit())
		if g := <-got; g != "second<nil>" {
			t.Errorf("reader got %q", g)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
			t.Error("the FIFO was replaced")
		}
	})
	t.Run("E9_abandoned_while_no_reader_comes", func(t *testing.T) {
		s := File(FileSpec{Path: newFIFO(t), Unheld: true})
		done := make(chan error)
		go func() {
			_, err := io.WriteString(s, "x")
			done <- err
		}()
		for s.peek() == nil {
			runtime.Gosched()
		}
		must(t, s.Abandon())
		if err := <-done; !errors.Is(err, ErrAbandoned) {
			t.Errorf("Write: %v", err)
		}
	})
	t.Run("E9_abandoned_while_the_reader_sleeps", func(t *testing.T) {
		path := newFIFO(t)
		r, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		must(t, err)
		defer r.Close()
		s := File(FileSpec{Path: path, Unheld: true})
		put(t, s, "x")
		done := make(chan error)
		go func() {
			_, err := s.Write(make([]byte, 8<<20))
			done <- err
		}()
		must(t, s.Abandon())
		if err := <-done; err == nil {
			t.Error("8 MiB went into a pipe that nobody reads")
		}
	})
	t.Run("F7_reader_gone", func(t *testing.T) {
		path := newFIFO(t)
		r, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		must(t, err)
		s := File(FileSpec{Path: path, Unheld: true})
		put(t, s, "x")
		must(t, r.Close())
		_, err = io.WriteString(s, "y")
		wantOutput(t, err, path)
		if !IsBrokenPipe(err) {
			t.Errorf("%v is not seen as a broken pipe", err)
		}
		must(t, s.Abandon())
	})
}

func TestDevices(t *testing.T) {
	t.Run("E8_null_is_never_committed", func(t *testing.T) {
		s := File(FileSpec{Path: "/dev/null"})
		src := &fileSeer{text: "gone"}
		if n, err := s.ReadFrom(src); n != 4 || err != nil || !src.sawFile {
			t.Errorf("ReadFrom = %d, %v; saw a file: %v", n, err, src.sawFile)
		}
		if s.Committed() {
			t.Error("Committed")
		}
		must(t, s.Reset())
		put(t, s, "again")
		must(t, s.Commit())
	})
	t.Run("E8_full", func(t *testing.T) {
		if _, err := os.Stat("/dev/full"); err != nil {
			t.Skip("no /dev/full here")
		}
		s := File(FileSpec{Path: "/dev/full"})
		put(t, s, "x")
		err := s.Commit()
		wantOutput(t, err, "/dev/full")
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("cause %v", err)
		}
		must(t, s.Abandon())
	})
}

func TestDescriptors(t *testing.T) {
	t.Run("E15_stdout_is_the_injected_one", func(t *testing.T) {
		var out, diag bytes.Buffer
		for path, to := range map[string]*bytes.Buffer{"/dev/stdout": &out, "/dev/fd/2": &diag} {
			s := File(FileSpec{Path: path, Stdout: &out, Stderr: &diag})
			put(t, s, "to "+path)
			must(t, s.Commit())
			if to.String() != "to "+path {
				t.Errorf("%s: %q", path, to)
			}
		}
	})
	t.Run("E15_by_descriptor_not_by_name", func(t *testing.T) {
		f, err := os.Create(filepath.Join(t.TempDir(), "f"))
		must(t, err)
		defer f.Close()
		_, err = f.WriteString("before ")
		must(t, err)
		s := File(FileSpec{Path: fmt.Sprintf("/dev/fd/%d", f.Fd())})
		put(t, s, "bide ")
		must(t, s.Commit())
		_, err = f.WriteString("after")
		must(t, err)
		wantFile(t, f.Name(), "before bide after")
	})
	t.Run("no_such_descriptor", func(t *testing.T) {
		s := File(FileSpec{Path: "/dev/fd/9999"})
		put(t, s, "x")
		wantOutput(t, s.Commit(), "/dev/fd/9999")
	})
}

// TestAbandonRace: a signal may come at any moment of a write.
func TestAbandonRace(t *testing.T) {
	for i := range 50 {
		dir := t.TempDir()
		s := File(FileSpec{Path: filepath.Join(dir, "f")})
		var wg sync.WaitGroup
		wg.Go(func() {
			for range i {
				if _, err := s.Write(make([]byte, 1000)); err != nil {
					var c retry.Classified
					if !errors.As(err, &c) || c.RetryClass() != retry.ClassOutput {
						t.Errorf("Write: %v", err)
					}
					return
				}
			}
		})
		wg.Go(func() { must(t, s.Abandon()) })
		wg.Wait()
		wantNames(t, dir)
	}
}

// TestRunningProgram: a program that runs cannot be written to, but replaced.
func TestRunningProgram(t *testing.T) {
	sleep, err := os.ReadFile("/bin/sleep")
	if err != nil {
		t.Skip("no /bin/sleep here")
	}
	path := filepath.Join(t.TempDir(), "program")
	must(t, os.WriteFile(path, sleep, 0o755))
	cmd := exec.Command(path, "60")
	must(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	s := File(FileSpec{Path: path})
	put(t, s, "new version")
	must(t, s.Commit())
	wantFile(t, path, "new version")
	wantMode(t, path, 0o755)
	if s.Notice() != "" {
		t.Errorf("notice %q", s.Notice())
	}
}
