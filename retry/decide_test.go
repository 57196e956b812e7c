package retry_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry"
)

const sec = time.Second

// status is a complete answer to a GET.
func status(code int) retry.Outcome {
	return retry.Outcome{Class: retry.ClassStatus, Status: code, Method: "GET", Sent: retry.SentMaybe, Phase: retry.PhaseDone}
}

// told is status with a minimum from the server.
func told(code int, minimum time.Duration) retry.Outcome {
	o := status(code)
	o.Server = retry.Server{Header: "Retry-After", Kind: "seconds", Minimum: minimum, Valid: true}
	return o
}

// failure is an attempt without an answer.
func failure(c retry.Class) retry.Outcome {
	return retry.Outcome{Class: c, Method: "GET", Sent: retry.SentMaybe, Phase: retry.PhaseResponse}
}

func post(o retry.Outcome) retry.Outcome { o.Method = "POST"; return o }
func keyed(o retry.Outcome) retry.Outcome {
	o.Method, o.Keyed = "POST", true
	return o
}

// with is the default policy, changed.
func with(change func(*retry.Policy)) retry.Policy {
	p := retry.DefaultPolicy()
	change(&p)
	return p
}

// waitCase is one line of testdata/waits.jsonl.
type waitCase struct {
	BaseNS         time.Duration        `json:"base_ns"`
	CapNS          time.Duration        `json:"cap_ns"`
	Jitter         float64              `json:"jitter"`
	Mode           retry.JitterMode     `json:"mode"`
	Backoff        retry.Backoff        `json:"backoff"`
	RetryAfterMode retry.RetryAfterMode `json:"retry_after_mode"`
	Attempts       int                  `json:"attempts"`
	Counted        int                  `json:"counted"`
	K              int                  `json:"k"`
	ServerMinNS    *time.Duration       `json:"server_min_ns"`
	UNum           float64              `json:"u_num"`
	UDen           float64              `json:"u_den"`
	DeadlineNS     time.Duration        `json:"deadline_ns"`
	ElapsedNS      time.Duration        `json:"elapsed_ns"`
	ReserveNS      time.Duration        `json:"reserve_ns"`
	Expect         struct {
		WaitNS    time.Duration `json:"wait_ns"`
		FloorNS   time.Duration `json:"floor_ns"`
		CeilingNS time.Duration `json:"ceiling_ns"`
		Source    retry.Source  `json:"source"`
		Stop      retry.Reason  `json:"stop"`
	} `json:"expect"`
	Note string `json:"note"`
}

func (c *waitCase) decide() retry.Decision {
	p := with(func(p *retry.Policy) {
		p.Base, p.Cap, p.Jitter, p.JitterMode, p.Backoff = c.BaseNS, c.CapNS, c.Jitter, c.Mode, c.Backoff
		p.RetryAfterMode, p.Attempts, p.Deadline, p.AttemptReserve = c.RetryAfterMode, c.Attempts, c.DeadlineNS, c.ReserveNS
	})
	o := status(503)
	if c.ServerMinNS != nil {
		o = told(503, *c.ServerMinNS)
	}
	return p.Decide(retry.State{Failures: c.K, Counted: c.Counted, Elapsed: c.ElapsedNS}, o, c.UNum/c.UDen)
}

