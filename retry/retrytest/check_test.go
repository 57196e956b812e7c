package retrytest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

// made builds a log of one POST route from answers and gaps.
func made(records ...Record) *Log {
	l := &Log{Records: records, Connections: 1}
	for i := range l.Records {
		r := &l.Records[i]
		r.Number, r.HasAnswer, r.BodyComplete = i+1, true, true
		if r.Method == "" {
			r.Method, r.Path = "POST", "/jobs"
		}
	}
	l, _ = l.GroupBy(DefaultGroup)
	return l
}

// at is a request that arrived at that second and was answered at once.
func at(seconds float64, status int, header ...string) Record {
	d := time.Duration(seconds * float64(time.Second))
	r := Record{Arrival: d, Answered: d, Status: status, BodySHA256: "aaaaaaaaaaaa"}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		r.Header = append(r.Header, Field{name, value})
	}
	return r
}

func with(r Record, f func(*Record)) Record { f(&r); return r }

func TestVerify(t *testing.T) {
	three := made(at(0, 429, "Idempotency-Key: k", "X: 1"), at(1, 503, "idempotency-key: k", "X: 2"), at(3, 200, "Idempotency-Key: k", "X: 1"))
	asking := made(with(at(0, 429), func(r *Record) { r.Asked, r.HasAsked = 2*time.Second, true }), at(1.9, 503), at(2, 200))
	twoKeys := made(at(0, 200, "Idempotency-Key: a"), with(at(1, 200, "Idempotency-Key: b"), func(r *Record) { r.BodySHA256 = "bbbbbbbbbbbb" }))
	oneKey := made(at(0, 200, "Idempotency-Key: a"), with(at(1, 200, "Idempotency-Key: a"), func(r *Record) { r.BodySHA256 = "bbbbbbbbbbbb" }))
	overlap := made(with(at(0, 200), func(r *Record) { r.Answered = 2 * time.Second }), at(1, 200))
	marked := made(at(0, 503), at(2, 200))
	marked.Exit, marked.HasExit = time.Second, true
	get := func(r *Record) { r.Method, r.Path = "GET", "/" }
	mixed := made(with(at(0, 200), get), with(at(1, 200), get), at(2, 503, "Idempotency-Key: k"), at(3, 200, "Idempotency-Key: k"))
	lostKey := made(at(0, 503), at(1, 200, "Idempotency-Key: k"))
	reads := made(with(at(0, 200), get), with(at(1, 200), get))
	fault := made(with(at(0, 0), func(r *Record) { r.fault = "reset" }), at(1, 200))
	for _, tt := range []struct {
		log   *Log
		check string
		want  string // "" holds; else part of the detail
	}{
		{three, "attempts=3", ""}, {three, "attempts=2", "attempts: 3"}, {three, "attempts<=3", ""}, {three, "attempts<=2", "3"},
		{three, "attempts>=3", ""}, {three, "attempts<4", ""}, {three, "attempts>3", "3"},
		{three, "requests<=3", ""}, {three, "requests=4", "requests: 3"}, {three, "connections=1", ""}, {three, "effects=1", "effects: 0"},
		{three, "gap1>=1s", ""}, {three, "gap1>=1.001s", "gap1: 1s"}, {three, "gap2<=2s", ""}, {three, "gap2<=1.9s", "2s"},
		{three, "gap2=0.5s..3s", ""}, {three, "gap2=2.1s..3s", "gap2: 2s"}, {three, "gap3>=1s", "cannot be evaluated"},
		{three, "gap1=1s", "column 6: expected a duration after"}, {three, "gap1>=x", "column 7: expected a duration"}, {three, "gap1=3s..1s", "a range such as"}, {three, "gap0>=1s", "column 1: expected a check"}, {three, "gap1>=1", ""}, {three, "gap1=0.5..3", ""}, {three, "gap1>=-1s", "a duration"},
		{three, "gaps>=1s", ""}, {three, "gaps>=1.5s", "not >=1.5s"}, {three, "gaps-grow", ""}, {asking, "gaps-grow", "gap2"},
		{asking, "gaps>=retry-after", "not >=2s"}, {three, "gaps>=retry-after", "cannot be evaluated"},
		{three, "same-key", ""}, {asking, "same-key", "repeated without a key"}, {three, "same-header:x", "request 2"}, {three, "same-header:Y", "cannot be evaluated"},
		{mixed, "same-key", ""}, {lostKey, "same-key", "cannot be evaluated"}, {reads, "same-key", "no request has a key"},
		{twoKeys, "fresh-key-per-operation", ""}, {oneKey, "fresh-key-per-operation", "the same key"}, {asking, "fresh-key-per-operation", "cannot be evaluated"},
		{three, "same-body", ""}, {twoKeys, "same-body", "another body"},
		{three, "no-overlap", ""}, {overlap, "no-overlap", "came before"},
		{marked, "no-request-after-exit", "1s after the exit"}, {three, "no-request-after-exit", "cannot be evaluated"},
		{three, "amplification<=3", ""}, {three, "amplification<=2", "3.00"}, {twoKeys, "amplification<=1", ""}, {three, "amplification=3", ""}, {three, "amplification<=x", "a number"}, {three, "amplification<=NaN", "a number"},
		{three, "last-status=200", ""}, {three, "last-status=503", "200"}, {three, "statuses=429,503,200", ""}, {fault, "statuses=reset,200", ""},
		{three, "header:X=1", "request 2"}, {three, "header:Idempotency-Key=k", ""}, {three, "no-header:Authorization", ""}, {three, "no-header:x", "carries"},
		{three, "last-status=2xx", "column 13: expected a status such as 200, or one of reset, close"}, {three, "statuses=429,truncate,200", "column 10: expected a status"}, {three, "statuses=", "expected a status"},
		{three, "method=POST", ""}, {three, "method=GET", "POST"}, {three, "body=", ""}, {three, "attempts=x", "whole number"},
		{three, "nonsense", "expected a check"}, {three, "nonsense=1", "found \"nonsense\""}, {three, "attempts", "column 9: expected =, <="}, {three, "last-status", "column 12: expected = and"}, {three, "last-status>=200", "found \">=\""}, {three, "same-key=1", "column 9: expected nothing"}, {three, "gaps<=retry-after", ">= after gaps"},
		{&Log{}, "attempts=0", "no request arrived"}, {&Log{}, "requests=0", ""}, {&Log{}, "same-key", "no request arrived"},
		{three, "group-by=nonsense", "unknown grouping"},
	} {
		r := tt.log.Verify(tt.check)[0]
		if r.OK != (tt.want == "") || !strings.Contains(r.Detail, tt.want) {
			t.Errorf("%s: %v %q, want %q", tt.check, r.OK, r.Detail, tt.want)
		}
	}
}

