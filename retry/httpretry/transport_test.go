package httpretry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/httpretry"
	"github.com/bidehttp/bide/retry/retrytest"
)

// over is a Transport that waits in no real time.
func over(t testing.TB, s *retrytest.Server) *httpretry.Transport {
	return &httpretry.Transport{Base: base(t, s), Policy: policy(nil), Clock: quick(), Rand: zero}
}

// story gives the record of an exchange, however it ended.
func story(t testing.TB, resp *http.Response, err error) *retry.Record {
	t.Helper()
	if err == nil {
		rec, ok := httpretry.RecordFrom(resp)
		if !ok {
			t.Fatal("a response without its record")
		}
		return rec
	}
	var failed *retry.Error
	if !errors.As(err, &failed) {
		t.Fatalf("%v is no *retry.Error", err)
	}
	return failed.Record
}

func TestTransport(t *testing.T) {
	key := func(*http.Request) string { return "k1" }
	for _, c := range []struct {
		name, method, body, script string
		key                        func(*http.Request) string
		edit                       func(*httpretry.Transport)
		reason                     retry.Reason
		requests, status           int
	}{
		{name: "429_503_200", method: "GET", script: "429 retry-after=3, 503, 200 body=done", reason: retry.Success, requests: 3, status: 200},
		{name: "R2.3_final_503_is_a_response", method: "GET", script: "503", reason: retry.AttemptsExhausted, requests: 3, status: 503},
		{name: "404_once", method: "GET", script: "404", reason: retry.HTTPError, requests: 1, status: 404},
		{name: "R3.2_POST_without_key", method: "POST", body: "b", script: "503, 200", reason: retry.UnsafeMethod, requests: 1, status: 503},
		{name: "R3.2_POST_cut", method: "POST", body: "b", script: "close, 200", reason: retry.UnsafeMethod, requests: 1},
		{name: "R3.2_POST_cut_with_key", method: "POST", body: "b", script: "close, 200", key: key, reason: retry.Success, requests: 2, status: 200},
		{name: "R7.5_key_503_409_201", method: "POST", body: "b", script: "503, 409, 201", key: key, reason: retry.Success, requests: 3, status: 201},
		{name: "R7.5_key_422", method: "POST", body: "b", script: "422", key: key, reason: retry.HTTPError, requests: 1, status: 422},
		{name: "C16_replayed", method: "POST", body: "b", script: "503 header='Idempotent-Replayed: true', 200", key: key, reason: retry.HTTPError, requests: 1, status: 503},
		{name: "C9_421_on_a_new_connection", method: "POST", body: "b", script: "421, 200", reason: retry.Success, requests: 2, status: 200},
		{name: "PUT_is_idempotent", method: "PUT", body: "b", script: "502, 200", reason: retry.Success, requests: 2, status: 200},
		{name: "cap", method: "GET", script: "429 retry-after=86400", reason: retry.RetryAfterExceedsCap, requests: 1, status: 429},
		{name: "R5.7_rate_limit", method: "GET", script: "403 header='X-RateLimit-Remaining: 0' header='X-RateLimit-Reset: 5', 200",
			edit: func(tr *httpretry.Transport) { tr.RateLimitHeaders = true }, reason: retry.Success, requests: 2, status: 200},
		{name: "C11_refused_stream", method: "POST", body: "b", script: "refuse-stream, 200", edit: func(tr *httpretry.Transport) { http2Only(tr.Base.(*http.Transport)) }, reason: retry.Success, requests: 2, status: 200},
		{name: "C11_goaway", method: "POST", body: "b", script: "goaway, 200", edit: func(tr *httpretry.Transport) { http2Only(tr.Base.(*http.Transport)) }, reason: retry.Success, requests: 2, status: 200},
		{name: "budget", method: "GET", script: "503", edit: func(tr *httpretry.Transport) { tr.Budget = &budget{left: 1} }, reason: retry.BudgetExhausted, requests: 2, status: 503},
		{name: "usage", method: "GET", script: "503", edit: func(tr *httpretry.Transport) { tr.Policy.Jitter = 7 }, reason: retry.Usage},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := retrytest.Serve(t, c.script, retrytest.WithHTTP2())
			tr := over(t, s)
			tr.IdempotencyKey = c.key
			if c.edit != nil {
				c.edit(tr)
			}
			req := request(t, c.method, s.URL+"/p", c.body)
			before := req.Clone(t.Context())
			resp, err := tr.RoundTrip(req)
			rec := story(t, resp, err)
			if rec.Reason != c.reason || (err == nil) != (c.status != 0) {
				t.Errorf("reason %s, error %v", rec.Reason, err)
			}
			if err == nil {
				read(t, resp)
				if resp.StatusCode != c.status {
					t.Errorf("status %d", resp.StatusCode)
				}
			}
			l := s.Log()
			if len(l.Records) != c.requests || len(rec.Attempts) != c.requests {
				t.Errorf("%d requests, %d attempts, want %d\n%v", len(l.Records), len(rec.Attempts), c.requests, l)
			}
			if c.requests > 1 {
				l.Check(t, "same-body")
			}
			if c.requests > 1 && c.body != "" {
				l.Check(t, "same-header:Content-Length", "body="+c.body)
			}
			if c.key != nil {
				l.Check(t, "header:Idempotency-Key=k1")
			}
			if strings.HasPrefix(c.name, "C9") {
				l.Check(t, "connections=2")
			}
			if fmt.Sprint(req.Header) != fmt.Sprint(before.Header) || (req.GetBody == nil) != (before.GetBody == nil) {
				t.Error("the caller's request was changed")
			}
		})
	}
}

