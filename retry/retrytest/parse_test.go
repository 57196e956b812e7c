package retrytest

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestParseScript_routes(t *testing.T) {
	_, err := parseScript(`# a comment
		503 x2, 200 then=loop [idempotent]
		POST /jobs: 429 retry-after=1
		            201
		GET /jobs/*: 103 x2, 200 body='a, b [c]' then=fail
		/any: stall=inf`)
	if err == nil || !strings.Contains(err.Error(), "then=loop") {
		t.Fatalf("then= within a step: %v", err)
	}
	sc, err := parseScript(`# a comment
		503 x2, 200, then=loop [idempotent]
		POST /jobs: 429 retry-after=1
		            201
		GET /jobs/*: 103 x2, 200 body='a, b [c]', then=fail
		/any: stall=inf`)
	if err != nil {
		t.Fatal(err)
	}
	if len(sc.routes) != 4 {
		t.Fatalf("%d routes", len(sc.routes))
	}
	d, jobs, pattern, last := sc.routes[0], sc.routes[1], sc.routes[2], sc.routes[3]
	if d.path != "" || d.then != thenLoop || !d.idempotent || len(d.steps) != 2 || d.steps[0].times != 2 || d.steps[0].src != "503 x2" {
		t.Errorf("default %+v", d)
	}
	if jobs.method != "POST" || jobs.path != "/jobs" || len(jobs.steps) != 2 || jobs.then != thenLast {
		t.Errorf("jobs %+v", jobs)
	}
	if len(pattern.steps) != 1 || len(pattern.steps[0].interim) != 2 || pattern.steps[0].body != "a, b [c]" || pattern.then != thenFail {
		t.Errorf("pattern %+v", pattern)
	}
	if last.method != "" || last.steps[0].stall != forever {
		t.Errorf("any %+v", last)
	}
}

func TestScript_match(t *testing.T) {
	sc, err := parseScript("200\nPOST /a: 200\n/a: 200\n/a/*: 200\n/a/b/*: 200\n/a/b/c: 200")
	if err != nil {
		t.Fatal(err)
	}
	for request, want := range map[string]int{"GET /": 0, "POST /a": 1, "GET /a": 2, "GET /a/x": 3, "GET /a/b/x": 4, "GET /a/b/c": 5} {
		method, path, _ := strings.Cut(request, " ")
		if got := sc.match(method, path); got != want {
			t.Errorf("%s: route %d, want %d", request, got, want)
		}
	}
}

func TestParseScript_values(t *testing.T) {
	sc, err := parseScript(`200 delay=1m30s drip=10kB/100ms size=3MiB, close-after=100, truncate=20B, goaway=7, rst-stream=CANCEL, 429 retry-after=rfc850-5s, 200 body="\t\"\x41é"`)
	if err != nil {
		t.Fatal(err)
	}
	st := sc.routes[0].steps
	if st[0].delay != 90*time.Second || st[0].dripBytes != 10_000 || st[0].dripEvery != 100*time.Millisecond || st[0].size != 3<<20 {
		t.Errorf("%+v", st[0])
	}
	if st[1].status != 200 || st[1].endBytes != 100 || st[2].size != 40 || st[3].lastStream != 7 || st[4].code != 8 {
		t.Errorf("%+v", st[1:5])
	}
	if w := st[5].retryAfter[0]; w.form != whenRFC850 || w.after != -5*time.Second || st[6].body != "\t\"Aé" {
		t.Errorf("%+v %q", w, st[6].body)
	}
}

