package exchange

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

// TestNextStart/R1.2: where the next attempt starts.
// TestReusedConnection: R1.1b, a request that its reused connection swallowed.
func TestReusedConnection(t *testing.T) {
	for _, c := range []struct {
		name, method string
		attempts     int
		any          bool
		want         int // requests
	}{
		{"R1.1b safe to repeat", "GET", 1, false, 2},
		{"R1.1b not safe to repeat", "POST", 1, false, 2},
		{"R1.1b --as-curl, one attempt", "GET", 1, true, 3},
		{"R1.1b --as-curl", "POST", 2, true, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := retrytest.Serve(t, "200, close, 200")
			cl := client(t, fakeClock(), transport.Settings{})
			get(t, operation(cl, template(t, "GET", s.URL, "")))
			body := ""
			if c.method == "POST" {
				body = "x"
			}
			op := operation(cl, template(t, c.method, s.URL, body))
			op.AsCurl, op.Policy.Attempts = c.any, c.attempts
			r, o, _ := get(t, op)
			if n := len(s.Log().Records); n != c.want || len(r.Hops) != c.want-1 || !r.Hops[0].Reused {
				t.Errorf("%d requests, hops %+v; want %d", n, r.Hops, c.want)
			}
			if failed := o.Class != retry.ClassNone; failed != (c.want == 2) {
				t.Errorf("class %s, %v", o.Class, o.Err)
			}
		})
	}
}

func TestNextStart(t *testing.T) {
	for _, c := range []struct {
		name, method, body, script, want string
		key, idempotent                  bool
		status                           int
	}{
		{name: "D10_only_the_GET_is_repeated", method: "POST", body: "x",
			script: "/a: 303 location=/b\n/b: 429, 200", want: "POST /a, GET /b, GET /b", status: 200},
		{name: "D10_chain_after_the_POST", method: "POST", body: "x",
			script: "/a: 303 location=/b\n/b: 302 location=/c\n/c: 503, 503, 200", want: "POST /a, GET /b, GET /c, GET /b, GET /c, GET /b, GET /c", status: 200},
		{name: "C14_original_URL_again", method: "GET",
			script: "/a: 302 location=/old, 302 location=/new\n/old: 503, 403\n/new: 200", want: "GET /a, GET /old, GET /a, GET /new", status: 200},
		{name: "keyed_POST_starts_over", method: "POST", body: "x", key: true,
			script: "/a: 303 location=/b\n/b: 503, 200", want: "POST /a, GET /b, POST /a, GET /b", status: 200},
		{name: "vouched_POST_starts_over", method: "POST", body: "x", idempotent: true,
			script: "/a: 303 location=/b\n/b: 503, 200", want: "POST /a, GET /b, POST /a, GET /b", status: 200},
		{name: "PUT_starts_over", method: "PUT", body: "x",
			script: "/a: 307 location=/b\n/b: 503, 200", want: "PUT /a, PUT /b, PUT /a, PUT /b", status: 200},
		{name: "POST_307_is_not_safe", method: "POST", body: "x",
			script: "/a: 307 location=/b\n/b: 503, 200", want: "POST /a, POST /b", status: 503},
		{name: "cut_after_the_POST", method: "POST", body: "x",
			script: "/a: 303 location=/b\n/b: close, 200", want: "POST /a, GET /b, GET /b", status: 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := retrytest.Serve(t, c.script)
			tpl := template(t, c.method, s.URL+"/a", c.body)
			if c.key {
				keyed(tpl)
			}
			op := operation(client(t, fakeClock(), transport.Settings{}), tpl)
			op.Policy.Idempotent = c.idempotent
			hops := 0
			r, rec, _ := loop(t, t.Context(), op, func(r *Response, _ retry.Outcome) { hops += len(r.Hops) })
			log := s.Log()
			if got := routes(log); got != c.want {
				t.Errorf("requests %s\nwant     %s", got, c.want)
			}
			if r.Status != c.status || hops != len(log.Records) {
				t.Errorf("status %d, hops %d, requests %d, reason %s", r.Status, hops, len(log.Records), rec.Reason)
			}
		})
	}
	t.Run("D14_no_key_on_the_failing_hop", func(t *testing.T) {
		b := retrytest.Serve(t, "503")
		a := retrytest.Serve(t, "307 location="+b.URL)
		op := operation(client(t, fakeClock(), transport.Settings{}), keyed(template(t, "POST", a.URL, "x")))
		_, rec, _ := loop(t, t.Context(), op, nil)
		if rec.Reason != retry.UnsafeMethod || len(a.Log().Records) != 1 || len(b.Log().Records) != 1 {
			t.Errorf("%s, requests %d and %d", rec.Reason, len(a.Log().Records), len(b.Log().Records))
		}
	})
}

