package cmd_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// TestLargeUploadMemory/D3: a body from standard input, sent twice, takes no more
// memory than a small one. docs/benchmarks.md has the same with 5 GB.
func TestLargeUploadMemory(t *testing.T) {
	bide := buildBide(t)
	const size, most = 64 << 20, 40 << 20
	for name, args := range map[string][]string{
		"upload": {"-T", "-"}, "data": {"--data-binary", "@-"}, "form": {"-F", "f=@-"}, "urlencoded": {"--data-urlencode", "a@-"},
	} {
		t.Run("D3_R8.1_"+name, func(t *testing.T) {
			var mu sync.Mutex
			var sizes []int64
			var pid int
			var peak int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n, err := io.Copy(io.Discard, r.Body)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				if sizes = append(sizes, n); len(sizes) == 1 {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				peak = highWater(t, pid)
			}))
			defer server.Close()
			cmd := exec.Command(bide, append([]string{"-sS", "--idempotent", "--base", "10ms", server.URL}, args...)...)
			cmd.Env = []string{"HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir()}
			cmd.Stdin = io.LimitReader(zeros{}, size)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			mu.Lock()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pid = cmd.Process.Pid
			mu.Unlock()
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v: %s", err, stderr.String())
			}
			if len(sizes) != 2 || sizes[0] != sizes[1] || sizes[0] < size {
				t.Errorf("bodies of %d bytes", sizes)
			}
			if peak == 0 || peak > most {
				t.Errorf("%d KiB at the peak, want at most %d", peak>>10, most>>10)
			}
		})
	}
}

// highWater is the most that a process has had resident so far, in bytes.
func highWater(t *testing.T, pid int) int64 {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Error(err)
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kib int64
		if n, _ := fmt.Sscanf(lines.Text(), "VmHWM: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	t.Error("the system does not tell a process's memory")
	return 0
}
