package retry_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/bidehttp/bide/httpdate"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
	"github.com/bidehttp/bide/retry/tied"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 7, 15, 12, 0, 0, 0, time.UTC)

// rig runs a loop over scripted outcomes on a fake clock that moves itself.
type rig struct {
	clock     *retrytest.FakeClock
	loop      retry.Loop
	script    []retry.Outcome // the last one repeats
	during    func(ctx context.Context, n int)
	tries     []time.Duration // when each attempt started, from the start
	discarded []int
	events    []retry.Event
}

func newRig(p retry.Policy, script ...retry.Outcome) *rig {
	r := &rig{clock: retrytest.NewFakeClock(noon), script: script}
	r.clock.AutoAdvance(true)
	r.loop = retry.Loop{
		Policy: &p, Clock: r.clock, Origin: "https://a.example:443",
		Rand:    func() float64 { return 0.5 },
		Observe: func(ev retry.Event) { r.events = append(r.events, ev) },
	}
	return r
}

// run gives the number of the attempt whose value came out; 0 is none.
func (r *rig) run(ctx context.Context) (int, *retry.Record, error) {
	return retry.Do(ctx, r.loop, func(ctx context.Context, n int) (int, retry.Outcome) {
		r.tries = append(r.tries, r.clock.Mono()-retrytest.FakeStart)
		if r.during != nil {
			r.during(ctx, n)
		}
		return n, r.script[min(n, len(r.script))-1]
	}, func(n int) { r.discarded = append(r.discarded, n) })
}

// want checks what every test wants to know.
func (r *rig) want(t *testing.T, rec *retry.Record, reason retry.Reason, tries ...time.Duration) {
	t.Helper()
	if rec.Reason != reason {
		t.Errorf("reason is %s, want %s", rec.Reason, reason)
	}
	if !slices.Equal(r.tries, tries) {
		t.Errorf("attempts at %v, want %v", r.tries, tries)
	}
	if len(rec.Attempts) != len(tries) {
		t.Errorf("%d attempts recorded, want %d", len(rec.Attempts), len(tries))
	}
	if n := r.clock.Sleepers(); n != 0 {
		t.Errorf("%d sleepers left", n)
	}
}

var (
	ok    = retry.Outcome{Status: 200, Method: "GET", Sent: retry.SentMaybe, Phase: retry.PhaseDone}
	plain = with(func(p *retry.Policy) { p.Jitter = 0 })
)

// dated is a 429 whose Retry-After is the date at, received when the clock shows
// the given wall time, with the server's Date or "" for none.
func dated(at, wall time.Time, date string) retry.Outcome {
	var dates []string
	if date != "" {
		dates = []string{date}
	}
	ref := httpdate.NewReference(wall, dates, false)
	d := httpdate.RetryAfter([]string{httpdate.Format(at)}, ref)
	o := told(429, d.Delay)
	o.Server.Kind, o.Server.Clock = "date", ref.Clock
	return o
}

