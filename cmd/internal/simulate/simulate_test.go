package simulate

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

func fleet(clients int) Config {
	return Config{
		Clients: clients, Method: "GET", Seed: 1, Down: 10 * time.Second,
		Token: 5 * time.Millisecond, Burst: 200, BusyStatus: 429, BusyNames: true, Bin: time.Second,
	}
}

func policy(change func(p *retry.Policy)) retry.Policy {
	p := retry.DefaultPolicy()
	p.Attempts = 10
	if change != nil {
		change(&p)
	}
	return p
}

func play(t *testing.T, c Config, p retry.Policy) render.SimulationRun {
	t.Helper()
	r, err := Run(context.Background(), c, p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func BenchmarkMillion(b *testing.B) {
	c := fleet(1_000_000)
	c.Down, c.Token, c.Burst, c.Spread = 30*time.Second, 50*time.Microsecond, 20000, 10*time.Second
	for b.Loop() {
		r, err := Run(context.Background(), c, policy(func(p *retry.Policy) { p.Attempts = 30; p.Cap = 30 * time.Second }))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(r.Requests), "requests")
		b.ReportMetric(float64(r.Succeeded), "succeeded")
		b.ReportMetric(*r.PeakPer, "peak")
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/1e6, "MB-sys")
}

// what is what a run comes to, in the figures that can be worked out by hand.
type what struct {
	Requests, Down, Busy int64
	Succeeded            int
	GaveUp               string
	Peak                 int64
	Last, Drain          time.Duration
}

func TestByHand(t *testing.T) {
	sec := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	for name, c := range map[string]struct {
		config func(c *Config)
		policy func(p *retry.Policy)
		want   what
	}{
		"one_client": { // at 0, 1, 3
			config: func(c *Config) { c.Down = sec(2.5) },
			want:   what{Requests: 3, Down: 2, Succeeded: 1, Peak: 1, Last: sec(3), Drain: sec(.5)},
		},
		"attempt_time": { // at 0, 1.1, 3.2; the answer 0.1 later
			config: func(c *Config) { c.Down, c.AttemptTime = sec(2.5), sec(.1) },
			want:   what{Requests: 3, Down: 2, Succeeded: 1, Peak: 1, Last: sec(3.3), Drain: sec(.8)},
		},
		"a_line_at_the_bucket": { // 5, 4, 3, 2 and 1 requests, one of each served
			config: func(c *Config) { c.Clients, c.Down, c.Token, c.Burst = 5, 0, sec(1), 1 },
			policy: func(p *retry.Policy) { p.Backoff = retry.Fixed },
			want:   what{Requests: 15, Busy: 10, Succeeded: 5, Peak: 5, Last: sec(4), Drain: sec(4)},
		},
		"R4.1_retry_after_of_the_bucket": { // turned away at 0 and told 10s; then one each 10s
			config: func(c *Config) { c.Clients, c.Down, c.Token, c.Burst = 2, 0, sec(10), 1 },
			want:   what{Requests: 3, Busy: 1, Succeeded: 2, Peak: 2, Last: sec(10), Drain: sec(10)},
		},
		"silent_bucket": { // turned away at 0, 1, 3, 7
			config: func(c *Config) { c.Clients, c.Down, c.Token, c.Burst, c.BusyNames = 2, 0, sec(10), 1, false },
			want:   what{Requests: 6, Busy: 4, Succeeded: 2, Peak: 2, Last: sec(15), Drain: sec(15)},
		},
		"all_are_told_one_instant": {
			config: func(c *Config) {
				c.Clients, c.Down, c.DownStatus, c.RetryAfter, c.Burst = 50, sec(10), 503, sec(20), 50
			},
			want: what{Requests: 100, Down: 50, Succeeded: 50, Peak: 50, Last: sec(20), Drain: sec(10)},
		},
		"R2.1_attempts_used_up": { // at 0, 1, 3
			config: func(c *Config) { c.Clients = 7 },
			policy: func(p *retry.Policy) { p.Attempts = 3 },
			want:   what{Requests: 21, Down: 21, GaveUp: "attempts_exhausted"},
		},
		"R6.2_deadline_before_retry": { // at 0, 1, 3; a wait until 7 does not fit
			policy: func(p *retry.Policy) { p.Deadline = sec(7) },
			want:   what{Requests: 3, Down: 3, GaveUp: "deadline_before_retry"},
		},
		"R6.3_deadline_in_flight": {
			config: func(c *Config) { c.Down, c.AttemptTime = 0, sec(2) },
			policy: func(p *retry.Policy) { p.Deadline = sec(1) },
			want:   what{Requests: 1, GaveUp: "deadline_exceeded", Peak: 1},
		},
		"R3.2_unsafe_method": {
			config: func(c *Config) { c.Method, c.DownStatus = "POST", 503 },
			want:   what{Requests: 1, Down: 1, GaveUp: "unsafe_method"},
		},
		"R3.1_refused_is_safe": {
			config: func(c *Config) { c.Method, c.Down = "POST", sec(2.5) },
			want:   what{Requests: 3, Down: 2, Succeeded: 1, Peak: 1, Last: sec(3), Drain: sec(.5)},
		},
		"R4.0_retry_after_exceeds_cap": {
			config: func(c *Config) { c.DownStatus, c.RetryAfter = 503, sec(301) },
			want:   what{Requests: 1, Down: 1, GaveUp: "retry_after_exceeds_cap"},
		},
		"R3.3_not_transient": {
			config: func(c *Config) { c.DownStatus = 503 },
			policy: func(p *retry.Policy) { p.RetryOn.RemoveStatus(503) },
			want:   what{Requests: 1, Down: 1, GaveUp: "http_error"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := fleet(1)
			if c.config != nil {
				c.config(&config)
			}
			r := play(t, config, policy(func(p *retry.Policy) {
				p.Jitter = 0
				if c.policy != nil {
					c.policy(p)
				}
			}))
			got := what{
				Requests: r.Requests, Down: r.Down, Busy: r.Busy, Succeeded: r.Succeeded, Peak: r.Peak,
				Last: r.LastMS.Duration(), Drain: r.DrainMS.Duration(),
			}
			if len(r.GaveUp) > 0 {
				got.GaveUp = r.GaveUp[0].Name
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLikeTheLoop: one client makes the same requests at the same instants as
// retry.Do does on the same answers with the same u.
func TestLikeTheLoop(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	pick := func(n int) int { return random.IntN(n) }
	for i := range 2000 {
		config := fleet(1)
		config.Seed, config.Down = uint64(i), time.Duration(pick(60_000))*time.Millisecond
		config.AttemptTime = time.Duration(pick(3)) * 700 * time.Millisecond
		config.DownStatus = []int{0, 503}[pick(2)]
		if config.DownStatus != 0 {
			config.RetryAfter = time.Duration(pick(90)) * time.Second
		}
		p := policy(func(p *retry.Policy) {
			p.Attempts, p.Base = 1+pick(9), time.Duration(pick(3000))*time.Millisecond
			p.Cap, p.Jitter = 5*time.Second+time.Duration(pick(60))*time.Second, random.Float64()
			p.JitterMode = []retry.JitterMode{retry.Spread, retry.Full}[pick(2)]
			p.Backoff = []retry.Backoff{retry.Exponential, retry.Fixed}[pick(2)]
			p.Deadline = time.Duration(pick(2)*pick(60)) * time.Second
			p.RetryMaxTime = time.Duration(pick(2)*pick(60)) * time.Second
		})
		r := play(t, config, p)
		requests, reason, end := loop(t, config, p)
		got := string(retry.Success)
		if len(r.GaveUp) > 0 {
			got = r.GaveUp[0].Name
		}
		if r.Requests != requests || got != reason || r.Succeeded > 0 && r.LastMS.Duration() != end {
			t.Fatalf("%+v\n%+v\nsimulated: %d requests, %s at %v; the loop: %d, %s at %v",
				config, p, r.Requests, got, r.LastMS.Duration(), requests, reason, end)
		}
	}
}

// loop is what retry.Do does in the same place.
func loop(t *testing.T, c Config, p retry.Policy) (requests int64, reason string, end time.Duration) {
	t.Helper()
	clock := retrytest.NewFakeClock(time.Unix(0, 0))
	clock.AutoAdvance(true)
	server := newRun(c, p)
	attempt := uint32(0)
	l := retry.Loop{Policy: &p, Clock: clock, Rand: func() float64 { return unit(c.Seed, 0, attempt) }}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, record, err := retry.Do(ctx, l, func(ctx context.Context, n int) (struct{}, retry.Outcome) {
		requests, attempt = requests+1, uint32(n)
		o := retry.Outcome{Method: c.Method, Sent: retry.SentMaybe, Phase: retry.PhaseDone}
		server.serve(clock.Mono()-retrytest.FakeStart, &o)
		if clock.Sleep(ctx, c.AttemptTime) != nil || ctx.Err() != nil {
			o.Class = retry.ClassTimeout
		}
		return struct{}{}, o
	}, nil)
	var failed *retry.Error
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return requests, string(record.Reason), record.Elapsed
}

// TestMemory: a client takes the same memory, however many there are.
func TestMemory(t *testing.T) {
	for _, clients := range []int{20_000, 200_000} {
		c := fleet(clients)
		c.Token = c.Token * 10_000 / time.Duration(clients)
		r := newRun(c, policy(nil))
		if err := r.play(context.Background()); err != nil {
			t.Fatal(err)
		}
		held := 0
		for _, b := range r.queue.buckets {
			held += cap(b)
		}
		if per := uintptr(held) * unsafe.Sizeof(arrival{}) / uintptr(clients); per > 200 {
			t.Errorf("%d clients: %d bytes each", clients, per)
		} else {
			t.Logf("%d clients: %d bytes each", clients, per)
		}
	}
}

func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, fleet(20_000), policy(nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	p := policy(func(p *retry.Policy) { p.Base, p.Attempts, p.Deadline = 0, retry.Unlimited, time.Second })
	if _, err := Run(context.Background(), fleet(10), p); !errors.Is(err, ErrEndless) {
		t.Errorf("without waits: %v", err)
	}
}

// TestExact: the figures are those of the seed, whatever runs beside it.
func TestExact(t *testing.T) {
	c := fleet(20000)
	c.Spread = time.Second
	want := play(t, c, policy(nil))
	results := make(chan render.SimulationRun, 4)
	for range cap(results) {
		go func() {
			r, err := Run(context.Background(), c, policy(nil))
			if err != nil {
				t.Error(err)
			}
			results <- r
		}()
	}
	for range cap(results) {
		if diff := cmp.Diff(want, <-results); diff != "" {
			t.Error(diff)
		}
	}
	c.Seed = 2
	if cmp.Equal(want, play(t, c, policy(nil))) {
		t.Error("another seed, the same figures")
	}
}
