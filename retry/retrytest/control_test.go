package retrytest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Requests to the control function are answered beside the script and leave no
// trace in the log, over HTTP/1 and HTTP/2.
func TestWithControl(t *testing.T) {
	control := func(s *Server, r *Record) Reply {
		if r.Path == "/ctl/reset" {
			s.Reset()
		}
		return Reply{202, "text/x", fmt.Appendf(nil, "%s %s %s %d", r.Method, r.Target, r.Body, len(s.Log().Records))}
	}
	for name, opts := range map[string][]Option{"HTTP/1": nil, "HTTP/2": {WithHTTP2()}} {
		t.Run(name, func(t *testing.T) {
			s := Serve(t, "503, 200", append(opts, WithControl("/ctl/", control))...)
			c := client(t)
			if opts != nil {
				c = http2Client(t, s)
			}
			post := func(path string) (int, string, string) {
				resp, err := c.Post(s.URL+path, "", strings.NewReader("body"))
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = resp.Body.Close() }()
				b, _ := io.ReadAll(resp.Body)
				return resp.StatusCode, resp.Header.Get("Content-Type"), string(b)
			}
			_, _, _ = post("/jobs")
			if code, kind, body := post("/ctl/x?a=b"); code != 202 || kind != "text/x" || body != "POST /ctl/x?a=b body 1" {
				t.Errorf("%d %s %q", code, kind, body)
			}
			if code, _, _ := post("/jobs"); code != http.StatusOK {
				t.Errorf("the control request took a step: %d", code)
			}
			s.Log().Check(t, "requests=2", "statuses=503,200")
			if _, _, body := post("/ctl/reset"); !strings.HasSuffix(body, " 0") {
				t.Errorf("%q", body)
			}
		})
	}
}

func TestWithHidden(t *testing.T) {
	s := Serve(t, "200", WithHidden(func(name string) bool { return strings.EqualFold(name, "authorization") }))
	for _, secret := range []string{"sesame", "open", "sesame"} {
		raw(t, s, "GET / HTTP/1.1\r\nAuthorization: "+secret+"\r\nX: "+secret+"\r\nConnection: close\r\n\r\n")
	}
	l, err := s.Log().GroupBy("header:Authorization")
	if err != nil {
		t.Fatal(err)
	}
	if got := []string{l.Records[0].Group, l.Records[1].Group, l.Records[2].Group}; fmt.Sprint(got) != "[Authorization #1 Authorization #2 Authorization #1]" {
		t.Errorf("groups %v", got)
	}
	for _, r := range l.Verify("header:Authorization=x", "attempts=7", "fresh-key-per-operation") {
		if r.OK || strings.Contains(r.Detail, "sesame") {
			t.Errorf("%+v", r)
		}
	}
	if r := l.Verify("header:X=x")[0]; !strings.Contains(r.Detail, "sesame") {
		t.Errorf("%+v", r)
	}
}

func TestLog_Gaps(t *testing.T) {
	other := func(r *Record) { r.BodySHA256 = "bbbbbbbbbbbb" }
	l := made(at(0, 503), with(at(1, 503), other), at(3, 200), with(at(9, 200), other))
	if got := fmt.Sprint(l.Gaps()); got != "[3s 8s]" {
		t.Errorf("gaps %s", got)
	}
	if l.Grouping() != DefaultGroup {
		t.Errorf("grouped by %q", l.Grouping())
	}
}

func TestParseRoute(t *testing.T) {
	for text, want := range map[string]string{
		"POST /jobs: 429, 201": "", "/x: 200 [idempotent]\nGET /y: 503": "",
		"503": `column 1: expected a route such as "POST /jobs:", found "503"`, "": "a step", "POST /x: nope": "line 1, column 10",
	} {
		err := ParseRoute(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if err := ParseScript("503, 200 body=@no-such-file"); err != nil {
		t.Error(err)
	}
}

// A server on all addresses names one that a client can connect to.
func TestWithAddress_all(t *testing.T) {
	s := Serve(t, "200", WithAddress(":0"), WithListenDelay(20*time.Millisecond))
	if s.Host != "127.0.0.1" || !strings.HasPrefix(s.URL, "http://127.0.0.1:") {
		t.Fatalf("host %s, %s", s.Host, s.URL)
	}
	for {
		if code, _, _, err := get(t, client(t), s.URL); err == nil && code == 200 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestWithObserver(t *testing.T) {
	told := make(chan Record, 2)
	s := Serve(t, "503, reset", WithObserver(func(r Record) { told <- r }))
	for _, want := range []string{"GET /a?  -> 503", "GET /a?  -> reset"} {
		raw(t, s, "GET /a\x7f HTTP/1.1\r\nConnection: close\r\n\r\n")
		select {
		case r := <-told:
			if !r.HasDone || !strings.HasSuffix(r.String(), want) {
				t.Errorf("%s, want %s", r.String(), want)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("nothing told")
		}
	}
}
