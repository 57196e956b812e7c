package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/cookies"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

// keyed gives the template an idempotency key.
func keyed(tpl *request.Template) *request.Template {
	tpl.KeyName, tpl.KeyValue = "Idempotency-Key", "k1"
	return tpl
}

func TestAttempt(t *testing.T) {
	t.Run("facts_of_an_answer", func(t *testing.T) {
		s := retrytest.Serve(t, "200 body=hello header='X-A: 1' header='x-a: 2'")
		r, o, body := get(t, operation(client(t, retry.SystemClock(), transport.Settings{}), template(t, "POST", s.URL+"/p?q=1", "data")))
		if body != "hello" || o.Class != retry.ClassNone || o.Err != nil || o.Status != 200 || o.Method != "POST" ||
			o.Sent != retry.SentMaybe || o.Phase != retry.PhaseDone || o.Origin != s.URL {
			t.Errorf("body %q, outcome %+v", body, o)
		}
		if r.Status != 200 || r.Proto != "HTTP/1.1" || r.Length != 5 || r.SentBytes() != 4 || r.ReceivedBytes != 5 || r.Received() != 5 {
			t.Errorf("response %+v", r)
		}
		if len(r.Blocks) != 1 || !strings.HasPrefix(r.Blocks[0], "HTTP/1.1 200 OK\r\n") || !strings.HasSuffix(r.Blocks[0], "\r\n\r\n") {
			t.Errorf("blocks %q", r.Blocks)
		}
		if len(r.Hops) != 1 || len(r.Dials) != 1 || r.Dials[0].Err != nil {
			t.Fatalf("hops %+v, dials %+v", r.Hops, r.Dials)
		}
		h := r.Hops[0]
		if h.Facts.Remote != s.Host+":"+s.Port || h.Facts.Local == "" || h.Reused || h.Status != 200 || h.Timing.HeadOut == 0 || h.Timing.HeadIn != int64(len(r.Blocks[0])) ||
			h.Total() < h.Facts.Connect+h.Send()+h.FirstByte() || h.Total() <= 0 || h.Body() < 0 || h.URL != r.URL() {
			t.Errorf("hop %+v", h)
		}
	})
	t.Run("bytes_of_each_hop", func(t *testing.T) {
		s := retrytest.Serve(t, "/a: 307 location=/b body=away\n/b: 200 body=here!")
		r, _, _ := get(t, operation(client(t, retry.SystemClock(), transport.Settings{}), template(t, "PUT", s.URL+"/a", "data")))
		if h := r.Hops; len(h) != 2 || h[0].Timing.BodyOut != 4 || h[0].BodyIn != 4 || h[1].Timing.BodyOut != 4 || h[1].BodyIn != 5 || r.SentBytes() != 8 || r.ReceivedBytes != 9 || r.Received() != 9 || r.Arrived() != 5 {
			t.Errorf("hops %+v, sent %d, received %d, %d of the body", h, r.SentBytes(), r.ReceivedBytes, r.Arrived())
		}
	})
	t.Run("classes_of_statuses", func(t *testing.T) {
		for status, want := range map[int]retry.Class{200: "", 204: "", 304: "", 302: "", 400: "status", 404: "status", 429: "status", 503: "status", 202: "status"} {
			s := retrytest.Serve(t, fmt.Sprintf("%d retry-after=7", status))
			op := operation(client(t, retry.SystemClock(), transport.Settings{}), template(t, "GET", s.URL, ""))
			op.Policy.RetryOn.AddStatus(202)
			_, o, _ := get(t, op)
			if o.Class != want || o.Status != status || !o.Server.Valid || o.Server.Minimum != 7*time.Second {
				t.Errorf("%d: %+v", status, o)
			}
		}
	})
	t.Run("R5.7_limited", func(t *testing.T) {
		s := retrytest.Serve(t, "403 header='X-RateLimit-Remaining: 0' header='X-RateLimit-Reset: 30'")
		op := operation(client(t, retry.SystemClock(), transport.Settings{}), template(t, "GET", s.URL, ""))
		if _, o, _ := get(t, op); o.RateLimited || o.Server.Header != "" {
			t.Errorf("read without being asked to: %+v", o)
		}
		op.RateLimitHeaders = true
		if _, o, _ := get(t, op); !o.RateLimited || o.Server.Minimum != 30*time.Second {
			t.Errorf("%+v", o)
		}
	})
	t.Run("C16_replayed", func(t *testing.T) {
		s := retrytest.Serve(t, "503 header='Idempotent-Replayed: true'")
		if _, o, _ := get(t, operation(client(t, retry.SystemClock(), transport.Settings{}), template(t, "GET", s.URL, ""))); !o.Replayed {
			t.Errorf("%+v", o)
		}
	})
	t.Run("C12_no_body_is_complete", func(t *testing.T) {
		for _, c := range []struct{ method, script string }{
			{"HEAD", "200 header='Content-Length: 100'"}, {"GET", "204"}, {"GET", "304 header='Content-Length: 100'"},
			{"HEAD", "200 header='Content-Encoding: gzip'"}, {"GET", "200 body='' header='Content-Encoding: br'"},
		} {
			s := retrytest.Serve(t, c.script)
			tpl := template(t, c.method, s.URL, "")
			tpl.Compressed = true
			op := operation(client(t, retry.SystemClock(), transport.Settings{}), tpl)
			for range 2 {
				if _, o, body := get(t, op); o.Class != retry.ClassNone || o.Err != nil || body != "" {
					t.Errorf("%s %s: %+v, body %q", c.method, c.script, o, body)
				}
			}
			s.Log().Check(t, "connections=1")
		}
	})
	t.Run("connection_refused_is_no_hop", func(t *testing.T) {
		s := retrytest.Serve(t, "200")
		s.Close()
		r, o, _ := get(t, operation(client(t, retry.SystemClock(), transport.Settings{}), template(t, "POST", s.URL, "x")))
		if o.Class != retry.ClassConnect || o.Sent != retry.SentNothing || o.Err == nil || o.Status != 0 || o.Phase != retry.PhaseConnect {
			t.Errorf("%+v", o)
		}
		if len(r.Hops) != 0 || len(r.Dials) != 1 || r.Dials[0].Err == nil || r.Status != 0 {
			t.Errorf("hops %+v, dials %+v", r.Hops, r.Dials)
		}
	})
	t.Run("canceled_before_the_start_sends_nothing", func(t *testing.T) {
		s := retrytest.Serve(t, "200")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r, o := operation(client(t, retry.SystemClock(), transport.Settings{}), template(t, "GET", s.URL, "")).Attempt(ctx, 1)
		if o.Class != retry.ClassCanceled || len(r.Hops) != 0 || len(s.Log().Records) != 0 || s.Log().Connections != 0 {
			t.Errorf("%+v, %d connections", o, s.Log().Connections)
		}
	})
	t.Run("settings_that_fail", func(t *testing.T) {
		op := operation(client(t, retry.SystemClock(), transport.Settings{}), template(t, "GET", "http://127.0.0.1:1", ""))
		op.SettingsFor = func(transport.Target) (*transport.Settings, error) { return nil, io.ErrUnexpectedEOF }
		if _, o, _ := get(t, op); o.Class != retry.ClassRequest || !errors.Is(o.Err, io.ErrUnexpectedEOF) {
			t.Errorf("%+v", o)
		}
	})
	t.Run("417_is_resent_without_Expect", func(t *testing.T) {
		s := retrytest.Serve(t, "417 read=0B, 200 body=ok")
		tpl := template(t, "POST", s.URL, strings.Repeat("x", 2<<20))
		r, o, body := get(t, operation(client(t, retry.SystemClock(), transport.Settings{}), tpl))
		log := s.Log()
		if o.Class != retry.ClassNone || body != "ok" || len(r.Hops) != 2 || r.Redirects != 0 || len(log.Records) != 2 {
			t.Fatalf("%+v, hops %d, requests %d", o, len(r.Hops), len(log.Records))
		}
		if !log.Records[0].Has("Expect") || log.Records[1].Has("Expect") || log.Records[1].BodyBytes != 2<<20 {
			t.Errorf("second request: %s", log.Records[1].RawHead)
		}
	})
	t.Run("HTTP_1_1_REQUIRED_is_asked_again", func(t *testing.T) {
		s := retrytest.Serve(t, "rst-stream=HTTP_1_1_REQUIRED, 200 body=ok", retrytest.WithTLS(), retrytest.WithHTTP2())
		r, o, body := get(t, operation(client(t, retry.SystemClock(), trusting(t, s)), template(t, "POST", s.URL, "data")))
		log := s.Log()
		if o.Class != retry.ClassNone || body != "ok" || len(r.Hops) != 2 || r.Hops[0].Err == nil || len(log.Records) != 2 || log.Records[1].Proto != "HTTP/1.1" || string(log.Records[1].Body) != "data" {
			t.Errorf("%+v, hops %d\n%s", o, len(r.Hops), log)
		}
	})
	t.Run("417_without_Expect_is_final", func(t *testing.T) {
		s := retrytest.Serve(t, "417")
		if r, o, _ := get(t, operation(client(t, retry.SystemClock(), transport.Settings{}), template(t, "GET", s.URL, ""))); o.Status != 417 || len(r.Hops) != 1 {
			t.Errorf("%+v", o)
		}
	})
	t.Run("cookies_of_every_hop", func(t *testing.T) {
		s := retrytest.Serve(t, "/a: 302 location=/b header='Set-Cookie: s=1'\n/b: 200 header='Set-Cookie: t=2'\n/c: 200")
		c := client(t, retry.SystemClock(), transport.Settings{})
		c.Jar = &cookies.Jar{}
		get(t, operation(c, template(t, "GET", s.URL+"/a", "")))
		get(t, operation(c, template(t, "GET", s.URL+"/c", "")))
		log := s.Log()
		if log.Records[0].Has("Cookie") || log.Records[1].Get("Cookie") != "s=1" || !strings.Contains(log.Records[2].Get("Cookie"), "s=1") || !strings.Contains(log.Records[2].Get("Cookie"), "t=2") {
			t.Errorf("cookies: %q, %q, %q", log.Records[0].Get("Cookie"), log.Records[1].Get("Cookie"), log.Records[2].Get("Cookie"))
		}
	})
}

