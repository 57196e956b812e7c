package request_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/retry"
)

var errSignal = errors.New("interrupted")

func TestInterrupt(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, c := range []struct {
		name string
		make func(*request.Files) error
	}{
		{"-T -", func(f *request.Files) error { _, err := request.FromUpload("-", f); return err }},
		{"-d @-", func(f *request.Files) error {
			_, err := request.FromData([]request.DataPart{{"data", "@-"}}, f)
			return err
		}},
		{"-G -d @-", func(f *request.Files) error {
			_, err := request.Query([]request.DataPart{{"data", "@-"}}, f)
			return err
		}},
		{"-H @-", func(f *request.Files) error { _, err := request.ParseHeaders([]string{"@-"}, f); return err }},
		{"-T - streamed once", func(f *request.Files) error {
			f.NoSpool = true
			b, err := request.FromUpload("-", f)
			if err != nil {
				return err
			}
			defer b.Close()
			r, _, err := b.Open()
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, r)
			return err
		}},
	} {
		for _, before := range []string{"", strings.Repeat("X-A: b\n", 500_000)} {
			if before != "" && strings.HasPrefix(c.name, "-H") {
				continue // larger than a header file may be
			}
			t.Run("R10.1 "+c.name, func(t *testing.T) {
				dir := t.TempDir()
				ctx, cancel := context.WithCancelCause(context.Background())
				pipe, w := io.Pipe()
				defer w.Close()
				go func() {
					io.WriteString(w, before)
					cancel(errSignal) // the reader is waiting for more
				}()
				done := make(chan error, 1)
				go func() {
					done <- c.make(&request.Files{Stdin: pipe, TempDir: dir, MayReplay: true, Context: ctx})
				}()
				select {
				case err := <-done:
					var e *request.Error
					if !errors.Is(err, errSignal) || !errors.As(err, &e) || e.RetryClass() != retry.ClassCanceled {
						t.Errorf("%v: want class canceled and its cause", err)
					}
				case <-time.After(10 * time.Second):
					t.Fatal("it still waits for input")
				}
				if n := entries(t, dir); n != 0 {
					t.Errorf("%d files left", n)
				}
			})
		}
	}
}

func TestGuardedStreamIsWhole(t *testing.T) {
	text := strings.Repeat("0123456789", 300_000)
	ctx := t.Context()
	b, err := request.FromUpload("-", &request.Files{Stdin: onlyReader{strings.NewReader(text)}, TempDir: t.TempDir(), MayReplay: true, Context: ctx})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if got, _ := twice(t, b); got != text {
		t.Errorf("%d bytes, want %d", len(got), len(text))
	}
}