// TestHonestCount/R1.1: requests on the wire and hops in the timeline are the
// same number, also on kept-alive connections that die.
func TestHonestCount(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		for _, method := range []string{"GET", "POST"} {
			for _, key := range []bool{false, true} {
				for _, script := range []string{
					"200, close, 200", "200, reset, 200", "200, close-after=0B, 200", "200 close, 200", "200, 503 close, 200", "200, 200 close-after=5B, 200",
					"200, 408, 200", "200, 421, 200", "200, goaway, 200", "200, refuse-stream, 200", "200, rst-stream=INTERNAL_ERROR, 200", "200 goaway, 200",
				} {
					t.Run(fmt.Sprintf("D8_h2_%v_%s_key_%v_%s", h2, method, key, script), func(t *testing.T) {
						s, c := honest(t, script, h2)
						hops, late := 0, 0
						for range 3 {
							body := ""
							if method == "POST" {
								body = "data"
							}
							tpl := template(t, method, s.URL, body)
							if key {
								keyed(tpl)
							}
							op := operation(c, tpl)
							loop(t, t.Context(), op, func(r *Response, o retry.Outcome) {
								hops += len(r.Hops)
								for _, h := range r.Hops {
									if h.Err != nil && h.Reused {
										late++
									}
								}
								t.Log(len(r.Hops), o.Class, o.Sent, o.Status, o.Err)
							})
						}
						c.Quiesce()
						// A request that went out while the server's own close was
						// on its way is on the wire, though the server never reads it.
						if seen := len(s.Log().Records); seen > hops || seen < hops-late {
							t.Errorf("%d requests seen, %d hops, %d of them perhaps too late\n%s", seen, hops, late, s.Log())
						}
					})
				}
			}
		}
	}
}

// TestIdleFoundDead/R1.1: an idle connection that fails before a byte of the
// request went out is replaced, and is no hop; a POST without a key, too.
func TestIdleFoundDead(t *testing.T) {
	s := retrytest.Serve(t, "200 body=ok")
	c := client(t, retry.SystemClock(), transport.Settings{})
	r, _, _ := get(t, operation(c, template(t, "GET", s.URL, "")))
	// It looks alive to the pool, but takes no byte.
	if err := r.live.conn.TCP.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	r, o, body := get(t, operation(c, template(t, "POST", s.URL, "data")))
	if o.Class != retry.ClassNone || body != "ok" || len(r.Hops) != 1 || r.Hops[0].Reused || len(r.Dials) != 1 {
		t.Errorf("%+v, hops %+v", o, r.Hops)
	}
	s.Log().Check(t, "requests=2", "connections=2")
}

func honest(t *testing.T, script string, h2 bool) (*retrytest.Server, *Client) {
	if !h2 {
		return retrytest.Serve(t, script), client(t, fakeClock(), transport.Settings{})
	}
	s := retrytest.Serve(t, script, retrytest.WithTLS(), retrytest.WithHTTP2())
	// The certificate is checked against the wall clock, which stands still here.
	clock := retrytest.NewFakeClock(time.Now())
	clock.AutoAdvance(true)
	return s, client(t, clock, trusting(t, s))
}

