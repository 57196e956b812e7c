package cmd

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry/retrytest"
)

// ending is how a server ends a connection after what it has sent.
type ending int

const (
	endFIN    ending = iota // with TLS: close_notify first
	endUnsaid               // the end of TCP alone
	endRST
)

// cutServer answers the first connection with first and the others with the
// whole body, each connection once.
func cutServer(t *testing.T, conf *tls.Config, first string, end ending) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			raw, end := first, end
			if n > 0 {
				raw, end = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nwhole", endFIN
			}
			answerRaw(c.(*net.TCPConn), conf, raw, end)
		}
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	if conf == nil {
		return "http://" + l.Addr().String()
	}
	return "https://" + l.Addr().String()
}

// answerRaw reads one request's head, sends raw and ends the connection.
func answerRaw(tcp *net.TCPConn, conf *tls.Config, raw string, end ending) {
	defer tcp.Close()
	_ = tcp.SetDeadline(time.Now().Add(20 * time.Second))
	var c net.Conn = tcp
	if conf != nil {
		c = tls.Server(tcp, conf)
	}
	if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
		return
	}
	_, _ = io.WriteString(c, raw)
	if end == endRST {
		time.Sleep(20 * time.Millisecond) // a reset may overtake what is not yet read
		_ = tcp.SetLinger(0)
		return
	}
	if t, ok := c.(*tls.Conn); ok && end == endFIN {
		_ = t.CloseWrite()
	}
	_ = tcp.CloseWrite()
	_, _ = io.Copy(io.Discard, tcp)
}

const whole = "whole" // that the body is; another text: it was whole at once

// TestR2_2d plays a body that is cut off in each framing of HTTP/1.1, in the
// clear and over TLS, to a pipe and to a file: nothing of it is left when
// another attempt has brought the whole.
func TestR2_2d(t *testing.T) {
	p := newPKI(t)
	head := func(fields string) string { return "HTTP/1.1 200 OK\r\n" + fields + "\r\n" }
	chunked := head("Transfer-Encoding: chunked\r\n")
	for name, tt := range map[string]struct {
		first string
		end   ending
		// body is what comes out, class that of the first attempt.
		body, class string
		carrier     string // "tcp" or "tls"; "" both
	}{
		"length":                           {head("Content-Length: 10\r\n") + "half!", endFIN, whole, "truncated", ""},
		"length, nothing of it":            {head("Content-Length: 10\r\n"), endFIN, whole, "truncated", ""},
		"length, reset":                    {head("Content-Length: 10\r\n") + "half!", endRST, whole, "truncated", ""},
		"length, no close_notify":          {head("Content-Length: 10\r\n") + "half!", endUnsaid, whole, "truncated", "tls"},
		"length met, no close_notify":      {head("Content-Length: 4\r\n") + "full", endUnsaid, "full", "", "tls"},
		"length met, reset after it":       {head("Content-Length: 4\r\n") + "full", endRST, "full", "", ""},
		"chunked, in a size":               {chunked + "4\r\nhalf\r\n1", endFIN, whole, "truncated", ""},
		"chunked, in a chunk":              {chunked + "4\r\nha", endFIN, whole, "truncated", ""},
		"chunked, after a chunk":           {chunked + "4\r\nhalf\r\n", endFIN, whole, "truncated", ""},
		"chunked, in the line end":         {chunked + "4\r\nhalf\r", endFIN, whole, "truncated", ""},
		"chunked, in the last chunk":       {chunked + "4\r\nhalf\r\n0\r\n", endFIN, whole, "truncated", ""},
		"chunked, in the trailers":         {chunked + "4\r\nhalf\r\n0\r\nX-A: 1\r\n", endFIN, whole, "truncated", ""},
		"chunked, reset":                   {chunked + "4\r\nhalf\r\n", endRST, whole, "truncated", ""},
		"chunked, no close_notify":         {chunked + "4\r\nhalf\r\n", endUnsaid, whole, "truncated", "tls"},
		"chunked whole, no close_notify":   {chunked + "4\r\nfull\r\n0\r\n\r\n", endUnsaid, "full", "", "tls"},
		"to the end":                       {head("") + "full", endFIN, "full", "", ""},
		"to the end, nothing":              {head(""), endFIN, "", "", ""},
		"to the end, reset":                {head("") + "half", endRST, whole, "truncated", ""},
		"to the end, no close_notify":      {head("") + "half", endUnsaid, whole, "truncated", "tls"},
		"HTTP/1.0, to the end":             {"HTTP/1.0 200 OK\r\n\r\nfull", endFIN, "full", "", ""},
		"HTTP/1.0, no close_notify":        {"HTTP/1.0 200 OK\r\n\r\nhalf", endUnsaid, whole, "truncated", "tls"},
		"length and chunked, the chunks":   {head("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n") + "9\r\nhalf", endFIN, whole, "truncated", ""},
		"no body, no close_notify":         {"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\n", endUnsaid, "", "", ""},
		"a body under 304 is none":         {"HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n", endFIN, "", "", ""},
		"in the head":                      {"HTTP/1.1 200 OK\r\nContent-Le", endFIN, whole, "closed", ""},
		"in the head, no close_notify":     {"HTTP/1.1 200 OK\r\nContent-Le", endUnsaid, whole, "closed", "tls"},
		"in the head, after a 103":         {"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\n", endFIN, whole, "closed", ""},
		"after a 103 alone":                {"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n", endFIN, whole, "closed", ""},
		"gzip under a transfer coding cut": {head("Transfer-Encoding: gzip, chunked\r\nConnection: close\r\n") + chunkOf(coded(t, "gzip")[:20]) + "0\r\n\r\n", endFIN, whole, "truncated", ""},
	} {
		for _, carrier := range []string{"tcp", "tls"} {
			if tt.carrier != "" && tt.carrier != carrier {
				continue
			}
			var conf *tls.Config
			if carrier == "tls" {
				conf = &tls.Config{Certificates: []tls.Certificate{p.server}}
			}
			t.Run(name+"/"+carrier, func(t *testing.T) {
				checkCut(t, p, func() string { return cutServer(t, conf, tt.first, tt.end) }, tt.body, tt.class, "--tr-encoding")
			})
		}
	}
}

