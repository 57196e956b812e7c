package render_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

// TestReason: what an attempt of a wait came to, short enough for one line.
func TestReason(t *testing.T) {
	n := render.Notices{}
	for _, c := range []struct {
		o    retry.Outcome
		want string
	}{
		{retry.Outcome{Class: retry.ClassStatus, Status: 503}, "503 Service Unavailable"},
		{retry.Outcome{Class: retry.ClassStatus, Status: 200, Unmet: true}, "200 OK, --until is not true"},
		{retry.Outcome{Class: retry.ClassStatus, Status: 200, Unmet: true, Err: errors.New("--until: no keys")}, "200 OK, --until: no keys"},
		{retry.Outcome{Class: retry.ClassConnect, Err: errors.New("Failed to connect to h port 1: Couldn't connect to server; connection refused")}, "connection refused"},
		{retry.Outcome{Class: retry.ClassNXDomain, Err: fmt.Errorf("GET: %w", errors.New("Could not resolve host: h"))}, "Could not resolve host: h"},
		{retry.Outcome{Class: retry.ClassTLS, Err: errors.New("cut\x1b[2J https://u:p@h/?token=x")}, `cut\x1b[2J https://***@h/?token=***`},
		{retry.Outcome{Class: retry.ClassClosed}, "closed error"},
		{retry.Outcome{Class: retry.ClassTimeout, Err: errors.New("SSL connection timeout; " + retry.ErrAttemptTimeout.Error())}, "SSL connection timeout"},
		{retry.Outcome{Class: retry.ClassResolve, Err: errors.New("Resolving timed out after 9 milliseconds; the connect timeout is 9ms")}, "Resolving timed out after 9 milliseconds"},
	} {
		if got := n.Reason(c.o); got != c.want {
			t.Errorf("%+v: %q, want %q", c.o, got, c.want)
		}
	}
}

func TestWaitLines(t *testing.T) {
	y := render.NotYet{Name: "http://h:80", Reason: "connection refused", Attempts: 4, Elapsed: 3900 * time.Millisecond, Deadline: time.Minute}
	first := render.NotYet{Name: "tcp://h:5", Elapsed: 2 * time.Second}
	for _, c := range [][2]string{
		{y.Line("10:00:00"), "bide: waiting for http://h:80: connection refused (until 10:00:00)"},
		{y.Line(""), "bide: waiting for http://h:80: connection refused"},
		{y.Live(true), "bide: http://h:80: 3s of 1m, attempt 4: connection refused"},
		{first.Live(true), "bide: tcp://h:5: 2s, asked"},
		{render.Answered("http://h:80", 204, 3, 2*time.Second, true), "http://h:80 answered 204 No Content after 2s (3 attempts)"},
		{render.Answered("tcp://h:5", 0, 2, time.Second, true), "tcp://h:5 accepts connections after 1s (2 attempts)"},
	} {
		if c[0] != c[1] {
			t.Errorf("%q, want %q", c[0], c[1])
		}
	}
}
