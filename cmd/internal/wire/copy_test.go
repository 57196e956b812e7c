package wire

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// pattern is a body whose bytes depend on their place.
func pattern(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

// giving answers every request with body, in one of the framings.
func giving(t testing.TB, body []byte, framing string, cut int) *peer {
	return serve(t, func(c *net.TCPConn, br *bufio.Reader) {
		readHead(br)
		switch framing {
		case "length":
			_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(body))
			_, _ = c.Write(body[:len(body)-cut])
		case "close":
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			_, _ = c.Write(body)
		case "chunked":
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
			for b := body; len(b) > 0; b = b[min(len(b), 10000):] {
				p := chunkOf(b[:min(len(b), 10000)])
				_, _ = c.Write(p[:len(p)-5])
			}
			_, _ = io.WriteString(c, "0\r\n\r\n")
		}
	})
}

func TestWriteTo(t *testing.T) {
	body := pattern(3<<20 + 17)
	sum := sha256.Sum256(body)
	for _, framing := range []string{"length", "close", "chunked"} {
		for _, kind := range []string{"file", "append", "pipe", "buffer", "traced"} {
			t.Run(framing+" to "+kind, func(t *testing.T) {
				p := giving(t, body, framing, 0)
				r := request("GET")
				if kind == "traced" {
					r.Trace = &recorder{data: true}
				}
				resp, _, err := roundTrip(context.Background(), p.dial(), r)
				if err != nil {
					t.Fatal(err)
				}
				got, n, err := collect(t, resp.Body, kind)
				if err != nil || n != int64(len(body)) || sha256.Sum256(got) != sum || resp.Body.Received() != n {
					t.Errorf("%d bytes (%d there, %d received), %v", n, len(got), resp.Body.Received(), err)
				}
				if resp.Body.Reusable() != (framing != "close") {
					t.Errorf("reusable %v", resp.Body.Reusable())
				}
				if tr, ok := r.Trace.(*recorder); ok && sha256.Sum256(tr.dataIn) != sum {
					t.Errorf("traced %d bytes", len(tr.dataIn))
				}
				if n, err := resp.Body.WriteTo(io.Discard); n != 0 || err != nil {
					t.Errorf("again: %d, %v", n, err)
				}
				_ = resp.Body.Close()
			})
		}
	}
}

// collect copies a body to a kind of output and gives what arrived there.
func collect(t *testing.T, b *Body, kind string) ([]byte, int64, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "out")
	switch kind {
	case "pipe":
		pr, pw, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer pr.Close()
		got := make(chan []byte)
		go func() { b, _ := io.ReadAll(pr); got <- b }()
		n, err := b.WriteTo(pw)
		_ = pw.Close()
		return <-got, n, err
	case "buffer", "traced":
		var out bytes.Buffer
		n, err := b.WriteTo(&out)
		return out.Bytes(), n, err
	}
	flag := os.O_CREATE | os.O_WRONLY
	if kind == "append" {
		flag |= os.O_APPEND
	}
	f, err := os.OpenFile(name, flag, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, err := b.WriteTo(f)
	got, rerr := os.ReadFile(name)
	if rerr != nil {
		t.Fatal(rerr)
	}
	return got, n, err
}

