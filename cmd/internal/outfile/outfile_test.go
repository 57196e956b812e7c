package outfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"

	"github.com/bidehttp/bide/retry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// errSource is a body's own error, as wire gives them.
type errSource struct{ class retry.Class }

func (e errSource) Error() string           { return "source: " + string(e.class) }
func (e errSource) RetryClass() retry.Class { return e.class }

// failAfter gives text and then err.
type failAfter struct {
	text io.Reader
	err  error
}

func (f failAfter) Read(p []byte) (int, error) {
	n, err := f.text.Read(p)
	if err == io.EOF {
		err = f.err
	}
	return n, err
}

// failing refuses every byte.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func put(t *testing.T, s Sink, text string) {
	t.Helper()
	if n, err := io.WriteString(s, text); err != nil || n != len(text) {
		t.Fatalf("Write = %d, %v", n, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s = %q, %v; want %q", filepath.Base(path), got, err, want)
	}
}

// wantNames checks that a folder holds these files and no others.
func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("folder holds %q, want %q", got, want)
	}
}

func wantOutput(t *testing.T, err error, path string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.RetryClass() != retry.ClassOutput {
		t.Fatalf("error %v (%T) is not of class output", err, err)
	}
	if e.Path != path || !strings.Contains(err.Error(), path) {
		t.Errorf("error %q does not name %q", err, path)
	}
}

func TestFile(t *testing.T) {
	t.Run("E2_target_untouched_until_commit", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		must(t, os.WriteFile(path, []byte("old"), 0o644))
		s := File(FileSpec{Path: path})
		put(t, s, "new, longer")
		wantFile(t, path, "old")
		if s.Committed() {
			t.Error("Committed before Commit")
		}
		must(t, s.Commit())
		wantFile(t, path, "new, longer")
		wantNames(t, dir, "f")
		if !s.Committed() || s.Notice() != "" {
			t.Errorf("Committed %v, notice %q", s.Committed(), s.Notice())
		}
		must(t, s.Abandon())
		wantFile(t, path, "new, longer")
	})
	t.Run("R2.2_reset_drops_the_failed_attempt", func(t *testing.T) {
		dir := t.TempDir()
		s := File(FileSpec{Path: filepath.Join(dir, "f")})
		must(t, s.Reset()) // before a byte: nothing to drop
		put(t, s, "a first, long answer")
		must(t, s.Reset())
		put(t, s, "second")
		must(t, s.Commit())
		wantFile(t, filepath.Join(dir, "f"), "second")
	})
	t.Run("E9_abandon_leaves_nothing", func(t *testing.T) {
		dir := t.TempDir()
		s := File(FileSpec{Path: filepath.Join(dir, "f")})
		put(t, s, "half")
		must(t, s.Abandon())
		must(t, s.Abandon())
		wantNames(t, dir)
		_, err := io.WriteString(s, "more")
		if !errors.Is(err, ErrAbandoned) {
			t.Errorf("Write after Abandon: %v", err)
		}
		if err := s.Commit(); !errors.Is(err, ErrAbandoned) {
			t.Errorf("Commit after Abandon: %v", err)
		}
		wantNames(t, dir)
	})
	t.Run("E9_abandoned_before_the_first_byte", func(t *testing.T) {
		dir := t.TempDir()
		s := File(FileSpec{Path: filepath.Join(dir, "f")})
		must(t, s.Abandon())
		if err := s.Commit(); !errors.Is(err, ErrAbandoned) {
			t.Errorf("Commit: %v", err)
		}
		wantNames(t, dir)
	})
	t.Run("nothing_before_a_byte_empty_body_makes_empty_file", func(t *testing.T) {
		dir := t.TempDir()
		s := File(FileSpec{Path: filepath.Join(dir, "f")})
		wantNames(t, dir)
		must(t, s.Commit())
		wantFile(t, filepath.Join(dir, "f"), "")
		wantNames(t, dir, "f")
	})
	t.Run("create-dirs", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "a", "b", "f")
		s := File(FileSpec{Path: path})
		_, err := io.WriteString(s, "x")
		wantOutput(t, err, path)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("cause %v", err)
		}
		s = File(FileSpec{Path: path, CreateDirs: true})
		put(t, s, "x")
		must(t, s.Commit())
		wantFile(t, path, "x")
	})
	t.Run("a_directory_or_no_name", func(t *testing.T) {
		dir := t.TempDir()
		_, err := io.WriteString(File(FileSpec{Path: dir}), "x")
		wantOutput(t, err, dir)
		if _, err := io.WriteString(File(FileSpec{}), "x"); err == nil {
			t.Error("an empty path was written")
		}
		wantNames(t, dir)
	})
	t.Run("name_of_255_bytes", func(t *testing.T) {
		dir := t.TempDir()
		name := strings.Repeat("n", 255)
		s := File(FileSpec{Path: filepath.Join(dir, name)})
		put(t, s, "x")
		must(t, s.Commit())
		wantNames(t, dir, name)
	})
}

