package cmd

import (
	"slices"
	"strconv"
	"time"
)

const sec = time.Second

// spread is the waits from floor on, with the default jitter.
func spread(floors ...time.Duration) (waits [][2]time.Duration) {
	for _, d := range floors {
		waits = append(waits, [2]time.Duration{d, d + d/5})
	}
	return waits
}

// exactly is no wait but these.
func exactly(waits ...time.Duration) [][2]time.Duration {
	out := [][2]time.Duration{}
	for _, d := range waits {
		out = append(out, [2]time.Duration{d, d})
	}
	return out
}

const retried, done = "status -", "success"

// waitFaults are the rows of the server's minimum and the waits.
func waitFaults() []fault {
	ok := func(name, script string, waits [][2]time.Duration, args ...string) fault {
		return fault{name: name, script: script, args: append(args, "$URL"), stdout: "ok", classes: retried, reason: done, waits: waits}
	}
	return []fault{
		ok("fault A1", "429 retry-after=2, 200 body=ok", spread(2*sec)),
		ok("fault A2 IMF-fixdate", "429 retry-after=date+3s, 200 body=ok", spread(3*sec)),
		ok("fault A2 rfc850-date", "429 retry-after=rfc850+3s, 200 body=ok", spread(3*sec)),
		ok("fault A2 asctime-date", "429 retry-after=asctime+3s, 200 body=ok", spread(3*sec)),
		{
			name: "fault A3", script: "429 retry-after=raw:-1 body=no", args: []string{"$URL"},
			code: 75, stdout: "no", classes: "status status status", reason: "attempts_exhausted", waits: spread(sec, 2*sec),
		},
		ok("fault A4", "429 retry-after=1, 200 body=ok", spread(4*sec), "--base", "4"),
		{
			name: "fault A5", script: "503 retry-after=1 x4, 200 body=ok", args: []string{"--base", "0.2", "--jitter", "0", "--attempts", "5", "$URL"},
			stdout: "ok", classes: "status status status status -", reason: done, waits: exactly(sec, sec, sec, 1600*time.Millisecond),
		},
		ok("fault A6", "429 retry-after=10, 200 body=ok", [][2]time.Duration{{10 * sec, 15 * sec}}, "--jitter", "0.5"),
		{
			name: "fault A8 beyond the cap", script: "429 retry-after=86400 body=no", args: []string{"$URL"},
			code: 75, stdout: "no", classes: "status", reason: "retry_after_exceeds_cap", waits: exactly(), says: "86400",
		},
		{
			name: "fault A8 beyond the budget", script: "429 retry-after=60 body=no", args: []string{"--deadline", "5", "$URL"},
			code: 75, stdout: "no", classes: "status", reason: "deadline_before_retry", waits: exactly(),
		},
		ok("fault A9", "429 retry-after=300, 200 body=ok", exactly(300*sec)),
		{
			name: "fault A10", script: "429 retry-after=1, 200 body=ok", args: []string{"-f", "-o", "/dev/null", "$URL"},
			classes: retried, reason: done, waits: spread(sec),
		},
		{
			name: "fault A12", script: "303 location=/ retry-after=1", args: []string{"-L", "--max-redirs", "3", "$URL"},
			code: 47, stdout: "*", classes: "redirect", reason: "redirect_error", waits: spread(sec, sec, sec), checks: []string{"requests=4"},
		},
		{
			name: "fault A12 within the deadline", script: "303 location=/ retry-after=1", args: []string{"-L", "--jitter", "0", "--deadline", "2.5", "$URL"},
			code: anyFailure, stdout: "*", classes: "status", reason: "deadline_before_retry", waits: exactly(sec, sec), checks: []string{"requests=3"},
		},
		ok("fault A14 lower", "429 header='retry-after: 2', 200 body=ok", spread(2*sec)),
		ok("fault A14 upper", "429 header='RETRY-AFTER: 2', 200 body=ok", spread(2*sec)),
	}
}

