package httpretry_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

// closing is a body without GetBody that knows whether it was closed.
type closing struct {
	io.Reader
	mu     sync.Mutex
	closed bool
}

func (c *closing) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return nil
}

func TestR8_1_Bodies(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789"), 200_000)
	for _, c := range []struct {
		name, script string
		body         []byte
		max          int64
		reason       retry.Reason
		requests     int
	}{
		{"spooled", "503, 502, 200", big[:1000], 0, retry.Success, 3},
		{"spooled_up_to_the_limit", "503, 200", big[:2000], 2000, retry.Success, 2},
		{"beyond_the_limit", "503, 200", big[:2001], 2000, retry.NotReplayable, 1},
		{"beyond_a_mebibyte", "503, 200", big, 0, retry.NotReplayable, 1},
		{"not_spooled", "503, 200", big[:1], -1, retry.NotReplayable, 1},
		{"answered_while_it_was_sent", "503 read=10B close, 200", big[:100_000], 0, retry.Success, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := retrytest.Serve(t, c.script)
			tr := over(t, s)
			tr.MaxBody = c.max
			body := &closing{Reader: bytes.NewReader(c.body)}
			req := request(t, "PUT", s.URL, "")
			req.Body, req.ContentLength = body, int64(len(c.body))
			resp, err := tr.RoundTrip(req)
			rec := story(t, resp, err)
			if rec.Reason != c.reason {
				t.Errorf("reason %s, error %v", rec.Reason, err)
			}
			if err == nil {
				read(t, resp)
			}
			s.Log().Check(t, fmt.Sprintf("requests=%d", c.requests))
			if last := s.Log().Records[c.requests-1]; c.reason == retry.Success && last.BodyBytes != int64(len(c.body)) {
				t.Errorf("%d bytes arrived", last.BodyBytes)
			}
			body.mu.Lock()
			defer body.mu.Unlock()
			if !body.closed {
				t.Error("the request's body was not closed")
			}
		})
	}
}

func TestInputErrorIsNotTheConnections(t *testing.T) {
	boom := errors.New("disk on fire")
	s := retrytest.Serve(t, "200")
	tr := over(t, s)
	req := request(t, "PUT", s.URL, "")
	req.Body = io.NopCloser(io.MultiReader(strings.NewReader("abc"), failing{boom}))
	_, err := tr.RoundTrip(req)
	if rec := story(t, nil, err); rec.Reason != retry.InputError || !errors.Is(err, boom) || len(rec.Attempts) != 1 {
		t.Errorf("%s: %v", rec.Reason, err)
	}
	req = request(t, "PUT", s.URL, "abc")
	req.GetBody = func() (io.ReadCloser, error) { return nil, boom }
	again := retrytest.Serve(t, "503")
	req.URL = request(t, "PUT", again.URL, "").URL
	_, err = tr.RoundTrip(req)
	if rec := story(t, nil, err); rec.Reason != retry.InputError || !errors.Is(err, boom) || len(rec.Attempts) != 2 {
		t.Errorf("%s: %v", rec.Reason, err)
	}
	again.Log().Check(t, "requests=1")
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestR8_2_BodyOfAPipe: the source is slower than the answer; the second attempt
// gets what the first has read, and the rest.
func TestR8_2_BodyOfAPipe(t *testing.T) {
	s := retrytest.Serve(t, "503 read=3B, 200")
	tr := over(t, s)
	r, w := io.Pipe()
	retried := make(chan struct{})
	tr.Observe = func(_ *http.Request, ev retry.Event) {
		if ev.Kind == retry.EventAttempt && ev.Number == 2 {
			close(retried)
		}
	}
	sent := make(chan error, 1)
	go func() {
		_, _ = io.WriteString(w, "abc")
		<-retried
		_, err := io.WriteString(w, "def")
		sent <- errors.Join(err, w.Close())
	}()
	req := request(t, "PUT", s.URL, "")
	req.Body = r
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	read(t, resp)
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if got := string(s.Log().Records[1].Body); got != "abcdef" {
		t.Errorf("the second attempt sent %q", got)
	}
}
