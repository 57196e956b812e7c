package render

import (
	"testing"
	"time"
)

func TestTotals(t *testing.T) {
	for want, totals := range map[string]Totals{
		"2 operations: 2 succeeded, 2 attempts (amplification 1.00), 0 B received, 1.5s": {Operations: 2, Attempts: 2, Requests: 2, Elapsed: 1500 * time.Millisecond},
		"4 operations: 3 succeeded, 1 failed, 6 attempts (amplification 1.50), 7 requests, 2.0 KiB received, 3s, waits 4s in all": {
			Operations: 4, Failed: 1, Attempts: 6, Requests: 7, Received: 2048, Elapsed: 3 * time.Second, Waited: 4 * time.Second},
	} {
		if got := totals.Line(true); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if a := (Totals{}).Amplification(); a != 0 {
		t.Errorf("amplification of nothing: %v", a)
	}
}

func TestRunning(t *testing.T) {
	for want, running := range map[string]Running{
		"3 of 10 done, 5 running, 0 B":                                {Total: 10, Done: 3, Running: 5},
		"3 done, 1 failed, 5 running (2 waiting), 4.0 KiB, 2.0 KiB/s": {Total: -1, Done: 3, Failed: 1, Running: 5, Waiting: 2, Received: 4096, Elapsed: 2 * time.Second},
	} {
		if got := running.Line(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
