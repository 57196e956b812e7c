package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

// TestParallel runs many operations at once with all that they share: it is for
// the race detector, and for what must never be torn.
func TestParallel(t *testing.T) {
	s := retrytest.Serve(t, `503 header='Set-Cookie: a=b' x10, 429 retry-after=0, 200 body="0123456789\n" header='Set-Cookie: c=d' x50, 404, 200 body="0123456789\n"`)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	dir := t.TempDir()
	env, stdout, stderr := testEnv("-q", "-v", "-Z", "-L", "-b", "", "-c", dir+"/jar", "-D", dir+"/heads", "--compressed", "--base", "1ms", "--attempts", "20",
		"-d", "@"+dir+"/body", "--idempotency-key", "auto", "--seed", "7", "--no-fail", "--timeline", "jsonl", "--timeline-file", dir+"/events", "-w", "code %{http_code}\n", s.URL+"/[1-200]")
	if err := os.WriteFile(dir+"/body", []byte("body"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := Main(t.Context(), env); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	lines := strings.Split(strings.TrimSuffix(stdout.String(), "\n"), "\n")
	bodies := 0
	for i, line := range lines {
		switch line {
		case "0123456789":
			bodies++
			if lines[i+1] != "code 200" {
				t.Errorf("line %d: %q after a body", i+1, lines[i+1])
			}
		case "code 200", "code 404", "404 Not Found":
		default:
			t.Errorf("line %d of stdout: %q", i, line)
		}
	}
	if bodies < 190 {
		t.Errorf("%d bodies", bodies)
	}
	for line := range strings.Lines(stderr.String()) {
		if !strings.HasPrefix(line, "* ") && !strings.HasPrefix(line, "> ") && !strings.HasPrefix(line, "< ") && !strings.HasPrefix(line, "bide: ") {
			t.Errorf("stderr: %q", line)
		}
	}
	events, err := os.ReadFile(dir + "/events")
	if err != nil {
		t.Fatal(err)
	}
	ended := 0
	for line := range strings.Lines(string(events)) {
		var e struct{ Event string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if e.Event == "outcome" {
			ended++
		}
	}
	if ended != 200 {
		t.Errorf("%d outcomes", ended)
	}
}

// TestParallelTurn: a body that waits for standard output is given up at its
// deadline, and when another fails early.
func TestParallelTurn(t *testing.T) {
	s := retrytest.Serve(t, "/slow: 200 size=3MB stall=1s\n/big: 200 size=3MB delay=100ms")
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	env, stdout, stderr := testEnv("-q", "-sS", "-Z", "-N", "-w", "%{url} %{exitcode}\n", "--attempts", "1", s.URL+"/slow", "--next",
		"-N", "--deadline", "300ms", "--attempts", "1", s.URL+"/big", "--next", "-N", "--deadline", "300ms", "--attempts", "1", s.URL+"/big")
	code := Main(t.Context(), env)
	if code != 28 {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if n := strings.Count(stdout.String(), "/slow 0\n"); n != 1 {
		t.Errorf("the slow one did not end: %s", stderr)
	}
}

// TestParallelTurnHeld: the same of a body that is whole, and held.
func TestParallelTurnHeld(t *testing.T) {
	s := retrytest.Serve(t, "/big: 200 size=3MB\n/small: 200 body=x")
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	env, stdout, stderr := testEnv("-q", "-sS", "-Z", "-N", s.URL+"/big", "--next",
		"-d", "@-", "--deadline", "300ms", "-w", "%{exitcode} %{reason}\n", s.URL+"/small")
	stdin, begun := io.Pipe() // the second group is there when the first writes
	var once sync.Once
	env.Stdin, env.Stdout = stdin, writerFunc(func(p []byte) (int, error) {
		once.Do(func() {
			_ = begun.Close()
			for len(s.Log().Records) < 2 {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(500 * time.Millisecond) // the deadline passes
		})
		return stdout.Write(p)
	})
	if code := Main(t.Context(), env); code != 28 || !strings.HasSuffix(stdout.String(), "28 deadline_exceeded\n") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestParallelRefused: what -w says of an operation that never began waits for
// standard output like everything else.
func TestParallelRefused(t *testing.T) {
	s := retrytest.Serve(t, "200 size=3MB stall=300ms")
	for _, bad := range []string{"ftp://x/", s.URL + "/[", "http://a b/"} {
		t.Run(bad, func(t *testing.T) {
			env, stdout, stderr := testEnv("-q", "-s", "-Z", "-N", s.URL, "--next", "-d", "@-", "-w", "refused %{urlnum}\n", bad)
			stdin, begun := io.Pipe() // the second group is there when the first writes
			env.Stdin, env.Stdout = stdin, writerFunc(func(p []byte) (int, error) {
				_ = begun.Close()
				return stdout.Write(p)
			})
			if code := Main(t.Context(), env); code == 0 {
				t.Errorf("exit 0: %s", stderr)
			}
			if out := stdout.String(); !strings.HasSuffix(out, "refused 1\n") || len(out) != 3_000_000+len("refused 1\n") {
				t.Errorf("%d bytes, %q at their end: %s", len(out), out[max(len(out)-20, 0):], stderr)
			}
		})
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestParallelStatus: a terminal shows one line for the whole run, and no wait or
// meter of its parts.
func TestParallelStatus(t *testing.T) {
	s := retrytest.Serve(t, "503 retry-after=2, 200 body=x")
	env, _, stderr := testEnv("-q", "-Z", "-o", t.TempDir()+"/#1", s.URL+"/[1-3]")
	env.Terminal = func(f any) (int, bool) { return 80, f == env.Stderr }
	if code := Main(t.Context(), env); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	shown := stderr.String()
	if !strings.Contains(shown, "0 of 3 done, 3 running (3 waiting), 0 B") || strings.Contains(shown, "retry") && !strings.Contains(shown, "amplification 1.33") {
		t.Errorf("%q", shown)
	}
}

// TestGate: the first to an origin goes ahead, for a while; others follow
// when it has passed; other origins are free.
func TestGate(t *testing.T) {
	t.Run("R4.12c_the_first_goes_ahead", func(t *testing.T) {
		clock := retry.SystemClock()
		g := gate{clock: clock}
		passed := g.enter(t.Context(), "a")
		g.enter(t.Context(), "b")()
		var order []string
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				g.enter(t.Context(), "a")
				mu.Lock()
				order = append(order, "follower")
				mu.Unlock()
			})
		}
		mu.Lock()
		order = append(order, "first")
		mu.Unlock()
		passed()
		wg.Wait()
		if want := []string{"first", "follower", "follower", "follower"}; !slices.Equal(order, want) {
			t.Errorf("%v", order)
		}
	})
	t.Run("a_follower_can_be_stopped", func(t *testing.T) {
		g := gate{clock: retry.SystemClock()}
		defer g.enter(t.Context(), "a")()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		g.enter(ctx, "a")
	})
	t.Run("not_for_ever", func(t *testing.T) {
		g := gate{clock: instant{}}
		defer g.enter(t.Context(), "a")()
		g.enter(t.Context(), "a")
	})
}

// TestR4_12c_http2: over HTTP/2, too, the others follow the first when it has been
// answered, and heed what it was told, however long the handshake takes.
func TestR4_12c_http2(t *testing.T) {
	s := retrytest.Serve(t, "429 retry-after=1, 200, then=last", retrytest.WithTLS(), retrytest.WithHTTP2())
	dir := t.TempDir()
	writeText(t, dir+"/ca.pem", string(s.CACert()))
	env, _, stderr := testEnv("-q", "-s", "-Z", "--cacert", dir+"/ca.pem", s.URL+"/{a,b,c}")
	env.Clock = unhurried{env.Clock}
	if code := Main(t.Context(), env); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	s.Log().Check(t, "group-by=all", "requests=4", "gap1>=1s")
}

// unhurried is a clock on which nobody who waits for the first request goes on
// before it is answered.
type unhurried struct{ retry.Clock }

func (c unhurried) Sleep(ctx context.Context, d time.Duration) error {
	if d == ahead {
		<-ctx.Done()
		return ctx.Err()
	}
	return c.Clock.Sleep(ctx, d)
}

// instant is a clock on which all sleeps are over.
type instant struct{}

func (instant) Wall() time.Time                            { return time.Time{} }
func (instant) Mono() time.Duration                        { return 0 }
func (instant) Sleep(context.Context, time.Duration) error { return nil }

// TestRate: the starts of operations keep their distance on the injected clock.
func TestRate(t *testing.T) {
	s := retrytest.Serve(t, "200")
	var starts []time.Duration
	clock := &skipping{}
	env, _, stderr := testEnv("-q", "-sS", "--rate", "2/h", s.URL+"/[1-3]")
	env.Clock = clock
	if code := Main(t.Context(), env); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	starts = clock.slept
	if len(starts) != 2 || starts[0] > 30*time.Minute || starts[0] < 29*time.Minute || starts[1] < 29*time.Minute {
		t.Errorf("waits %v", starts)
	}
}

// skipping is the real clock, on which long sleeps take no time.
type skipping struct {
	mu    sync.Mutex
	ahead time.Duration
	slept []time.Duration
}

func (c *skipping) Wall() time.Time { return time.Now() }

func (c *skipping) Mono() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration(time.Now().UnixNano()) + c.ahead
}

func (c *skipping) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
	c.slept = append(c.slept, d)
	return ctx.Err()
}

func TestPointAt(t *testing.T) {
	for url, want := range map[string]string{
		"http://h/{a":                  "http://h/{a\n         ^",
		"http://u:p@h/{a":              "http://*:*@h/{a\n             ^",
		"h/?q=se{cret&n=x":             "h/?q=**{****&n=*\n       ^",
		"h/\u00e9{":                    "h/??{\n    ^",
		strings.Repeat("x", 300) + "{": "",
	} {
		_, stderr := func() (string, string) {
			env, stdout, stderr := testEnv("-q", "-sS", url)
			if code := Main(t.Context(), env); code != 3 {
				t.Errorf("%s: exit %d", url, code)
			}
			return stdout.String(), stderr.String()
		}()
		_, shown, _ := strings.Cut(strings.TrimSuffix(stderr, "\n"), "\n")
		if shown != want {
			t.Errorf("%s: %q, want %q", url, shown, want)
		}
	}
}

// BenchmarkMany is the cost of one small operation among many.
func BenchmarkMany(b *testing.B) {
	for _, parallel := range []string{"--no-parallel", "--parallel"} {
		b.Run(parallel, func(b *testing.B) {
			s := retrytest.Serve(b, "200 body=x")
			env, _, _ := testEnv("-q", "-s", parallel, s.URL+fmt.Sprintf("/[1-%d]", max(b.N, 1)))
			env.Stdout = io.Discard
			b.ReportAllocs()
			if code := Main(b.Context(), env); code != 0 {
				b.Fatalf("exit %d", code)
			}
		})
	}
}
