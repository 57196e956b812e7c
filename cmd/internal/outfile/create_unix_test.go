//go:build unix

package outfile

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry"
)

// TestCreate opens what is written as it comes (-D, --trace, --timeline-file).
func TestCreate(t *testing.T) {
	t.Run("emptied", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "f")
		must(t, os.WriteFile(path, []byte("old and long"), 0o640))
		f, err := Create(t.Context(), path)
		must(t, err)
		_, err = io.WriteString(f, "new")
		must(t, errors.Join(err, f.Close()))
		if b, _ := os.ReadFile(path); string(b) != "new" {
			t.Errorf("%q", b)
		}
	})
	t.Run("folder_missing", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "no", "f")
		_, err := Create(t.Context(), path)
		wantOutput(t, err, path)
	})
	fifo := func(t *testing.T) string {
		path := filepath.Join(t.TempDir(), "fifo")
		must(t, syscall.Mkfifo(path, 0o600))
		return path
	}
	t.Run("fifo_waits_for_its_reader", func(t *testing.T) {
		path := fifo(t)
		opened := make(chan *os.File)
		go func() {
			f, _ := Create(t.Context(), path)
			opened <- f
		}()
		select {
		case <-opened:
			t.Fatal("a FIFO that nobody reads was opened")
		case <-time.After(10 * fifoPoll):
		}
		r, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		must(t, err)
		defer r.Close()
		f := <-opened
		_, err = io.WriteString(f, "text")
		must(t, errors.Join(err, f.Close()))
		if b, err := io.ReadAll(r); err != nil || string(b) != "text" {
			t.Errorf("%q, %v", b, err)
		}
	})
	t.Run("fifo_without_reader_is_called_off", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("enough")
		cancel(cause)
		_, err := Create(ctx, fifo(t))
		wantCalledOff(t, err, cause)
	})
	t.Run("descriptor", func(t *testing.T) {
		f, err := os.Create(filepath.Join(t.TempDir(), "f"))
		must(t, err)
		defer f.Close()
		_, err = io.WriteString(f, "before ")
		must(t, err)
		d, err := Create(t.Context(), "/dev/fd/"+strconv.Itoa(int(f.Fd())))
		must(t, err)
		_, err = io.WriteString(d, "after")
		must(t, errors.Join(err, d.Close()))
		if b, _ := os.ReadFile(f.Name()); string(b) != "before after" {
			t.Errorf("%q", b)
		}
	})
}

// wantCalledOff checks the error of a wait for a reader that cause ended.
func wantCalledOff(t *testing.T, err, cause error) {
	t.Helper()
	var classified retry.Classified
	if !errors.Is(err, cause) || !errors.As(err, &classified) || classified.RetryClass() != retry.ClassCanceled || !strings.Contains(err.Error(), "nobody reads ") {
		t.Errorf("%v: want class canceled and the cause", err)
	}
}

// TestWithin bounds the wait for a FIFO's reader by an attempt: the next one
// may write to it all the same (R6.3).
func TestWithin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	must(t, syscall.Mkfifo(path, 0o600))
	s := File(FileSpec{Path: path})
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	s.Within(ctx)
	_, err := s.Write(make([]byte, HoldLimit+1))
	wantCalledOff(t, err, cause)
	if s.Committed() {
		t.Error("it is committed although nothing has left")
	}
	must(t, s.Reset())
	r, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	must(t, err)
	defer r.Close()
	s.Within(t.Context())
	put(t, s, "whole")
	must(t, s.Commit())
	if b, err := io.ReadAll(r); err != nil || string(b) != "whole" {
		t.Errorf("%q, %v", b, err)
	}
}
