package cmd

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/bidehttp/bide/render"
)

// serveHTTP3 serves h by QUIC and gives the port.
func (p *pki) serveHTTP3(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	s := &http3.Server{Handler: h, ConnContext: withQUICConn, TLSConfig: http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{p.server}})}
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(udp) }()
	t.Cleanup(func() {
		_ = s.Close()
		_ = udp.Close()
		<-done
	})
	_, port, _ := net.SplitHostPort(udp.LocalAddr().String())
	return port
}

// rejectWith ends the stream before any answer.
func rejectWith(w http.ResponseWriter, code http3.ErrCode) {
	stream, err := w.(http3.HTTPStreamer).HTTPStream()
	if err == nil {
		stream.CancelRead(quic.StreamErrorCode(code))
		stream.CancelWrite(quic.StreamErrorCode(code))
	}
}

func (p *pki) bide(t *testing.T, args ...string) (result, render.Document) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "timeline.json")
	r := runMain(t, append([]string{"-q", "-sS", "--base", "1ms", "--cacert", filepath.Join(p.dir, "ca.pem"), "--timeline-file", file}, args...)...)
	var doc render.Document
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	if err := json.Unmarshal([]byte(first), &doc); err != nil {
		t.Fatalf("%v: %q, %s", err, first, r.stderr)
	}
	return r, doc
}

func TestHTTP3(t *testing.T) {
	p := newPKI(t)
	var seen, calls atomic.Int64
	port := p.serveHTTP3(t, func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/echo":
			fmt.Fprintf(w, "%s %s %s %s %q %d %q", r.Method, r.Host, r.RequestURI, r.Header.Get("User-Agent"), r.Header["X-A"], r.ContentLength, body)
		case "/busy":
			if calls.Add(1) == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		case "/rejected":
			if calls.Add(1) == 1 {
				rejectWith(w, http3.ErrCodeRequestRejected)
				return
			}
			fmt.Fprint(w, "done")
		case "/cut":
			w.Header().Set("Content-Length", "10")
			fmt.Fprint(w, "half")
			w.(http.Flusher).Flush()
			// A reset may overtake what is not yet read, the head too.
			time.Sleep(100 * time.Millisecond)
			panic(http.ErrAbortHandler) // resets the stream
		case "/short":
			w.Header().Set("Content-Length", "10")
			fmt.Fprint(w, "half")
		case "/internal":
			rejectWith(w, http3.ErrCodeInternalError)
		case "/early":
			w.WriteHeader(http.StatusEarlyHints)
			fmt.Fprint(w, "late")
		case "/trailer":
			w.Header().Set("Trailer", "X-End")
			fmt.Fprint(w, "body")
			w.Header().Set("X-End", "yes")
		}
	})
	url := "https://localhost:" + port
	for name, tt := range map[string]struct {
		args     []string
		code     int
		stdout   string
		class    string // of the first attempt
		sent     string
		attempts int
	}{
		"get":                          {[]string{"-A", "agent", "-H", "x-a: 1", "-H", "X-A: 2", url + "/echo?q=%2f"}, 0, `GET localhost:` + port + ` /echo?q=%2f agent ["1" "2"] -1 ""`, "", "maybe", 1},
		"no_agent":                     {[]string{"-A", "", url + "/echo"}, 0, `GET localhost:` + port + ` /echo  [] -1 ""`, "", "maybe", 1},
		"post":                         {[]string{"-A", "a", "-d", "hello", url + "/echo"}, 0, `POST localhost:` + port + ` /echo a [] 5 "hello"`, "", "maybe", 1},
		"post_empty":                   {[]string{"-A", "a", "-X", "POST", url + "/echo"}, 0, `POST localhost:` + port + ` /echo a [] 0 ""`, "", "maybe", 1},
		"host":                         {[]string{"-A", "a", "-H", "Host: other.test", url + "/echo"}, 0, `GET other.test /echo a [] -1 ""`, "", "maybe", 1},
		"head":                         {[]string{"-I", "-o", "/dev/null", "-w", "%{http_version} %{http_code}", url + "/echo"}, 0, "3 200", "", "maybe", 1},
		"R3.1_rejected_is_sent_again":  {[]string{"-d", "x", url + "/rejected"}, 0, "done", "refused", "unprocessed", 2},
		"status_is_retried":            {[]string{url + "/busy"}, 0, "", "status", "maybe", 2},
		"R2.2_cut":                     {[]string{"--attempts", "1", url + "/cut"}, 95, "", "truncated", "maybe", 1},
		"R2.2_short":                   {[]string{"--attempts", "1", url + "/short"}, 18, "", "truncated", "maybe", 1},
		"R3.2_closed_post_is_not_sent": {[]string{"-d", "x", url + "/internal"}, 95, "", "closed", "maybe", 1},
		"closed_get_is_sent_again":     {[]string{"--attempts", "2", url + "/internal"}, 95, "", "closed", "maybe", 2},
		"early_hints":                  {[]string{"-D", "/dev/null", url + "/early"}, 0, "late", "", "maybe", 1},
		"trailer":                      {[]string{url + "/trailer"}, 0, "body", "", "maybe", 1},
	} {
		t.Run(name, func(t *testing.T) {
			seen.Store(0)
			calls.Store(0)
			r, doc := p.bide(t, append([]string{"--http3-only"}, tt.args...)...)
			if r.code != tt.code || r.stdout != tt.stdout {
				t.Errorf("exit %d, %q (%s); want %d, %q", r.code, r.stdout, r.stderr, tt.code, tt.stdout)
			}
			first := doc.Attempts[0]
			class := ""
			if first.Class != nil {
				class = *first.Class
			}
			if class != tt.class || first.Sent != tt.sent || len(doc.Attempts) != tt.attempts {
				t.Errorf("class %q, sent %q, %d attempts; want %q, %q, %d", class, first.Sent, len(doc.Attempts), tt.class, tt.sent, tt.attempts)
			}
			hops := 0
			for _, a := range doc.Attempts {
				hops += len(a.Hops)
				for _, h := range a.Hops {
					if h.Status != nil && (h.Protocol == nil || *h.Protocol != "HTTP/3") {
						t.Errorf("protocol %v", h.Protocol)
					}
				}
			}
			if int64(hops) != seen.Load() {
				t.Errorf("R1.1: %d hops, %d requests at the server", hops, seen.Load())
			}
		})
	}
	t.Run("one_connection", func(t *testing.T) {
		r := runMain(t, "-q", "-s", "--cacert", filepath.Join(p.dir, "ca.pem"), "--http3", "-o", "/dev/null", "-o", "/dev/null", "-w", "%{num_connects},", url+"/echo", url+"/echo")
		if r.stdout != "1,0," {
			t.Errorf("connections made: %s", r.stdout)
		}
	})
}