// Every fault that a step can come to is a word that the checks take.
func TestVerify_knows_the_faults(t *testing.T) {
	for _, script := range []string{
		"reset", "close", "stall=1s", "stall=1s reset", "garbage", "raw=x", "201 effect lost", "goaway", "refuse-stream", "rst-stream=CANCEL",
	} {
		sc, err := parseScript(script)
		if err != nil {
			t.Fatal(err)
		}
		if err := ParseCheck("last-status=" + sc.routes[0].steps[0].name()); err != nil {
			t.Errorf("%s: %v", script, err)
		}
	}
}

func TestLog_GroupBy(t *testing.T) {
	l := made(at(0, 503, "K: a"), with(at(1, 200, "K: b"), func(r *Record) { r.BodySHA256 = "bbbbbbbbbbbb" }), at(3, 200, "K: a"))
	for by, want := range map[string]string{
		"route+body": "1 1 2", "route": "1 2 3", "all": "1 2 3", "header:k": "1 1 2", "key": "1 2 3",
	} {
		g, err := l.GroupBy(by)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%d %d %d", g.Records[0].Attempt, g.Records[1].Attempt, g.Records[2].Attempt)
		if got != want {
			t.Errorf("%s: attempts %s, want %s", by, got, want)
		}
	}
	if gap := l.Records[2].Gap; gap != 3*time.Second {
		t.Errorf("gap %v", gap)
	}
	r := l.Verify("group-by=header:K", "attempts<=1", "group-by=route+body", "attempts<=2")
	if r[1].OK || !r[3].OK {
		t.Errorf("%+v", r)
	}
}

// recorder is a test that notes what it is told.
type recorder struct {
	text string
	end  []func()
}

func (*recorder) Helper()                     {}
func (r *recorder) Cleanup(f func())          { r.end = append(r.end, f) }
func (r *recorder) Errorf(f string, a ...any) { r.text += fmt.Sprintf(f, a...) }
func (r *recorder) Fatalf(f string, a ...any) { r.text += "fatal: " + fmt.Sprintf(f, a...) }

func TestCheck_shows_the_log_without_secrets_or_controls(t *testing.T) {
	s := Serve(t, "503")
	raw(t, s, "GET /a\x1b[31m?token=sesame HTTP/1.1\r\nAuthorization: sesame\r\nConnection: close\r\n\r\n")
	var r recorder
	s.Log().Check(&r, "attempts=1", "last-status=200")
	if !strings.Contains(r.text, "last-status=200: last-status: \"503\"") || !strings.Contains(r.text, "GET /a?[31m  -> 503") {
		t.Errorf("%s", r.text)
	}
	if strings.Contains(r.text, "attempts=1:") || strings.Contains(r.text, "sesame") || strings.Contains(r.text, "\x1b") {
		t.Errorf("%q", r.text)
	}
	Serve(&r, "nonsense")
	if !strings.Contains(r.text, "fatal: retrytest: script line 1") {
		t.Errorf("%s", r.text)
	}
}

