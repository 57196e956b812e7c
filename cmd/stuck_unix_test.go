//go:build unix

package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/render/rendertest"
	"github.com/bidehttp/bide/retry/retrytest"
)

// blockingPipe is a pipe as a shell makes it: its descriptors block.
func blockingPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	var ends [2]int
	syscall.ForkLock.RLock() // no process that another test starts has them
	err := unix.Pipe(ends[:])
	if err == nil {
		unix.CloseOnExec(ends[0])
		unix.CloseOnExec(ends[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	r, w = os.NewFile(uintptr(ends[0]), "pipe"), os.NewFile(uintptr(ends[1]), "stdout")
	t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
	return r, w
}

// TestR6_1d: limits and signals end an operation whose output nobody reads; what
// went out until then is the start of the body, and the timeline is told.
func TestR6_1d(t *testing.T) {
	const size = 3 << 20
	body := retrytest.Pattern(size)
	s := retrytest.Serve(t, `/held: 200 size=500kB
/spliced: 200 size=3145728B
/chunked: 200 size=3145728B chunked
/error: 404 size=500kB`)
	for name, tt := range map[string]struct {
		args   []string
		signal bool
		code   int
		reason string
	}{
		"deadline_held":     {[]string{"--deadline", "1s", s.URL + "/held"}, false, 28, "deadline_exceeded"},
		"deadline_spliced":  {[]string{"--deadline", "1s", s.URL + "/spliced"}, false, 28, "deadline_exceeded"},
		"deadline_chunked":  {[]string{"--deadline", "1s", s.URL + "/chunked"}, false, 28, "deadline_exceeded"},
		"deadline_unheld":   {[]string{"-N", "--deadline", "1s", s.URL + "/chunked"}, false, 28, "deadline_exceeded"},
		"deadline_error":    {[]string{"--deadline", "1s", s.URL + "/error"}, false, 28, "deadline_exceeded"},
		"R6.4_max_time":     {[]string{"-m", "1", s.URL + "/chunked"}, false, 28, "deadline_exceeded"},
		"max_time_held":     {[]string{"-m", "1", "--attempts", "1", s.URL + "/held"}, false, 28, "transport_error"},
		"max_time_unheld":   {[]string{"-N", "-m", "1", "--attempts", "1", s.URL + "/chunked"}, false, 28, "attempts_exhausted"},
		"descriptor":        {[]string{"-o", "/dev/stdout", "--deadline", "1s", s.URL + "/chunked"}, false, 28, "deadline_exceeded"},
		"R10.1_sig_held":    {[]string{s.URL + "/held"}, true, 130, "canceled"},
		"R10.1_sig_spliced": {[]string{s.URL + "/spliced"}, true, 130, "canceled"},
		"R10.1_sig_chunked": {[]string{s.URL + "/chunked"}, true, 130, "canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w := blockingPipe(t)
			file := filepath.Join(t.TempDir(), "timeline.json")
			env, _, stderr := testEnv(append([]string{"-q", "-sS", "--timeline-file", file}, tt.args...)...)
			env.Stdout = w
			signals := make(chan os.Signal, 1)
			env.Signals = signals
			if tt.signal {
				time.AfterFunc(time.Second, func() { signals <- os.Interrupt })
			}
			code := Main(t.Context(), env)
			if code != tt.code {
				t.Errorf("exit %d, want %d: %s", code, tt.code, stderr)
			}
			if flags, err := unix.FcntlInt(w.Fd(), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 {
				t.Errorf("the descriptor's mode was changed: %#x, %v", flags, err)
			}
			_ = w.Close()
			got, err := io.ReadAll(r)
			if err != nil || len(got) < unix.Getpagesize() || len(got) >= size || !bytes.HasPrefix(body, got) {
				t.Errorf("%d bytes came out, %v", len(got), err)
			}
			var doc render.Document
			if text, err := os.ReadFile(file); err != nil || json.Unmarshal(text, &doc) != nil {
				t.Fatalf("no timeline: %v %q", err, text)
			}
			if string(doc.Outcome.Reason) != tt.reason || !tt.signal && doc.Outcome.ElapsedMS < render.MS(time.Second) {
				t.Errorf("reason %s after %v ms", doc.Outcome.Reason, time.Duration(doc.Outcome.ElapsedMS))
			}
		})
	}
}

// TestStuckText: neither does the text after an operation wait for ever, nor the
// opening of a FIFO.
func TestStuckText(t *testing.T) {
	s := retrytest.Serve(t, "200 size=500kB")
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 100_000)
	for name, tt := range map[string]struct {
		args []string
		code int
	}{
		"events":    {[]string{"--timeline", "jsonl", "-o", "/dev/null", s.URL + "/" + long}, 23},
		"timeline":  {[]string{"--timeline", "json", s.URL}, 23},
		"write-out": {[]string{"-o", "/dev/null", "-w", "@" + writeLong(t), s.URL}, 23},
		"fifo":      {[]string{"-o", fifo, s.URL}, 28},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, w := blockingPipe(t)
			env, _, stderr := testEnv(append([]string{"-q", "-sS", "--deadline", "1s"}, tt.args...)...)
			env.Stdout = w
			if code := Main(t.Context(), env); code != tt.code {
				t.Errorf("exit %d, want %d: %s", code, tt.code, stderr)
			}
		})
	}
}