// TestHTTP3Connections holds what happens where HTTP/3 cannot be had.
func TestHTTP3Connections(t *testing.T) {
	p := newPKI(t)
	var requests atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		fmt.Fprint(w, r.Proto)
	}))
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{Certificates: []tls.Certificate{p.server}}
	s.StartTLS()
	defer s.Close()
	tcp := s.Listener.Addr().(*net.TCPAddr)
	url := "https://" + tcp.String()
	quicPort := p.serveHTTP3(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "quic") })

	t.Run("falls_back_when_refused", func(t *testing.T) {
		requests.Store(0)
		r, doc := p.bide(t, "--http3", url)
		if r.stdout != "HTTP/2.0" || requests.Load() != 1 || len(doc.Attempts[0].Hops) != 1 || len(doc.Attempts[0].Connections) != 2 {
			t.Errorf("%q %s, %d requests, %d hops, connections %v", r.stdout, r.stderr, requests.Load(), len(doc.Attempts[0].Hops), doc.Attempts[0].Connections)
		}
	})
	t.Run("falls_back_when_silent", func(t *testing.T) {
		silent, err := net.ListenUDP("udp", &net.UDPAddr{IP: tcp.IP, Port: tcp.Port})
		if err != nil {
			t.Skip(err)
		}
		defer silent.Close()
		if r, _ := p.bide(t, "--http3", "--happy-eyeballs-timeout-ms", "20", url); r.stdout != "HTTP/2.0" {
			t.Errorf("%q %s", r.stdout, r.stderr)
		}
	})
	for name, tt := range map[string]struct {
		code int
		args []string
	}{
		"only_refused":      {7, []string{"--http3-only", url}},
		"only_http":         {3, []string{"--http3-only", "http://" + tcp.String()}},
		"only_over_a_proxy": {3, []string{"--http3-only", "-x", "127.0.0.1:1", url}},
		"untrusted":         {60, []string{"--http3-only", "--cacert", filepath.Join(p.dir, "client.pem"), "https://127.0.0.1:" + quicPort}},
		"wrong_name":        {60, []string{"--http3-only", "--resolve", "other.test:" + quicPort + ":127.0.0.1", "https://other.test:" + quicPort}},
		"pin":               {90, []string{"--http3-only", "--pinnedpubkey", "sha256//AAAA", "https://127.0.0.1:" + quicPort}},
		"tls1.2":            {35, []string{"--http3-only", "--tls-max", "1.2", "https://127.0.0.1:" + quicPort}},
		"connect_to":        {0, []string{"--http3-only", "--connect-to", "localhost:443:127.0.0.1:" + quicPort, "https://localhost/"}},
		"interface":         {0, []string{"--http3-only", "--interface", "127.0.0.1", "https://127.0.0.1:" + quicPort}},
	} {
		t.Run(name, func(t *testing.T) {
			if r, _ := p.bide(t, append([]string{"--attempts", "1"}, tt.args...)...); r.code != tt.code {
				t.Errorf("exit %d, want %d: %s", r.code, tt.code, r.stderr)
			}
		})
	}
	t.Run("plain_http_is_plain", func(t *testing.T) {
		plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }))
		defer plain.Close()
		if r, _ := p.bide(t, "--http3", plain.URL); r.stdout != "HTTP/1.1" {
			t.Errorf("%q %s", r.stdout, r.stderr)
		}
	})
}

