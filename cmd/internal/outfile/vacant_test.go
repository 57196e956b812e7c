package outfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// entries are the names in a folder: nothing may be left behind.
func entries(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	must(t, err)
	return len(list)
}

func TestRefuse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	t.Run("a_free_name_is_taken", func(t *testing.T) {
		s := File(FileSpec{Path: path, Existing: Refuse})
		put(t, s, "first")
		must(t, s.Commit())
		wantFile(t, path, "first")
	})
	t.Run("an_existing_file_stays", func(t *testing.T) {
		s := File(FileSpec{Path: path, Existing: Refuse})
		if _, err := s.Write([]byte("second")); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%v", err)
		}
		must(t, s.Abandon())
		wantFile(t, path, "first")
	})
	t.Run("a_file_that_appears_meanwhile_stays", func(t *testing.T) {
		other := filepath.Join(dir, "g")
		s := File(FileSpec{Path: other, Existing: Refuse})
		put(t, s, "mine")
		write(t, other, "theirs")
		if err := s.Commit(); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%v", err)
		}
		wantFile(t, other, "theirs")
	})
	t.Run("a_link_is_not_followed", func(t *testing.T) {
		link := filepath.Join(dir, "link")
		if err := os.Symlink("nowhere", link); err != nil {
			t.Skip("no symbolic links here")
		}
		s := File(FileSpec{Path: link, Existing: Refuse})
		if _, err := s.Write([]byte("x")); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%v", err)
		}
	})
	t.Run("no_device_either", func(t *testing.T) {
		s := File(FileSpec{Path: os.DevNull, Existing: Refuse})
		if _, err := s.Write([]byte("x")); hasDescriptorNames && !errors.Is(err, fs.ErrExist) {
			t.Errorf("%v", err)
		}
	})
	if n := entries(t, dir); n != 3 {
		t.Errorf("%d entries are there, not 3", n)
	}
}

func TestNumber(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for i, want := range []string{"f", "f.1", "f.2"} {
		s := File(FileSpec{Path: path, Existing: Number})
		put(t, s, strconv.Itoa(i))
		must(t, s.Commit())
		if s.Path() != filepath.Join(dir, want) {
			t.Errorf("path %q, want %q", s.Path(), want)
		}
		wantFile(t, filepath.Join(dir, want), strconv.Itoa(i))
	}
	for i := 3; i <= maxNumber; i++ {
		write(t, path+"."+strconv.Itoa(i), "")
	}
	s := File(FileSpec{Path: path, Existing: Number})
	if _, err := s.Write([]byte("x")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("no name is free: %v", err)
	}
	if n := entries(t, dir); n != maxNumber+1 {
		t.Errorf("%d entries are there", n)
	}
}

func TestSetPath(t *testing.T) {
	dir := t.TempDir()
	s := File(FileSpec{Path: filepath.Join(dir, "one")})
	must(t, s.SetPath(filepath.Join(dir, "two"), Refuse))
	put(t, s, "cut of")
	must(t, s.SetPath(filepath.Join(dir, "three"), Refuse)) // the next attempt
	put(t, s, "x")
	must(t, s.Commit())
	wantFile(t, filepath.Join(dir, "three"), "x")
	if n := entries(t, dir); n != 1 {
		t.Errorf("%d entries are there", n)
	}
}

func TestModTime(t *testing.T) {
	at := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "f")
	for _, early := range []bool{true, false} {
		s := File(FileSpec{Path: path})
		if early {
			s.SetModTime(at)
		}
		put(t, s, "x")
		if !early {
			s.SetModTime(at.Add(time.Hour))
		}
		must(t, s.Commit())
		info, err := os.Stat(path)
		must(t, err)
		want := at
		if !early {
			want = at.Add(time.Hour)
		}
		if !info.ModTime().Equal(want) {
			t.Errorf("early %v: %v, want %v", early, info.ModTime(), want)
		}
	}
}
