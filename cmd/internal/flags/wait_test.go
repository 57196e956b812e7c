package flags

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// TestParseWait holds R2.1a and R3.3d: the presets, and what overrides them.
func TestParseWait(t *testing.T) {
	conf := map[string]string{configPath: "attempts = 2\nmax-time = 9\n", "f": "base = 3\n"}
	env := vars("BIDE_DEADLINE", "7", "BIDE_BASE", "8", "BIDE_JITTER", "0.5", "BIDE_RETRY_ON", "500")
	for _, c := range []struct {
		args     string
		attempts int
		base     time.Duration
		maxTime  time.Duration
		deadline time.Duration
	}{
		{"u", retry.Unlimited, time.Second, 5 * time.Second, 5 * time.Minute},
		{"-m 2 u", retry.Unlimited, time.Second, 2 * time.Second, 5 * time.Minute}, // R6.4 is not for waits
		{"-m 0 u", retry.Unlimited, time.Second, 0, 5 * time.Minute},
		{"--attempts 4 --deadline 10 u", 4, time.Second, 5 * time.Second, 10 * time.Second},
		{"--retry 4 --retry-delay 2 u", 5, 2 * time.Second, 5 * time.Second, 5 * time.Minute},
		{"-K f u", retry.Unlimited, 3 * time.Second, 5 * time.Second, 5 * time.Minute},
		{"--retry-max-time 9 --deadline 0 u", retry.Unlimited, time.Second, 5 * time.Second, 0},
		{"u --next -m 3 v", retry.Unlimited, time.Second, 3 * time.Second, 5 * time.Minute},
	} {
		o, err := ParseWait(strings.Fields(c.args), world(env, conf))
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		p := o.Groups[len(o.Groups)-1].Policy
		if p.Attempts != c.attempts || p.Base != c.base || p.MaxTime != c.maxTime || p.Deadline != c.deadline || p.Backoff != retry.Fixed || p.Jitter != 0.5 {
			t.Errorf("%s: %+v", c.args, p)
		}
	}
}

// TestParseWait_R3_3d: every status from 400 on and every class but cert, and
// what no waiting changes.
func TestParseWait_R3_3d(t *testing.T) {
	policy := func(args ...string) retry.Policy {
		o, err := ParseWait(append(args, "u"), world(vars(), nil))
		if err != nil {
			t.Fatal(err)
		}
		return o.Groups[0].Policy
	}
	plain := policy()
	for _, row := range retry.Classes() {
		want := true
		switch row.Class {
		case retry.ClassStatus:
			continue
		case retry.ClassCert, retry.ClassRequest, retry.ClassInput, retry.ClassOutput, retry.ClassCanceled:
			want = false
		}
		if got := plain.Transient(retry.Outcome{Class: row.Class}, retry.State{}); got != want {
			t.Errorf("class %s: transient %v", row.Class, got)
		}
	}
	status := func(p retry.Policy, n int) bool {
		return p.Transient(retry.Outcome{Class: p.StatusClass(n), Status: n}, retry.State{})
	}
	for n := 100; n <= 999; n++ {
		if status(plain, n) != (n >= 400) {
			t.Errorf("status %d: transient %v", n, status(plain, n))
		}
	}
	if p := policy("--retry-on", "-404"); status(p, 404) || !status(p, 403) {
		t.Error("-404 takes out 404 and no more")
	}
	if p := policy("--retry-on", "503,connect"); status(p, 404) || !status(p, 503) || p.RetryOn.HasClass(retry.ClassTLS) {
		t.Error("a list without signs takes the presets' place")
	}
	if p := policy("--retry-on", "+cert"); !p.RetryOn.HasClass(retry.ClassCert) {
		t.Error("+cert waits for a certificate, too")
	}
}

func TestParseWaitRefusals(t *testing.T) {
	for args, want := range map[string]string{
		"":                          "no URL",
		"--deadline 0 u":            "--deadline 0 leaves bide wait without an end",
		"--attempts 0 u":            "--attempts",
		"http://h/[1-1001]":         "1001 URLs are more than the 1000",
		"u --timeline json -w x":    "both write to standard output",
		"--base 10 --cap 2 --url u": "longer than --cap",
	} {
		_, err := ParseWait(strings.Fields(args), world(vars(), nil))
		var usage *UsageError
		if !errors.As(err, &usage) || usage.Code != exitcode.Usage || !strings.Contains(usage.Message, want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}
