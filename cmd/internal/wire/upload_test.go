package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/header"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
)

// echo reads requests whole and answers each with the body it got.
func echo(t *testing.T) *peer {
	return serve(t, func(c *net.TCPConn, br *bufio.Reader) {
		for {
			head := readHead(br)
			if head == "" {
				return
			}
			var body []byte
			if strings.Contains(head, "chunked") {
				body, _ = io.ReadAll(&chunkReader{br: br})
			} else if _, after, ok := strings.Cut(head, "Content-Length: "); ok {
				n := 0
				for _, d := range after[:strings.Index(after, "\r")] {
					n = n*10 + int(d-'0')
				}
				body = make([]byte, n)
				_, _ = io.ReadFull(br, body)
			}
			_, _ = c.Write(append([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), chunkOf(body)...))
		}
	})
}

func chunkOf(body []byte) []byte {
	buf := make([]byte, chunkRoom+len(body)+7)
	copy(buf[chunkRoom:], body)
	p, _ := frameChunk(buf, len(body), true)
	return p
}

func TestUpload(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<17) // 2 MiB
	name := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(name, big, 0o600); err != nil {
		t.Fatal(err)
	}
	p := echo(t)
	for kind, tt := range map[string]struct {
		body   func() io.Reader
		length int64
		want   []byte
	}{
		"small":           {func() io.Reader { return strings.NewReader("hi") }, 2, []byte("hi")},
		"empty":           {func() io.Reader { return strings.NewReader("") }, 0, nil},
		"large":           {func() io.Reader { return io.MultiReader(bytes.NewReader(big)) }, int64(len(big)), big},
		"chunked":         {func() io.Reader { return bytes.NewReader(big) }, -1, big},
		"chunked empty":   {func() io.Reader { return strings.NewReader("") }, -1, nil},
		"file":            {func() io.Reader { return openFile(t, name, 0) }, int64(len(big)), big},
		"file from":       {func() io.Reader { return openFile(t, name, 5) }, int64(len(big)) - 5, big[5:]},
		"part of a file":  {func() io.Reader { return &io.LimitedReader{R: openFile(t, name, 0), N: 1 << 20} }, 1 << 20, big[:1<<20]},
		"file as a trace": {func() io.Reader { return openFile(t, name, 0) }, int64(len(big)), big},
	} {
		t.Run(kind, func(t *testing.T) {
			c := p.dial()
			r := request("POST")
			r.Body, r.Length = tt.body(), tt.length
			r.Progress = new(atomic.Int64)
			if tt.length < 0 {
				r.Header = append(r.Header, header.Line{Name: "Transfer-Encoding", Value: "chunked"})
			} else {
				r.Header = append(r.Header, header.Line{Name: "Content-Length", Value: itoa(tt.length)})
			}
			tr := &recorder{data: kind == "file as a trace"}
			r.Trace = tr
			resp, _, err := roundTrip(context.Background(), c, r)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			if err != nil || !bytes.Equal(got, tt.want) {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
			if n := resp.Body.Uploaded(); n != int64(len(tt.want)) || r.Progress.Load() != n {
				t.Errorf("uploaded %d, progress %d", n, r.Progress.Load())
			}
			if !resp.Body.Reusable() {
				t.Error("not reusable")
			}
			if tr.data && !bytes.Equal(tr.out, tt.want) {
				t.Errorf("traced %d bytes", len(tr.out))
			}
			_ = c.Close()
		})
	}
}

func itoa(n int64) string {
	b := []byte{}
	for ; n > 0 || len(b) == 0; n /= 10 {
		b = append([]byte{byte('0' + n%10)}, b...)
	}
	return string(b)
}

func openFile(t *testing.T, name string, at int64) *os.File {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	return f
}

type recorder struct {
	data            bool
	heads, in       []string
	out, dataIn     []byte
	transport.Trace // nil: Info is not called
}

func (r *recorder) HeaderOut(b []byte) { r.heads = append(r.heads, string(b)) }
func (r *recorder) HeaderIn(b []byte)  { r.in = append(r.in, string(b)) }
func (r *recorder) DataOut(b []byte)   { r.out = append(r.out, b...) }
func (r *recorder) DataIn(b []byte)    { r.dataIn = append(r.dataIn, b...) }
func (r *recorder) WantsData() bool    { return r.data }

