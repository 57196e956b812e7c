//go:build unix

package cmd_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
)

// TestUploadMemory is fault D3: an upload that is sent twice takes no memory that
// grows with it, from a file and from a pipe, on HTTP/1.1 and HTTP/2, whatever its
// length (100 MB, or UPLOAD_MB).
func TestUploadMemory(t *testing.T) {
	size := int64(100)
	if n, err := strconv.ParseInt(os.Getenv("UPLOAD_MB"), 10, 64); err == nil {
		size = n
	}
	if testing.Short() {
		size = 60
	}
	size *= 1_000_000
	const most = 40 << 20
	bide := buildBide(t)
	var requests, arrived atomic.Int64
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		arrived.Store(n)
		if requests.Add(1)%2 == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	s := httptest.NewUnstartedServer(handler)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	defer s.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "body")
	f, err := os.Create(file)
	if err != nil || f.Truncate(size) != nil || f.Close() != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"file":             {"-T", file},
		"file by HTTP/2":   {"--http2-prior-knowledge", "-T", file},
		"form":             {"--idempotent", "-F", "f=@" + file},
		"stdin":            {"-T", "-"},
		"stdin by HTTP/2":  {"--http2-prior-knowledge", "-T", "-"},
		"stdin, as binary": {"--idempotent", "--data-binary", "@-"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(bide, append([]string{"-q", "-sS", "--base", "1ms", "-w", "%{http_code} %{num_attempts}", s.URL + "/"}, args...)...)
			cmd.Env = append(os.Environ(), "TMPDIR="+dir)
			if cmd.Stdin, err = os.Open(os.DevNull); err != nil {
				t.Fatal(err)
			}
			if name[0] == 's' {
				cmd.Stdin = struct{ io.Reader }{io.LimitReader(zeros{}, size)} // by a pipe
			}
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			before := requests.Load()
			measurement := withPeak(t, cmd)
			err := cmd.Run()
			sent := arrived.Load()
			if framing := sent - size; name == "form" && framing < 1000 {
				sent = size
			}
			if err != nil || sent != size || requests.Load()-before != 2 {
				t.Errorf("%v, %d requests, %d bytes: %s", err, requests.Load()-before, sent, &out)
			}
			if peak := measurement(); peak > most {
				t.Errorf("%d MiB resident, at most %d wanted", peak>>20, most>>20)
			} else {
				t.Logf("%d MiB resident", peak>>20)
			}
			left, err := os.ReadDir(dir)
			if err != nil || len(left) != 1 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