func TestDecideWaits(t *testing.T) {
	f, err := os.Open("testdata/waits.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var c waitCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprintf("R4_line_%d_%s", n+1, c.Note), func(t *testing.T) {
			d := c.decide()
			if c.Expect.Stop != "" {
				if d.Retry || d.Reason != c.Expect.Stop {
					t.Errorf("got %+v, want to stop: %s", d, c.Expect.Stop)
				}
				return
			}
			if !d.Retry || d.Reason != "" || !d.HasWait {
				t.Fatalf("got %+v, want a retry", d)
			}
			if d.Floor != c.Expect.FloorNS || d.Ceiling != c.Expect.CeilingNS || d.Source != c.Expect.Source {
				t.Errorf("got floor %d ceiling %d source %s, want %d %d %s", d.Floor, d.Ceiling, d.Source,
					c.Expect.FloorNS, c.Expect.CeilingNS, c.Expect.Source)
			}
			// One nanosecond per 2^53 of the room for the float product, nothing else.
			tolerance := (d.Ceiling - d.Floor) >> 53
			if off := (d.Wait - c.Expect.WaitNS).Abs(); off > tolerance {
				t.Errorf("wait %d, want %d ± %d", d.Wait, c.Expect.WaitNS, tolerance)
			}
		})
	}
	if n < 50 {
		t.Fatalf("only %d cases read", n)
	}
}

func TestDecideTransient(t *testing.T) {
	first := retry.State{Failures: 1, Counted: 1}
	replayed := func(o retry.Outcome) retry.Outcome { o.Replayed = true; return o }
	limited := func(o retry.Outcome) retry.Outcome { o.RateLimited = true; return o }
	list := func(text string) func(*retry.Policy) {
		return func(p *retry.Policy) {
			set, err := retry.ParseRetryOn(text, p.RetryOn)
			if err != nil {
				panic(err)
			}
			p.RetryOn = set
		}
	}
	allErrors := func(p *retry.Policy) { p.AllErrors = true }
	both := func(a, b func(*retry.Policy)) func(*retry.Policy) {
		return func(p *retry.Policy) { a(p); b(p) }
	}
	none := func(*retry.Policy) {}
	for _, c := range []struct {
		name   string
		change func(*retry.Policy)
		o      retry.Outcome
		state  retry.State
		want   bool
	}{
		{"R7.5_409_without_key", none, status(409), first, false},
		{"R7.5_409_with_key", none, keyed(status(409)), first, true},
		{"R7.5_400_with_key", none, keyed(status(400)), first, false},
		{"R7.5_422_with_key", none, keyed(status(422)), first, false},
		{"R3.3b_409_with_key_but_taken_out", list("-409"), keyed(status(409)), first, false},
		{"R3.3b_409_with_key_but_class_taken_out", list("-4xx"), keyed(status(409)), first, false},
		{"R3.3b_409_without_key_put_in", list("+409"), status(409), first, true},
		{"R3.3b_replacing_list_has_no_conditional_default", list("503"), keyed(status(409)), first, false},
		{"R3.3_replacing_list", list("503"), status(429), first, false},
		{"R3.3_replacing_list_of_classes", list("connect"), failure(retry.ClassClosed), first, false},
		{"R3.3_polling", list("+202"), status(202), first, true},
		{"413_without_Retry-After", none, status(413), first, false},
		{"413_with_Retry-After", none, told(413, sec), first, true},
		{"413_with_Retry-After_0", none, told(413, 0), first, true},
		{"R3.3b_413_taken_out", list("-413"), told(413, sec), first, false},
		{"421_once", none, status(421), first, true},
		{"421_twice", none, status(421), retry.State{Misdirected: 1}, false},
		{"R3.3b_421_twice_by_list", list("+421"), status(421), retry.State{Misdirected: 1}, true},
		{"R3.3b_421_taken_out", list("-421"), status(421), first, false},
		{"503_replayed", none, replayed(keyed(status(503))), first, false},
		{"409_replayed", none, replayed(keyed(status(409))), first, false},
		{"429_replayed", none, replayed(keyed(status(429))), first, true},
		{"R3.3c_503_replayed_with_all_errors", allErrors, replayed(status(503)), first, false},
		{"R5.7_403", none, status(403), first, false},
		{"R5.7b_403_limited", none, limited(status(403)), first, true},
		{"R3.3b_403_limited_but_taken_out", list("-403"), limited(status(403)), first, false},
		{"R3.3b_403_limited_beside_a_replacing_list", list("503"), limited(status(403)), first, true},
		{"R3.3c_all_errors_404", allErrors, status(404), first, true},
		{"R3.3c_all_errors_but_one", both(allErrors, list("-404")), status(404), first, false},
		{"R3.3c_all_errors_304", allErrors, status(304), first, false},
		{"R3.3c_all_errors_cert", allErrors, failure(retry.ClassCert), first, true},
		{"R3.3c_all_errors_but_cert", both(allErrors, list("-cert")), failure(retry.ClassCert), first, false},
		{"R3.3c_all_errors_redirect", allErrors, failure(retry.ClassRedirect), first, true},
		{"R3.3c_all_errors_request", allErrors, failure(retry.ClassRequest), first, false},
		{"R3.3c_all_errors_input", allErrors, failure(retry.ClassInput), first, false},
		{"R3.3c_all_errors_output", allErrors, failure(retry.ClassOutput), first, false},
		{"R3.3c_all_errors_canceled", allErrors, failure(retry.ClassCanceled), first, false},
		{"unknown_class", none, failure("nonsense"), first, false},
		{"R3.3b_checksum_stays_with_a_replacing_list", list("503"), failure(retry.ClassChecksum), first, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := with(c.change).Transient(c.o, c.state); got != c.want {
				t.Errorf("transient is %v, want %v", got, c.want)
			}
		})
	}
}