// budgetFaults are those of the budget.
func budgetFaults() []fault {
	return []fault{
		{
			name: "fault B1", script: "stall=inf", args: []string{"--deadline", "1", "--attempts", "5", "$URL"}, advance: sec,
			code: 28, classes: "timeout", reason: "deadline_exceeded", waits: exactly(), checks: []string{"requests=1"},
		},
		{
			name: "fault B1 in the body", script: "200 size=100B stall=inf", args: []string{"--deadline", "1", "--attempts", "5", "$URL"}, advance: sec,
			code: 28, classes: "timeout", reason: "deadline_exceeded", waits: exactly(), checks: []string{"requests=1"},
		},
		{
			name: "faults B2, B5", script: "503 body=no", args: []string{"--deadline", "1", "--base", "4", "$URL"},
			code: 75, stdout: "no", classes: "status", reason: "deadline_before_retry", waits: exactly(), says: "503",
		},
		{
			name: "fault B5 both", script: "503 body=no", args: []string{"--deadline", "1", "--base", "4", "$URL"},
			code: 75, stdout: "no", classes: "status", reason: "deadline_before_retry", says: "--deadline 1s",
		},
		{
			name: "fault B3", script: "stall=inf, 200 body=ok", args: []string{"-m", "0.3", "--deadline", "5", "$URL"}, advance: 300 * time.Millisecond,
			stdout: "ok", classes: "timeout -", reason: done, waits: spread(sec),
		},
		{
			name: "fault B6", script: "503 body=no", args: []string{"-m", "3", "$URL"},
			code: 75, stdout: "no", classes: "status status", reason: "deadline_before_retry", waits: spread(sec),
		},
		{
			name: "fault B4", script: "/a: 503 body=, 200 body=a\n/b: 503 body=, 200 body=b", args: []string{"--jitter", "0", "--deadline", "1.5", "$URL/a", "$URL/b"},
			stdout: "ab", classes: "status - status -", reason: done, waits: exactly(sec, sec),
		},
	}
}