func TestFileReadFrom(t *testing.T) {
	t.Run("hands_the_file_to_the_source", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "f")
		s := File(FileSpec{Path: path})
		src := &fileSeer{text: "zero copy"}
		n, err := s.ReadFrom(src)
		if n != 9 || err != nil || !src.sawFile {
			t.Errorf("ReadFrom = %d, %v; saw a file: %v", n, err, src.sawFile)
		}
		must(t, s.Commit())
		wantFile(t, path, "zero copy")
	})
	t.Run("source_errors_stay_the_source's", func(t *testing.T) {
		for _, src := range []io.Reader{
			failAfter{strings.NewReader("half"), errSource{retry.ClassTruncated}},
			&fileSeer{text: "half", err: errSource{retry.ClassTruncated}},
		} {
			s := File(FileSpec{Path: filepath.Join(t.TempDir(), "f")})
			n, err := s.ReadFrom(src)
			var c retry.Classified
			if n != 4 || !errors.As(err, &c) || c.RetryClass() != retry.ClassTruncated {
				t.Errorf("%T: ReadFrom = %d, %v", src, n, err)
			}
			must(t, s.Abandon())
		}
	})
	t.Run("other_errors_are_the_output's", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "f")
		s := File(FileSpec{Path: path})
		_, err := s.ReadFrom(&fileSeer{text: "x", err: fs.ErrInvalid})
		wantOutput(t, err, path)
		must(t, s.Abandon())
	})
}

// fileSeer notes whether it was given a bare file.
type fileSeer struct {
	text    string
	err     error
	sawFile bool
}

func (f *fileSeer) Read([]byte) (int, error) { panic("WriteTo exists") }

func (f *fileSeer) WriteTo(w io.Writer) (int64, error) {
	_, f.sawFile = w.(*os.File)
	n, err := io.WriteString(w, f.text)
	return int64(n), errors.Join(err, f.err)
}

func TestStdout(t *testing.T) {
	t.Run("R9.3_held_until_complete", func(t *testing.T) {
		var out bytes.Buffer
		s := Stdout(&out, StreamOptions{})
		put(t, s, "first, truncated")
		if out.Len() != 0 || s.Committed() {
			t.Fatalf("%q left, committed %v", out.String(), s.Committed())
		}
		must(t, s.Reset())
		put(t, s, "second")
		must(t, s.Commit())
		must(t, s.Commit())
		if out.String() != "second" {
			t.Errorf("stdout has %q", out.String())
		}
	})
	t.Run("R9.3_limit_exact", func(t *testing.T) {
		for _, c := range []struct {
			size int
			held bool
		}{{HoldLimit - 1, true}, {HoldLimit, true}, {HoldLimit + 1, false}, {3 * HoldLimit, false}} {
			body := bytes.Repeat([]byte("ab"), (c.size+1)/2)[:c.size]
			for _, by := range []string{"Write", "ReadFrom", "pieces"} {
				var out bytes.Buffer
				s := Stdout(&out, StreamOptions{})
				switch by {
				case "Write":
					put(t, s, string(body))
				case "ReadFrom":
					n, err := s.ReadFrom(onlyReader{bytes.NewReader(body)})
					if n != int64(c.size) || err != nil {
						t.Fatalf("ReadFrom = %d, %v", n, err)
					}
				case "pieces":
					for chunk := range bytes.SplitAfterSeq(body, bytes.Repeat([]byte("ab"), 5000)) {
						put(t, s, string(chunk))
					}
				}
				if held := out.Len() == 0; held != c.held {
					t.Errorf("%s of %d: held %v", by, c.size, held)
				}
				if err := s.Reset(); !s.Committed() != (err == nil) || err != nil && !errors.Is(err, ErrCommitted) {
					t.Errorf("%s of %d: committed %v, Reset %v", by, c.size, s.Committed(), err)
				}
			}
		}
	})
	t.Run("beyond_the_limit_exact_bytes", func(t *testing.T) {
		body := bytes.Repeat([]byte("0123456789abcdef"), 150_000)
		var out bytes.Buffer
		s := Stdout(&out, StreamOptions{})
		put(t, s, "head\n")
		n, err := s.ReadFrom(onlyReader{bytes.NewReader(body)})
		if n != int64(len(body)) || err != nil {
			t.Fatalf("ReadFrom = %d, %v", n, err)
		}
		must(t, s.Commit())
		if !bytes.Equal(out.Bytes(), append([]byte("head\n"), body...)) {
			t.Errorf("%d bytes arrived, or others", out.Len())
		}
	})
	t.Run("unheld", func(t *testing.T) {
		var out bytes.Buffer
		s := Stdout(&out, StreamOptions{Unheld: true})
		put(t, s, "now")
		if out.String() != "now" || !s.Committed() {
			t.Errorf("stdout has %q, committed %v", out.String(), s.Committed())
		}
	})
	t.Run("event_stream_unheld_later", func(t *testing.T) {
		var out bytes.Buffer
		s := Stdout(&out, StreamOptions{})
		put(t, s, "head ")
		s.Unhold()
		put(t, s, "data")
		if out.String() != "head data" {
			t.Errorf("stdout has %q", out.String())
		}
	})
	t.Run("abandoned", func(t *testing.T) {
		var out bytes.Buffer
		s := Stdout(&out, StreamOptions{})
		put(t, s, "held")
		must(t, s.Abandon())
		must(t, s.Abandon())
		if _, err := io.WriteString(s, "x"); !errors.Is(err, ErrAbandoned) {
			t.Errorf("Write: %v", err)
		}
		if _, err := s.ReadFrom(strings.NewReader("x")); !errors.Is(err, ErrAbandoned) {
			t.Errorf("ReadFrom: %v", err)
		}
		if err := s.Commit(); !errors.Is(err, ErrAbandoned) || out.Len() != 0 {
			t.Errorf("Commit: %v, stdout %q", err, out.String())
		}
	})
	t.Run("F7_write_errors", func(t *testing.T) {
		s := Stdout(failing{io.ErrClosedPipe}, StreamOptions{})
		put(t, s, "held")
		err := s.Commit()
		wantOutput(t, err, "stdout")
		if !IsBrokenPipe(err) {
			t.Errorf("%v is not seen as a broken pipe", err)
		}
		s = Stdout(failing{fs.ErrPermission}, StreamOptions{Unheld: true})
		_, err = io.WriteString(s, "x")
		wantOutput(t, err, "stdout")
		if IsBrokenPipe(err) {
			t.Errorf("%v is seen as a broken pipe", err)
		}
	})
	t.Run("source_errors_stay_the_source's", func(t *testing.T) {
		s := Stdout(io.Discard, StreamOptions{})
		n, err := s.ReadFrom(failAfter{strings.NewReader("half"), errSource{retry.ClassTimeout}})
		var c retry.Classified
		if n != 4 || !errors.As(err, &c) || c.RetryClass() != retry.ClassTimeout || s.Committed() {
			t.Errorf("ReadFrom = %d, %v; committed %v", n, err, s.Committed())
		}
	})
}

