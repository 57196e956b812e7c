package exchange

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is a Client on real connections.
func client(t *testing.T, clock retry.Clock, settings transport.Settings) *Client {
	c := &Client{
		Pool: &transport.Pool{Clock: clock}, Clock: clock,
		Rand:        func() float64 { return 0.5 },
		SettingsFor: func(transport.Target) (*transport.Settings, error) { return &settings, nil },
	}
	t.Cleanup(func() { c.Quiesce(); c.Pool.Close() })
	return c
}

// template is a request for method and URL as the command line makes it.
func template(t *testing.T, method, url, body string) *request.Template {
	t.Helper()
	u, err := request.ParseURL(url, "http", false)
	if err != nil {
		t.Fatal(err)
	}
	tpl := &request.Template{URL: u, Options: &request.Options{Method: method, UserAgent: "curl/7.88.1", Accept: "*/*", Follow: true, MaxRedirects: 50}}
	if body != "" {
		tpl.Body, tpl.ContentType = request.Bytes(body), "application/x-www-form-urlencoded"
	}
	return tpl
}

// operation is an Operation with the default policy.
func operation(c *Client, tpl *request.Template) *Operation {
	return &Operation{Settings: &Settings{Client: c}, Template: tpl, Policy: policy()}
}

func policy() *retry.Policy {
	return &retry.Policy{
		Attempts: 3, Base: time.Second, Cap: 5 * time.Minute, Jitter: 0.2,
		JitterMode: retry.Spread, Backoff: retry.Exponential, RetryAfterMode: retry.Minimum,
		RetryOn: retry.DefaultRetryOn(),
	}
}

// get makes one attempt and delivers its body, unless it failed before.
func get(t *testing.T, op *Operation) (*Response, retry.Outcome, string) {
	t.Helper()
	r, o := op.Attempt(t.Context(), 1)
	var body bytes.Buffer
	if o.Err == nil {
		o = r.Deliver(t.Context(), &body, o)
	}
	return r, o, body.String()
}

// loop runs the operation under the engine, as cmd does: a transient status is
// left unread, everything else is delivered. see gets each attempt's end.
func loop(t *testing.T, ctx context.Context, op *Operation, see func(*Response, retry.Outcome)) (*Response, *retry.Record, string) {
	t.Helper()
	var body bytes.Buffer
	l := retry.Loop{Policy: op.Policy, Clock: op.Client.Clock, Rand: op.Client.Rand, Origin: op.Template.URL.Origin(), Hold: op.Client.Hold}
	if op.Template.Body != nil {
		l.Replay = op.Template.Body.Replay
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, rec, _ := retry.Do(ctx, l, func(ctx context.Context, n int) (*Response, retry.Outcome) {
		r, o := op.Attempt(ctx, n)
		if o.Err == nil && !op.Policy.Transient(o, retry.State{}) {
			body.Reset()
			o = r.Deliver(ctx, &body, o)
		}
		if see != nil {
			see(r, o)
		}
		return r, o
	}, (*Response).Discard)
	if r != nil {
		r.Deliver(ctx, &body, retry.Outcome{})
	}
	return r, rec, body.String()
}

// routes gives the log as "METHOD PATH" words.
func routes(log *retrytest.Log) string {
	var all []string
	for i := range log.Records {
		all = append(all, log.Records[i].Method+" "+log.Records[i].Target)
	}
	return strings.Join(all, ", ")
}

// trusting are settings that know the server's certificate.
func trusting(t *testing.T, s *retrytest.Server) transport.Settings {
	t.Helper()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, s.CACert(), 0o600); err != nil {
		t.Fatal(err)
	}
	return transport.Settings{TLS: transport.TLS{CAFile: ca}}
}

// curl runs the installed curl, if there is one.
func curl(t *testing.T, args ...string) (stdout string, code int) {
	t.Helper()
	path, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	cmd := exec.Command(path, append([]string{"-q", "-s"}, args...)...)
	cmd.Env = append(os.Environ(), "http_proxy=", "HTTPS_PROXY=", "https_proxy=", "ALL_PROXY=", "all_proxy=")
	out, _ := cmd.Output()
	return string(out), cmd.ProcessState.ExitCode()
}

func fakeClock() *retrytest.FakeClock {
	c := retrytest.NewFakeClock(time.Date(2026, 7, 15, 10, 0, 0, 0, time.UTC))
	c.AutoAdvance(true)
	return c
}
