package httpretry_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/httpretry"
	"github.com/bidehttp/bide/retry/retrytest"
)

// fake is a RoundTripper that is not net/http's.
type fake struct {
	answer func(*http.Request) (*http.Response, error)
	ctx    context.Context // of the last request
	idle   int
}

func (f *fake) RoundTrip(req *http.Request) (*http.Response, error) {
	f.ctx = req.Context()
	return f.answer(req)
}

func (f *fake) CloseIdleConnections() { f.idle++ }

func faked(answer func(*http.Request) (*http.Response, error)) (*httpretry.Transport, *fake) {
	f := &fake{answer: answer}
	return &httpretry.Transport{Base: f, Policy: policy(nil), Clock: quick(), Rand: zero}, f
}

func answered(status int, body io.ReadCloser) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Body: body}, nil
	}
}

func TestTheLastContextEndsWithTheBody(t *testing.T) {
	tr, f := faked(answered(200, io.NopCloser(strings.NewReader("x"))))
	resp, err := tr.RoundTrip(request(t, "GET", "http://x/", ""))
	if err != nil || f.ctx.Err() != nil {
		t.Fatalf("%v: context %v before the body was read", err, f.ctx.Err())
	}
	read(t, resp)
	if f.ctx.Err() == nil {
		t.Error("the context outlives the body's Close")
	}
	for name, body := range map[string]io.ReadCloser{"NoBody": http.NoBody, "nil": nil} {
		tr, f := faked(answered(204, body))
		resp, err := tr.RoundTrip(request(t, "GET", "http://x/", ""))
		if err != nil || resp.Body == nil || f.ctx.Err() == nil {
			t.Errorf("%s: %v, body %v, context %v", name, err, resp.Body, f.ctx.Err())
		}
	}
}

func TestUpgradedBodyCanBeWritten(t *testing.T) {
	r, w := io.Pipe()
	tr, _ := faked(answered(101, struct {
		io.ReadCloser
		io.Writer
	}{r, w}))
	resp, err := tr.RoundTrip(request(t, "GET", "http://x/", ""))
	if err != nil {
		t.Fatal(err)
	}
	conn, ok := resp.Body.(io.ReadWriteCloser)
	if !ok {
		t.Fatal("the body of 101 cannot be written")
	}
	go func() { _, _ = conn.Write([]byte("ping")); _ = w.Close() }()
	if got := read(t, resp); got != "ping" {
		t.Errorf("read %q", got)
	}
}

func TestNeitherResponseNorError(t *testing.T) {
	tr, _ := faked(func(*http.Request) (*http.Response, error) { return nil, nil })
	_, err := tr.RoundTrip(request(t, "GET", "http://x/", ""))
	if rec := story(t, nil, err); rec.Reason != retry.TransportError || len(rec.Attempts) != 1 {
		t.Errorf("%s: %v", rec.Reason, err)
	}
}

func TestCloseIdleConnections(t *testing.T) {
	tr, f := faked(answered(200, http.NoBody))
	(&http.Client{Transport: tr}).CloseIdleConnections()
	if f.idle != 1 {
		t.Error("Base was not asked")
	}
}

func TestTransportOverTransport(t *testing.T) {
	s := retrytest.Serve(t, "503")
	inner := over(t, s)
	outer := &httpretry.Transport{Base: inner, Policy: policy(nil), Clock: quick(), Rand: zero}
	resp, err := outer.RoundTrip(request(t, "GET", s.URL, ""))
	rec := story(t, resp, err)
	read(t, resp)
	if len(rec.Attempts) != 3 || rec.Reason != retry.AttemptsExhausted {
		t.Errorf("%s after %d attempts", rec.Reason, len(rec.Attempts))
	}
	s.Log().Check(t, "requests=3")
}