// TestClasses is the table of contract §3 once more, by hand.
func TestClasses(t *testing.T) {
	want := map[retry.Class]struct {
		transient, anyMethod bool
		final                retry.Reason
	}{
		retry.ClassStatus:       {false, false, retry.HTTPError},
		retry.ClassResolve:      {true, true, retry.TransportError},
		retry.ClassNXDomain:     {false, true, retry.TransportError},
		retry.ClassConnect:      {true, true, retry.TransportError},
		retry.ClassTLS:          {true, true, retry.TransportError},
		retry.ClassCert:         {false, true, retry.TransportError},
		retry.ClassProxy:        {true, true, retry.TransportError},
		retry.ClassProxyRefused: {false, true, retry.TransportError},
		retry.ClassRefused:      {true, true, retry.TransportError},
		retry.ClassClosed:       {true, false, retry.TransportError},
		retry.ClassTimeout:      {true, false, retry.TransportError},
		retry.ClassTruncated:    {true, false, retry.TransportError},
		retry.ClassProtocol:     {false, false, retry.TransportError},
		retry.ClassRedirect:     {false, false, retry.RedirectError},
		retry.ClassDecode:       {false, false, retry.TransportError},
		retry.ClassChecksum:     {true, false, retry.ChecksumMismatch},
		retry.ClassSize:         {false, false, retry.TransportError},
		retry.ClassInput:        {false, false, retry.InputError},
		retry.ClassOutput:       {false, false, retry.OutputError},
		retry.ClassRequest:      {false, true, retry.Usage},
		retry.ClassCanceled:     {false, false, retry.Canceled},
	}
	p := retry.DefaultPolicy()
	for _, row := range retry.Classes() {
		w, ok := want[row.Class]
		if !ok {
			t.Errorf("class %s is not in the contract", row.Class)
			continue
		}
		delete(want, row.Class)
		o := post(failure(row.Class))
		if got := p.Transient(o, retry.State{}); got != w.transient || row.Transient != w.transient {
			t.Errorf("%s: transient is %v, want %v", row.Class, got, w.transient)
		}
		if got := p.Safe(o); got != w.anyMethod {
			t.Errorf("%s: safe for POST is %v, want %v", row.Class, got, w.anyMethod)
		}
		if got := row.Class.FinalReason(); got != w.final || row.Final != w.final {
			t.Errorf("%s: final reason is %s, want %s", row.Class, got, w.final)
		}
		if row.Examples == "" {
			t.Errorf("%s has no example", row.Class)
		}
	}
	for c := range want {
		t.Errorf("class %s is missing", c)
	}
	if len(retry.Reasons()) != 19 {
		t.Errorf("%d reasons, the contract has 19", len(retry.Reasons()))
	}
}