// infos is a trace that keeps what is said.
type infos struct{ said []string }

func (i *infos) Info(text string) { i.said = append(i.said, text) }
func (i *infos) HeaderOut([]byte) {}
func (i *infos) HeaderIn([]byte)  {}
func (i *infos) DataOut([]byte)   {}
func (i *infos) DataIn([]byte)    {}
func (i *infos) WantsData() bool  { return false }

func TestTraceOfRedirect(t *testing.T) {
	s := retrytest.Serve(t, "/a: 303 location=/b?token=s3cret\n/b: 200")
	c := client(t, retry.SystemClock(), transport.Settings{})
	trace := &infos{}
	c.Trace = trace
	get(t, operation(c, template(t, "POST", s.URL+"/a", "x")))
	all := strings.Join(trace.said, "\n")
	if !strings.Contains(all, "Issue another request to this URL: '"+s.URL+"/b?token=***'\nSwitch from POST to GET") || strings.Contains(all, "s3cret") {
		t.Errorf("said:\n%s", all)
	}
}

// failingBody is a body that cannot be opened, or cannot be read.
type failingBody struct{ open, read error }

func (b failingBody) Open() (io.ReadCloser, int64, error) {
	return io.NopCloser(io.MultiReader(strings.NewReader("some"), errReader{b.read})), 100, b.open
}
func (b failingBody) Replay() error { return b.open }
func (b failingBody) Close() error  { return nil }