func TestInput(t *testing.T) {
	name := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(name, make([]byte, 200<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	for kind, tt := range map[string]struct {
		body   io.Reader
		length int64
	}{
		"small, too short": {strings.NewReader("ab"), 3},
		"small, too long":  {strings.NewReader("abcd"), 3},
		"empty, too long":  {strings.NewReader("a"), 0},
		"large, too short": {io.LimitReader(zeros{}, 100<<10), 200 << 10},
		"large, too long":  {zeros{}, 200 << 10},
		"file, too short":  {openFile(t, name, 0), 300 << 10},
		"file, too long":   {openFile(t, name, 0), 100 << 10},
		"breaks":           {io.MultiReader(io.LimitReader(zeros{}, 1000), failing{boom}), 200 << 10},
		"chunked, breaks":  {failing{boom}, -1},
	} {
		t.Run("R3/"+kind, func(t *testing.T) {
			p := serve(t, func(c *net.TCPConn, br *bufio.Reader) { _, _ = io.Copy(io.Discard, br) })
			r := request("POST")
			r.Body, r.Length = tt.body, tt.length
			_, _, err := roundTrip(context.Background(), p.dial(), r)
			checkFault(t, err, &fault1{retry.ClassInput, exitcode.Input, "request body"})
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestEarlyAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		status   string
		closes   bool
		reusable bool
	}{
		"413 and close":   {"413 Too Large", true, false},
		"503 and silence": {"503 Busy", false, false},
		"401 and reset":   {"401 Who", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			over := make(chan struct{})
			p := serve(t, func(c *net.TCPConn, br *bufio.Reader) {
				readHead(br)
				_, _ = io.WriteString(c, "HTTP/1.1 "+tt.status+"\r\nContent-Length: 3\r\n\r\nno!")
				if tt.closes {
					return
				}
				<-over
			})
			r := request("PUT")
			r.Body, r.Length = zeros{}, 1<<40
			resp, _, err := roundTrip(context.Background(), p.dial(), r)
			close(over)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if string(body) != "no!" || err != nil || resp.Body.Reusable() {
				t.Errorf("%q, %v, reusable %v", body, err, resp.Body.Reusable())
			}
			_ = resp.Body.Close()
		})
	}
	t.Run("200 lets the upload go on", func(t *testing.T) {
		p := serve(t, func(c *net.TCPConn, br *bufio.Reader) {
			readHead(br)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			_, _ = io.CopyN(io.Discard, br, 1<<20)
			_, _ = br.ReadByte()
		})
		r := request("PUT")
		r.Body, r.Length = io.LimitReader(zeros{}, 1<<20), 1<<20
		resp, _, err := roundTrip(context.Background(), p.dial(), r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(resp.Body); err != nil || !resp.Body.Reusable() || resp.Body.Uploaded() != 1<<20 {
			t.Errorf("%v, reusable %v, uploaded %d", err, resp.Body.Reusable(), resp.Body.Uploaded())
		}
		_ = resp.Body.Close()
		_ = resp.Body.src.(*flight1).c.Close()
	})
	t.Run("a body that blocks does not hold the answer", func(t *testing.T) {
		p := answering(t, "HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n")
		pr, pw := io.Pipe()
		r := request("PUT")
		r.Body, r.Length = pr, -1
		resp, _, err := roundTrip(context.Background(), p.dial(), r)
		if err != nil || resp.Status != 417 {
			t.Fatal(resp, err)
		}
		_ = resp.Body.Close()
		_ = pw.Close()
	})
}

func TestExpect(t *testing.T) {
	for name, tt := range map[string]struct {
		first, second string
		body          string // what the server must see
		status        int
		expect        time.Duration
	}{
		"continue": {"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "hello", 200, time.Minute},
		"hints":    {"HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "hello", 200, time.Minute},
		"silence":  {"", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "hello", 200, time.Millisecond},
		"417":      {"HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n", "", "", 417, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			seen := make(chan string, 1)
			p := serve(t, func(c *net.TCPConn, br *bufio.Reader) {
				readHead(br)
				_, _ = io.WriteString(c, tt.first)
				b := make([]byte, 5)
				n, _ := io.ReadFull(br, b)
				seen <- string(b[:n])
				_, _ = io.WriteString(c, tt.second)
			})
			r := request("PUT")
			r.Body, r.Length, r.Expect = strings.NewReader("hello"), 5, tt.expect
			resp, _, err := roundTrip(context.Background(), p.dial(), r)
			if err != nil || resp.Status != tt.status {
				t.Fatal(resp, err)
			}
			if _, err := io.ReadAll(resp.Body); err != nil {
				t.Error(err)
			}
			if resp.Body.Reusable() != (tt.status == 200) {
				t.Errorf("reusable %v", resp.Body.Reusable())
			}
			_ = resp.Body.Close()
			if got := <-seen; got != tt.body {
				t.Errorf("server saw %q", got)
			}
		})
	}
}

func TestExpect2(t *testing.T) {
	for name, tt := range map[string]struct {
		first  string
		status int
		expect time.Duration
	}{
		"continue": {"100", 200, time.Minute},
		"silence":  {"", 200, time.Millisecond},
		"417":      {"417", 417, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			var seen []byte
			p := serve2(t, func(p *h2peer) {
				id := p.request(false)
				if tt.first != "" {
					p.head(id, tt.first == "417", ":status", tt.first)
				}
				if p.request(true) != 0 {
					p.head(id, true, ":status", "200")
				}
				seen = p.body
			})
			r := request("PUT")
			r.Body, r.Length, r.Expect = strings.NewReader("hello"), 5, tt.expect
			c := p.dial2()
			resp, _, err := roundTrip(context.Background(), c, r)
			if err != nil || resp.Status != tt.status {
				t.Fatal(resp, err)
			}
			if _, err := io.ReadAll(resp.Body); err != nil || resp.Body.Reusable() != (tt.status == 200) {
				t.Errorf("%v, reusable %v", err, resp.Body.Reusable())
			}
			_ = resp.Body.Close()
			_ = c.Close()
			if p.wait(); (string(seen) == "hello") != (tt.status == 200) {
				t.Errorf("server saw %q", seen)
			}
		})
	}
}
