package outfile

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
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
		second := open()
		took(t, second, 0, "") // of two, one gets it
		must(t, second.Keep([]byte("two")))
		put(t, second, "x")
		must(t, second.Abandon()) // and leaves it alone
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
	t.Run("killed_while_it_grows", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		dead := File(FileSpec{Path: path, Partial: path + ".part"})
		must(t, dead.Keep([]byte("one")))
		put(t, dead, "0123")
		must(t, dead.peek().(*staged).file.Close()) // what the system does for the dead
		if runtime.GOOS != "windows" {
			wantNames(t, dir, "f.part", "f.part.json")
			s := File(FileSpec{Path: path, Partial: path + ".part"})
			took(t, s, 4, "one")
			put(t, s, "4567")
			must(t, s.Commit())
			wantFile(t, path, "01234567")
			wantNames(t, dir, "f")
		}
	})
	t.Run("somebody_elses_file_stays", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		must(t, os.WriteFile(path+".part", []byte("not ours"), 0o600))
		s := File(FileSpec{Path: path, Partial: path + ".part"})
		must(t, s.Keep([]byte("one")))
		put(t, s, "0123")
		must(t, s.Abandon())
		wantFile(t, path+".part", "not ours")
		wantNames(t, dir, "f.part")
	})
	t.Run("a_record_is_not_written_through_a_link", func(t *testing.T) {
		dir := t.TempDir()
		path, victim := filepath.Join(dir, "f"), filepath.Join(dir, "victim")
		must(t, os.WriteFile(victim, []byte("precious"), 0o600))
		if err := os.Symlink(victim, path+".part.json"); err != nil {
			t.Skip("no symbolic links here")
		}
		s := File(FileSpec{Path: path, Partial: path + ".part"})
		must(t, s.Keep([]byte("one")))
		put(t, s, "0123")
		must(t, s.Abandon())
		wantFile(t, victim, "precious")
		wantFile(t, path+".part.json", "one")
	})
	t.Run("a_link_is_not_taken_up", func(t *testing.T) {
		must(t, os.WriteFile(path+".part.json", []byte("x"), 0o600))
		if err := os.Symlink(path, path+".part"); err != nil {
			t.Skip("no symbolic links here")
		}
		s := open()
		took(t, s, 0, "")
		must(t, s.Abandon())
		wantFile(t, path, "new")
	})
}