type errReader struct{ err error }

func (e errReader) Read([]byte) (int, error) { return 0, e.err }

func TestBodySource(t *testing.T) {
	for _, c := range []struct {
		name  string
		body  failingBody
		stop  retry.Reason
		class retry.Class
		hops  int
	}{
		{"R7.3_changed", failingBody{open: fmt.Errorf("f: %w", retry.ErrBodyChanged)}, retry.BodyChanged, retry.ClassInput, 0},
		{"R8.1_not_replayable", failingBody{open: retry.ErrNotReplayable}, retry.NotReplayable, retry.ClassInput, 0},
		{"unreadable", failingBody{open: io.ErrNoProgress}, "", retry.ClassInput, 0},
		{"breaks_before_a_byte_went_out", failingBody{read: io.ErrNoProgress}, "", retry.ClassInput, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := retrytest.Serve(t, "200")
			tpl := template(t, "POST", s.URL, "x")
			tpl.Body = c.body
			r, o, _ := get(t, operation(client(t, retry.SystemClock(), transport.Settings{}), tpl))
			if o.Class != c.class || o.Stop != c.stop || o.Err == nil || len(r.Hops) != c.hops {
				t.Errorf("%+v, hops %d", o, len(r.Hops))
			}
		})
	}
}

func TestRedirectErrors(t *testing.T) {
	serve := func(t *testing.T, script string) (*retrytest.Server, *Operation) {
		s := retrytest.Serve(t, script)
		return s, operation(client(t, retry.SystemClock(), transport.Settings{}), template(t, "GET", s.URL+"/a", ""))
	}
	code := func(err error) exitcode.Code {
		var c exitcode.Coder
		if errors.As(err, &c) {
			return c.ExitCode()
		}
		return 0
	}
	t.Run("max_redirs", func(t *testing.T) {
		for _, limit := range []int{0, 1, 3} {
			s, op := serve(t, "302 location=/a")
			op.Template.MaxRedirects = limit
			r, o, _ := get(t, op)
			if o.Class != retry.ClassRedirect || code(o.Err) != exitcode.TooManyRedirect || o.Status != 302 || len(r.Hops) != limit+1 || r.Redirects != limit {
				t.Errorf("limit %d: %+v, hops %d", limit, o, len(r.Hops))
			}
			if want := fmt.Sprintf("Maximum (%d) redirects followed", limit); o.Err.Error() != want {
				t.Errorf("error %q, want %q", o.Err, want)
			}
			s.Log().Check(t, fmt.Sprintf("requests=%d", limit+1))
		}
	})
	t.Run("unlimited_goes_on", func(t *testing.T) {
		_, op := serve(t, "/a: 302 location=/a x60, 200 body=end")
		op.Template.MaxRedirects = -1
		if r, o, body := get(t, op); o.Class != retry.ClassNone || body != "end" || r.Redirects != 60 {
			t.Errorf("%+v, redirects %d", o, r.Redirects)
		}
	})
	t.Run("refused_scheme", func(t *testing.T) {
		for _, location := range []string{"ftp://127.0.0.1/x", "file:///etc/passwd", "javascript:alert(1)"} {
			_, op := serve(t, "302 location='"+location+"'")
			r, o, body := get(t, op)
			if o.Class != retry.ClassRedirect || code(o.Err) != exitcode.BadProtocol || body != "" || len(r.Hops) != 1 {
				t.Errorf("%s: %+v, exit %d", location, o, code(o.Err))
			}
		}
	})
	t.Run("scheme_refused_by_proto_redir", func(t *testing.T) {
		_, op := serve(t, "302 location=http://127.0.0.1:1/")
		op.Template.SchemesRedir = []string{"https"}
		if _, o, _ := get(t, op); o.Class != retry.ClassRedirect || code(o.Err) != exitcode.BadProtocol {
			t.Errorf("%+v", o)
		}
	})
	t.Run("not_followed", func(t *testing.T) {
		s, op := serve(t, "302 location=../b?c=d body=moved")
		op.Template.Follow = false
		r, o, body := get(t, op)
		if o.Class != retry.ClassNone || body != "moved" || r.RedirectURL != s.URL+"/b?c=d" || r.Redirects != 0 || r.Hops[0].Location != "../b?c=d" {
			t.Errorf("%+v, redirect to %q", o, r.RedirectURL)
		}
	})
	t.Run("no_location", func(t *testing.T) {
		_, op := serve(t, "302 body=odd")
		if _, o, body := get(t, op); o.Class != retry.ClassNone || body != "odd" {
			t.Errorf("%+v, %q", o, body)
		}
	})
}