type budget struct {
	mu   sync.Mutex
	left int
}

func (b *budget) Take(retry.Outcome) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left--
	return b.left >= 0
}

// TestR1_1_NoSilentResend: a kept-alive connection dies after the request was
// read. net/http alone sends it again at once, without telling.
func TestR1_1_NoSilentResend(t *testing.T) {
	for _, proto := range []string{"http1", "http2", "https1", "https2"} {
		for _, c := range []struct{ name, method, body, key string }{
			{"GET", "GET", "", ""}, {"HEAD", "HEAD", "", ""}, {"OPTIONS", "OPTIONS", "", ""},
			{"POST_with_key", "POST", "payload", "Idempotency-Key"},
			{"POST_with_key_without_body", "POST", "", "Idempotency-Key"},
			{"POST_with_x_key", "POST", "", "X-Idempotency-Key"},
			{"PUT", "PUT", "payload", ""}, {"DELETE", "DELETE", "", ""},
		} {
			t.Run(proto+"/"+c.name, func(t *testing.T) {
				fault := "close"
				opts := []retrytest.Option{retrytest.WithHTTP2()}
				if strings.HasPrefix(proto, "https") {
					opts = append(opts, retrytest.WithTLS())
				}
				s := retrytest.Serve(t, "200", opts...)
				tr := over(t, s)
				if strings.HasSuffix(proto, "2") {
					fault = "refuse-stream"
					http2Only(tr.Base.(*http.Transport))
				}
				tr.Policy.Attempts = 1
				tr.IdempotencyHeader = c.key
				warm, err := tr.RoundTrip(request(t, "GET", s.URL, ""))
				if err != nil {
					t.Fatal(err)
				}
				read(t, warm)
				if err := s.SetScript(fault + ", 200"); err != nil {
					t.Fatal(err)
				}
				req := request(t, c.method, s.URL, c.body)
				if c.key != "" {
					req.Header.Set(c.key, "k")
				}
				resp, err := tr.RoundTrip(req)
				if err == nil {
					t.Fatalf("sent again in silence: %s", resp.Status)
				}
				s.Log().Check(t, "requests=1")
				o := story(t, nil, err).Attempts[0].Outcome
				want, sent := retry.ClassClosed, retry.SentMaybe
				if fault != "close" {
					want, sent = retry.ClassRefused, retry.SentUnprocessed
				}
				if o.Class != want || o.Sent != sent {
					t.Errorf("%v: class %s, sent %s", err, o.Class, o.Sent)
				}
			})
		}
	}
}

// TestR1_1_Property: whatever the server does, its requests are the attempts. Only
// where it closes a connection in the pool without a word can an attempt be lost
// on its way: then the server sees fewer, never more.
func TestR1_1_Property(t *testing.T) {
	steps := []string{"200", "503", "429 retry-after=2", "404", "close", "reset", "200 size=100B", "302 location=/x", "garbage",
		"408", "421", "503 size=100kB", "204", "502 chunked", "refuse-stream", "goaway", "rst-stream=CANCEL", "500 close"}
	for seed := range uint64(40) {
		unannounced := seed%4 >= 2
		known := len(steps) - 1
		if unannounced {
			known++
		}
		r := rand.New(rand.NewPCG(seed, 1))
		script := make([]string, 12)
		for i := range script {
			script[i] = steps[r.IntN(known)]
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := retrytest.Serve(t, strings.Join(script, ", "), retrytest.WithHTTP2())
			tr := over(t, s)
			if seed%2 == 1 {
				http2Only(tr.Base.(*http.Transport))
			}
			attempts := randomRequests(t, r, tr, s.URL)
			if l := s.Log(); len(l.Records) > attempts || (len(l.Records) < attempts && !unannounced) {
				t.Errorf("%d requests, %d attempts\n%v", len(l.Records), attempts, l)
			}
		})
	}
}