// checkCut runs two operations against a fresh server each: to a pipe and to a file.
func checkCut(t *testing.T, p *pki, serve func() (url string), body, class string, args ...string) {
	t.Helper()
	check := func(r result, doc render.Document, got string) {
		t.Helper()
		first, attempts := "", 1
		if c := doc.Attempts[0].Class; c != nil {
			first, attempts = *c, 2
		}
		if r.code != 0 || got != body || first != class || len(doc.Attempts) != attempts {
			t.Errorf("exit %d, %q, class %q, %d attempts: %s", r.code, got, first, len(doc.Attempts), r.stderr)
		}
	}
	r, doc := p.bide(t, append(args, serve())...)
	check(r, doc, r.stdout)
	file := filepath.Join(t.TempDir(), "out")
	writeText(t, file, "before")
	r, doc = p.bide(t, append(args, "-o", file, serve())...)
	want := readText(t, file)
	if want == "before" && body == "" {
		want = "" // a 304 leaves the file
	}
	check(r, doc, want)
	if rest, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*")); err != nil || len(rest) != 1 {
		t.Errorf("left behind: %v", rest)
	}
}

// coded is a text under a content coding.
func coded(t *testing.T, coding string) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, _ = zstd.NewWriter(&b)
	}
	if _, err := io.WriteString(w, "full"); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

func chunkOf(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// TestR2_2d_codings: the framing is whole and the content coding is not.
func TestR2_2d_codings(t *testing.T) {
	p := newPKI(t)
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		full := coded(t, coding)
		rows := map[string]struct{ content, body, class string }{
			"whole":         {full, "full", ""},
			"empty":         {"", "", ""},
			"half":          {full[:len(full)/2], whole, "truncated"},
			"but one byte":  {full[:len(full)-1], whole, "truncated"},
			"its first one": {full[:1], whole, "truncated"},
		}
		if coding == "gzip" {
			rows["two members"] = struct{ content, body, class string }{full + full, "fullfull", ""}
			rows["second member cut"] = struct{ content, body, class string }{full + full[:15], whole, "truncated"}
		}
		for name, row := range rows {
			for framing, raw := range map[string]string{
				"length":     fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(row.content), row.content),
				"chunked":    "Transfer-Encoding: chunked\r\n\r\n" + strings.TrimPrefix(chunkOf(row.content), "0\r\n\r\n") + "0\r\n\r\n",
				"to the end": "\r\n" + row.content,
			} {
				t.Run(coding+"/"+name+"/"+framing, func(t *testing.T) {
					first := "HTTP/1.1 200 OK\r\nContent-Encoding: " + coding + "\r\n" + raw
					checkCut(t, p, func() string { return cutServer(t, nil, first, endFIN) }, row.body, row.class, "--compressed")
				})
			}
		}
		t.Run(coding+"/garbage after it", func(t *testing.T) {
			first := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%sgarbage", coding, len(full)+7, full)
			r, doc := p.bide(t, "--compressed", cutServer(t, nil, first, endFIN))
			if r.code != 61 || r.stdout != "" || len(doc.Attempts) != 1 {
				t.Errorf("exit %d, %q, %d attempts: %s", r.code, r.stdout, len(doc.Attempts), r.stderr)
			}
		})
	}
}

