package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

func request(change func(p *retry.Policy)) Request {
	p := retry.DefaultPolicy()
	if change != nil {
		change(&p)
	}
	return Request{Policy: p, Method: "GET", ExitCode: func(retry.Reason, retry.Outcome) int { return 75 }}
}

func answer(status int, minimum time.Duration) Outcome {
	return Outcome{Text: "x", Status: status, Named: minimum > 0, Minimum: minimum}
}

// window is what a wait comes to, in seconds.
type window struct{ Floor, Ceiling, Mean, Earliest, Latest float64 }

func windows(doc *render.Plan) []window {
	var list []window
	s := func(m render.MS) float64 { return time.Duration(m).Seconds() }
	for _, w := range doc.Waits {
		list = append(list, window{s(w.FloorMS), s(w.CeilingMS), s(w.MeanMS), s(w.EarliestMS), s(w.LatestMS)})
	}
	return list
}

func TestWaits(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(p *retry.Policy)
		given   []Outcome
		attempt time.Duration
		want    []window
		sure    []bool
		early   string
		late    string
	}{
		"R4.7_worked_example": {
			change: func(p *retry.Policy) { p.Cap = 10 * time.Second },
			given:  []Outcome{answer(429, 3*time.Second), answer(503, 0), answer(200, 0)},
			want:   []window{{3, 3.6, 3.3, 3, 3.6}, {2, 2.4, 2.2, 5, 6}},
			sure:   []bool{true, true}, early: "success", late: "success",
		},
		"R2.1_three_attempts": {
			want: []window{{1, 1.2, 1.1, 1, 1.2}, {2, 2.4, 2.2, 3, 3.6}}, sure: []bool{true, true},
			early: "attempts_exhausted", late: "attempts_exhausted",
		},
		"attempt_time_is_part_of_the_totals": {
			attempt: time.Second,
			want:    []window{{1, 1.2, 1.1, 2, 2.2}, {2, 2.4, 2.2, 5, 5.6}}, sure: []bool{true, true},
			early: "attempts_exhausted", late: "attempts_exhausted",
		},
		"R6.2_a_wait_may_not_fit": {
			change: func(p *retry.Policy) { p.Deadline = 3500 * time.Millisecond },
			want:   []window{{1, 1.2, 1.1, 1, 1.2}, {2, 2.4, 2.2, 3, 3.5}}, sure: []bool{true, false},
			early: "attempts_exhausted", late: "deadline_before_retry",
		},
		"R6.2_equal_to_the_rest_is_refused": {
			change: func(p *retry.Policy) { p.Deadline = 3 * time.Second },
			want:   []window{{1, 1.2, 1.1, 1, 1.2}}, sure: []bool{true},
			early: "deadline_before_retry", late: "deadline_before_retry",
		},
		"R6.3_an_attempt_is_cut": {
			change:  func(p *retry.Policy) { p.Deadline = 3 * time.Second },
			attempt: 2 * time.Second,
			early:   "deadline_before_retry", late: "deadline_before_retry",
		},
		"R6.1_retry_max_time": {
			change: func(p *retry.Policy) { p.Attempts, p.RetryMaxTime = retry.Unlimited, 3*time.Second },
			want:   []window{{1, 1.2, 1.1, 1, 1.2}, {2, 2.4, 2.2, 3, 3}}, sure: []bool{true, false},
			early: "retry_time_exceeded", late: "retry_time_exceeded",
		},
		"R4.0_beyond_the_cap": {
			given: []Outcome{answer(503, 0), answer(503, 301*time.Second)},
			want:  []window{{1, 1.2, 1.1, 1, 1.2}}, sure: []bool{true},
			early: "retry_after_exceeds_cap", late: "retry_after_exceeds_cap",
		},
		"full_jitter": {
			change: func(p *retry.Policy) { p.JitterMode = retry.Full },
			given:  []Outcome{answer(503, 0), answer(429, 3*time.Second)},
			want:   []window{{0, 1, .5, 0, 1}, {3, 3.6, 3.3, 3, 4.6}}, sure: []bool{true, true},
		},
		"421_once": {
			given: []Outcome{answer(421, 0), answer(421, 0)},
			want:  []window{{1, 1.2, 1.1, 1, 1.2}}, sure: []bool{true}, early: "http_error", late: "http_error",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(c.change)
			r.Given, r.AttemptTime = c.given, c.attempt
			doc := Make(r)
			if diff := cmp.Diff(c.want, windows(doc)); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
			for i, w := range doc.Waits {
				if w.Sure != c.sure[i] {
					t.Errorf("wait %d: sure %v", i+1, w.Sure)
				}
			}
			reason := func(s *render.PlanStop) string {
				if s == nil {
					return ""
				}
				return s.Reason
			}
			if e, l := reason(doc.StopEarliest), reason(doc.StopLatest); e != c.early || l != c.late {
				t.Errorf("ends %q, %q", e, l)
			}
		})
	}
}