func TestDefaultStatuses(t *testing.T) {
	transient := map[int]bool{408: true, 425: true, 429: true, 500: true, 502: true, 503: true, 504: true, 421: true}
	p := retry.DefaultPolicy()
	for code := 100; code <= 999; code++ {
		if got := p.Transient(status(code), retry.State{}); got != transient[code] {
			t.Errorf("%d: transient is %v", code, got)
		}
	}
}

func TestSafe(t *testing.T) {
	safeOn := func(p *retry.Policy) { p.SafeOn, _ = retry.ParseStatuses("429,503") }
	none := func(*retry.Policy) {}
	sent := func(o retry.Outcome, s retry.Sent) retry.Outcome { o.Sent = s; return o }
	method := func(m string) retry.Outcome { o := failure(retry.ClassClosed); o.Method = m; return o }
	left := failure(retry.ClassClosed) // cut off after an earlier hop's 503
	left.Status, left.Method = 503, "POST"
	for _, c := range []struct {
		name   string
		change func(*retry.Policy)
		o      retry.Outcome
		want   bool
	}{
		{"R3.2_GET", none, method("GET"), true},
		{"R3.2_PUT", none, method("PUT"), true},
		{"R3.2_PROPFIND", none, method("PROPFIND"), true},
		{"R3.2_POST", none, method("POST"), false},
		{"R3.2_PATCH", none, method("PATCH"), false},
		{"R3.2_LOCK", none, method("LOCK"), false},
		{"R3.2_CONNECT", none, method("CONNECT"), false},
		{"R3.2_get_is_another_method", none, method("get"), false},
		{"R3.2_no_method_known", none, method(""), false},
		{"R3.2_key", none, keyed(failure(retry.ClassClosed)), true},
		{"R3.2_vouched", func(p *retry.Policy) { p.Idempotent = true }, method("POST"), true},
		{"R3.2_safe-on_the_status", safeOn, post(status(503)), true},
		{"R3.2_safe-on_another_status", safeOn, post(status(500)), false},
		{"R3.2a_safe-on_says_nothing_of_a_cut", safeOn, method("POST"), false},
		{"R3.2a_safe-on_ignores_an_earlier_hop", safeOn, left, false},
		{"R3.1_nothing_sent", none, sent(method("POST"), retry.SentNothing), true},
		{"R3.1_unprocessed", none, sent(method("POST"), retry.SentUnprocessed), true},
		{"R3.1_421", none, post(status(421)), true},
		{"R3.2_Retry-After_says_when_not_whether", none, post(told(429, sec)), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := with(c.change).Safe(c.o); got != c.want {
				t.Errorf("safe is %v, want %v", got, c.want)
			}
		})
	}
}

