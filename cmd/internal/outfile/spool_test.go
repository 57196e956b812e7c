package outfile

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
)

// whole is a stream that holds all, and the folder of its temporary file.
func whole(t *testing.T) (s *Stream, out *bytes.Buffer, dir string) {
	t.Helper()
	dir, out = t.TempDir(), &bytes.Buffer{}
	return Stdout(out, StreamOptions{Whole: true, Unheld: true, TempDir: dir}), out, dir
}

func empty(t *testing.T, dir string) {
	t.Helper()
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Fatalf("%v is left behind, %v", list, err)
	}
}

func TestWholeStream(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", HoldLimit/8)
	t.Run("R9.3a_nothing_leaves_before_Commit", func(t *testing.T) {
		s, out, dir := whole(t)
		s.Unhold()
		if _, err := io.WriteString(s, "head"); err != nil {
			t.Fatal(err)
		}
		if n, err := s.ReadFrom(strings.NewReader(large)); err != nil || n != int64(len(large)) {
			t.Fatal(n, err)
		}
		if out.Len() > 0 || s.Committed() {
			t.Fatal("it was written")
		}
		if err := s.Rehead(4, []byte("another")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(s, "tail"); err != nil {
			t.Fatal(err)
		}
		if err := s.Commit(); err != nil || out.String() != "another"+large+"tail" {
			t.Fatalf("%d bytes, %v", out.Len(), err)
		}
		empty(t, dir)
	})
	t.Run("Reset", func(t *testing.T) {
		s, out, dir := whole(t)
		_, _ = io.WriteString(s, large)
		if err := s.Reset(); err != nil {
			t.Fatal(err)
		}
		empty(t, dir)
		_, _ = io.WriteString(s, "second")
		if err := s.Commit(); err != nil || out.String() != "second" {
			t.Fatal(out, err)
		}
	})
	t.Run("Abandon", func(t *testing.T) {
		s, out, dir := whole(t)
		_, _ = io.WriteString(s, large)
		if err := s.Abandon(); err != nil || out.Len() > 0 {
			t.Fatal(err)
		}
		empty(t, dir)
	})
	t.Run("no_place_for_the_file", func(t *testing.T) {
		s := Stdout(io.Discard, StreamOptions{Whole: true, TempDir: t.TempDir() + "/missing"})
		if _, err := io.WriteString(s, large); err == nil || !strings.Contains(err.Error(), "cannot write stdout") {
			t.Fatal(err)
		}
	})
}

func TestReadBack(t *testing.T) {
	dir := t.TempDir()
	f := File(FileSpec{Path: dir + "/f"})
	defer f.Abandon() //nolint:errcheck // the end of the test
	back, err := f.ReadBack()
	if err != nil || back == nil {
		t.Fatal(back, err)
	}
	if _, err := io.WriteString(f, "0123456789"); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 4)
	if n, err := back.ReadAt(p, 3); n != 4 || err != nil || string(p) != "3456" {
		t.Fatal(n, err, string(p))
	}
	if n, err := back.ReadAt(p, 8); n != 2 || err != io.EOF {
		t.Fatal(n, err)
	}
	if size, err := back.Size(); size != 10 || err != nil {
		t.Fatal(size, err)
	}
	if _, err := io.WriteString(f, "ab"); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(dir + "/f"); string(text) != "0123456789ab" || err != nil {
		t.Fatal(string(text), err)
	}
	if _, err := back.Size(); err == nil {
		t.Fatal("it can still be read")
	}
	if back, err := File(FileSpec{Path: os.DevNull}).ReadBack(); back != nil || err != nil {
		t.Fatal(back, err)
	}
}