// TestStuckTogether: standard output and standard error are one pipe that nobody
// reads (2>&1 |).
func TestStuckTogether(t *testing.T) {
	s := retrytest.Serve(t, "200 size=500kB")
	_, w := blockingPipe(t)
	env, _, _ := testEnv("-q", "-v", "--deadline", "1s", "--timeline", "human", s.URL, s.URL)
	env.Stdout, env.Stderr = w, w
	if code := Main(t.Context(), env); code != 28 {
		t.Errorf("exit %d", code)
	}
}

// TestStuckTerminal: nor does a terminal that was stopped (^S).
func TestStuckTerminal(t *testing.T) {
	s := retrytest.Serve(t, "200 size=3MB")
	master, tty, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	defer tty.Close()
	env, _, stderr := testEnv("-q", "-sS", "--deadline", "1s", s.URL)
	env.Stdout = tty
	if code := Main(t.Context(), env); code != 28 {
		t.Errorf("exit %d: %s", code, stderr)
	}
	_ = master.Close() // what was left behind ends with it
}

func writeLong(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "format")
	if err := os.WriteFile(name, bytes.Repeat([]byte("%{http_code}"), 100_000), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestSlowReader: what is read slowly is exact, by all ways to standard output.
func TestSlowReader(t *testing.T) {
	const size = 1<<20 + 70000
	body := retrytest.Pattern(size)
	s := retrytest.Serve(t, `/length: 200 size=1118576B
/chunked: 200 size=1118576B chunked
/cut: 200 size=1118576B etag='"a"' ranges truncate=1100kB, 200 size=1118576B etag='"a"' ranges`)
	for _, path := range []string{"/length", "/chunked", "/cut"} {
		t.Run(path, func(t *testing.T) {
			r, w := blockingPipe(t)
			env, _, stderr := testEnv("-q", "-sS", "--base", "1ms", "--deadline", "1m", s.URL+path)
			env.Stdout = w
			got := make(chan []byte)
			go func() {
				var all bytes.Buffer
				_, _ = io.CopyBuffer(&all, struct{ io.Reader }{r}, make([]byte, 700))
				got <- all.Bytes()
			}()
			code := Main(context.Background(), env)
			_ = w.Close()
			if all := <-got; code != 0 || !bytes.Equal(all, body) {
				t.Errorf("exit %d, %d bytes: %s", code, len(all), stderr)
			}
		})
	}
}

// TestInterruptedReads: R10.1, a signal while a file that a flag names keeps the
// process waiting: nothing is sent, and the timeline is there.
func TestInterruptedReads(t *testing.T) {
	s := retrytest.Serve(t, "200")
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-K", fifo}, {"-b", fifo}, {"-H", "@" + fifo}, {"-d", "@" + fifo}, {"-F", "f=<" + fifo}, {"-w", "@" + fifo},
		{"--netrc-file", fifo}, {"--variable", "v@" + fifo}, {"--hsts", fifo}, {"--json", "@" + fifo}, {"--etag-compare", fifo},
	} {
		t.Run(args[0], func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "timeline.json")
			env, _, stderr := testEnv(append([]string{"-q", "-sS", "--timeline-file", file, s.URL}, args...)...)
			signals := make(chan os.Signal, 1)
			env.Signals = signals
			time.AfterFunc(50*time.Millisecond, func() { signals <- os.Interrupt })
			if code := Main(t.Context(), env); code != 130 {
				t.Errorf("exit %d: %s", code, stderr)
			}
			docs := rendertest.Valid(t, []byte(readText(t, file)))
			if len(docs) != 1 || docs[0].Outcome.Reason != "canceled" || docs[0].Outcome.ExitCode != 130 || docs[0].Operation.URL != s.URL {
				t.Errorf("told: %s", readText(t, file))
			}
		})
	}
	if n := len(s.Log().Records); n > 0 {
		t.Errorf("%d requests", n)
	}
}
