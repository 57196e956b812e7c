package cmd

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry"
)

// result is what one run of Main left.
type result struct {
	code           int
	stdout, stderr string
}

// syncBuffer is a buffer that a live display and the main goroutine may share.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// testEnv is a process without variables, terminal or signals, with repeatable jitter.
func testEnv(args ...string) (Env, *syncBuffer, *syncBuffer) {
	var stdout, stderr syncBuffer
	r := rand.New(rand.NewPCG(1, 2))
	return Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
		Getenv: func(string) string { return "" },
		Clock:  retry.SystemClock(), Rand: r.Float64, Random: rand.NewChaCha8([32]byte{1}),
		Terminal: func(any) (int, bool) { return 0, false }, Location: time.UTC,
	}, &stdout, &stderr
}

// runMain runs the process with args.
func runMain(t *testing.T, args ...string) result {
	t.Helper()
	env, stdout, stderr := testEnv(args...)
	code := Main(context.Background(), env)
	return result{code, stdout.String(), stderr.String()}
}