// TestHTTP3Canceled: a signal during the answer ends the attempt.
func TestHTTP3Canceled(t *testing.T) {
	p := newPKI(t)
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	port := p.serveHTTP3(t, func(http.ResponseWriter, *http.Request) { cancel(); <-release })
	defer close(release)
	env, _, _ := testEnv("-q", "-s", "--cacert", filepath.Join(p.dir, "ca.pem"), "--http3-only", "https://localhost:"+port)
	if code := Main(ctx, env); code != 130 {
		t.Errorf("exit %d", code)
	}
}

// TestR2_2b_http3: an answer that overtakes the upload, which then goes on, is
// not wanted any more, or breaks off.
func TestR2_2b_http3(t *testing.T) {
	p := newPKI(t)
	const size = 3 << 20
	file := filepath.Join(t.TempDir(), "body")
	writeText(t, file, strings.Repeat("0123456789abcdef", size/16))
	var read atomic.Int64
	early := func(w http.ResponseWriter) {
		fmt.Fprint(w, "early")
		w.(http.Flusher).Flush()
	}
	port := p.serveHTTP3(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ended" {
			early(w)
		}
		switch r.URL.Path {
		case "/reads":
			n, _ := io.Copy(io.Discard, r.Body)
			read.Store(n)
		case "/ended":
			w.(http.Flusher).Flush()
			stream, err := w.(http3.HTTPStreamer).HTTPStream()
			if err != nil {
				return
			}
			_, _ = io.WriteString(stream, "early")
			_ = stream.Close() // the answer is whole
			_, _ = io.Copy(io.Discard, stream)
		case "/lost":
			time.Sleep(50 * time.Millisecond)
			_ = r.Context().Value(quicConn{}).(*quic.Conn).CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeInternalError), "")
		}
	})
	for path, tt := range map[string]struct {
		code int
		sent bool // all of it
		read int64
	}{"/reads": {0, true, size}, "/ended": {0, true, 0}, "/unread": {0, false, 0}, "/lost": {95, false, 0}} {
		t.Run(path, func(t *testing.T) {
			read.Store(0)
			r, doc := p.bide(t, "--http3-only", "--attempts", "1", "-T", file, "https://localhost:"+port+path)
			sent := doc.Attempts[0].SentBytes
			if r.code != tt.code || tt.code == 0 && r.stdout != "early" || (sent == size) != tt.sent || read.Load() != tt.read {
				t.Errorf("exit %d, %q, %d sent, %d read: %s", r.code, r.stdout, sent, read.Load(), r.stderr)
			}
		})
	}
}
