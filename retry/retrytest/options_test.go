package retrytest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// raw sends text on a new connection and gives all that comes back until the
// server closes it.
func raw(t *testing.T, s *Server, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", net.JoinHostPort(s.Host, s.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(c) // a reset after the answer is the test's business
	return string(b)
}

const ask = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

// Answers are the same bytes whatever the client is: date=none leaves nothing that moves.
func TestStep_bytes(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "order.json"), []byte(`{"ok":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const tail = "Connection: close\r\n\r\n"
	for _, tt := range []struct{ name, script, request, want string }{
		{"status", "503", ask, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 24\r\n" + tail + "503 Service Unavailable\n"},
		{"several Retry-After", "429 retry-after=2 retry-after=raw:soon body=''", ask, "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 2\r\nRetry-After: soon\r\nContent-Length: 0\r\n" + tail},
		{"fields", `200 body=x age=30 location=/next etag='"a"' header='content-type: a/b' reason=Fine`, ask, "HTTP/1.1 200 Fine\r\nETag: \"a\"\r\nAge: 30\r\nLocation: /next\r\ncontent-type: a/b\r\nContent-Length: 1\r\n" + tail + "x"},
		{"file", "200 body=@order.json", ask, "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 11\r\n" + tail + `{"ok":true}`},
		{"size", "200 size=20B", ask, "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 20\r\n" + tail + "000000000000000\n0000"},
		{"chunked with trailer", "200 body=abc chunked trailer='X-Sum: 1'", ask, "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n" + tail + "3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n"},
		{"no-length", "200 body=abc no-length", ask, "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n" + tail + "abc"},
		{"HTTP/1.0", "200 body=abc http=1.0", strings.Replace(ask, "Connection: close\r\n", "", 1), "HTTP/1.0 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\n" + tail + "abc"},
		{"HEAD", "200 body=abc", strings.Replace(ask, "GET", "HEAD", 1), "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\n" + tail},
		{"204", "204", ask, "HTTP/1.1 204 No Content\r\n" + tail},
		{"304 with a length", "304 header='Content-Length: 100'", ask, "HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n" + tail},
		{"1xx", "103 header='Link: </a>', 200 body=x", ask, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 1\r\n" + tail + "x"},
		{"truncate", "200 body=abcdef truncate=2B", ask, "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 6\r\n" + tail + "ab"},
		{"close-after in the head", "200 close-after=12B", ask, "HTTP/1.1 200"},
		{"broken chunk", "200 body=abcd chunked garbage", ask, "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nTransfer-Encoding: chunked\r\n" + tail + "2\r\nab\r\nthis is no chunk size\r\n"},
		{"raw", `raw="HTTP/1.1 200 OK\r\nX: \x01\r\n"`, ask, "HTTP/1.1 200 OK\r\nX: \x01\r\n"},
		{"drip", "200 body=abcdef drip=2B/1ms", ask, "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 6\r\n" + tail + "abcdef"},
		{"stall in the body", "200 body=abcdef stall=1ms", ask, "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 6\r\n" + tail + "abcdef"},
		{"not HTTP", "200", "GET /\r\n\r\n", "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 18\r\n" + tail + "malformed request\n"},
		{"no route", "/x: 200", ask, "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 23\r\n" + tail + "no route in the script\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := Serve(t, tt.script, WithDir(dir))
			got := raw(t, s, tt.request)
			for _, line := range strings.SplitAfter(got, "\r\n") {
				if strings.HasPrefix(line, "Date: ") {
					got = strings.Replace(got, line, "", 1)
				}
			}
			if got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestStep_dates(t *testing.T) {
	s := Serve(t, "429 retry-after=date+120s date=-90s, 429 retry-after=rfc850+60s, 429 retry-after=asctime-60s, 429 date=none")
	c := client(t)
	for i, want := range []struct {
		layout    string
		from, off time.Duration
	}{{http.TimeFormat, -90 * time.Second, 120 * time.Second}, {"Monday, 02-Jan-06 15:04:05 GMT", 0, time.Minute}, {time.ANSIC, 0, -time.Minute}} {
		_, _, head, err := get(t, c, s.URL)
		if err != nil {
			t.Fatal(err)
		}
		date, err := time.Parse(http.TimeFormat, head.Get("Date"))
		if err != nil {
			t.Fatal(err)
		}
		after, err := time.Parse(want.layout, head.Get("Retry-After"))
		if err != nil || after.Sub(date) != want.off {
			t.Errorf("%d: %v after Date, want %v (%v)", i, after.Sub(date), want.off, err)
		}
		if skew := time.Until(date) - want.from; skew < -time.Minute || skew > time.Minute {
			t.Errorf("%d: Date is off by %v", i, skew)
		}
	}
	if _, _, head, _ := get(t, c, s.URL); head.Get("Date") != "" {
		t.Error("there is a Date")
	}
	if r := s.Log().Records; r[0].Asked < 119*time.Second || r[0].Asked > 120*time.Second || r[2].Asked != 0 || !r[2].HasAsked || r[3].HasAsked {
		t.Errorf("asked %v %v %v", r[0].Asked, r[2].Asked, r[3].HasAsked)
	}
}

func TestStep_ranges(t *testing.T) {
	s := Serve(t, `200 size=100B etag='"a"' ranges`)
	for _, tt := range []struct {
		rang, cond string
		status     int
		content    string
		from, to   int
	}{
		{"bytes=10-", "", 206, "bytes 10-99/100", 10, 100},
		{"bytes=10-19", `"a"`, 206, "bytes 10-19/100", 10, 20},
		{"bytes=-5", "", 206, "bytes 95-99/100", 95, 100},
		{"bytes=90-200", "", 206, "bytes 90-99/100", 90, 100},
		{"bytes=10-", `"b"`, 200, "", 0, 100},
		{"bytes=100-", "", 416, "bytes */100", 0, 0},
		{"bytes=-0", "", 416, "bytes */100", 0, 0},
		{"bytes=1-2,4-5", "", 200, "", 0, 100},
		{"bytes=x", "", 200, "", 0, 100},
		{"", "", 200, "", 0, 100},
	} {
		t.Run(tt.rang+tt.cond, func(t *testing.T) {
			req, _ := http.NewRequest("GET", s.URL, nil)
			if tt.rang != "" {
				req.Header.Set("Range", tt.rang)
			}
			if tt.cond != "" {
				req.Header.Set("If-Range", tt.cond)
			}
			resp, err := client(t).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || resp.StatusCode != tt.status || resp.Header.Get("Content-Range") != tt.content || !bytes.Equal(body, Pattern(100)[tt.from:tt.to]) {
				t.Errorf("%d %q %q %v", resp.StatusCode, resp.Header.Get("Content-Range"), body, err)
			}
		})
	}
}

func TestStep_expect(t *testing.T) {
	const head = "PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n\r\n"
	for _, tt := range []struct{ script, first string }{
		{"201", "HTTP/1.1 100 Continue\r\n"},
		{"413 read=0B", "HTTP/1.1 413 Content Too Large\r\n"},
	} {
		t.Run(tt.script, func(t *testing.T) {
			s := Serve(t, tt.script)
			c, err := net.Dial("tcp", s.Host+":"+s.Port)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			_, _ = io.WriteString(c, head)
			br := bufio.NewReader(c)
			if line, err := br.ReadString('\n'); line != strings.Replace(tt.first, "Content Too Large", http.StatusText(http.StatusRequestEntityTooLarge), 1) {
				t.Fatalf("%q %v", line, err)
			}
			_, _ = io.WriteString(c, "body")
			if _, err := io.ReadAll(br); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Run("ignored", func(t *testing.T) {
		s := Serve(t, "201 ignore-expect")
		if got := raw(t, s, head+"body"); !strings.HasPrefix(got, "HTTP/1.1 201 Created\r\n") {
			t.Errorf("%q", got)
		}
		s.Log().Check(t, "body=body")
	})
}

func TestRecord_as_received(t *testing.T) {
	s := Serve(t, "200")
	raw(t, s, "POST /a%20b?q=%41 HTTP/1.1\r\nhOST: x\r\nX-b:  2 \r\nx-A: 1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3;ext\r\nabc\r\n0\r\nX-T: 9\r\n\r\n")
	r := s.Log().Records[0]
	if got := fmt.Sprint(r.Header); got != "[{hOST x} {X-b 2} {x-A 1} {Transfer-Encoding chunked} {Connection close}]" {
		t.Errorf("header %s", got)
	}
	if r.Target != "/a%20b?q=%41" || r.Path != "/a%20b" || string(r.Body) != "abc" || r.BodyBytes != 3 || fmt.Sprint(r.Trailer) != "[{X-T 9}]" {
		t.Errorf("record %+v", r)
	}
	if r.BodySHA256 != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("sha256 %s", r.BodySHA256)
	}
	if !bytes.HasPrefix(r.RawHead, []byte("POST /a%20b?q=%41 HTTP/1.1\r\nhOST: x\r\nX-b:  2 \r\n")) {
		t.Errorf("raw %q", r.RawHead)
	}
}

func TestRecord_keeps_one_MiB_of_a_body(t *testing.T) {
	s := Serve(t, "200")
	sent := Pattern(3 << 20)
	resp, err := client(t).Post(s.URL, "text/plain", bytes.NewReader(sent))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if r := s.Log().Records[0]; r.BodyBytes != 3<<20 || !bytes.Equal(r.Body, sent[:1<<20]) {
		t.Errorf("%d bytes, %d kept", r.BodyBytes, len(r.Body))
	}
}

func TestWithBriefLog(t *testing.T) {
	whole := make(chan int, 1)
	control := func(_ *Server, r *Record) Reply { whole <- len(r.Body); return Reply{Status: 204} }
	s := Serve(t, "200", WithBriefLog(), WithControl("/ctl", control))
	sent := Pattern(2 << 20)
	for _, path := range []string{"/", "/ctl"} {
		resp, err := client(t).Post(s.URL+path, "text/plain", bytes.NewReader(sent))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	if n := <-whole; n != 1<<20 {
		t.Errorf("the control function gets %d bytes", n)
	}
	l := s.Log()
	if r := l.Records[0]; len(r.Body) > 1000 || r.RawHead != nil || r.BodyBytes != 2<<20 || r.Get("Content-Type") != "text/plain" {
		t.Errorf("%d bytes of the body are kept, head %q", len(r.Body), r.RawHead)
	}
	l.Check(t, "body="+string(sent))
	if r := l.Verify("body=" + string(sent[:1<<20]))[0]; r.OK || !strings.Contains(r.Detail, string(sent[:15])) {
		t.Errorf("%+v", r)
	}
}

// The cost of a head grows with its length, not with its square.
func TestReadHead_of_many_lines(t *testing.T) {
	const lines = 10_000
	head := "GET / HTTP/1.1\r\n" + strings.Repeat("a: b\r\n", lines) + "\r\n"
	n := testing.AllocsPerRun(1, func() {
		var r Record
		if err := readHead(bufio.NewReader(strings.NewReader(head)), &r); err != nil || len(r.Header) != lines {
			t.Errorf("%d fields: %v", len(r.Header), err)
		}
	})
	if n > lines/10 {
		t.Errorf("%v allocations for %d lines", n, lines)
	}
}

func TestServe_closes_a_kept_alive_connection_after_the_request(t *testing.T) {
	s := Serve(t, "200, close, 200")
	c := client(t)
	for i := range 2 {
		resp, err := c.Post(s.URL, "text/plain", strings.NewReader("x"))
		if (err != nil) != (i == 1) {
			t.Fatalf("request %d: %v", i, err)
		}
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	}
	s.Log().Check(t, "statuses=200,close", "connections=1")
}

// The client is still sending: it must see an end, or the answer, and no reset.
func TestStep_read_leaves_the_body(t *testing.T) {
	for script, want := range map[string]int{"close read=10B": 0, "413 read=10B": 413, "413 read=0B": 413} {
		t.Run(script, func(t *testing.T) {
			s := Serve(t, script)
			c, err := net.Dial("tcp", net.JoinHostPort(s.Host, s.Port))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
			_, _ = c.Write(Pattern(200_000))
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			switch {
			case err == nil:
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != want || !resp.Close {
					t.Errorf("%d, close %v", resp.StatusCode, resp.Close)
				}
			case want != 0 || !errors.Is(err, io.ErrUnexpectedEOF):
				t.Errorf("%v", err)
			}
			if r := s.Log().Records[0]; r.BodyComplete || r.BodyBytes > 10 {
				t.Errorf("%d bytes read", r.BodyBytes)
			}
		})
	}
}

func TestWithConnections(t *testing.T) {
	s := Serve(t, "200", WithTLS(), WithConnections("reset, close, garbage, ok"))
	tr := &http.Transport{TLSClientConfig: tlsConfig(t, s)}
	t.Cleanup(tr.CloseIdleConnections)
	c := &http.Client{Transport: tr, Timeout: 20 * time.Second}
	for _, want := range []string{"reset", "EOF", "tls", ""} {
		_, _, _, err := get(t, c, s.URL)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	s.Log().Check(t, "requests=1", "connections=4")
	if _, err := New("200", WithConnections("ok,nonsense")); err == nil {
		t.Error("nonsense was taken")
	}
}

func TestWithListenDelay(t *testing.T) {
	s := Serve(t, "200", WithListenDelay(100*time.Millisecond))
	if _, _, _, err := get(t, client(t), s.URL); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Fatalf("first: %v", err)
	}
	for range 200 {
		if status, _, _, err := get(t, client(t), s.URL); err == nil && status == 200 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("never listened")
}

func TestServer_Close_ends_what_hangs(t *testing.T) {
	for _, script := range []string{"stall=inf", "200 size=10MB drip=1B/1h", "200 delay=1h"} {
		s := Serve(t, script)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _, _, _ = get(t, client(t), s.URL)
		}()
		for len(s.Log().Records) == 0 {
			time.Sleep(time.Millisecond)
		}
		s.Close()
		<-done
	}
}

// TestWithListenDelayKeepsThePort: until the server listens, connections are
// refused and nobody else gets its port.
func TestWithListenDelayKeepsThePort(t *testing.T) {
	s := Serve(t, "200", WithListenDelay(time.Hour))
	addr := net.JoinHostPort(s.Host, s.Port)
	if c, err := net.Dial("tcp", addr); err == nil {
		_ = c.Close()
		t.Error("a connection before it listens")
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return
	}
	_ = l.Close()
	if runtime.GOOS == "linux" {
		t.Error("the port was to be had")
	}
}