// TestDecisionTable has a row for each condition of the project's decision
// table that shows in when attempts start and why they end; those that need
// another set-up are tests of their own, named alike.
func TestDecisionTable(t *testing.T) {
	invalid := status(429)
	invalid.Server = retry.Server{Header: "Retry-After", Raw: "soon", Kind: "invalid"}
	cut := failure(retry.ClassClosed)
	refused := failure(retry.ClassConnect)
	refused.Sent = retry.SentNothing
	at := func(d ...time.Duration) []time.Duration { return d }
	ms := time.Millisecond
	capped := with(func(p *retry.Policy) { p.Jitter, p.Cap = 0, 10*sec })
	deadline := func(d time.Duration) retry.Policy {
		return with(func(p *retry.Policy) { p.Jitter, p.Deadline = 0, d })
	}
	for _, c := range []struct {
		name   string
		p      retry.Policy
		script []retry.Outcome
		reason retry.Reason
		tries  []time.Duration
	}{
		{"429_with_valid_seconds", plain, []retry.Outcome{told(429, 3*sec), ok}, retry.Success, at(0, 3*sec)},
		{"429_with_seconds_below_the_local_floor", plain, []retry.Outcome{told(429, 500*ms), ok}, retry.Success, at(0, sec)},
		{"429_with_future_date_by_the_wall_clock", plain, []retry.Outcome{dated(noon.Add(5*sec), noon, ""), ok}, retry.Success, at(0, 5*sec)},
		{"429_with_future_date_client_90s_ahead", plain, []retry.Outcome{dated(noon.Add(-85*sec), noon, httpdate.Format(noon.Add(-90*sec))), ok}, retry.Success, at(0, 5*sec)},
		{"429_with_future_date_client_90s_ahead_no_Date", plain, []retry.Outcome{dated(noon.Add(-85*sec), noon, ""), ok}, retry.Success, at(0, sec)},
		{"429_with_past_date_is_bounded", plain, []retry.Outcome{dated(noon.Add(-time.Hour), noon, "")}, retry.AttemptsExhausted, at(0, sec, 3*sec)},
		{"429_invalid_value", plain, []retry.Outcome{invalid, ok}, retry.Success, at(0, sec)},
		{"429_huge_value", capped, []retry.Outcome{told(429, 1<<63-1)}, retry.RetryAfterExceedsCap, at(0)},
		{"429_equal_to_the_cap", capped, []retry.Outcome{told(429, 10*sec), ok}, retry.Success, at(0, 10*sec)},
		{"deadline_equal_to_the_wait", deadline(sec), []retry.Outcome{status(503), ok}, retry.DeadlineBeforeRetry, at(0)},
		{"deadline_1ns_above_the_wait", deadline(sec + 1), []retry.Outcome{status(503), ok}, retry.Success, at(0, sec)},
		{"deadline_1ns_below_the_wait", deadline(sec - 1), []retry.Outcome{status(503), ok}, retry.DeadlineBeforeRetry, at(0)},
		{"all_attempts_429", plain, []retry.Outcome{status(429)}, retry.AttemptsExhausted, at(0, sec, 3*sec)},
		{"503_502_500_then_200_windows_grow", with(func(p *retry.Policy) { p.Jitter, p.Attempts = 0, 4 }),
			[]retry.Outcome{status(503), status(502), status(500), ok}, retry.Success, at(0, sec, 3*sec, 7*sec)},
		{"404", plain, []retry.Outcome{status(404)}, retry.HTTPError, at(0)},
		{"400", plain, []retry.Outcome{status(400)}, retry.HTTPError, at(0)},
		{"403", plain, []retry.Outcome{status(403)}, retry.HTTPError, at(0)},
		{"404_with_Retry-After", plain, []retry.Outcome{told(404, sec)}, retry.HTTPError, at(0)},
		{"connect_refused_then_200_POST", plain, []retry.Outcome{post(refused), ok}, retry.Success, at(0, sec)},
		{"cut_after_the_request_POST_without_key", plain, []retry.Outcome{post(cut), ok}, retry.UnsafeMethod, at(0)},
		{"cut_after_the_request_POST_with_key", plain, []retry.Outcome{keyed(cut), ok}, retry.Success, at(0, sec)},
		{"server_never_recovers", with(func(p *retry.Policy) { p.Jitter, p.Attempts = 0, 5 }), []retry.Outcome{refused}, retry.AttemptsExhausted, at(0, sec, 3*sec, 7*sec, 15*sec)},
		{"R4.4_A5_local_exponent_grows_underneath", with(func(p *retry.Policy) { p.Jitter, p.Attempts, p.Base = 0, 5, 400*ms }),
			[]retry.Outcome{told(503, sec)}, retry.AttemptsExhausted, at(0, sec, 2*sec, 3600*ms, 6800*ms)},
		{"R2.1_unlimited_until_the_deadline", with(func(p *retry.Policy) {
			p.Jitter, p.Backoff, p.Attempts, p.Deadline = 0, retry.Fixed, retry.Unlimited, 3500*ms
		}),
			[]retry.Outcome{status(503)}, retry.DeadlineBeforeRetry, at(0, sec, 2*sec, 3*sec)},
		{"R6.1_retry_max_time", with(func(p *retry.Policy) { p.Jitter, p.RetryMaxTime = 0, 2*sec }), []retry.Outcome{status(503)}, retry.RetryTimeExceeded, at(0, sec)},
		{"421_once", plain, []retry.Outcome{status(421)}, retry.HTTPError, at(0, sec)},
		{"D6_key_503_409_201", plain, []retry.Outcome{keyed(status(503)), keyed(status(409)), ok}, retry.Success, at(0, sec, 3*sec)},
		{"A3_invalid_for_ever_has_no_hot_loop", plain, []retry.Outcome{invalid}, retry.AttemptsExhausted, at(0, sec, 3*sec)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(c.p, c.script...)
			n, rec, err := r.run(t.Context())
			r.want(t, rec, c.reason, c.tries...)
			if n != len(c.tries) {
				t.Errorf("the value is attempt %d's, want the last one's", n)
			}
			for i, got := range r.discarded {
				if got != i+1 {
					t.Errorf("discarded %v", r.discarded)
				}
			}
			if len(r.discarded) != len(c.tries)-1 {
				t.Errorf("discarded %v, want each superseded value once", r.discarded)
			}
			usable := rec.Attempts[len(rec.Attempts)-1].Outcome.Class == retry.ClassStatus || c.reason == retry.Success
			if (err == nil) != usable {
				t.Errorf("error is %v, a usable value is there: %v", err, usable)
			}
		})
	}
}

