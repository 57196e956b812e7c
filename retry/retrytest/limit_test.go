package retrytest

import (
	"strings"
	"testing"
	"time"
)

func TestLimiter(t *testing.T) {
	const ms = time.Millisecond
	type call struct{ at, wait time.Duration }
	for options, calls := range map[string][]call{
		// Three at once, then one each 200 ms; a pause fills the bucket again, but no further.
		"bucket=5/s burst=3": {
			{0, 0}, {0, 0}, {0, 0},
			{0, 200 * ms}, {199 * ms, 1 * ms}, {200 * ms, 0}, {200 * ms, 200 * ms},
			{10000 * ms, 0}, {10000 * ms, 0}, {10000 * ms, 0}, {10001 * ms, 199 * ms},
		},
		"bucket=1/500ms":        {{0, 0}, {1 * ms, 499 * ms}, {500 * ms, 0}},
		"bucket=2/m":            {{0, 0}, {0, 0}, {0, 30 * time.Second}, {30 * time.Second, 0}},
		"window=2/10s":          {{0, 0}, {9000 * ms, 0}, {9500 * ms, 500 * ms}, {10000 * ms, 0}, {10000 * ms, 0}, {10001 * ms, 9999 * ms}, {35 * time.Second, 0}},
		"window=1/h idempotent": {{time.Minute, 0}, {time.Hour - ms, ms}, {time.Hour, 0}},
	} {
		t.Run(options, func(t *testing.T) {
			sc, err := parseScript("200 [" + options + "]")
			if err != nil {
				t.Fatal(err)
			}
			var l limiter
			for i, c := range calls {
				if wait, ok := l.take(&sc.routes[0].limit, c.at); wait != c.wait || ok != (c.wait == 0) {
					t.Errorf("call %d at %v: wait %v, %v; want %v", i+1, c.at, wait, ok, c.wait)
				}
			}
		})
	}
}

// A client that waits as told is let through; requests over the limit take no
// step of the script and have no effect.
func TestServe_limiters(t *testing.T) {
	for options, src := range map[string]string{"bucket=1/s burst=1": "429 (bucket=1/s burst=1)", "window=1/1s idempotent": "429 (window=1/1s)"} {
		t.Run(options, func(t *testing.T) {
			s := Serve(t, "POST /: 201, 503, 202 ["+options+"]")
			post := func(key string) string {
				return raw(t, s, "POST / HTTP/1.1\r\nHost: x\r\nIdempotency-Key: "+key+"\r\nContent-Length: 1\r\nConnection: close\r\n\r\n1")
			}
			if got := post("a"); !strings.HasPrefix(got, "HTTP/1.1 201 ") {
				t.Fatalf("first: %s", got)
			}
			if got := post("b"); !strings.HasPrefix(got, "HTTP/1.1 429 ") || !strings.Contains(got, "\r\nRetry-After: 1\r\n") {
				t.Fatalf("second: %s", got)
			}
			time.Sleep(time.Second)
			if got := post("b"); !strings.HasPrefix(got, "HTTP/1.1 503 ") {
				t.Fatalf("third: %s", got)
			}
			l := s.Log()
			l.Check(t, "statuses=201,429,503", "gap2>=1s")
			if got := l.Records[1].Answer; got != src {
				t.Errorf("logged as %q", got)
			}
		})
	}
}

func TestParseScript_limiter_errors(t *testing.T) {
	for script, want := range map[string]string{
		"200 [bucket=5]":                   `column 6: expected a rate such as 5/s, 100/10s or 30/m, found "bucket=5"`,
		"200 [bucket=0/s]":                 "a rate",
		"200 [bucket=5/1ns]":               "a rate",
		"200 [window=5/d]":                 "a rate",
		"200 [window=99999999/s]":          "a rate",
		"200 [burst=5]":                    "bucket=N/TIME before burst=",
		"200 [window=5/s burst=5]":         "bucket=N/TIME before burst=",
		"200 [bucket=5/s burst=0]":         "at least burst=1",
		"200 [bucket=5/s burst=x]":         "a whole number",
		"200 [bucket=5/s window=5/s]":      "one limiter on a route",
		"200 [bucket]":                     "a rate",
		"200 [bucket=5/s, burst=5]":        "a route option",
		"200 [idempotent bucket=5/s nope]": "a route option",
	} {
		if _, err := parseScript(script); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", script, err, want)
		}
	}
}