// TestR2_2d_http2: END_STREAM, and as many bytes as announced, or it is not whole.
func TestR2_2d_http2(t *testing.T) {
	p := newPKI(t)
	for name, tt := range map[string]struct{ script, body, class string }{
		"reset":              {"200 size=20B rst-stream=INTERNAL_ERROR", whole, "truncated"},
		"reset, CANCEL":      {"200 size=20B rst-stream=CANCEL", whole, "truncated"},
		"reset, NO_ERROR":    {"200 size=20B rst-stream=NO_ERROR", whole, "truncated"},
		"reset, no length":   {"200 no-length size=20B rst-stream=NO_ERROR", whole, "truncated"},
		"closed":             {"200 size=20B truncate=10B", whole, "truncated"},
		"closed, no length":  {"200 no-length size=20B truncate=10B", whole, "truncated"},
		"closed at the end":  {"200 no-length size=20B truncate=20B", whole, "truncated"},
		"connection reset":   {"200 size=20B reset", whole, "truncated"},
		"GOAWAY and closed":  {"200 size=20B truncate=10B", whole, "truncated"},
		"less than length":   {"200 header='Content-Length: 20' body=0123456789", whole, "truncated"},
		"nothing of it":      {"200 header='Content-Length: 20' body=", whole, "truncated"},
		"gzip, its start":    {"200 header='Content-Encoding: gzip' body=\"\\x1f\\x8b\\x08\"", whole, "truncated"},
		"empty gzip":         {"200 header='Content-Encoding: gzip' body=", "", ""},
		"whole, then GOAWAY": {"200 body=full goaway", "full", ""},
	} {
		for _, carrier := range carriers()[2:] {
			t.Run(name+"/"+carrier.name, func(t *testing.T) {
				serve := func() string {
					s := retrytest.Serve(t, tt.script+", 200 body=whole", carrier.opts...)
					if pem := s.CACert(); pem != nil {
						writeText(t, filepath.Join(p.dir, "ca.pem"), string(pem))
					}
					return s.URL
				}
				checkCut(t, p, serve, tt.body, tt.class, append([]string{"--compressed"}, carrier.args...)...)
			})
		}
	}
	t.Run("more than length is not HTTP", func(t *testing.T) {
		s := retrytest.Serve(t, "200 header='Content-Length: 5' body=0123456789", retrytest.WithHTTP2())
		r, doc := p.bide(t, "--http2-prior-knowledge", s.URL)
		if r.code != 92 || r.stdout != "" || *doc.Attempts[0].Class != "protocol" {
			t.Errorf("exit %d, %q: %s", r.code, r.stdout, r.stderr)
		}
	})
}

// TestR2_2d_http3 is the same on HTTP/3.
func TestR2_2d_http3(t *testing.T) {
	p := newPKI(t)
	half := func(w http.ResponseWriter, text string) {
		_, _ = io.WriteString(w, text)
		w.(http.Flusher).Flush()
		time.Sleep(50 * time.Millisecond) // what comes next may overtake it
	}
	for name, tt := range map[string]struct {
		first       func(w http.ResponseWriter, r *http.Request)
		body, class string
	}{
		"reset": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			half(w, "half!")
			panic(http.ErrAbortHandler)
		}, whole, "truncated"},
		"reset, no length": {func(w http.ResponseWriter, _ *http.Request) {
			half(w, "half!")
			panic(http.ErrAbortHandler)
		}, whole, "truncated"},
		"reset, NO_ERROR": {func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			if stream, err := w.(http3.HTTPStreamer).HTTPStream(); err == nil {
				_, _ = io.WriteString(stream, "half!")
				time.Sleep(50 * time.Millisecond)
				stream.CancelWrite(quic.StreamErrorCode(http3.ErrCodeNoError))
			}
		}, whole, "truncated"},
		"connection closed": {func(w http.ResponseWriter, r *http.Request) {
			half(w, "half!")
			_ = r.Context().Value(quicConn{}).(*quic.Conn).CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
		}, whole, "truncated"},
		"less than length": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			half(w, "half!")
		}, whole, "truncated"},
		"nothing of it": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			half(w, "")
		}, whole, "truncated"},
		"gzip, its start": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			half(w, coded(t, "gzip")[:15])
		}, whole, "truncated"},
		"whole": {func(w http.ResponseWriter, _ *http.Request) { half(w, "full") }, "full", ""},
	} {
		t.Run(name, func(t *testing.T) {
			serve := func() string {
				var requests atomic.Int64
				port := p.serveHTTP3(t, func(w http.ResponseWriter, r *http.Request) {
					if requests.Add(1) == 1 {
						tt.first(w, r)
						return
					}
					_, _ = io.WriteString(w, whole)
				})
				return "https://localhost:" + port
			}
			checkCut(t, p, serve, tt.body, tt.class, "--http3-only", "--compressed")
		})
	}
	t.Run("more than length is not HTTP", func(t *testing.T) {
		port := p.serveHTTP3(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "5")
			w.(http.Flusher).Flush()
			if stream, err := w.(http3.HTTPStreamer).HTTPStream(); err == nil {
				_, _ = io.WriteString(stream, "0123456789")
				_ = stream.Close()
			}
		})
		r, doc := p.bide(t, "--http3-only", "https://localhost:"+port)
		if r.code != 95 || r.stdout != "" || *doc.Attempts[0].Class != "protocol" {
			t.Errorf("exit %d, %q: %s", r.code, r.stdout, r.stderr)
		}
	})
}

// quicConn is the key of a request's connection.
type quicConn struct{}

func withQUICConn(ctx context.Context, c *quic.Conn) context.Context {
	return context.WithValue(ctx, quicConn{}, c)
}