// TestRedirectDrops/R7.6: D11 and its kin.
func TestRedirectDrops(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		t.Run(fmt.Sprintf("D11_trusted_%v", trusted), func(t *testing.T) {
			b := retrytest.Serve(t, "200")
			a := retrytest.Serve(t, "307 location="+b.URL+"/x")
			tpl := keyed(template(t, "POST", a.URL, "data"))
			tpl.LocationTrusted = trusted
			tpl.Cookies = "c=1"
			tpl.Headers = []request.HeaderLine{{Name: "Authorization", Value: "s3cret"}, {Name: "X-Other", Value: "x"}}
			_, o, _ := get(t, operation(client(t, retry.SystemClock(), transport.Settings{}), tpl))
			first, second := &a.Log().Records[0], &b.Log().Records[0]
			if !first.Has("Idempotency-Key") || !first.Has("Authorization") || !first.Has("Cookie") {
				t.Errorf("first request lacks something: %s", first.RawHead)
			}
			for _, name := range []string{"Idempotency-Key", "Authorization", "Cookie"} {
				if second.Has(name) != trusted {
					t.Errorf("%s crossed: %v", name, second.Has(name))
				}
			}
			if second.Method != "POST" || string(second.Body) != "data" || second.Get("X-Other") != "x" || o.Keyed != trusted || o.Origin != b.URL {
				t.Errorf("%s\n%+v", second.RawHead, o)
			}
		})
	}
	t.Run("key_goes_with_the_body", func(t *testing.T) {
		s := retrytest.Serve(t, "/a: 303 location=/b\n/b: 200")
		_, o, _ := get(t, operation(client(t, retry.SystemClock(), transport.Settings{}), keyed(template(t, "POST", s.URL+"/a", "data"))))
		if r := &s.Log().Records[1]; r.Method != "GET" || r.Has("Idempotency-Key") || r.Has("Content-Type") || o.Keyed {
			t.Errorf("%s", r.RawHead)
		}
	})
	t.Run("key_does_not_come_back", func(t *testing.T) {
		a, b := retrytest.Serve(t, "200"), retrytest.Serve(t, "200")
		if err := errors.Join(a.SetScript("/a: 307 location="+b.URL+"\n/b: 200"), b.SetScript("307 location="+a.URL+"/b")); err != nil {
			t.Fatal(err)
		}
		get(t, operation(client(t, retry.SystemClock(), transport.Settings{}), keyed(template(t, "POST", a.URL+"/a", "data"))))
		if r := &a.Log().Records[1]; r.Target != "/b" || r.Has("Idempotency-Key") {
			t.Errorf("%s", r.RawHead)
		}
	})
}