// retriedFaults are those that say what is retried.
func retriedFaults() []fault {
	truncated, closed := "truncated -", "closed -"
	rows := []fault{
		{name: "fault C1 to a pipe", script: "200 size=20B truncate=10B, 200 body=whole", args: []string{"$URL"}, stdout: "whole", classes: truncated, reason: done},
		{name: "fault C1 to a file", script: "200 size=20B truncate=10B, 200 body=whole", args: []string{"-o", "$FILE", "$URL"}, file: "whole", classes: truncated, reason: done},
		{name: "fault C1 reset", script: "200 size=20B reset, 200 body=whole", args: []string{"$URL"}, stdout: "whole", classes: truncated, reason: done},
		{name: "fault C2", script: "200 chunked size=20B truncate=20B, 200 body=whole", args: []string{"$URL"}, stdout: "whole", classes: truncated, reason: done},
		{name: "fault C2 to a file", script: "200 chunked size=20B truncate=20B", args: []string{"-o", "$FILE", "$URL"}, code: anyFailure, classes: "truncated truncated truncated", reason: "attempts_exhausted"},
		{name: "fault C3", script: "close, 200 body=ok", args: []string{"$URL"}, stdout: "ok", classes: closed, reason: done},
		{name: "fault C3 reset", script: "reset, 200 body=ok", args: []string{"$URL"}, stdout: "ok", classes: closed, reason: done},
		{name: "fault C3 POST", script: "close", args: []string{"-d", "x", "$URL"}, code: anyFailure, classes: "closed", reason: "unsafe_method", says: "--idempotency-key", checks: []string{"requests=1"}},
		{name: "fault C3 POST with key", script: "close, 201 body=ok", args: []string{"-d", "x", "--idempotency-key", "k", "$URL"}, stdout: "ok", classes: closed, reason: done, checks: []string{"same-key", "body=x"}},
		{name: "fault C9", script: "421 body=, 200 body=ok", args: []string{"$URL"}, stdout: "ok", classes: retried, reason: done, checks: []string{"connections=2"}},
		{name: "fault C9 twice", script: "421 body=no", args: []string{"$URL"}, code: 22, stdout: "no", classes: "status status", reason: "http_error", checks: []string{"requests=2"}},
		{name: "fault C11 refused", script: "refuse-stream, 201 body=ok", args: []string{"-d", "x", "$URL"}, only: "h2", stdout: "ok", classes: "refused -", reason: done, checks: []string{"body=x"}},
		{name: "fault C11 GOAWAY", script: "goaway, 201 body=ok", args: []string{"-d", "x", "$URL"}, only: "h2", stdout: "ok", classes: "refused -", reason: done, checks: []string{"body=x", "connections=2"}},
		{name: "fault C12 HEAD", script: "200 size=100B", args: []string{"-I", "$URL"}, stdout: "*", classes: "-", reason: done},
		{name: "fault C12 204", script: "204 header='Content-Length: 5'", args: []string{"$URL"}, classes: "-", reason: done},
		{name: "fault C12 304", script: "304 header='Content-Length: 5'", args: []string{"$URL"}, classes: "-", reason: done},
		{name: "fault C13 retried", script: "413 retry-after=3 body=, 200 body=ok", args: []string{"$URL"}, stdout: "ok", classes: retried, reason: done, waits: spread(3 * sec)},
		{name: "fault C13 final", script: "413 body=no", args: []string{"$URL"}, code: 22, stdout: "no", classes: "status", reason: "http_error", checks: []string{"requests=1"}},
		{
			name: "fault C14", script: "/1: 503 body=, 403 body=expired xinf\n/2: 200 body=ok\n*: 302 location=/1 body=, 302 location=/2 body=", args: []string{"-L", "$URL"},
			stdout: "ok", classes: retried, reason: done, checks: []string{"requests=4"},
		},
		{name: "fault C15 answered", script: "429 body=, 201 body=ok", args: []string{"-d", "x", "--safe-on", "429,503", "$URL"}, stdout: "ok", classes: retried, reason: done},
		{name: "fault C15 cut off", script: "close", args: []string{"-d", "x", "--safe-on", "429,503", "$URL"}, code: anyFailure, classes: "closed", reason: "unsafe_method", checks: []string{"requests=1"}},
		{
			name: "fault C16", script: "503 header='Idempotent-Replayed: true' body=no", args: []string{"-d", "x", "--idempotency-key", "k", "$URL"},
			code: 22, stdout: "no", classes: "status", reason: "http_error", checks: []string{"requests=1"},
		},
	}
	for _, status := range []int{404, 400, 403, 401, 410, 501} {
		text := strconv.Itoa(status)
		rows = append(rows, fault{
			name: "faults C8, F3 " + text, script: text + " body=no", args: []string{"--attempts", "5", "$URL"},
			code: 22, stdout: "no", classes: "status", reason: "http_error", waits: exactly(), checks: []string{"requests=1"},
		})
	}
	return rows
}

