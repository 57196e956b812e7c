package cmd_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd"
)

// bounds of what a hostile server can make of one run.
const (
	hostileTime   = 60 * time.Second // it is a bound, not a measure: machines are slow
	hostileMemory = 96 << 20         // bytes of resident memory at the peak
)

// rawServer answers each connection with serve, byte by byte as it likes. What
// is written after the client has gone is lost.
func rawServer(t *testing.T, serve func(c net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cmd.AcceptAll(t, l, serve)
	return l.Addr().String()
}

// answering reads one request's head before each call of answer.
func answering(answer func(w io.Writer)) func(net.Conn) {
	return func(c net.Conn) {
		br := bufio.NewReader(c)
		for {
			r, err := http.ReadRequest(br)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			answer(c)
		}
	}
}

// forever writes text until nobody takes it any more.
func forever(w io.Writer, text string) {
	block := []byte(strings.Repeat(text, 1+(64<<10)/len(text)))
	for {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

// ended is how a run of the built binary ended.
type ended struct {
	code           int
	stdout, stderr string
	memory         int64 // bytes at the peak, 0 unknown
}

// runBuilt runs the binary until it ends, and fails when it does not.
func runBuilt(t *testing.T, bide string, args ...string) ended {
	t.Helper()
	e, err := tryBuilt(t, bide, args...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// tryBuilt does it in any goroutine.
func tryBuilt(t *testing.T, bide string, args ...string) (ended, error) {
	ctx, cancel := context.WithTimeout(t.Context(), hostileTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, bide, args...)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin", "TMPDIR=" + t.TempDir(), "BIDE_BASE=10ms"}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	peak := withPeak(t, cmd)
	err := cmd.Run()
	if ctx.Err() != nil {
		return ended{}, fmt.Errorf("%q has not ended after %v\n%s", args, hostileTime, stderr.String())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return ended{}, err
	}
	return ended{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String(), peak()}, nil
}

// wantHostile holds a run to its exit code, one clear line and the bounds.
func wantHostile(t *testing.T, e ended, code int, line string) {
	t.Helper()
	if e.code != code {
		t.Errorf("exit code %d, want %d", e.code, code)
	}
	if lines := strings.Count(e.stderr, "\n"); line != "" && (lines != 1 || !regexp.MustCompile(line).MatchString(e.stderr)) {
		t.Errorf("want one line like %s on stderr, got %d", line, lines)
	}
	for _, c := range e.stderr {
		if c < ' ' && c != '\n' || c == 0x7f {
			t.Errorf("a control character, %q, is on stderr", c)
			break
		}
	}
	if strings.Contains(e.stderr, "goroutine ") {
		t.Error("it panicked")
	}
	if e.memory > hostileMemory {
		t.Errorf("%d MiB of memory at the peak, want at most %d", e.memory>>20, hostileMemory>>20)
	}
	if t.Failed() {
		t.Logf("stderr: %.2000q", e.stderr)
	}
}

// reply is a whole answer with a body.
func reply(body string, headers ...string) string {
	head := strings.Join(append([]string{"HTTP/1.1 200 OK", fmt.Sprintf("Content-Length: %d", len(body))}, headers...), "\r\n")
	return head + "\r\n\r\n" + body
}
