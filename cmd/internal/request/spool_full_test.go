package request

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/bidehttp/bide/retry"
)

// TestSpoolMode: nobody else reads a spooled body, and where the platform allows
// nobody finds it.
func TestSpoolMode(t *testing.T) {
	s := &spool{}
	if err := s.create(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	info, err := s.file.Stat()
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if _, err := os.Lstat(s.file.Name()); os.IsNotExist(err) != unlinkEarly {
		t.Errorf("its name: %v", err)
	}
}

// TestSpoolFullDisk fills a disk that is full from the start.
func TestSpoolFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full here")
	}
	s := &spool{file: full}
	defer s.Close()
	err = s.fill(strings.NewReader("text"), "standard input")
	e, ok := errors.AsType[*Error](err)
	if !ok || e.RetryClass() != retry.ClassInput || !strings.Contains(err.Error(), "no space left") || !strings.Contains(err.Error(), "--no-spool") {
		t.Errorf("%v: want class input, the cause and the way out", err)
	}
}