// TestConnections/R3.5 and R9.1: which connections are used again.
func TestConnections(t *testing.T) {
	for script, want := range map[string]int{
		"503, 503, 200":                   1, // E12
		"503 chunked, 503 size=60kB, 200": 1,
		"408, 200":                        2,
		"421, 200":                        2,
		"500 close-after=10B, 200":        2,
		"429 http=1.0, 200":               2,
		"302 location=/ x5, 200":          1,
		"302 location=/ chunked x5, 200":  1,
	} {
		t.Run(script, func(t *testing.T) {
			s := retrytest.Serve(t, script)
			c := client(t, settling{fakeClock()}, transport.Settings{})
			c.Clock = settling{fakeClock()}
			op := operation(c, template(t, "GET", s.URL, ""))
			if r, _, _ := loop(t, t.Context(), op, nil); r == nil || r.Status != 200 {
				t.Fatalf("%+v", r)
			}
			if got := s.Log().Connections; got != want {
				t.Errorf("%d connections, want %d", got, want)
			}
		})
	}
}

// settling is a fake clock whose waits give a drain in the background the time
// that it has in a real wait.
type settling struct{ *retrytest.FakeClock }

func (c settling) Sleep(ctx context.Context, d time.Duration) error {
	time.Sleep(50 * time.Millisecond)
	return c.FakeClock.Sleep(ctx, d)
}

// TestGivenUp/R9.1 E11: a body that is given up is neither read whole nor waited for.
func TestGivenUp(t *testing.T) {
	for _, script := range []string{"503 size=1GB, 200 body=ok", "503 size=1MB drip=1B/1s, 200 body=ok", "503 no-length size=1GB, 200 body=ok", "503 stall=inf size=100kB, 200 body=ok"} {
		t.Run("E11_"+script, func(t *testing.T) {
			s := retrytest.Serve(t, script)
			c := client(t, fakeClock(), transport.Settings{})
			_, rec, body := loop(t, t.Context(), operation(c, template(t, "GET", s.URL, "")), nil)
			if rec.Reason != retry.Success || body != "ok" {
				t.Fatalf("%s, %q", rec.Reason, body)
			}
			start := time.Now()
			c.Quiesce()
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("Quiesce took %v", took)
			}
		})
	}
	t.Run("E11_redirect_with_a_long_body", func(t *testing.T) {
		s := retrytest.Serve(t, "/a: 302 location=/b size=1GB\n/b: 200 body=ok")
		if _, o, body := get(t, operation(client(t, fakeClock(), transport.Settings{}), template(t, "GET", s.URL+"/a", ""))); o.Err != nil || body != "ok" {
			t.Errorf("%+v, %q", o, body)
		}
	})
	t.Run("discard_twice_and_after_deliver", func(t *testing.T) {
		s := retrytest.Serve(t, "200")
		c := client(t, fakeClock(), transport.Settings{})
		r, _, _ := get(t, operation(c, template(t, "GET", s.URL, "")))
		r.Discard()
		r, _ = operation(c, template(t, "GET", s.URL, "")).Attempt(t.Context(), 1)
		r.Discard()
		r.Discard()
		get(t, operation(c, template(t, "GET", s.URL, "")))
		s.Log().Check(t, "connections=1", "requests=3")
	})
}

