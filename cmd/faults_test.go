package cmd

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bidehttp/bide/render/rendertest"
	"github.com/bidehttp/bide/retry/retrytest"
)

// carrier is a way on which a fault travels.
type carrier struct {
	name string
	opts []retrytest.Option
	args []string
	h2   bool
}

func carriers() []carrier {
	return []carrier{
		{"http1", nil, nil, false},
		{"https1", []retrytest.Option{retrytest.WithTLS()}, []string{"--http1.1"}, false},
		{"h2", []retrytest.Option{retrytest.WithTLS(), retrytest.WithHTTP2()}, nil, true},
		{"h2c", []retrytest.Option{retrytest.WithHTTP2()}, []string{"--http2-prior-knowledge"}, true},
	}
}

// fault is a row of testscripts/testdata/faults.md as it is played on each carrier.
type fault struct {
	name   string // with the row's number
	script string // of $URL; $OTHER is another server
	other  string
	args   []string // $URL, $OTHER, $FILE (holds "before"), $BODY and $EMPTY (files)
	stdin  string
	code   int    // anyFailure: not 0
	stdout string // wanted, where not "*"
	file   string // what $FILE holds in the end; "" as before
	// classes of the attempts, "-" for a success.
	classes string
	reason  string
	checks  []string // of $URL's log
	others  []string // of $OTHER's
	// waits are the least and the most of each one, as slept on the fake clock.
	waits [][2]time.Duration
	// advance moves the clock that far once the request is there: nothing else does.
	advance time.Duration
	says    string // is in stderr
	never   string // is neither there nor in the timeline
	only    string // the carrier's name begins with it
}

// anyFailure is the exit code of a row where the carriers' own differ.
const anyFailure = -1

// TestFaults plays the rows on HTTP/1.1 and HTTP/2, with TLS and without, on a
// clock that moves only by waits.
func TestFaults(t *testing.T) {
	rows := slices.Concat(waitFaults(), budgetFaults(), retriedFaults(), bodyFaults(), outputFaults())
	for _, c := range carriers() {
		for _, f := range rows {
			if strings.HasPrefix(c.name, f.only) {
				t.Run(f.name+"/"+c.name, func(t *testing.T) { f.play(t, c) })
			}
		}
	}
}

// play runs the row on a carrier.
func (f *fault) play(t *testing.T, c carrier) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) }) // the servers are closed then
	dir := t.TempDir()
	s := retrytest.Serve(t, f.script, c.opts...)
	place := map[string]string{"$URL": s.URL, "$FILE": filepath.Join(dir, "out"), "$BODY": filepath.Join(dir, "body"), "$EMPTY": filepath.Join(dir, "empty")}
	args := slices.Concat([]string{"-q", "-sS", "--timeline-file", filepath.Join(dir, "timeline")}, c.args)
	cas := s.CACert()
	var other *retrytest.Server
	if f.other != "" {
		other = retrytest.Serve(t, f.other, c.opts...)
		place["$OTHER"] = other.URL
		cas = append(cas, other.CACert()...)
	}
	if len(cas) > 0 {
		writeText(t, filepath.Join(dir, "ca.pem"), string(cas))
		args = append(args, "--cacert", filepath.Join(dir, "ca.pem"))
	}
	writeText(t, place["$FILE"], "before")
	writeText(t, place["$BODY"], "the body\n")
	writeText(t, place["$EMPTY"], "")
	for _, a := range f.args {
		for name, value := range place {
			a = strings.ReplaceAll(a, name, value)
		}
		args = append(args, a)
	}
	if other != nil {
		if err := s.SetScript(strings.ReplaceAll(f.script, "$OTHER", other.URL)); err != nil {
			t.Fatal(err)
		}
	}
	env, stdout, stderr := testEnv(args...)
	env.Stdin = strings.NewReader(f.stdin)
	clock := retrytest.NewFakeClock(time.Now())
	clock.AutoAdvance(true)
	env.Clock = clock
	if f.advance > 0 {
		go f.hurry(s, clock)
	}
	code := Main(context.Background(), env)
	if f.code == anyFailure && code == 0 || f.code != anyFailure && code != f.code {
		t.Errorf("exit %d, want %d: %s", code, f.code, stderr)
	}
	if f.stdout != "*" && stdout.String() != f.stdout {
		t.Errorf("stdout %.200q, want %.200q", stdout, f.stdout)
	}
	if !strings.Contains(stderr.String(), f.says) {
		t.Errorf("stderr %q does not say %q", stderr, f.says)
	}
	want := f.file
	if want == "" {
		want = "before"
	}
	if got := readText(t, place["$FILE"]); got != want {
		t.Errorf("the file holds %.200q, want %.200q", got, want)
	}
	if told := stderr.String() + readText(t, filepath.Join(dir, "timeline")); f.never != "" && strings.Contains(told, f.never) {
		t.Errorf("%q is told: %s", f.never, told)
	}
	requests := f.judge(t, dir, clock)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 5 {
		t.Errorf("left behind: %v %v", entries, err)
	}
	s.Log().Check(t, f.checks...)
	seen := len(s.Log().Records)
	if other != nil {
		other.Log().Check(t, f.others...)
		seen += len(other.Log().Records)
	}
	if seen != requests {
		t.Errorf("R1.1: %d requests at the servers, %d in the timeline", seen, requests)
	}
}

