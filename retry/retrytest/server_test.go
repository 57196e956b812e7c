package retrytest

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is a net/http client without keep-alive leftovers.
func client(t *testing.T) *http.Client {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 20 * time.Second}
}

// get asks for a URL and gives status and body, or the error.
func get(t *testing.T, c *http.Client, url string) (int, string, http.Header, error) {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		return 0, "", nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), resp.Header, err
}

func TestServe_answers_in_order(t *testing.T) {
	s := Serve(t, "429 retry-after=2, 503 body=busy, 200 body='it works'")
	c := client(t)
	for _, want := range []struct {
		status int
		body   string
	}{{429, "429 Too Many Requests\n"}, {503, "busy"}, {200, "it works"}, {200, "it works"}} {
		status, body, _, err := get(t, c, s.URL)
		if err != nil || status != want.status || body != want.body {
			t.Fatalf("got %d %q %v, want %d %q", status, body, err, want.status, want.body)
		}
	}
	s.Log().Check(t, "requests=4", "connections=1", "statuses=429,503,200,200", "last-status=200")
}

func TestServe_faults(t *testing.T) {
	for _, tt := range []struct{ script, err string }{
		{"reset, 200", "reset by peer"},
		{"close, 200", "EOF"},
		{"200 size=40B truncate=20B, 200", "unexpected EOF"},
		{"truncate=20B, 200", "unexpected EOF"},
		{"200 size=40B chunked truncate=20B, 200", "unexpected EOF"},
		{"200 size=40B reset, 200", "reset by peer"},
		{"200 size=40B close-after=30B, 200", "EOF"},
		{"garbage, 200", "malformed HTTP"},
		{"200 chunked garbage, 200", "invalid byte in chunk length"},
		{"stall=10ms, 200", "EOF"},
		{"201 effect lost, 200", "EOF"},
	} {
		t.Run(tt.script, func(t *testing.T) {
			s := Serve(t, tt.script)
			_, _, _, err := get(t, client(t), s.URL)
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("got error %v, want %q", err, tt.err)
			}
			if n := len(s.Log().Records); n != 1 {
				t.Fatalf("%d requests", n)
			}
			if status, _, _, err := get(t, client(t), s.URL); status != 200 || err != nil {
				t.Fatalf("second: %d %v", status, err)
			}
		})
	}
}