// TestR4_7 is the worked example: 3 s · (1 + 0.2 · 0.5) and 2 s · (1 + 0.2 · 0.5).
func TestR4_7_WorkedExample_3s_plus_10_percent_is_3300ms_and_2s_plus_10_percent_is_2200ms(t *testing.T) {
	r := newRig(with(func(p *retry.Policy) { p.Cap = 10 * sec }), told(429, 3*sec), status(503), ok)
	_, rec, err := r.run(t.Context())
	r.want(t, rec, retry.Success, 0, 3300*time.Millisecond, 5500*time.Millisecond)
	if err != nil || rec.Waited != 5500*time.Millisecond {
		t.Errorf("waited %v, error %v", rec.Waited, err)
	}
	for i, want := range []retry.Decision{
		{Retry: true, HasWait: true, Source: retry.SourceServer, Local: sec, Floor: 3 * sec, Ceiling: 3600 * time.Millisecond, Wait: 3300 * time.Millisecond},
		{Retry: true, HasWait: true, Source: retry.SourceBackoff, Local: 2 * sec, Floor: 2 * sec, Ceiling: 2400 * time.Millisecond, Wait: 2200 * time.Millisecond},
		{Reason: retry.Success},
	} {
		if got := rec.Attempts[i].Decision; got != want {
			t.Errorf("decision %d is %+v\nwant %+v", i+1, got, want)
		}
	}
}

func TestR2_3_ExhaustionKeepsTheLastAnswer(t *testing.T) {
	r := newRig(plain, status(500), status(503), status(429))
	n, rec, err := r.run(t.Context())
	r.want(t, rec, retry.AttemptsExhausted, 0, sec, 3*sec)
	if n != 3 || err != nil {
		t.Errorf("value %d, error %v: the last answer must be there to be shown", n, err)
	}
	if got, want := rec.Message(), "gave up after 3 attempts: HTTP 429"; got != want {
		t.Errorf("message is %q, want %q", got, want)
	}
}

func TestNextAttemptAt(t *testing.T) {
	for _, c := range []struct {
		name   string
		p      retry.Policy
		o      retry.Outcome
		want   time.Time
		reason retry.Reason
	}{
		{"R4.0_over_the_cap", with(func(p *retry.Policy) { p.Cap = 10 * sec }), told(429, 24*time.Hour), noon.Add(24 * time.Hour), retry.RetryAfterExceedsCap},
		{"R4.0_unsafe", plain, post(told(503, 7*sec)), noon.Add(7 * sec), retry.UnsafeMethod},
		{"R4.0_not_transient", plain, told(404, 7*sec), noon.Add(7 * sec), retry.HTTPError},
		{"R4.0_one_attempt", with(func(p *retry.Policy) { p.Attempts = 1 }), told(429, 7*sec), noon.Add(7 * sec), retry.AttemptsExhausted},
		{"R4.0_nothing_named", plain, post(status(503)), time.Time{}, retry.UnsafeMethod},
		{"R4.0_success_names_nothing", plain, retry.Outcome{Server: retry.Server{Minimum: sec, Valid: true}}, time.Time{}, retry.Success},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(c.p, c.o)
			_, rec, _ := r.run(t.Context())
			r.want(t, rec, c.reason, 0)
			if !rec.NextAttemptAt.Equal(c.want) {
				t.Errorf("next attempt at %v, want %v", rec.NextAttemptAt, c.want)
			}
		})
	}
	// It counts from the answer, not from the end of its body.
	r := newRig(with(func(p *retry.Policy) { p.Attempts = 1 }), told(429, 7*sec))
	r.script[0].SeenAt = retrytest.FakeStart + sec
	r.during = func(context.Context, int) { r.clock.Advance(4 * sec) }
	if _, rec, _ := r.run(t.Context()); !rec.NextAttemptAt.Equal(noon.Add(8 * sec)) {
		t.Errorf("next attempt at %v, want 8 s after the start", rec.NextAttemptAt)
	}
}