// onlyReader hides a WriteTo.
type onlyReader struct{ io.Reader }

func TestCapture(t *testing.T) {
	m := Capture(8)
	put(t, m, "12345678")
	n, err := io.WriteString(m, "9")
	var c retry.Classified
	if n != 0 || !errors.As(err, &c) || c.RetryClass() != retry.ClassSize {
		t.Errorf("Write over the limit = %d, %v", n, err)
	}
	if !strings.Contains(err.Error(), "size for timeline") || !strings.Contains(err.Error(), "-o") {
		t.Errorf("error %q helps nobody", err)
	}
	must(t, m.Reset())
	put(t, m, "again")
	must(t, m.Commit())
	if string(m.Bytes()) != "again" || m.Committed() {
		t.Errorf("kept %q", m.Bytes())
	}
	must(t, m.Abandon())
	if _, err := io.WriteString(m, "x"); !errors.Is(err, ErrAbandoned) {
		t.Errorf("Write after Abandon: %v", err)
	}
}

func TestDescriptorNames(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no /dev/fd on Windows")
	}
	for path, want := range map[string]int{
		"/dev/stdout": 1, "/dev/stderr": 2, "/dev/fd/3": 3, "/proc/self/fd/12": 12, "/dev//fd/63": 63,
		"/dev/fd/": -1, "/dev/fd/x": -1, "/dev/fd/+1": -1, "/dev/fd/-1": -1, "/dev/null": -1, "f": -1,
		"/dev/fd/99999999999": -1,
	} {
		n, ok := descriptor(path)
		if !ok {
			n = -1
		}
		if n != want {
			t.Errorf("descriptor(%q) = %d, want %d", path, n, want)
		}
	}
}

// TestNothingIsCommittedBeforeItsFirstByte: a body that ends where the hold does,
// or breaks off there, can be taken back (R9.3).
func TestNothingIsCommittedBeforeItsFirstByte(t *testing.T) {
	broke := errors.New("cut off")
	for name, c := range map[string]struct {
		size int
		opts StreamOptions
	}{
		"R9.3_cut_at_the_limit":     {HoldLimit, StreamOptions{}},
		"R9.3_unheld_without_bytes": {0, StreamOptions{Unheld: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			s := Stdout(&out, c.opts)
			n, err := s.ReadFrom(io.MultiReader(bytes.NewReader(make([]byte, c.size)), iotest.ErrReader(broke)))
			if n != int64(c.size) || !errors.Is(err, broke) || s.Committed() || out.Len() > 0 {
				t.Errorf("ReadFrom = %d, %v; committed %v, %d bytes out", n, err, s.Committed(), out.Len())
			}
		})
	}
}