func TestLog_gaps_of_a_real_client(t *testing.T) {
	s := Serve(t, "429 retry-after=0, reset, 200")
	for range 3 {
		// A client each: net/http sends a GET again by itself on a kept-alive connection.
		_, _, _, _ = get(t, client(t), s.URL)
		time.Sleep(30 * time.Millisecond)
	}
	s.Log().Check(t, "attempts=3", "gaps>=30ms", "gaps>=retry-after", "no-overlap", "statuses=429,reset,200")
}

func TestIdempotent(t *testing.T) {
	post := func(t *testing.T, s *Server, key, body string) (int, http.Header) {
		req, _ := http.NewRequest("POST", s.URL+"/pay", io.MultiReader(strings.NewReader(body)))
		if key != "" {
			req.Header.Set("Idempotency-Key", key)
		}
		resp, err := client(t).Do(req)
		if err != nil {
			return 0, nil
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return resp.StatusCode, resp.Header
	}
	t.Run("first result is kept", func(t *testing.T) {
		s := Serve(t, "POST /pay: 503, 201 effect lost, 202 [idempotent]")
		want := []struct {
			key, body string
			status    int
			replayed  string
		}{{"", "x", 400, ""}, {"a", "x", 503, ""}, {"a", "x", 0, ""}, {"a", "x", 201, "true"}, {"a", "y", 422, ""}, {"b", "x", 202, ""}, {"b", "x", 202, "true"}}
		for i, w := range want {
			status, head := post(t, s, w.key, w.body)
			if status != w.status || head.Get("Idempotent-Replayed") != w.replayed {
				t.Errorf("%d: got %d %v, want %d", i, status, head, w.status)
			}
		}
		s.Log().Check(t, "effects=2", "group-by=all", "statuses=400,503,lost,201,422,202,202")
	})
	t.Run("in progress", func(t *testing.T) {
		s := Serve(t, "201 delay=300ms [idempotent]")
		var wg sync.WaitGroup
		wg.Go(func() { post(t, s, "a", "x") })
		for len(s.Log().Records) == 0 || !s.Log().Records[0].BodyComplete {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(20 * time.Millisecond)
		if status, _ := post(t, s, "a", "x"); status != 409 {
			t.Errorf("got %d", status)
		}
		wg.Wait()
		if status, _ := post(t, s, "a", "x"); status != 201 {
			t.Errorf("then %d", status)
		}
		s.Log().Check(t, "effects=1")
	})
}

func TestThen(t *testing.T) {
	for script, want := range map[string]string{
		"503, 200":               "503,200,200,200,200",
		"503, 200, then=last":    "503,200,200,200,200",
		"503 x2, 200, then=loop": "503,503,200,503,503",
		"503 x2, 200, then=fail": "503,503,200,500,500",
		"503 xinf, 200":          "503,503,503,503,503",
		"503, /: 200 x2\n201":    "200,200,201,201,201",
	} {
		s, err := New(script)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		for range 5 {
			_, _, _, _ = get(t, client(t), s.URL)
		}
		l := s.Log()
		l.Check(t, "statuses="+want)
		if strings.Contains(script, "fail") != l.Records[4].RanOut {
			t.Errorf("%s: RanOut %v", script, l.Records[4].RanOut)
		}
	}
}

// A request after the end fails the test that has started the server.
func TestServe_then_fail(t *testing.T) {
	for requests, want := range map[int]string{1: "", 2: "request 2 came after the end of its script\n2 requests on 2 connections"} {
		var r recorder
		s := Serve(&r, "200, then=fail")
		for range requests {
			raw(t, s, ask)
		}
		for _, f := range r.end {
			f()
		}
		if (want == "") != (r.text == "") || !strings.Contains(r.text, want) {
			t.Errorf("%d requests: %q", requests, r.text)
		}
	}
}

func TestServer_is_safe_for_concurrent_use(t *testing.T) {
	for name, opts := range map[string][]Option{"HTTP/1": nil, "HTTP/2": {WithHTTP2()}} {
		t.Run(name, func(t *testing.T) {
			s := Serve(t, "503, 200 size=100kB, then=loop", opts...)
			c := client(t)
			if opts != nil {
				c = http2Client(t, s)
			}
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					for range 5 {
						resp, err := c.Post(s.URL, "text/plain", strings.NewReader("body"))
						if err != nil {
							t.Error(err)
							return
						}
						_, _ = io.Copy(io.Discard, resp.Body)
						_ = resp.Body.Close()
						_ = s.Log().String()
					}
				})
			}
			wg.Wait()
			s.Log().Check(t, "requests=40", "body=body")
			n503 := 0
			for _, r := range s.Log().Records {
				if r.Status == 503 {
					n503++
				}
			}
			if n503 != 20 {
				t.Errorf("%d times 503", n503)
			}
		})
	}
}