func TestWriteToFaults(t *testing.T) {
	body := pattern(1 << 20)
	t.Run("C1/cut in a spliced body", func(t *testing.T) {
		p := giving(t, body, "length", 1000)
		resp, _, err := roundTrip(context.Background(), p.dial(), request("GET"))
		if err != nil {
			t.Fatal(err)
		}
		got, n, err := collect(t, resp.Body, "file")
		checkFault(t, err, &fault1{retry.ClassTruncated, exitcode.Truncated, "1000 bytes remaining"})
		if !bytes.Equal(got, body[:len(body)-1000]) || n != int64(len(got)) {
			t.Errorf("%d bytes there, %d told", len(got), n)
		}
		_ = resp.Body.Close()
	})
	t.Run("E8/output full", func(t *testing.T) {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip("no /dev/full here")
		}
		defer full.Close()
		p := giving(t, body, "length", 0)
		resp, _, err := roundTrip(context.Background(), p.dial(), request("GET"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = resp.Body.WriteTo(full)
		var pe *os.PathError
		if !errors.As(err, &pe) {
			t.Errorf("error %v (%T)", err, err)
		}
		_ = resp.Body.Close()
	})
	t.Run("F7/output closed", func(t *testing.T) {
		pr, pw, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = pr.Close()
		defer pw.Close()
		p := giving(t, body, "length", 0)
		resp, _, err := roundTrip(context.Background(), p.dial(), request("GET"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = resp.Body.WriteTo(pw)
		var pe *os.PathError
		if !errors.As(err, &pe) {
			t.Errorf("error %v (%T)", err, err)
		}
		_ = resp.Body.Close()
	})
}

// TestPatient: a pipe that nobody reads does not hold a copy whose output has
// given up waiting; what is told is what went out.
func TestPatient(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only splice waits for its output")
	}
	pr, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pr.Close()
	body := pattern(3 << 20)
	resp, _, err := roundTrip(context.Background(), giving(t, body, "length", 0).dial(), request("GET"))
	if err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	n, err := resp.Body.WriteTo(stuck{pw, enough})
	_ = pw.Close()
	got, rerr := io.ReadAll(pr)
	if err != enough || rerr != nil || n == 0 || !bytes.Equal(got, body[:n]) { //nolint:errorlint // as it is
		t.Errorf("%v, %d bytes told, %d there, %v", err, n, len(got), rerr)
	}
	_ = resp.Body.Close()
}

// stuck is an output that does not wait for room.
type stuck struct {
	*file
	why error
}

type file = os.File

func (s stuck) File() *os.File { return s.file }
func (s stuck) Await() error   { return s.why }

// TestReceivedMoves: a meter sees a slow body grow, also past the process.
func TestReceivedMoves(t *testing.T) {
	step := make(chan struct{})
	p := serve(t, func(c *net.TCPConn, br *bufio.Reader) {
		readHead(br)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
		_, _ = c.Write(make([]byte, 100))
		<-step
		_, _ = c.Write(make([]byte, 999900))
	})
	resp, _, err := roundTrip(context.Background(), p.dial(), request("GET"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	over := make(chan error)
	go func() { _, err := resp.Body.WriteTo(f); over <- err }()
	for resp.Body.Received() < 100 {
		runtime.Gosched()
	}
	if n := resp.Body.Received(); n != 100 {
		t.Errorf("received %d", n)
	}
	close(step)
	if err := <-over; err != nil || resp.Body.Received() != 1000000 {
		t.Errorf("%v, received %d", err, resp.Body.Received())
	}
}

func TestDrain(t *testing.T) {
	for name, tt := range map[string]struct {
		raw  string
		want bool
	}{
		"E12/small":   {"HTTP/1.1 503 Busy\r\nContent-Length: 5\r\n\r\nsorry", true},
		"E12/chunked": {"HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nsorry\r\n0\r\n\r\n", true},
		"E11/large":   {"HTTP/1.1 503 Busy\r\nContent-Length: 1000000000\r\n\r\nsorry", false},
		"E11/slow":    {"HTTP/1.1 503 Busy\r\nContent-Length: 6\r\n\r\nsorry", false},
	} {
		t.Run(name, func(t *testing.T) {
			over := make(chan struct{})
			p := serve(t, func(c *net.TCPConn, br *bufio.Reader) {
				readHead(br)
				_, _ = io.WriteString(c, tt.raw)
				<-over
			})
			c := p.dial()
			resp, _, err := roundTrip(context.Background(), c, request("GET"))
			if err != nil {
				t.Fatal(err)
			}
			if got := resp.Body.Drain(1000, 50*time.Millisecond); got != tt.want {
				t.Errorf("drained %v", got)
			}
			if tt.want {
				// No deadline is left behind.
				time.Sleep(60 * time.Millisecond)
				_ = c.SetWriteDeadline(time.Time{})
				close(over)
				if _, err := c.Read(make([]byte, 1)); err != io.EOF {
					t.Errorf("read after Drain: %v", err)
				}
			} else {
				close(over)
			}
			_ = resp.Body.Close()
			_ = c.Close()
		})
	}
}

// TestCopyAllocs: the copy allocates its buffer and nothing per chunk.
func TestCopyAllocs(t *testing.T) {
	for _, framing := range []string{"length", "chunked"} {
		t.Run(framing, func(t *testing.T) {
			c := giving(t, make([]byte, 16<<20), framing, 0).dial()
			resp, _, err := roundTrip(context.Background(), c, request("GET"))
			if err != nil {
				t.Fatal(err)
			}
			buf := make([]byte, copyBuffer)
			allocs := testing.AllocsPerRun(20, func() {
				if _, err := io.ReadFull(resp.Body, buf); err != nil {
					t.Fatal(err)
				}
			})
			// The server in this process allocates, too; 1600 chunks pass by here.
			if allocs > 60 {
				t.Errorf("%v allocations per %d bytes", allocs, copyBuffer)
			}
			_ = resp.Body.Close()
		})
	}
}

func BenchmarkWriteTo(b *testing.B) {
	const size = 64 << 20
	data := make([]byte, 1<<20)
	for _, target := range []string{"null", "file", "buffer"} {
		b.Run(target, func(b *testing.B) {
			p := serve(b, func(c *net.TCPConn, br *bufio.Reader) {
				readHead(br)
				_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size)
				for range size / len(data) {
					_, _ = c.Write(data)
				}
			})
			var w io.Writer
			f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
			if target == "file" {
				f, err = os.Create(filepath.Join(b.TempDir(), "out"))
			}
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			if w = f; target == "buffer" {
				w = struct{ io.Writer }{f}
			}
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = f.Seek(0, io.SeekStart)
				resp, _, err := roundTrip(context.Background(), p.dial(), request("GET"))
				if err != nil {
					b.Fatal(err)
				}
				if n, err := resp.Body.WriteTo(w); n != size || err != nil {
					b.Fatal(n, err)
				}
				_ = resp.Body.src.(*flight1).c.Close()
			}
		})
	}
}

func BenchmarkSmall(b *testing.B) {
	p := serve(b, func(c *net.TCPConn, br *bufio.Reader) {
		for readHead(br) != "" {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
		}
	})
	c := p.dial()
	b.ReportAllocs()
	for b.Loop() {
		resp, _, err := roundTrip(context.Background(), c, request("GET"))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = resp.Body.WriteTo(io.Discard)
		_ = resp.Body.Close()
	}
	_ = c.Close()
}