// hurry moves the clock when the request has come, since nothing else would.
func (f *fault) hurry(s *retrytest.Server, clock *retrytest.FakeClock) {
	for len(s.Log().Records) == 0 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond) // what came of an answer is read
	clock.Advance(f.advance)
}

// judge holds the timeline and the waits against the row, and gives the number
// of requests that the timeline knows.
func (f *fault) judge(t *testing.T, dir string, clock *retrytest.FakeClock) (requests int) {
	t.Helper()
	var classes []string
	var reason string
	for _, doc := range rendertest.Valid(t, []byte(readText(t, filepath.Join(dir, "timeline")))) {
		requests += doc.Outcome.Requests
		reason = string(doc.Outcome.Reason)
		for _, a := range doc.Attempts {
			class := "-"
			if a.Class != nil {
				class = *a.Class
			}
			classes = append(classes, class)
		}
	}
	if got := strings.Join(classes, " "); got != f.classes || reason != f.reason {
		t.Errorf("classes %q, reason %q; want %q, %q", got, reason, f.classes, f.reason)
	}
	if f.waits == nil {
		return requests
	}
	slept := clock.Slept()
	if len(slept) != len(f.waits) {
		t.Errorf("waits %v, want %d", slept, len(f.waits))
		return requests
	}
	for i, w := range f.waits {
		if slept[i] < w[0] || slept[i] > w[1] {
			t.Errorf("wait %d is %v, not %v", i+1, slept[i], w)
		}
	}
	return requests
}

func writeText(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWallClockDuringWait is fault A11: a wall clock that is set back or forward
// by a day, and a process that was suspended meanwhile, make no request early and
// no wait endless.
func TestWallClockDuringWait(t *testing.T) {
	for name, jump := range map[string]time.Duration{"a day forward": 24 * time.Hour, "a day back": -24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			s := retrytest.Serve(t, "429 retry-after=date+60s, 200 body=ok")
			env, stdout, stderr := testEnv("-q", "-sS", s.URL)
			clock := retrytest.NewFakeClock(time.Now())
			env.Clock = clock
			ended := make(chan int)
			go func() { ended <- Main(context.Background(), env) }()
			clock.AwaitSleepers(1)
			clock.SetWall(clock.Wall().Add(jump))
			wait := clock.Slept()[0]
			if wait < 60*time.Second || wait > 72*time.Second {
				t.Errorf("the wait is %v", wait)
			}
			clock.Advance(wait - 1)
			if n := len(s.Log().Records); n != 1 || clock.Sleepers() != 1 {
				t.Errorf("%d requests before the wait's end", n)
			}
			clock.Advance(1)
			if code := <-ended; code != 0 || stdout.String() != "ok" {
				t.Errorf("exit %d: %s", code, stderr)
			}
		})
	}
	t.Run("suspended for a day", func(t *testing.T) {
		s := retrytest.Serve(t, "429 retry-after=60, 200 body=ok")
		env, _, stderr := testEnv("-q", "-sS", s.URL)
		clock := retrytest.NewFakeClock(time.Now())
		clock.AutoAdvance(true)
		clock.Oversleep(24 * time.Hour)
		env.Clock = clock
		if code := Main(context.Background(), env); code != 0 {
			t.Errorf("exit %d: %s", code, stderr)
		}
		if slept := clock.Slept(); len(slept) != 1 {
			t.Errorf("slept %v", slept)
		}
		s.Log().Check(t, "requests=2")
	})
}

// TestFleetComesBackSpread is fault A7: 100 clients that are told 60 seconds come
// back spread, and none before.
func TestFleetComesBackSpread(t *testing.T) {
	s := retrytest.Serve(t, "429 retry-after=60 body=, 200 body=, then=loop")
	least, most, seen := time.Hour, time.Duration(0), map[time.Duration]bool{}
	for range 100 {
		env, _, stderr := testEnv("-q", "-sS", s.URL)
		clock := retrytest.NewFakeClock(time.Now())
		clock.AutoAdvance(true)
		env.Clock, env.Rand = clock, rand.Float64
		if code := Main(context.Background(), env); code != 0 || len(clock.Slept()) != 1 {
			t.Fatalf("exit %d, slept %v: %s", code, clock.Slept(), stderr)
		}
		wait := clock.Slept()[0]
		least, most, seen[wait] = min(least, wait), max(most, wait), true
	}
	if least < 60*time.Second || most > 72*time.Second || most-least < 6*time.Second || len(seen) < 95 {
		t.Errorf("%d different waits from %v to %v", len(seen), least, most)
	}
}