func TestReplay(t *testing.T) {
	for _, c := range []struct {
		name   string
		fails  int // at which call
		err    error
		reason retry.Reason
		tries  int
	}{
		{"R7.3_changed_before_the_wait", 1, retry.ErrBodyChanged, retry.BodyChanged, 1},
		{"R7.3_changed_during_the_wait", 2, retry.ErrBodyChanged, retry.BodyChanged, 1},
		{"R7.3_changed_during_the_second_wait", 4, retry.ErrBodyChanged, retry.BodyChanged, 2},
		{"R8.1_not_replayable", 1, retry.ErrNotReplayable, retry.NotReplayable, 1},
		{"unreadable", 1, errors.New("permission denied"), retry.InputError, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(plain, failure(retry.ClassClosed))
			calls := 0
			r.loop.Replay = func() error {
				if calls++; calls == c.fails {
					return c.err
				}
				return nil
			}
			_, rec, err := r.run(t.Context())
			if rec.Reason != c.reason || len(rec.Attempts) != c.tries {
				t.Errorf("reason %s after %d attempts, want %s after %d", rec.Reason, len(rec.Attempts), c.reason, c.tries)
			}
			if !errors.Is(err, c.err) {
				t.Errorf("error %v does not tell %v", err, c.err)
			}
			if d := rec.Attempts[c.tries-1].Decision; d.Retry || d.Reason != c.reason || !d.HasWait {
				t.Errorf("the last decision is %+v", d)
			}
		})
	}
}

type budget struct{ left, asked int }

func (b *budget) Take(retry.Outcome) bool {
	b.asked++
	b.left--
	return b.left >= 0
}

func TestBudget(t *testing.T) {
	r := newRig(with(func(p *retry.Policy) { p.Jitter, p.Attempts = 0, 5 }), status(503))
	r.loop.Budget = &budget{left: 1}
	n, rec, err := r.run(t.Context())
	r.want(t, rec, retry.BudgetExhausted, 0, sec)
	if n != 2 || err != nil {
		t.Errorf("value %d, error %v", n, err)
	}
	// Taken last: a question that says no before it leaves the budget alone.
	for name, change := range map[string]func(*rig){
		"attempts": func(r *rig) { r.loop.Policy.Attempts = 1 },
		"body":     func(r *rig) { r.loop.Replay = func() error { return retry.ErrBodyChanged } },
		"deadline": func(r *rig) { r.loop.Policy.Deadline = sec },
	} {
		r, b := newRig(plain, status(503)), &budget{left: 9}
		r.loop.Budget = b
		change(r)
		if _, _, _ = r.run(t.Context()); b.asked != 0 {
			t.Errorf("R4.0: the budget was asked although %s said no", name)
		}
	}
}

func TestEvents(t *testing.T) {
	r := newRig(plain, told(503, 2*sec), ok)
	if _, _, err := r.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []retry.EventKind
	for _, ev := range r.events {
		got = append(got, ev.Kind)
	}
	want := []retry.EventKind{"attempt", "outcome", "wait", "attempt", "outcome", "stop"}
	if !slices.Equal(got, want) {
		t.Fatalf("events %v, want %v", got, want)
	}
	w := r.events[2]
	if w.Number != 1 || w.Wait != 2*sec || !w.Until.Equal(noon.Add(2*sec)) || !w.Decision.Retry || w.Outcome.Status != 503 {
		t.Errorf("wait event is %+v", w)
	}
	if a := r.events[3]; a.Number != 2 || a.Offset != 2*sec {
		t.Errorf("second attempt's event is %+v", a)
	}
	if s := r.events[5]; s.Decision.Reason != retry.Success {
		t.Errorf("stop event is %+v", s)
	}
}

func TestAPolicyThatFailsItsCheckTriesNothing(t *testing.T) {
	var zero retry.Policy // unlimited attempts without a pause
	r := newRig(zero, status(503))
	_, rec, err := r.run(t.Context())
	r.want(t, rec, retry.Usage)
	if err == nil || err.Error() != zero.Check().Error() {
		t.Errorf("error is %v, want what Check says", err)
	}
}

