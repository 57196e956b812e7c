// Package soak plays random scripts of a server's answers and faults against the
// real client, crossed with random command lines, and compares every play with a
// model built from docs/contract.md alone.
package soak

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd"
)

var (
	plays = flag.Int("plays", 0, "how many scenarios TestSoak plays (BIDE_SOAK; 400)")
	first = flag.Uint64("seed", 0, "the first scenario's seed (BIDE_SOAK_SEED; by the clock, in a plain run 1)")
)

// TestSoak plays scenarios from a seed on. On a difference it prints the seed of
// that scenario and a shrunk one.
func TestSoak(t *testing.T) {
	n, otherwise := chosen(t, *plays, "BIDE_SOAK", 0), uint64(time.Now().UnixNano())%1e9
	if n == 0 {
		n, otherwise = 400, 1
	}
	seed := chosen(t, *first, "BIDE_SOAK_SEED", otherwise)
	if testing.Short() {
		n = min(n, 100)
	}
	t.Logf("%d scenarios from seed %d on; again: go test ./cmd/internal/soak -run TestSoak -plays %d -seed %d", n, seed, n, seed)
	before := runtime.NumGoroutine()
	tally := &tally{counts: map[int]int{}}
	var next atomic.Uint64
	var failed atomic.Int32
	var workers sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < uint64(n) && failed.Load() < maxReports; i = next.Add(1) - 1 {
				if report := examine(seed+i, tally.client); report != "" {
					failed.Add(1)
					t.Error(report)
				}
			}
		})
	}
	workers.Wait()
	t.Logf("exit codes: %v", tally.counts)
	for patient := time.Now().Add(patience); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(patient) {
			t.Fatalf("%d goroutines are left, there were %d", runtime.NumGoroutine(), before)
		}
	}
}

// tally counts how runs end, to show what the scenarios reach.
type tally struct {
	mu     sync.Mutex
	counts map[int]int
}

func (t *tally) client(ctx context.Context, env cmd.Env) int {
	code := cmd.Main(ctx, env)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[code]++
	return code
}

// maxReports is after how many differences a soak gives up.
const maxReports = 5

// chosen is a setting by flag, by environment variable, or by default.
func chosen[T int | uint64](t *testing.T, flagged T, variable string, otherwise T) T {
	t.Helper()
	if flagged != 0 {
		return flagged
	}
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 62)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return T(n)
}

// examine plays the scenario of a seed; the report of a difference is shrunk.
func examine(seed uint64, run client) string {
	s := generate(seed)
	first := judge(s, seed, run)
	if len(first) == 0 {
		return ""
	}
	small := shrink(s, func(c *scenario) bool {
		d := judge(c, seed, run)
		return len(d) > 0 && unplayable(d) == unplayable(first)
	})
	again := judge(small, seed, run)
	if len(again) == 0 { // it came once and did not come back: what was seen then is all there is
		small, again = s, append(first, "(it did not come again)")
	}
	return fmt.Sprintf("seed %d: it is not what the contract says. The smallest scenario that differs:\n%s\n%s",
		seed, small, strings.Join(again, "\n"))
}

const playFailed = "the play failed: "

// unplayable: it is the harness or the command line that failed.
func unplayable(differences []string) bool { return strings.HasPrefix(differences[0], playFailed) }

// judge plays a scenario once and compares.
func judge(s *scenario, seed uint64, run client) []string {
	got, err := play(s, seed, run)
	if err != nil {
		return []string{playFailed + err.Error()}
	}
	return differ(s, predict(s, got), got)
}