func TestParseScript_errors(t *testing.T) {
	for _, tt := range []struct {
		script       string
		line, column int
		found        string
		expected     string
	}{
		{"", 1, 1, "", "a step"},
		{"  , \n ", 2, 2, "", "a step"},
		{"nope", 1, 1, "nope", "a step"},
		{"99", 1, 1, "99", "a step"},
		{"200,\n  503 retry-afte=1", 2, 7, "retry-afte=1", "an option"},
		{"503 retry-after=1.5", 1, 5, "retry-after=1.5", "seconds"},
		{"503 retry-after=", 1, 5, "retry-after=", "a value"},
		{"503 retry-after=date", 1, 5, "retry-after=date", "signed duration"},
		{"503 date=90s", 1, 5, "date=90s", "signed duration"},
		{"é 200", 1, 1, "é", "a step"},
		{"200 reason=é header=x", 1, 14, "header=x", "a field"},
		{"200 header='A: b\r\nC: d'", 1, 5, "header='A: b\r\nC: d'", "one line"},
		{"200 body='open", 1, 10, "'open", "closing '"},
		{`200 body="\q"`, 1, 11, `\q`, "escape"},
		{"200 reset close", 1, 11, "close", "one fault"},
		{"200 x0", 1, 5, "x0", "x1"},
		{"200 xx", 1, 5, "xx", "an option"},
		{"200 size=1XB", 1, 5, "size=1XB", "a size"},
		{"200 size=1B body=a", 1, 1, "200", "not both"},
		{"200 delay=-1s", 1, 5, "delay=-1s", "a duration"},
		{"stall=0s", 1, 1, "stall=0s", "a duration"},
		{"200 drip=5B", 1, 5, "drip=5B", "drip=BYTES/DURATION"},
		{"200 garbage", 1, 1, "200", "garbage alone"},
		{"200 lost", 1, 1, "200", "effect before lost"},
		{"200 trailer='A: b'", 1, 1, "200", "chunked"},
		{"rst-stream=NOPE", 1, 1, "rst-stream=NOPE", "error code"},
		{"200, then=never", 1, 6, "then=never", "then=last"},
		{"200, then=last, 503", 1, 17, "503", "the end of the route"},
		{"103", 1, 4, "", "a final answer"},
		{"103 xinf, 200", 1, 1, "103 xinf", "at most x100"},
		{"200 [nope]", 1, 6, "nope", "a route option"},
		{"200 [idempotent", 1, 16, "", "a route option"},
		{"200 [idempotent] 503", 1, 18, "503", "a route such as"},
		{"/x: [idempotent] 200", 1, 5, "[idempotent]", "before the route's options"},
		{"200 ]", 1, 5, "]", "an option"},
		{"POST /x 200", 1, 6, "/x", "a path"},
		{"/x:", 1, 4, "", "a step"},
		{"/x: 200\n/x: 503", 2, 1, "/x:", "not given before"},
		{"503 http=2", 1, 5, "http=2", "http=1.0"},
		{"200 body=@", 1, 5, "body=@", "a file's name"},
	} {
		t.Run(tt.script, func(t *testing.T) {
			_, err := parseScript(tt.script)
			var e *ScriptError
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if e.Line != tt.line || e.Column != tt.column || e.Found != tt.found || !strings.Contains(e.Expected, tt.expected) {
				t.Errorf("got %+v", *e)
			}
		})
	}
}

func TestSetScript_keeps_the_old_one_on_an_error(t *testing.T) {
	s := Serve(t, "503 body=old")
	if err := s.SetScript("200 body=@no-such-file"); err == nil {
		t.Fatal("a missing body file was taken")
	}
	if err := s.SetScript("200 body=@."); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Fatalf("a folder as a body: %v", err)
	}
	if err := s.SetScript("nonsense"); err == nil || !strings.HasPrefix(err.Error(), "script line 1, column 1: expected") {
		t.Fatalf("%v", err)
	}
	if _, body, _, _ := get(t, client(t), s.URL); body != "old" {
		t.Errorf("body %q", body)
	}
	if err := s.SetScript("200 body=new"); err != nil {
		t.Fatal(err)
	}
	if _, body, _, _ := get(t, client(t), s.URL); body != "new" {
		t.Errorf("body %q", body)
	}
	s.Log().Check(t, "requests=1")
	s.Reset()
	if n := len(s.Log().Records); n != 0 {
		t.Errorf("%d records after Reset", n)
	}
}

// FuzzParseScript: no input panics, an error points into the text, and each
// step's own text is a script of that same step.
func FuzzParseScript(f *testing.F) {
	f.Add("429 retry-after=1, 503, 200 body=ok")
	f.Fuzz(func(t *testing.T, text string) {
		sc, err := parseScript(text)
		if err != nil {
			var e *ScriptError
			if !errors.As(err, &e) || e.Expected == "" {
				t.Fatalf("%v", err)
			}
			lines := strings.Split(text, "\n")
			if e.Line < 1 || e.Line > len(lines) || e.Column < 1 || e.Column > utf8.RuneCountInString(lines[e.Line-1])+1 {
				t.Fatalf("place outside the text: %+v", *e)
			}
			if e.Found != "" && !strings.Contains(text, e.Found) {
				t.Fatalf("found what is not there: %+v", *e)
			}
			return
		}
		for _, r := range sc.routes {
			if len(r.steps) == 0 {
				t.Fatal("a route without steps")
			}
			for _, st := range r.steps {
				again, err := parseScript(st.src)
				if err != nil || len(again.routes[0].steps) != 1 || again.routes[0].steps[0].src != st.src {
					t.Fatalf("step %q alone: %v", st.src, err)
				}
			}
		}
	})
}