func TestNoPolicyIsTheDefault(t *testing.T) {
	r := newRig(plain, status(503))
	r.loop.Policy = nil
	_, rec, _ := r.run(t.Context())
	r.want(t, rec, retry.AttemptsExhausted, 0, 1100*time.Millisecond, 3300*time.Millisecond)
	if *rec.Policy != retry.DefaultPolicy() {
		t.Errorf("policy %+v", rec.Policy)
	}

	inner, outer := newRig(plain, status(503)), newRig(plain, ok)
	inner.loop.Policy = nil
	outer.during = func(ctx context.Context, _ int) {
		_, rec, _ := inner.run(ctx)
		inner.want(t, rec, retry.AttemptsExhausted, 0)
	}
	_, rec, _ = outer.run(t.Context())
	outer.want(t, rec, retry.Success, 0)
}

// brokenClock cannot sleep.
type brokenClock struct{ *retrytest.FakeClock }

var errClock = errors.New("no timer")

func (brokenClock) Sleep(context.Context, time.Duration) error { return errClock }

func TestR4_6_AClockThatFailsSendsNothingEarly(t *testing.T) {
	r := newRig(plain, status(503), ok)
	r.loop.Clock = brokenClock{r.clock}
	_, rec, err := r.run(t.Context())
	r.want(t, rec, retry.Canceled, 0)
	if !errors.Is(err, errClock) {
		t.Errorf("error is %v", err)
	}
}

// TestA7_AFleetReturnsSpread: a hundred clients told to come back in a minute
// come neither early nor together.
func TestA7_AFleetReturnsSpread(t *testing.T) {
	seen := map[time.Duration]bool{}
	var latest time.Duration
	for i := range 100 {
		r := newRig(retry.DefaultPolicy(), told(429, time.Minute), ok)
		r.loop.Rand = func() float64 { return float64(i) / 100 }
		r.run(t.Context())
		at := r.tries[1]
		if at < time.Minute {
			t.Fatalf("a client returned at %v", at)
		}
		seen[at] = true
		latest = max(latest, at)
	}
	if len(seen) != 100 || latest < 71*sec {
		t.Errorf("%d different instants, the latest %v", len(seen), latest)
	}
}

// BenchmarkDo is what an operation costs that succeeds at once.
func BenchmarkDo(b *testing.B) {
	ctx := tied.New(context.Background())
	defer ctx.End()
	policy := retry.DefaultPolicy()
	loop := retry.Loop{Policy: &policy, Clock: retry.SystemClock(), Rand: func() float64 { return 0 }, Hold: &retry.MemoryHold{}}
	b.ReportAllocs()
	for b.Loop() {
		last, _, err := retry.Do(ctx, loop, func(ctx context.Context, _ int) (context.Context, retry.Outcome) { return ctx, ok }, nil)
		if err != nil {
			b.Fatal(err)
		}
		retry.Release(last)
	}
}

// ticking is a clock on which every reading takes time.
type ticking struct{ *retrytest.FakeClock }

func (c ticking) Mono() time.Duration {
	c.Advance(time.Millisecond)
	return c.FakeClock.Mono()
}

// TestEventOffsets: events tell the instants of the record, and none lies before
// the one that came first.
func TestEventOffsets(t *testing.T) {
	r := newRig(plain, status(503), ok)
	r.loop.Clock = ticking{r.clock}
	_, rec, _ := r.run(t.Context())
	last := time.Duration(0)
	for _, e := range r.events {
		if e.Offset < last {
			t.Errorf("event %v at %v, after one at %v", e.Kind, e.Offset, last)
		}
		last = e.Offset
		if e.Number == 0 || e.Number > len(rec.Attempts) {
			continue
		}
		a := &rec.Attempts[e.Number-1]
		if e.Kind == retry.EventAttempt && e.Offset != a.Offset || e.Kind == retry.EventOutcome && e.Offset != a.Offset+a.Duration {
			t.Errorf("event %v at %v of %+v", e.Kind, e.Offset, a)
		}
	}
	if len(r.events) < 5 || rec.Elapsed > last {
		t.Errorf("%d events to %v, elapsed %v", len(r.events), last, rec.Elapsed)
	}
}