// TestRedirectWait/R5.6: a 3xx with a minimum.
func TestRedirectWait(t *testing.T) {
	t.Run("A12_to_itself", func(t *testing.T) {
		s := retrytest.Serve(t, "303 location=/ retry-after=1 x3, 200")
		clock := fakeClock()
		r, o, _ := get(t, operation(client(t, clock, transport.Settings{}), template(t, "GET", s.URL, "")))
		if o.Class != retry.ClassNone || len(r.Hops) != 4 {
			t.Fatalf("%+v, hops %d", o, len(r.Hops))
		}
		slept := clock.Slept()
		if len(slept) != 3 {
			t.Fatalf("slept %v", slept)
		}
		for i, d := range slept {
			// u = 0.5: the middle of [1 s, 1.2 s], from the answer's head on.
			if d != 1100*time.Millisecond || r.Hops[i].Wait != 1100*time.Millisecond {
				t.Errorf("pause %d: %v, told as %v", i+1, d, r.Hops[i].Wait)
			}
		}
		if r.Hops[3].Wait != 0 {
			t.Errorf("a wait after the last hop: %v", r.Hops[3].Wait)
		}
	})
	t.Run("A12_within_max_redirs", func(t *testing.T) {
		s := retrytest.Serve(t, "303 location=/ retry-after=1")
		op := operation(client(t, fakeClock(), transport.Settings{}), template(t, "GET", s.URL, ""))
		op.Template.MaxRedirects = 2
		if r, o, _ := get(t, op); o.Class != retry.ClassRedirect || len(r.Hops) != 3 {
			t.Errorf("%+v, hops %d", o, len(r.Hops))
		}
	})
	for _, c := range []struct {
		name     string
		deadline time.Duration
		after    string
		stop     retry.Reason
	}{
		{"over_the_cap", 0, "301", retry.RetryAfterExceedsCap},
		{"equal_to_the_cap", 0, "300", ""},
		{"deadline_too_near", 2 * time.Second, "2", retry.DeadlineBeforeRetry},
		{"deadline_far_enough", 3 * time.Second, "2", ""},
	} {
		for _, held := range []time.Duration{0, time.Second} { // before the first attempt
			t.Run(fmt.Sprintf("%s_held_%v", c.name, held), func(t *testing.T) {
				s := retrytest.Serve(t, "/a: 303 location=/b retry-after="+c.after+"\n/b: 200")
				clock := fakeClock()
				op := operation(client(t, clock, transport.Settings{}), template(t, "GET", s.URL+"/a", ""))
				op.Policy.Attempts = 1
				if c.deadline > 0 {
					op.Policy.Deadline = c.deadline + held*6/5 // with the spread
				}
				waits := 0
				if held > 0 {
					op.Client.Hold, waits = &retry.MemoryHold{}, 1
					op.Client.Hold.Tell(s.URL, clock.Mono()+held)
				}
				_, rec, _ := loop(t, t.Context(), op, nil)
				o := rec.Attempts[0].Outcome
				if o.Stop != c.stop {
					t.Errorf("stop %q, want %q", o.Stop, c.stop)
				}
				if c.stop != "" && (o.Class != retry.ClassStatus || o.Status != 303 || len(clock.Slept()) != waits) {
					t.Errorf("%+v, slept %v", o, clock.Slept())
				}
			})
		}
	}
	t.Run("R6.2_woken_late", func(t *testing.T) {
		s := retrytest.Serve(t, "/a: 303 location=/b retry-after=2\n/b: 200")
		clock := fakeClock()
		clock.Oversleep(time.Hour)
		op := operation(client(t, untimely{clock}, transport.Settings{}), template(t, "GET", s.URL+"/a", ""))
		op.Policy.Deadline = time.Minute
		if _, rec, _ := loop(t, t.Context(), op, nil); rec.Reason != retry.DeadlineBeforeRetry || routes(s.Log()) != "GET /a" {
			t.Errorf("%+v, requests %s", rec, routes(s.Log()))
		}
	})
	t.Run("R6.3_gone_between_two_hops", func(t *testing.T) {
		s := retrytest.Serve(t, "/a: 303 location=/b\n/b: 200")
		clock := fakeClock()
		op := operation(client(t, untimely{clock}, transport.Settings{}), template(t, "GET", s.URL+"/a", ""))
		op.Policy.Deadline = time.Minute
		op.Client.Trace = &slowTrace{clock: clock}
		if _, rec, _ := loop(t, t.Context(), op, nil); rec.Reason != retry.DeadlineExceeded || routes(s.Log()) != "GET /a" {
			t.Errorf("%+v, requests %s", rec, routes(s.Log()))
		}
	})
	t.Run("R4.6_woken_early", func(t *testing.T) {
		s := retrytest.Serve(t, "/a: 303 location=/b retry-after=2\n/b: 200")
		clock := earlyClock{fakeClock()}
		get(t, operation(client(t, clock, transport.Settings{}), template(t, "GET", s.URL+"/a", "")))
		if now := clock.Mono() - retrytest.FakeStart; now < 2*time.Second || routes(s.Log()) != "GET /a, GET /b" {
			t.Errorf("sent after %v", now)
		}
	})
	t.Run("R10.1_canceled_in_the_pause", func(t *testing.T) {
		s := retrytest.Serve(t, "/a: 303 location=/b retry-after=2\n/b: 429, 200")
		clock := retrytest.NewFakeClock(time.Now())
		op := operation(client(t, clock, transport.Settings{}), template(t, "POST", s.URL+"/a", "x"))
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { clock.AwaitSleepers(1); cancel(context.DeadlineExceeded) }()
		_, o := op.Attempt(ctx, 1)
		if o.Class != retry.ClassTimeout || o.Sent != retry.SentNothing || o.Method != "GET" || !errors.Is(o.Err, context.DeadlineExceeded) {
			t.Errorf("%+v", o)
		}
		clock.Advance(time.Hour)
		if got := routes(s.Log()); got != "POST /a" {
			t.Errorf("requests %s", got)
		}
		// R1.2: the POST was answered; what comes next is the GET.
		if _, o, _ := get(t, op); o.Status != 429 || routes(s.Log()) != "POST /a, GET /b" {
			t.Errorf("%+v, requests %s", o, routes(s.Log()))
		}
	})
}