func TestProxy(t *testing.T) {
	proxySettings := func(p *retrytest.Server) transport.Settings {
		return transport.Settings{Proxy: &transport.Proxy{
			Scheme: "http", Host: p.Host, Port: p.Port, HasAuth: true, User: "pu", Password: "pp", Headers: [][2]string{{"X-Proxy", "1"}},
		}}
	}
	t.Run("plain_by_absolute_URI", func(t *testing.T) {
		s := retrytest.Serve(t, "200 body=through")
		p := retrytest.ServeProxy(t, "")
		_, o, body := get(t, operation(client(t, retry.SystemClock(), proxySettings(p)), template(t, "GET", s.URL+"/x?y", "")))
		r := &p.Log().Records[0]
		if body != "through" || o.Class != retry.ClassNone || r.Target != s.URL+"/x?y" || r.Get("X-Proxy") != "1" ||
			r.Get("Proxy-Authorization") != "Basic cHU6cHA=" || r.Get("Proxy-Connection") != "Keep-Alive" {
			t.Errorf("%+v\n%s", o, r.RawHead)
		}
	})
	t.Run("C10_CONNECT_503_names_its_wait", func(t *testing.T) {
		p := retrytest.ServeProxy(t, "503 retry-after=9")
		settings := proxySettings(p)
		settings.Proxy.Tunnel = true
		r, o, _ := get(t, operation(client(t, retry.SystemClock(), settings), template(t, "GET", "http://127.0.0.1:9/", "")))
		if o.Class != retry.ClassProxy || !o.Server.Valid || o.Server.Minimum != 9*time.Second || len(r.Hops) != 0 || len(r.Blocks) != 1 {
			t.Errorf("%+v, hops %d, blocks %d", o, len(r.Hops), len(r.Blocks))
		}
	})
	t.Run("C10_CONNECT_407_is_final", func(t *testing.T) {
		p := retrytest.ServeProxy(t, "407")
		settings := proxySettings(p)
		settings.Proxy.Tunnel = true
		if _, o, _ := get(t, operation(client(t, retry.SystemClock(), settings), template(t, "GET", "http://127.0.0.1:9/", ""))); o.Class != retry.ClassProxyRefused {
			t.Errorf("%+v", o)
		}
	})
}
