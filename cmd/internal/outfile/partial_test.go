package outfile

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestPartial: what an unfinished body leaves for the next run (-C -).
func TestPartial(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	open := func() *FileSink { return File(FileSpec{Path: path, Partial: path + ".part"}) }
	took := func(t *testing.T, s *FileSink, want int64, record string) {
		t.Helper()
		size, got, err := s.TakeUp()
		if err != nil || size != want || size > 0 && string(got) != record {
			t.Fatalf("TakeUp = %d, %q, %v; want %d, %q", size, got, err, want, record)
		}
	}
	t.Run("given_up_without_a_record", func(t *testing.T) {
		s := open()
		took(t, s, 0, "")
		put(t, s, "lost")
		must(t, s.Keep([]byte("x")))
		must(t, s.Keep(nil))
		must(t, s.Abandon())
		wantNames(t, dir)
	})
	t.Run("nothing_to_keep", func(t *testing.T) {
		s := open()
		must(t, s.Keep([]byte("x")))
		must(t, s.Abandon())
		wantNames(t, dir)
	})
	t.Run("stays", func(t *testing.T) {
		s := open()
		must(t, s.Keep([]byte("one")))
		put(t, s, "01234")
		must(t, s.Abandon())
		must(t, s.Abandon())
		wantNames(t, dir, "f.part", "f.part.json")
		if s.Kept() != 5 {
			t.Errorf("kept %d", s.Kept())
		}
		if _, err := io.WriteString(s, "x"); err == nil {
			t.Error("written to what was given up")
		}
	})
	t.Run("taken_up_and_given_up_at_once", func(t *testing.T) {
		s := open()
		took(t, s, 5, "one")
		took(t, open(), 0, "") // of two, one gets it
		must(t, s.Abandon())
		wantNames(t, dir, "f.part", "f.part.json")
	})
	t.Run("goes_on_and_back", func(t *testing.T) {
		s := open()
		took(t, s, 5, "one")
		put(t, s, "xx")
		must(t, s.Reset())
		put(t, s, "56")
		must(t, s.Keep([]byte("two")))
		must(t, s.Abandon())
		wantFile(t, path+".part", "0123456")
	})
	t.Run("finished", func(t *testing.T) {
		s := open()
		took(t, s, 7, "two")
		put(t, s, "789")
		must(t, s.Commit())
		wantFile(t, path, "0123456789")
		wantNames(t, dir, "f")
	})
	t.Run("appended_to_only_by_success", func(t *testing.T) {
		for _, finish := range []bool{false, true} {
			s := open()
			if n, err := s.Append(); n != 10 || err != nil {
				t.Fatalf("Append = %d, %v", n, err)
			}
			put(t, s, "garbage")
			must(t, s.Reset())
			put(t, s, "end")
			wantFile(t, path, "0123456789")
			if !finish {
				must(t, s.Abandon())
				continue
			}
			must(t, s.Commit())
			wantFile(t, path, "0123456789end")
		}
		wantNames(t, dir, "f")
	})
	t.Run("anew", func(t *testing.T) {
		s := open()
		if _, err := s.Append(); err != nil {
			t.Fatal(err)
		}
		s.Anew()
		must(t, s.Reset())
		put(t, s, "new")
		must(t, s.Commit())
		wantFile(t, path, "new")
	})
	t.Run("a_link_is_not_taken_up", func(t *testing.T) {
		must(t, os.WriteFile(path+".part.json", []byte("x"), 0o600))
		if err := os.Symlink(path, path+".part"); err != nil {
			t.Skip("no symbolic links here")
		}
		took(t, open(), 0, "")
		wantFile(t, path, "new")
	})
}