// randomRequests sends four and gives the sum of their attempts.
func randomRequests(t *testing.T, r *rand.Rand, tr *httpretry.Transport, url string) (attempts int) {
	tr.IdempotencyKey = func(*http.Request) string { return "k" }
	for range 4 {
		method := []string{"GET", "POST", "PUT", "DELETE"}[r.IntN(4)]
		body := ""
		if method == "POST" || method == "PUT" {
			body = strings.Repeat("b", r.IntN(3)*20_000)
		}
		resp, err := tr.RoundTrip(request(t, method, url, body))
		attempts += len(story(t, resp, err).Attempts)
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	}
	return attempts
}

func TestR6_3_AttemptTimeout(t *testing.T) {
	s := retrytest.Serve(t, "stall=inf, 200 body=done")
	tr := &httpretry.Transport{Base: base(t, s), Policy: policy(func(p *retry.Policy) { p.MaxTime, p.Base = 100*time.Millisecond, 0 })}
	resp, err := tr.RoundTrip(request(t, "GET", s.URL, ""))
	rec := story(t, resp, err)
	if err != nil || rec.Reason != retry.Success || rec.Attempts[0].Outcome.Class != retry.ClassTimeout {
		t.Fatalf("%v: %+v", err, rec)
	}
	if !errors.Is(rec.Attempts[0].Outcome.Err, retry.ErrAttemptTimeout) {
		t.Errorf("error is %v", rec.Attempts[0].Outcome.Err)
	}
	read(t, resp)
}

func TestR6_3_BodyIsReadUnderTheLimit(t *testing.T) {
	for name, h2 := range map[string]bool{"http1": false, "http2": true} {
		t.Run(name, func(t *testing.T) {
			s := retrytest.Serve(t, "200 size=100B stall=inf", retrytest.WithHTTP2())
			tr := &httpretry.Transport{Base: base(t, s), Policy: policy(func(p *retry.Policy) { p.MaxTime = 100 * time.Millisecond })}
			if h2 {
				http2Only(tr.Base.(*http.Transport))
			}
			resp, err := tr.RoundTrip(request(t, "GET", s.URL, ""))
			if err != nil {
				t.Fatal(err)
			}
			if _, err = io.ReadAll(resp.Body); !errors.Is(err, retry.ErrAttemptTimeout) {
				t.Errorf("body ends with %v", err)
			}
			_ = resp.Body.Close()
		})
	}
}

func TestR6_2_TheContextsDeadlineIsTheOperations(t *testing.T) {
	s := retrytest.Serve(t, "503 retry-after=60, 200")
	c := &http.Client{Transport: &httpretry.Transport{Base: base(t, s)}, Timeout: 20 * time.Second}
	resp, err := c.Do(request(t, "GET", s.URL, ""))
	if err != nil {
		t.Fatal(err)
	}
	read(t, resp)
	if rec := story(t, resp, err); rec.Reason != retry.DeadlineBeforeRetry || resp.StatusCode != 503 {
		t.Errorf("reason %s", rec.Reason)
	}
	s.Log().Check(t, "requests=1")
}

func TestR10_1_Cancel(t *testing.T) {
	s := retrytest.Serve(t, "503, 200")
	clock := quick()
	clock.AutoAdvance(false)
	tr := over(t, s)
	tr.Clock = clock
	ctx, cancel := context.WithCancel(t.Context())
	go func() { clock.AwaitSleepers(1); cancel() }()
	_, err := tr.RoundTrip(request(t, "GET", s.URL, "").WithContext(ctx))
	if rec := story(t, nil, err); rec.Reason != retry.Canceled || !errors.Is(err, context.Canceled) {
		t.Errorf("reason %s, error %v", rec.Reason, err)
	}
	s.Log().Check(t, "requests=1")

	body := &closing{Reader: strings.NewReader("x")}
	req := request(t, "POST", s.URL, "").WithContext(ctx)
	req.Body = body
	if _, err = tr.RoundTrip(req); story(t, nil, err).Reason != retry.Canceled || !body.closed {
		t.Errorf("canceled before the start: %v, body closed: %v", err, body.closed)
	}
	s.Log().Check(t, "requests=1")
}