// Six operations with three attempts each are 18 requests, six groups and one total.
func TestVerify_parallel_operations(t *testing.T) {
	var all []Record
	for attempt := range 3 {
		for op := range 6 {
			all = append(all, with(at(float64(attempt*10+op), 503), func(r *Record) { r.BodySHA256 = fmt.Sprintf("%08d", op) }))
		}
	}
	l := made(all...)
	for check, want := range map[string]string{
		"attempts=3": "attempts: 3 in each of 6 groups", "requests=18": "requests: 18",
		"amplification<=3": "amplification: 18 requests / 6 groups = 3.00", "amplification=3": "amplification: 18 requests / 6 groups = 3.00",
	} {
		if r := l.Verify(check)[0]; !r.OK || r.Detail != want {
			t.Errorf("%s: %v %q", check, r.OK, r.Detail)
		}
	}
	if r := l.Verify("attempts<=2")[0]; r.OK || !strings.HasSuffix(r.Detail, "(6 of 6 groups fail)") {
		t.Errorf("%+v", r)
	}
	if r := l.Verify("group-by=all", "attempts=18")[1]; !r.OK {
		t.Errorf("%+v", r)
	}
}

// A group without what a check is about passes over, unless all are.
func TestVerify_groups_without_gaps(t *testing.T) {
	other := func(r *Record) { r.Method, r.Path = "GET", "/other" }
	asking := func(r *Record) { r.Asked, r.HasAsked = time.Second, true }
	one := made(with(at(0, 503), asking), at(2, 503), at(6, 200), with(at(0, 200), other))
	one.Check(t, "gaps>=1s", "gaps-grow", "gaps>=retry-after", "attempts>=1")
	for check, want := range map[string]string{
		"gaps>=3s": "gap1: 2s, not >=3s", "gap1>=1s": "no gap 1", "attempts=3": "attempts: 1",
	} {
		if r := one.Verify(check)[0]; r.OK || !strings.Contains(r.Detail, want) {
			t.Errorf("%s: %+v", check, r)
		}
	}
	none := made(at(0, 200), with(at(0, 200), other))
	for _, check := range []string{"gaps>=1s", "gaps-grow", "gaps>=retry-after"} {
		if r := none.Verify(check)[0]; r.OK || !strings.HasPrefix(r.Detail, "cannot be evaluated: ") {
			t.Errorf("%s: %+v", check, r)
		}
	}
}

// A gap begins where the answer ends, unless the client has given it up before;
// what Retry-After names begins with the head.
func TestGap(t *testing.T) {
	done := func(r Record, seconds float64) Record {
		r.Done, r.HasDone = time.Duration(seconds*float64(time.Second)), true
		return r
	}
	long := done(at(0, 503), 5)
	long.Asked, long.HasAsked = 6*time.Second, true
	l := made(long, done(at(7, 503), 20), at(9, 200))
	if r := l.Records; r[1].Gap != 2*time.Second || r[1].HeadGap != 7*time.Second || r[2].Gap != 2*time.Second {
		t.Errorf("gaps %v (head %v), %v", r[1].Gap, r[1].HeadGap, r[2].Gap)
	}
	l.Check(t, "gap1=2s..2s", "gaps>=retry-after")
}

// FuzzParseCheck: no text panics, an error points into it, and a text that is
// taken can be judged.
func FuzzParseCheck(f *testing.F) {
	for _, text := range []string{"attempts=3", "gap1>=1s", "gap2=0.5s..3s", "gaps>=retry-after", "same-header:X", "header:A=b", "amplification<=1.5", "é=1", "statuses=429,reset"} {
		f.Add(text)
	}
	log := made(at(0, 429), at(1, 503), at(3, 200))
	f.Fuzz(func(t *testing.T, text string) {
		err := ParseCheck(text)
		var e *CheckError
		if err != nil && (!errors.As(err, &e) || e.Column < 1 || e.Column > utf8.RuneCountInString(text)+1 || !strings.Contains(text, e.Found)) {
			t.Fatalf("%#v", err)
		}
		r := log.Verify(text)[0]
		if err != nil && r.OK {
			t.Fatalf("%q holds", text)
		}
	})
}