// bodyFaults are those of the body and the key.
func bodyFaults() []fault {
	again := func(name, stdin string, checks []string, args ...string) fault {
		return fault{
			name: name, script: "503 body=, 200 body=ok", stdin: stdin, args: append(args, "$URL"), stdout: "ok",
			classes: retried, reason: done, checks: append(checks, "group-by=all", "attempts=2", "same-body", "same-header:Content-Length"),
		}
	}
	key := []string{"-d", "x", "--idempotency-key", "k"}
	return []fault{
		{
			name: "fault D1", script: "503 body=, 200 body=ok", stdin: "x\n", args: []string{"-T", "-", "$URL"}, stdout: "ok",
			classes: retried, reason: done, checks: []string{"requests=2", "same-body", "body=x\n", "method=PUT"},
		},
		again("fault D2 -d", "", []string{"body=the body"}, "--idempotent", "-d", "@$BODY"),
		again("fault D2 --data-binary", "a\nb", []string{"body=a\nb"}, "--idempotent", "--data-binary", "@-"),
		again("fault D2 -F", "", nil, "--idempotent", "-F", "f=@$BODY"),
		again("fault D2 -F -", "of stdin", nil, "--idempotent", "-F", "f=@-"),
		again("fault D2 -T", "", []string{"body=the body\n"}, "-T", "$BODY"),
		again("fault D2 --json", "{}", []string{"body={}", "header:Content-Type=application/json"}, "--idempotent", "--json", "@-"),
		again("fault D4", "", []string{"header:Content-Length=0"}, "-T", "$EMPTY"),
		again("fault D13", "", []string{"same-key"}, "-d", "x", "-H", "Idempotency-Key: k"),
		{
			name: "fault D6", script: "503 body=, 409 body=, 201 body=ok", args: append(key, "$URL"), stdout: "ok",
			classes: "status status -", reason: done, checks: []string{"requests=3", "same-key", "header:Idempotency-Key=k"},
		},
		{name: "fault D7", script: "422 body=no", args: append(key, "$URL"), code: 22, stdout: "no", classes: "status", reason: "http_error", checks: []string{"requests=1"}},
		{
			name: "fault D8", script: "200 body=a, close, 200 body=b", args: []string{"-d", "x", "--idempotency-key", "auto", "$URL/1", "$URL/2"},
			stdout: "ab", classes: "- closed -", reason: done, checks: []string{"requests=3", "connections=2"},
		},
		{
			name: "fault D10", script: "/get: 429 retry-after=1 body=, 200 body=ok\n*: 303 location=/get body=", args: []string{"-L", "-d", "x", "$URL"},
			stdout: "ok", classes: retried, reason: done, waits: spread(sec), checks: []string{"requests=3"},
		},
		{
			name: "fault D11", script: "307 location=$OTHER/", other: "200 body=ok",
			args: append(key, "-L", "-H", "Authorization: Bearer s", "-b", "c=d", "$URL"), stdout: "ok", classes: "-", reason: done,
			checks: []string{"header:Authorization=Bearer s", "header:Cookie=c=d", "header:Idempotency-Key=k"},
			others: []string{"no-header:Authorization", "no-header:Cookie", "no-header:Idempotency-Key", "body=x"},
		},
		{
			name: "fault D14", script: "307 location=$OTHER/", other: "503 body=no", args: append(key, "-L", "$URL"),
			code: 22, stdout: "no", classes: "status", reason: "unsafe_method", others: []string{"requests=1"},
		},
	}
}

