//go:build !windows && !plan9

package request_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/request"
)

// TestFIFO sends -T and --data-binary from a named pipe, which can be read once.
func TestFIFO(t *testing.T) {
	text := strings.Repeat("line\n", 300_000) // over the memory limit
	for _, kind := range []string{"-T", "data-binary"} {
		t.Run("D12 "+kind, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "fifo")
			if err := syscall.Mkfifo(name, 0o600); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- os.WriteFile(name, []byte(text), 0) }()
			files := &request.Files{MayReplay: true, TempDir: t.TempDir()}
			open := func() (request.Body, error) { return request.FromUpload(name, files) }
			if kind != "-T" {
				open = func() (request.Body, error) {
					return request.FromData([]request.DataPart{{Kind: kind, Value: "@" + name}}, files)
				}
			}
			b, err := open()
			if err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if got, _ := twice(t, b); got != text {
				t.Errorf("%d bytes, want %d", len(got), len(text))
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestInterruptFIFO(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errSignal)
	_, err := request.FromUpload(name, &request.Files{MayReplay: true, Context: ctx})
	if !errors.Is(err, errSignal) {
		t.Errorf("R10.1: %v", err)
	}
	// Let the open that was abandoned go.
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}
