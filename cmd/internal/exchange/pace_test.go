package exchange

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

func TestPacer(t *testing.T) {
	read := func(clock *retrytest.FakeClock, rate int64, n int) time.Duration {
		t.Helper()
		began := clock.Mono()
		p := &pacer{ctx: t.Context(), clock: clock, rate: rate, r: strings.NewReader(strings.Repeat("x", n))}
		if got, err := io.Copy(struct{ io.Writer }{io.Discard}, p); err != nil || got != int64(n) {
			t.Fatalf("%d bytes, %v", got, err)
		}
		return clock.Mono() - began
	}
	for _, c := range []struct {
		rate int64
		n    int
		want time.Duration
	}{{1000, 1000, time.Second}, {1, 3, 3 * time.Second}, {1 << 30, 1 << 20, time.Second / 1024}, {1000, 0, 0}} {
		if took := read(fakeClock(), c.rate, c.n); took < c.want || took > c.want+time.Millisecond {
			t.Errorf("%d bytes at %d a second took %v, not %v", c.n, c.rate, took, c.want)
		}
	}
	t.Run("a_stall_gives_no_long_credit", func(t *testing.T) {
		clock := fakeClock()
		r, w := io.Pipe()
		go func() {
			io.WriteString(w, strings.Repeat("x", 100))
			clock.Advance(time.Hour)
			io.WriteString(w, strings.Repeat("x", 1000))
			w.Close()
		}()
		p := &pacer{ctx: t.Context(), clock: clock, rate: 1000, r: r}
		io.CopyN(io.Discard, p, 100)
		io.CopyN(io.Discard, p, 1)
		began := clock.Mono()
		io.Copy(io.Discard, p)
		if took := clock.Mono() - began; took < 700*time.Millisecond {
			t.Errorf("the rest took %v", took)
		}
	})
	t.Run("the_context_ends_it", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		p := &pacer{ctx: ctx, clock: fakeClock(), rate: 1, r: strings.NewReader("xx")}
		if _, err := io.ReadAll(p); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

func TestLimitRate(t *testing.T) {
	s := retrytest.Serve(t, "200 size=4000B")
	clock := fakeClock()
	op := operation(client(t, clock, transport.Settings{}), template(t, "POST", s.URL, strings.Repeat("x", 2000)))
	op.LimitRate = 1000
	began := clock.Mono()
	_, o, body := get(t, op)
	if took := clock.Mono() - began; o.Err != nil || len(body) != 4000 || took < 6*time.Second || took > 7*time.Second {
		t.Errorf("%v, %d bytes, took %v", o.Err, len(body), took)
	}
	s.Log().Check(t, "requests=1", "body="+strings.Repeat("x", 2000))
}

func TestGauge(t *testing.T) {
	low := LowSpeed{Limit: 100, Time: 2 * time.Second}
	for _, c := range []struct {
		name   string
		speeds []int64 // bytes in each second
		ends   int     // second in which it is given up; 0 never
	}{
		{"nothing_comes", []int64{0, 0, 0, 0}, 2},
		{"fast_enough", []int64{100, 100, 100, 100, 100, 100}, 0},
		{"slow_at_first", []int64{50, 500, 100, 100, 100}, 0},
		{"it_stops", []int64{100, 100, 100, 100, 100, 0, 0, 0, 0, 0}, 7},
		{"a_burst_counts_for_five_seconds", []int64{1000, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gauge{LowSpeed: low}
			var n int64
			ended := 0
			for second, speed := range c.speeds {
				for tick := range time.Second / slowTick {
					at := time.Duration(second)*time.Second + tick*slowTick
					if !g.enough(at, n) && ended == 0 {
						ended = second
					}
					n += speed * int64(slowTick) / int64(time.Second)
				}
			}
			if ended != c.ends {
				t.Errorf("given up in second %d, not %d", ended, c.ends)
			}
		})
	}
}

func TestLowSpeed(t *testing.T) {
	low := LowSpeed{Limit: 1000, Time: 300 * time.Millisecond}
	for name, script := range map[string]string{"no_answer": "stall=inf", "no_body": "200 size=10kB stall=inf", "a_trickle": "200 size=10kB drip=1B/50ms"} {
		t.Run(name, func(t *testing.T) {
			s := retrytest.Serve(t, script)
			op := operation(client(t, retry.SystemClock(), transport.Settings{}), template(t, "GET", s.URL, ""))
			op.LowSpeed = low
			began := time.Now()
			_, o, _ := get(t, op)
			if o.Class != retry.ClassTimeout || !strings.Contains(o.Err.Error(), "Operation too slow. Less than 1000 bytes/sec transferred the last 0.3 seconds") {
				t.Errorf("class %s, %v", o.Class, o.Err)
			}
			if took := time.Since(began); took < low.Time {
				t.Errorf("given up after %v", took)
			}
		})
	}
	for _, opts := range [][]retrytest.Option{nil, {retrytest.WithTLS(), retrytest.WithHTTP2()}} {
		t.Run("a_steady_upload_is_fast_enough", func(t *testing.T) {
			s := retrytest.Serve(t, "200", opts...)
			settings := transport.Settings{}
			if opts != nil {
				settings = trusting(t, s)
			}
			op := operation(client(t, retry.SystemClock(), settings), template(t, "POST", s.URL, strings.Repeat("x", 8000)))
			op.LowSpeed, op.LimitRate = LowSpeed{Limit: 1000, Time: 300 * time.Millisecond}, 10000
			if _, o, _ := get(t, op); o.Err != nil || o.Status != 200 {
				t.Errorf("%+v", o)
			}
		})
	}
	t.Run("fast_enough", func(t *testing.T) {
		s := retrytest.Serve(t, "200 size=10kB")
		op := operation(client(t, retry.SystemClock(), transport.Settings{}), template(t, "POST", s.URL, "data"))
		op.LowSpeed = low
		if _, o, body := get(t, op); o.Err != nil || len(body) != 10000 {
			t.Errorf("%v, %d bytes", o.Err, len(body))
		}
	})
}

func TestNoConnectBlocks(t *testing.T) {
	for _, no := range []bool{false, true} {
		s := retrytest.Serve(t, "200 body=x")
		p := retrytest.ServeProxy(t, "")
		op := operation(client(t, retry.SystemClock(), transport.Settings{Proxy: &transport.Proxy{Scheme: "http", Host: p.Host, Port: p.Port, Tunnel: true}}), template(t, "GET", s.URL, ""))
		op.NoConnectBlocks = no
		r, o, _ := get(t, op)
		if want := map[bool]int{false: 2, true: 1}[no]; o.Err != nil || len(r.Blocks) != want {
			t.Errorf("%v: %v, blocks %q", no, o.Err, r.Blocks)
		}
	}
}
