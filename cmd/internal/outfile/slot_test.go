package outfile

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// TestSweep: what a run that was killed left beside its target is removed by the
// next one for the same target, and nothing else.
func TestSweep(t *testing.T) {
	write := func(t *testing.T, path string) {
		must(t, os.WriteFile(path, []byte("half"), 0o600))
	}
	get := func(t *testing.T, path string) *FileSink {
		s := File(FileSpec{Path: path})
		put(t, s, "new")
		return s
	}
	t.Run("left_by_the_dead", func(t *testing.T) {
		dir := t.TempDir()
		left := filepath.Join(dir, slotName("f", 0))
		write(t, left)
		s := get(t, filepath.Join(dir, "f"))
		must(t, s.Commit())
		wantNames(t, dir, "f")
		if s.Swept() != left {
			t.Errorf("swept %q, want %q", s.Swept(), left)
		}
	})
	t.Run("of_another_target", func(t *testing.T) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, slotName("g", 0)))
		s := get(t, filepath.Join(dir, "f"))
		must(t, s.Commit())
		wantNames(t, dir, slotName("g", 0), "f")
		if s.Swept() != "" {
			t.Errorf("swept %q", s.Swept())
		}
	})
	t.Run("of_the_living", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		var all []*FileSink
		for range slots + 2 {
			all = append(all, get(t, path))
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != len(all) {
			t.Errorf("%d temporary files for %d runs (%v)", len(entries), len(all), err)
		}
		for _, s := range all {
			if s.Swept() != "" {
				t.Errorf("swept %q of a run that lives", s.Swept())
			}
			must(t, s.Commit())
		}
		wantNames(t, dir, "f")
	})
	t.Run("no_file", func(t *testing.T) {
		dir := t.TempDir()
		must(t, os.Mkdir(filepath.Join(dir, slotName("f", 0)), 0o700))
		if err := os.Symlink(filepath.Join(dir, "x"), filepath.Join(dir, slotName("f", 1))); err != nil {
			t.Skip("no symbolic links here")
		}
		write(t, filepath.Join(dir, "x"))
		s := get(t, filepath.Join(dir, "f"))
		must(t, s.Commit())
		wantNames(t, dir, slotName("f", 0), slotName("f", 1), "f", "x")
	})
}

// TestLongNames: the staging name, the partial and its record exist for every
// name that the file system allows.
func TestLongNames(t *testing.T) {
	for n := 240; n <= maxName; n++ {
		for _, letter := range []string{"a", "é", "漢", "😀"} {
			name := strings.Repeat(letter, n/len(letter))
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			partial := PartialName(path)
			base := filepath.Base(partial)
			if len(base)+len(RecordSuffix) > maxName || !utf8.ValidString(base) || !strings.HasSuffix(base, ".part") || filepath.Dir(partial) != dir {
				t.Fatalf("%d bytes of %s: %q", len(name), letter, base)
			}
			s := File(FileSpec{Path: path, Partial: partial})
			must(t, s.Keep([]byte("record")))
			put(t, s, "0123")
			must(t, s.Abandon())
			wantNames(t, dir, base, base+RecordSuffix)
			s = File(FileSpec{Path: path, Partial: partial})
			if size, _, err := s.TakeUp(); size != 4 || err != nil {
				t.Fatalf("%d bytes of %s: took up %d, %v", len(name), letter, size, err)
			}
			must(t, s.Commit())
			wantNames(t, dir, name)
		}
	}
	if a, b := PartialName(strings.Repeat("a", 250)+"1"), PartialName(strings.Repeat("a", 250)+"2"); a == b {
		t.Error("two names share a partial")
	}
}

// TestManyOntoOne: outputs that replace one file at the same time do not take
// each other's for what a dead run left.
func TestManyOntoOne(t *testing.T) {
	if !removesOpen {
		t.Skip("a lock does not outlast the rename here")
	}
	path := filepath.Join(t.TempDir(), "f")
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 50 {
				f := File(FileSpec{Path: path})
				if _, err := f.Write([]byte("whole")); err != nil {
					t.Error(err)
				}
				if err := f.Commit(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// TestGivenUpBeside: an output that is given up does not remove the file of one
// for the same target that begins meanwhile.
func TestGivenUpBeside(t *testing.T) {
	if !removesOpen {
		t.Skip("a lock does not outlast the removal here")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 100 {
				f := File(FileSpec{Path: path})
				if _, err := f.Write([]byte("whole")); err != nil {
					t.Error(err)
				}
				end := f.Commit
				if (i+j)%2 == 0 {
					end = f.Abandon
				}
				if err := end(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	wantNames(t, dir, "f")
}

// TestPartialBeside: of outputs that keep their partial at one place at the same
// time, one gets it, and what is committed is each one's own.
func TestPartialBeside(t *testing.T) {
	if !removesOpen {
		t.Skip("a partial that is open gets no name here")
	}
	dir := t.TempDir()
	partial := filepath.Join(dir, "shared.part")
	var wg sync.WaitGroup
	for i := range 16 {
		path, body := filepath.Join(dir, strconv.Itoa(i)), strings.Repeat(strconv.Itoa(i), 100)
		wg.Go(func() {
			for range 50 {
				f := File(FileSpec{Path: path, Partial: partial})
				if _, err := f.Write([]byte(body)); err != nil {
					t.Error(err)
				}
				if err := f.Keep([]byte("record")); err != nil {
					t.Error(err)
				}
				if err := f.Commit(); err != nil {
					t.Error(err)
				}
				if got, err := os.ReadFile(path); string(got) != body {
					t.Errorf("%d has another's body %q (%v)", i, got, err)
				}
			}
		})
	}
	wg.Wait()
}