func TestR9_1_GivenUpAnswers(t *testing.T) {
	for _, c := range []struct{ name, script, connections string }{
		{"E12_one_connection", "503, 503 size=60kB, 200", "connections=1"},
		{"E11_too_large_to_drain", "503 size=3MB, 200", "connections=2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := retrytest.Serve(t, c.script)
			resp, err := over(t, s).RoundTrip(request(t, "GET", s.URL, ""))
			if err != nil {
				t.Fatal(err)
			}
			read(t, resp)
			s.Log().Check(t, c.connections)
		})
	}
	t.Run("E11_dribbled", func(t *testing.T) {
		s := retrytest.Serve(t, "503 size=1000B drip=1B/50ms, 200")
		start := time.Now()
		resp, err := over(t, s).RoundTrip(request(t, "GET", s.URL, ""))
		if err != nil {
			t.Fatal(err)
		}
		read(t, resp)
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("took %v: the body was waited for", took)
		}
	})
}

// TestNested: three attempts within three attempts stay three.
func TestNested(t *testing.T) {
	s := retrytest.Serve(t, "503")
	c := &http.Client{Transport: over(t, s)}
	d := httpretry.Describer{Policy: policy(nil), Clock: quick()}
	loop := retry.Loop{Policy: &d.Policy, Clock: d.Clock, Rand: zero}
	resp, rec, err := retry.Do(t.Context(), loop, func(ctx context.Context, _ int) (*http.Response, retry.Outcome) {
		req := request(t, "GET", s.URL, "").WithContext(ctx)
		resp, err := c.Do(req)
		return resp, d.Outcome(req, resp, err)
	}, httpretry.Discard)
	if err != nil || rec.Reason != retry.AttemptsExhausted || len(rec.Attempts) != 3 {
		t.Fatalf("%v: %s", err, rec.Reason)
	}
	if inner := story(t, resp, nil); len(inner.Attempts) != 1 {
		t.Errorf("the inner loop made %d attempts of one", len(inner.Attempts))
	}
	read(t, resp)
	s.Log().Check(t, "requests=3", "connections=1")

	if err := s.SetScript("close"); err != nil {
		t.Fatal(err)
	}
	_, rec, _ = retry.Do(t.Context(), loop, func(ctx context.Context, _ int) (*http.Response, retry.Outcome) {
		req := request(t, "POST", s.URL, "x").WithContext(ctx)
		resp, err := c.Do(req)
		return resp, d.Outcome(req, resp, err)
	}, httpretry.Discard)
	if o := rec.Attempts[0].Outcome; rec.Reason != retry.UnsafeMethod || o.Class != retry.ClassClosed || o.Sent != retry.SentMaybe || o.Method != "POST" {
		t.Errorf("%s: %+v", rec.Reason, o)
	}
}

func TestR7_6_KeyStaysWithItsOrigin(t *testing.T) {
	target := retrytest.Serve(t, "200")
	s := retrytest.Serve(t, "/a: 307 location=/b\n/b: 307 location='"+target.URL+"/c'")
	c := &http.Client{Transport: over(t, s)}
	req := request(t, "POST", s.URL+"/a", "x")
	req.Header.Set("Idempotency-Key", "k")
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	read(t, resp)
	s.Log().Check(t, "requests=2", "header:Idempotency-Key=k")
	target.Log().Check(t, "requests=1", "no-header:Idempotency-Key", "body=x")
}

func TestUnsafeKey(t *testing.T) {
	get, post := request(t, "GET", "http://x/", ""), request(t, "POST", "http://x/", "")
	a, b := httpretry.UnsafeKey(post), httpretry.UnsafeKey(post)
	if httpretry.UnsafeKey(get) != "" || a == b || len(a) != 36 || a[14] != '4' || strings.Count(a, "-") != 4 {
		t.Errorf("keys %q, %q", a, b)
	}
}

func TestConcurrentUse(t *testing.T) {
	s := retrytest.Serve(t, "503, 200 xinf")
	tr := over(t, s)
	tr.Hold = new(retry.MemoryHold)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			resp, err := tr.RoundTrip(request(t, "PUT", s.URL, "body"))
			if err != nil {
				t.Error(err)
				return
			}
			read(t, resp)
		})
	}
	wg.Wait()
	s.Log().Check(t, "requests=21", "same-body")
}

func TestObserve(t *testing.T) {
	s := retrytest.Serve(t, "503, 200")
	tr := over(t, s)
	var kinds []retry.EventKind
	tr.Observe = func(req *http.Request, ev retry.Event) {
		if req.URL.Path == "/seen" {
			kinds = append(kinds, ev.Kind)
		}
	}
	resp, err := tr.RoundTrip(request(t, "GET", s.URL+"/seen", ""))
	if err != nil {
		t.Fatal(err)
	}
	read(t, resp)
	if got, want := fmt.Sprint(kinds), "[attempt outcome wait attempt outcome stop]"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
}
