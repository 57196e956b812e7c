package savefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "f"), filepath.Join(dir, "l")
	if err := Write(file, text("one")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("a new file: %v, %v", info, err)
	}
	if runtime.GOOS != "windows" {
		if err := errors.Join(os.Chmod(file, 0o644), os.Symlink(file, link)); err != nil {
			t.Fatal(err)
		}
		if err := Write(link, text("two")); err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(file)
		if info, _ = os.Stat(file); string(got) != "two" || info.Mode().Perm() != 0o644 {
			t.Errorf("through a link: %q, %v", got, info.Mode())
		}
		if info, _ = os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
			t.Error("the link is gone")
		}
	}
	broken := errors.New("broken")
	before, _ := os.ReadFile(file)
	if err := Write(file, func(w io.Writer) error { _, _ = io.WriteString(w, "half"); return broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	after, _ := os.ReadFile(file)
	left, _ := os.ReadDir(dir)
	if string(after) != string(before) || len(left) > 2 {
		t.Errorf("after a failure: %q, %v", after, left)
	}
	if err := Write(filepath.Join(dir, "none", "f"), text("x")); err == nil {
		t.Error("no folder, no error")
	}
}