// outputFaults are those of the output and of what is told.
func outputFaults() []fault {
	const half = `200 body=0123456789 etag='"a"' truncate=5B, `
	both := func(f fault, body string) []fault {
		pipe, file := f, f
		pipe.name, pipe.stdout, pipe.args = f.name+" to a pipe", body, []string{"$URL"}
		file.name, file.file, file.args = f.name+" to a file", body, []string{"-o", "$FILE", "$URL"}
		return []fault{pipe, file}
	}
	rows := []fault{
		{name: "fault E1", script: "503 body=busy, 200 body=ok", args: []string{"$URL"}, stdout: "ok", classes: retried, reason: done},
		{name: "fault E2", script: "503 body=busy", args: []string{"-o", "$FILE", "$URL"}, code: 75, classes: "status status status", reason: "attempts_exhausted", says: "busy"},
		{name: "fault E2 --fail-with-body", script: "503 body=busy", args: []string{"--fail-with-body", "-o", "$FILE", "$URL"}, code: 75, file: "busy", classes: "status status status", reason: "attempts_exhausted"},
		{name: "fault E2 --no-fail", script: "503 body=busy", args: []string{"--no-fail", "-o", "$FILE", "$URL"}, file: "busy", classes: "status status status", reason: "attempts_exhausted"},
		{name: "fault E8", script: "503 body=busy, 200 body=ok", args: []string{"-o", "/dev/null", "$URL"}, classes: retried, reason: done},
		{name: "fault E11 large", script: "503 size=1GB, 200 body=ok", args: []string{"$URL"}, stdout: "ok", classes: retried, reason: done},
		{name: "fault E11 endless", script: "503 size=1GB chunked, 200 body=ok", args: []string{"$URL"}, stdout: "ok", classes: retried, reason: done},
		{name: "fault E11 dribbled", script: "503 size=1kB drip=1B/1s, 200 body=ok", args: []string{"$URL"}, stdout: "ok", classes: retried, reason: done},
		{name: "fault E12", script: "503 body= x2, 200 body=ok", args: []string{"$URL"}, stdout: "ok", classes: "status status -", reason: done, checks: []string{"connections=1"}},
		{
			name: "fault F1", script: "503 header='Set-Cookie: a=hunter2' header='Location: /?token=hunter2' body=", args: []string{"-u", "user:hunter2", "-H", "X-Api-Key: hunter2", "$URL/?token=hunter2"},
			code: 75, classes: "status status status", reason: "attempts_exhausted", never: "hunter2",
		},
		{
			name: "fault F2", script: `404 body="\x1b[2J"`, args: []string{"-f", "$URL"},
			code: 22, classes: "status", reason: "http_error", never: "\x1b",
		},
	}
	for _, f := range []struct {
		fault
		body string
	}{
		{fault{name: "fault E3", script: half + `200 body=0123456789 etag='"a"' ranges`, classes: "truncated -", checks: []string{"requests=2"}}, "0123456789"},
		{fault{name: "fault E4", script: half + `200 body=second etag='"b"' ranges`, classes: "truncated -", checks: []string{"requests=2"}}, "second"},
		{fault{name: "fault E5 start", script: half + `206 body=45678 header='Content-Range: bytes 4-8/10', 200 body=0123456789`, classes: "truncated truncated -"}, "0123456789"},
		{fault{name: "fault E5 end", script: half + `206 body=56789 header='Content-Range: bytes 5-10/11', 200 body=0123456789`, classes: "truncated truncated -"}, "0123456789"},
		{fault{name: "fault E5 total", script: half + `206 body=56789 header='Content-Range: bytes 5-9/11', 200 body=0123456789`, classes: "truncated truncated -"}, "0123456789"},
		{fault{name: "fault E5 longer", script: half + `206 chunked body=56789X header='Content-Range: bytes 5-9/10', 200 body=0123456789`, classes: "truncated truncated -"}, "0123456789"},
		{fault{name: "fault E6 another size", script: half + `416 body= header='Content-Range: bytes */4', 200 body=abc`, classes: "truncated truncated -"}, "abc"},
		{fault{name: "fault E14 shorter", script: half + `206 body=56 etag='"a"' header='Content-Range: bytes 5-6/10', 206 body=789 etag='"a"' header='Content-Range: bytes 7-9/10'`, classes: "truncated truncated -"}, "0123456789"},
		{fault{name: "fault E14 no total", script: half + `206 body=56789 etag='"a"' header='Content-Range: bytes 5-9/*'`, classes: "truncated -"}, "0123456789"},
	} {
		f.reason = done
		rows = slices.Concat(rows, both(f.fault, f.body))
	}
	return append(rows,
		fault{name: "fault E6", script: `200 no-length body=0123456789 etag='"a"' reset, 206 body=56789 header='Content-Range: bytes 5-9/*', 416 body= header='Content-Range: bytes */10'`, args: []string{"-o", "$FILE", "$URL"}, file: "0123456789", classes: "truncated truncated -", reason: done},
		fault{name: "fault E7", script: `200 size=100kB etag='"a"' ranges truncate=20kB x4, 200 size=100kB etag='"a"' ranges`, args: []string{"-o", "/dev/null", "$URL"}, classes: "truncated truncated truncated truncated -", reason: done, checks: []string{"requests=5"}},
		fault{name: "fault E13", script: `200 size=100kB etag='"a"' truncate=20kB`, args: []string{"-o", "$FILE", "$URL"}, code: anyFailure, classes: "truncated truncated truncated", reason: "attempts_exhausted", checks: []string{"requests=3"}},
	)
}