// TestDecideOrder: the first "no" is the reason (R4.0). Each case fails the
// question of its name and every later one.
func TestDecideOrder(t *testing.T) {
	p := with(func(p *retry.Policy) {
		p.Attempts, p.Cap, p.RetryMaxTime, p.Deadline = 2, 10*sec, 5*sec, 4*sec
	})
	late := retry.State{Failures: 3, Counted: 3, Elapsed: 6 * sec}
	early := retry.State{Failures: 3, Counted: 1, Elapsed: 6 * sec}
	stop := post(told(404, 60*sec))
	stop.Stop = retry.OutputCommitted
	committed := status(503)
	committed.Committed = true
	resuming := committed
	resuming.Resumable = true
	for _, c := range []struct {
		name  string
		state retry.State
		o     retry.Outcome
		want  retry.Reason
	}{
		{"the_attempt's_own_stop", late, stop, retry.OutputCommitted},
		{"transient", late, post(told(404, 60*sec)), retry.HTTPError},
		{"safe", late, post(told(503, 60*sec)), retry.UnsafeMethod},
		{"attempts", late, told(503, 60*sec), retry.AttemptsExhausted},
		{"cap", early, told(503, 60*sec), retry.RetryAfterExceedsCap},
		{"retry_max_time", early, told(503, 3*sec), retry.RetryTimeExceeded},
		{"deadline", retry.State{Failures: 1, Counted: 1, Elapsed: 3500 * time.Millisecond}, committed, retry.DeadlineBeforeRetry},
		{"committed", retry.State{Failures: 1, Counted: 1}, committed, retry.OutputCommitted},
		{"committed_but_to_be_continued", retry.State{Failures: 1, Counted: 1}, resuming, ""},
		{"success", late, retry.Outcome{}, retry.Success},
		{"checksum_has_its_own_word_R10.2a", late, failure(retry.ClassChecksum), retry.ChecksumMismatch},
	} {
		t.Run("R4.0_"+c.name, func(t *testing.T) {
			d := p.Decide(c.state, c.o, 0.5)
			if d.Reason != c.want || d.Retry != (c.want == "") {
				t.Errorf("got %+v, want reason %q", d, c.want)
			}
		})
	}
}

func TestDecideHold(t *testing.T) {
	p := with(func(p *retry.Policy) { p.Cap = 10 * sec })
	decide := func(p retry.Policy, k int, o retry.Outcome, hold time.Duration) retry.Decision {
		return p.Decide(retry.State{Failures: k, Counted: 1, HoldFor: hold}, o, 0)
	}
	replace := with(func(p *retry.Policy) { p.Cap, p.RetryAfterMode = 10*sec, retry.Replace })
	full := with(func(p *retry.Policy) { p.Cap, p.JitterMode = 10*sec, retry.Full })
	for _, c := range []struct {
		name   string
		got    retry.Decision
		floor  time.Duration
		source retry.Source
	}{
		{"R4.11_hold_later_than_the_server", decide(p, 1, told(503, 2*sec), 3*sec), 3 * sec, retry.SourceShared},
		{"R4.11_server_later_than_the_hold", decide(p, 1, told(503, 3*sec), 2*sec), 3 * sec, retry.SourceServer},
		{"R4.11_both_at_once", decide(p, 1, told(503, 3*sec), 3*sec), 3 * sec, retry.SourceServer},
		{"R4.11_backoff_longer_than_both", decide(p, 3, told(503, 3*sec), 2*sec), 4 * sec, retry.SourceBackoff},
		{"R4.11_equal_to_the_backoff", decide(p, 3, told(503, 4*sec), 0), 4 * sec, retry.SourceServer},
		{"R4.11_full_mode", decide(full, 4, told(503, sec), 0), sec, retry.SourceServer},
		{"R4.11_full_mode_hold", decide(full, 4, status(503), sec), sec, retry.SourceShared},
		{"R4.10a_replace_with_a_hold_alone_keeps_the_backoff", decide(replace, 3, status(503), sec), 4 * sec, retry.SourceBackoff},
		{"R4.10a_replace_under_a_longer_hold", decide(replace, 4, told(503, sec), 2*sec), 2 * sec, retry.SourceShared},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.got.Floor != c.floor || c.got.Source != c.source || !c.got.Retry {
				t.Errorf("got %+v, want floor %v by %s", c.got, c.floor, c.source)
			}
		})
	}
	if d := decide(p, 1, status(503), 11*sec); d.Reason != retry.RetryAfterExceedsCap {
		t.Errorf("a hold beyond the cap gives %+v", d)
	}
}

