package request

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/bidehttp/bide/retry"
)

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