// TestUnsafeMethod (R3.2): what is assumed of a POST is a failure that leaves it safe.
func TestUnsafeMethod(t *testing.T) {
	r := request(nil)
	r.Method = "POST"
	doc := Make(r)
	if doc.Assumed == nil || *doc.Assumed != "connect" || len(doc.Waits) != 2 {
		t.Errorf("assumed %v, %d waits", doc.Assumed, len(doc.Waits))
	}
	if !hasRule(doc.Warnings, "R3.2") || !hasRule(doc.Rules, "R3.1") {
		t.Errorf("R3.1 and R3.2 are not told: %v", doc.Warnings)
	}
	r.Keyed = true
	if doc = Make(r); *doc.Assumed != "503" || hasRule(doc.Warnings, "R3.2") || !hasRule(doc.Rules, "R7.5") {
		t.Errorf("with a key: %v %v", *doc.Assumed, doc.Warnings)
	}
}

func hasRule(list []render.PlanRule, rule string) bool {
	for _, r := range list {
		if r.Rule == rule {
			return true
		}
	}
	return false
}

func TestWarnings(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *retry.Policy)
		given  []Outcome
		rule   string
		is     bool
	}{
		"R4.2_no_room_at_the_cap":    {given: []Outcome{answer(429, 300*time.Second)}, rule: "R4.2", is: true},
		"R4.2_room_up_to_the_cap":    {given: []Outcome{answer(429, 250*time.Second)}, rule: "R4.2"},
		"R4.2_one_nanosecond_beyond": {given: []Outcome{answer(429, 250*time.Second+5)}, rule: "R4.2", is: true},
		"R4.2_no_jitter":             {change: func(p *retry.Policy) { p.Jitter = 0 }, rule: "R4.2", is: true},
		"R6.1_no_bound":              {rule: "R6.1", is: true},
		"R6.1_bound":                 {change: func(p *retry.Policy) { p.MaxTime = time.Second }, rule: "R6.1"},
		"R6.2_cut_off":               {change: func(p *retry.Policy) { p.Deadline = time.Second }, rule: "R6.2", is: true},
		"R4.0_never_reached":         {given: []Outcome{answer(404, 0), answer(503, 0)}, rule: "R4.0", is: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(c.change)
			r.Given = c.given
			if got := hasRule(Make(r).Warnings, c.rule); got != c.is {
				t.Errorf("warned of %s: %v", c.rule, got)
			}
		})
	}
}

func TestLongest(t *testing.T) {
	sec := func(s float64) *render.MS { return render.Millis(time.Duration(s * float64(time.Second))) }
	word := func(s string) *string { return &s }
	for name, c := range map[string]struct {
		change func(p *retry.Policy)
		want   render.PlanBound
	}{
		"no_limits": {nil, render.PlanBound{WaitsMS: sec(3.6), WaitsAtCap: sec(600), Uncounted: 100}},
		"attempts": {func(p *retry.Policy) { p.MaxTime = 10 * time.Second },
			render.PlanBound{WaitsMS: sec(3.6), WaitsAtCap: sec(600), QuietMS: sec(33.6), OperationMS: sec(630), BoundedBy: word("attempts"), Uncounted: 100}},
		"deadline": {func(p *retry.Policy) { p.Deadline = 60 * time.Second },
			render.PlanBound{WaitsMS: sec(3.6), WaitsAtCap: sec(600), QuietMS: sec(60), OperationMS: sec(60), BoundedBy: word("deadline")}},
		"deadline_beyond_the_attempts": {func(p *retry.Policy) { p.Deadline, p.MaxTime = time.Hour, 10*time.Second },
			render.PlanBound{WaitsMS: sec(3.6), WaitsAtCap: sec(600), QuietMS: sec(33.6), OperationMS: sec(630), BoundedBy: word("attempts"), Uncounted: 100}},
		"retry_max_time": {func(p *retry.Policy) {
			p.Attempts, p.RetryMaxTime, p.MaxTime = retry.Unlimited, 20*time.Second, 5*time.Second
		}, render.PlanBound{QuietMS: sec(25), OperationMS: sec(25), BoundedBy: word("retry_max_time")}},
		"one_attempt": {func(p *retry.Policy) { p.Attempts, p.MaxTime = 1, 10*time.Second },
			render.PlanBound{WaitsMS: sec(0), WaitsAtCap: sec(0), QuietMS: sec(10), OperationMS: sec(10), BoundedBy: word("attempts")}},
		"saturates": {func(p *retry.Policy) { p.Attempts, p.Cap, p.MaxTime = 1<<31-2, 0, 1<<62 },
			render.PlanBound{WaitsMS: render.Millis(1<<63 - 1), Uncounted: 100}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Make(request(c.change)).Longest); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMany: plans without an end in sight are cut, not endless.
func TestMany(t *testing.T) {
	doc := Make(request(func(p *retry.Policy) { p.Attempts, p.Base, p.Deadline = retry.Unlimited, 0, time.Hour }))
	if len(doc.Waits) != listed || doc.Omitted != followed-listed || doc.StopEarliest != nil {
		t.Errorf("%d listed, %d omitted, %v", len(doc.Waits), doc.Omitted, doc.StopEarliest)
	}
	doc = Make(request(func(p *retry.Policy) { p.Attempts, p.Backoff = 5000, retry.Fixed }))
	if len(doc.Waits) != listed || doc.Omitted != 4999-listed || doc.StopLatest.Attempts != 5000 {
		t.Errorf("%d listed, %d omitted, %v", len(doc.Waits), doc.Omitted, doc.StopLatest)
	}
}