// untimely is a clock whose timers come too late to be of use.
type untimely struct{ *retrytest.FakeClock }

func (untimely) AfterFunc(time.Duration, func()) (stop func() bool) {
	return func() bool { return true }
}

// slowTrace takes an hour to hear of a hop that follows.
type slowTrace struct {
	infos
	clock *retrytest.FakeClock
}

func (s *slowTrace) Info(text string) {
	if strings.HasPrefix(text, "Issue another request") {
		s.clock.Advance(time.Hour)
	}
}

// earlyClock wakes long sleeps early.
type earlyClock struct{ *retrytest.FakeClock }

func (c earlyClock) Sleep(ctx context.Context, d time.Duration) error {
	if d > time.Second {
		d -= 300 * time.Millisecond
	}
	return c.FakeClock.Sleep(ctx, d)
}

// TestHold/R4.12: hops respect what other operations were told, and tell.
func TestHold(t *testing.T) {
	b := retrytest.Serve(t, "200")
	a := retrytest.Serve(t, "302 location="+b.URL)
	clock := fakeClock()
	c := client(t, clock, transport.Settings{})
	h := &retry.MemoryHold{}
	h.Tell(b.URL, clock.Mono()+10*time.Second)
	c.Hold = h
	r, o, _ := get(t, operation(c, template(t, "GET", a.URL, "")))
	if o.Class != retry.ClassNone || r.Hops[0].Wait < 10*time.Second || r.Hops[0].Wait > 12*time.Second {
		t.Errorf("%+v, wait %v", o, r.Hops[0].Wait)
	}
	if err := a.SetScript("302 retry-after=7 location=" + b.URL); err != nil {
		t.Fatal(err)
	}
	now := clock.Mono()
	get(t, operation(c, template(t, "GET", a.URL, "")))
	if got := h.Until(a.URL) - now; got != 7*time.Second {
		t.Errorf("told %v", got)
	}
}

// TestReusedUpload: the body is opened anew for every hop and attempt.
func TestReusedUpload(t *testing.T) {
	s := retrytest.Serve(t, "/a: 307 location=/b\n/b: 503, 200")
	op := operation(client(t, fakeClock(), transport.Settings{}), template(t, http.MethodPut, s.URL+"/a", "the same bytes"))
	loop(t, t.Context(), op, nil)
	log := s.Log()
	if len(log.Records) != 4 {
		t.Fatalf("requests %s", routes(log))
	}
	for _, r := range log.Records {
		if string(r.Body) != "the same bytes" || r.Get("Content-Length") != "14" {
			t.Errorf("%s", r.RawHead)
		}
	}
}