// TestAuthenticationBelowIsNoResend: a RoundTripper that answers a challenge sends
// a second request on the same context.
func TestAuthenticationBelowIsNoResend(t *testing.T) {
	s := retrytest.Serve(t, "401, 200")
	below := base(t, s)
	tr, _ := faked(func(req *http.Request) (*http.Response, error) {
		resp, err := below.RoundTrip(req)
		if err != nil || resp.StatusCode != http.StatusUnauthorized {
			return resp, err
		}
		httpretry.Discard(resp)
		return below.RoundTrip(req)
	})
	resp, err := tr.RoundTrip(request(t, "GET", s.URL, ""))
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%v", err)
	}
	read(t, resp)
	s.Log().Check(t, "requests=2")
}

func TestRecordFromAnotherTransport(t *testing.T) {
	for name, resp := range map[string]*http.Response{"nil": nil, "no_request": {}, "other": {Request: &http.Request{URL: &url.URL{}}}} {
		if rec, ok := httpretry.RecordFrom(resp); ok || rec != nil {
			t.Errorf("%s: a record from nowhere", name)
		}
	}
	httpretry.Discard(nil)
	httpretry.Discard(&http.Response{})
}

// TestZeroValue: the defaults, and no policy at all.
func TestZeroValue(t *testing.T) {
	s := retrytest.Serve(t, "404")
	defer http.DefaultClient.CloseIdleConnections()
	resp, err := new(httpretry.Transport).RoundTrip(request(t, "GET", s.URL, ""))
	rec := story(t, resp, err)
	read(t, resp)
	if *rec.Policy != retry.DefaultPolicy() || rec.Reason != retry.HTTPError {
		t.Errorf("%s under %+v", rec.Reason, rec.Policy)
	}
}

func TestR2_2_HoldBody(t *testing.T) {
	for _, c := range []struct {
		name, script string
		h2           bool
		reason       retry.Reason
		phase        retry.Phase
		requests     int
		bytes        int
	}{
		{"C1_content_length", "200 size=100B truncate=20B, 200 size=100B", false, retry.Success, retry.PhaseDone, 2, 100},
		{"C2_chunked", "200 size=100B chunked truncate=20B, 200 size=100B chunked", false, retry.Success, retry.PhaseDone, 2, 100},
		{"h2_stream", "200 size=100B rst-stream=INTERNAL_ERROR, 200 size=100B", true, retry.Success, retry.PhaseDone, 2, 100},
		{"exactly_the_limit", "200 size=1000B", false, retry.Success, retry.PhaseDone, 1, 1000},
		{"longer", "200 size=3MB", false, retry.Success, retry.PhaseResponse, 1, 3_000_000},
		{"events", "200 size=100B header='Content-Type: text/event-stream'", false, retry.Success, retry.PhaseResponse, 1, 100},
		{"empty", "204", false, retry.Success, retry.PhaseDone, 1, 0},
		{"for_ever", "200 size=100B truncate=20B", false, retry.AttemptsExhausted, retry.PhaseBody, 3, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := retrytest.Serve(t, c.script, retrytest.WithHTTP2())
			tr := over(t, s)
			tr.HoldBody = 1000
			if c.h2 {
				http2Only(tr.Base.(*http.Transport))
			}
			resp, err := tr.RoundTrip(request(t, "GET", s.URL, ""))
			rec := story(t, resp, err)
			last := rec.Attempts[len(rec.Attempts)-1].Outcome
			if rec.Reason != c.reason || last.Phase != c.phase || len(s.Log().Records) != c.requests {
				t.Errorf("%s in phase %s after %d requests: %v", rec.Reason, last.Phase, len(s.Log().Records), err)
			}
			if err != nil {
				if last.Class != retry.ClassTruncated || last.Status != 200 {
					t.Errorf("class %s, status %d", last.Class, last.Status)
				}
				return
			}
			if got := read(t, resp); got != string(retrytest.Pattern(int64(c.bytes))) {
				t.Errorf("%d bytes, want %d", len(got), c.bytes)
			}
		})
	}
}