func TestDecideRetryMaxTime(t *testing.T) {
	p := with(func(p *retry.Policy) { p.Jitter, p.RetryMaxTime = 0, 3*sec })
	for _, c := range []struct {
		name    string
		elapsed time.Duration
		want    retry.Reason
	}{
		{"R6.1_ends_at_the_limit", 2 * sec, ""},
		{"R6.1_ends_a_nanosecond_later", 2*sec + 1, retry.RetryTimeExceeded},
		{"R6.1_elapsed_saturates", math.MaxInt64, retry.RetryTimeExceeded},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := p.Decide(retry.State{Failures: 1, Counted: 1, Elapsed: c.elapsed}, status(503), 0)
			if d.Reason != c.want || !d.HasWait || d.Wait != sec {
				t.Errorf("got %+v, want reason %q and what the wait would have been", d, c.want)
			}
		})
	}
}

// TestMinimumOfABrokenAnswer: what is no complete answer names no minimum.
func TestMinimumOfABrokenAnswer(t *testing.T) {
	p := retry.DefaultPolicy()
	for name, c := range map[string]struct {
		class retry.Class
		floor time.Duration
	}{
		"R5.6a_truncated": {retry.ClassTruncated, sec},
		"R5.6a_redirect":  {retry.ClassRedirect, sec},
		"R5.6_status":     {retry.ClassStatus, 30 * sec},
		"R5.6_proxy":      {retry.ClassProxy, 30 * sec},
	} {
		t.Run(name, func(t *testing.T) {
			p.AllErrors = true
			o := told(503, 30*sec)
			o.Class = c.class
			if d := p.Decide(retry.State{Failures: 1, Counted: 1}, o, 0); !d.Retry || d.Floor != c.floor {
				t.Errorf("got %+v, want a retry after %v", d, c.floor)
			}
		})
	}
}

func TestDecideHop(t *testing.T) {
	p := with(func(p *retry.Policy) { p.Cap, p.Deadline, p.AttemptReserve = 10*sec, 20*sec, 19*sec })
	minimum := func(d time.Duration) retry.Server { return retry.Server{Minimum: d, Valid: true} }
	for _, c := range []struct {
		name    string
		server  retry.Server
		elapsed time.Duration
		want    retry.Decision
	}{
		{"R5.6_minimum_spread", minimum(3 * sec), 0, retry.Decision{Retry: true, Source: "server", Floor: 3 * sec, Ceiling: 3600 * time.Millisecond, Wait: 3300 * time.Millisecond, HasWait: true}},
		{"R5.6_clipped_at_the_cap", minimum(10 * sec), 0, retry.Decision{Retry: true, Source: "server", Floor: 10 * sec, Ceiling: 10 * sec, Wait: 10 * sec, HasWait: true}},
		{"R5.6_over_the_cap", minimum(10*sec + 1), 0, retry.Decision{Reason: retry.RetryAfterExceedsCap}},
		{"R5.6_at_the_deadline", minimum(10 * sec), 10 * sec, retry.Decision{Reason: retry.DeadlineBeforeRetry, Source: "server", Floor: 10 * sec, Ceiling: 10 * sec, Wait: 10 * sec, HasWait: true}},
		{"R5.6_zero_goes_on", minimum(0), 19 * sec, retry.Decision{Retry: true}},
		{"R5.6_invalid_goes_on", retry.Server{Minimum: sec}, 0, retry.Decision{Retry: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := p.DecideHop(c.server, c.elapsed, 0.5); got != c.want {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestDecideAllocatesNothing(t *testing.T) {
	p, o, s := retry.DefaultPolicy(), told(429, 3*sec), retry.State{Failures: 2, Counted: 2}
	p.Deadline = time.Hour
	if n := testing.AllocsPerRun(1000, func() { p.Decide(s, o, 0.5) }); n != 0 {
		t.Errorf("%v allocations per decision", n)
	}
}

func BenchmarkDecide(b *testing.B) {
	p, o, s := retry.DefaultPolicy(), told(429, 3*sec), retry.State{Failures: 2, Counted: 2}
	p.Deadline = time.Hour
	b.ReportAllocs()
	for b.Loop() {
		p.Decide(s, o, 0.5)
	}
}
