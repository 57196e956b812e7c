package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
)

// mute is a connection whose writes fail once that many bytes have gone out;
// what the peer sends still comes.
type mute struct {
	net.Conn
	room  atomic.Int64
	until atomic.Pointer[time.Time] // the read deadline
}

var errMute = errors.New("muted")

func (m *mute) Write(p []byte) (int, error) {
	if m.room.Add(-int64(len(p))) < 0 {
		return 0, errMute
	}
	return m.Conn.Write(p)
}

func (m *mute) SetReadDeadline(t time.Time) error {
	m.until.Store(&t)
	return m.Conn.SetReadDeadline(t)
}

// TestR2_2b: a success that comes before the request's body is out. Where
// sending then breaks the attempt has failed, unless the server said so before.
func TestR2_2b(t *testing.T) {
	const early = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
	for name, tt := range map[string]struct {
		raw     string
		reset   bool
		want    *fault1
		cutdown bool
		half    bool // the server closes its side alone
	}{
		"reset after it":                 {early + "\r\nok", true, &fault1{retry.ClassClosed, exitcode.Send, "Send failure"}, false, false},
		"closed after it":                {early + "\r\nok", false, &fault1{retry.ClassClosed, exitcode.Send, "Send failure"}, false, false},
		"announced (RFC 9112 9.6)":       {early + "Connection: close\r\n\r\nok", false, nil, true, false},
		"up to the end, announced":       {"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok", false, &fault1{retry.ClassClosed, exitcode.Send, "Send failure"}, false, true},
		"body not whole":                 {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", true, &fault1{retry.ClassTruncated, exitcode.Truncated, "7 bytes remaining"}, false, false},
		"body not whole and announced":   {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 9\r\n\r\nok", true, &fault1{retry.ClassTruncated, exitcode.Truncated, "7 bytes remaining"}, false, false},
		"no body, reset":                 {"HTTP/1.1 204 No Content\r\n\r\n", true, &fault1{retry.ClassClosed, exitcode.Send, "Send failure"}, false, false},
		"an error of the server is fine": {"HTTP/1.1 507 Full\r\nContent-Length: 2\r\n\r\nok", false, nil, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := serve(t, func(c *net.TCPConn, br *bufio.Reader) {
				readHead(br)
				_, _ = io.WriteString(c, tt.raw)
				_, _ = io.CopyN(io.Discard, br, 1<<20) // the answer is read by then
				switch {
				case tt.reset:
					_ = c.SetLinger(0)
				case tt.half:
					_ = c.CloseWrite()
					_, _ = io.Copy(io.Discard, br)
				}
			})
			r := request("PUT")
			r.Body, r.Length = zeros{}, 1<<40
			resp, _, err := roundTrip(context.Background(), p.dial(), r)
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.ReadAll(resp.Body)
			checkFault(t, err, tt.want)
			if resp.Body.Reusable() || resp.Body.Overtook() != tt.cutdown {
				t.Errorf("reusable %v, overtook %v", resp.Body.Reusable(), resp.Body.Overtook())
			}
			_ = resp.Body.Close()
		})
	}
	t.Run("the answer's body is not hurried", func(t *testing.T) {
		more := make(chan struct{})
		p := serve(t, func(c *net.TCPConn, br *bufio.Reader) {
			readHead(br)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nok")
			<-more
			_, _ = io.WriteString(c, "ok")
		})
		c := p.dial()
		m := &mute{Conn: c.Conn}
		m.room.Store(200)
		c.Conn, c.TCP = m, nil
		r := request("PUT")
		r.Body, r.Length = zeros{}, 1<<40
		resp, _, err := roundTrip(context.Background(), c, r)
		if err != nil {
			t.Fatal(err)
		}
		<-resp.Body.src.(*flight1).up.done
		if until := m.until.Load(); until != nil && !until.IsZero() {
			t.Errorf("the body has until %v", until)
		}
		close(more)
		b, err := io.ReadAll(resp.Body)
		checkFault(t, err, &fault1{retry.ClassClosed, exitcode.Send, "Muted"})
		if string(b) != "okok" {
			t.Errorf("%q", b)
		}
		_ = resp.Body.Close()
	})
	t.Run("a limit ends the wait for the upload", func(t *testing.T) {
		over := make(chan struct{})
		p := serve(t, func(c *net.TCPConn, br *bufio.Reader) {
			readHead(br)
			_, _ = io.WriteString(c, early+"\r\nok")
			<-over
		})
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(30*time.Millisecond, cancel)
		r := request("PUT")
		r.Body, r.Length = zeros{}, 1<<40
		resp, _, err := roundTrip(ctx, p.dial(), r)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(resp.Body)
		close(over)
		if e := asError(t, err); e.Class != retry.ClassCanceled || e.Phase != retry.PhaseSend {
			t.Errorf("%+v", e)
		}
		_ = resp.Body.Close()
	})
}

// TestDrainOvertaken: a body that is given up does not wait for the end of an
// upload that it overtook.
func TestDrainOvertaken(t *testing.T) {
	over := make(chan struct{})
	p1 := serve(t, func(c *net.TCPConn, br *bufio.Reader) {
		readHead(br)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		<-over
	})
	p2 := serve2(t, func(p *h2peer) {
		id := p.request(false)
		p.head(id, false, ":status", "200")
		_ = p.WriteData(id, true, []byte("ok"))
		<-over
	})
	defer close(over)
	for name, dial := range map[string]func() *transport.Conn{"1": p1.dial, "2": p2.dial2} {
		t.Run(name, func(t *testing.T) {
			r := request("PUT")
			r.Body, r.Length = zeros{}, 1<<40
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			resp, _, err := roundTrip(ctx, dial(), r)
			if err != nil {
				t.Fatal(err)
			}
			if !resp.Body.Sending() || resp.Body.Drain(64<<10, 50*time.Millisecond) || resp.Body.Sending() {
				t.Errorf("drained, or sending still: %v", resp.Body.Sending())
			}
			_ = resp.Body.Close()
			if ctx.Err() != nil {
				t.Error("it took until the end of the context")
			}
		})
	}
}

// TestR2_2b2 is the same on HTTP/2 (RFC 9113 §8.1).
func TestR2_2b2(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(p *h2peer, id uint32)
		want *fault1
	}{
		"NO_ERROR":          {func(p *h2peer, id uint32) { _ = p.WriteRSTStream(id, http2.ErrCodeNo) }, nil},
		"another code":      {func(p *h2peer, id uint32) { _ = p.WriteRSTStream(id, http2.ErrCodeInternal) }, &fault1{retry.ClassClosed, exitcode.Send, "Send failure"}},
		"connection closed": {func(p *h2peer, _ uint32) {}, &fault1{retry.ClassClosed, exitcode.Send, "Send failure"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := serve2(t, func(p *h2peer) {
				id := p.request(false)
				p.head(id, false, ":status", "200")
				_ = p.WriteData(id, true, []byte("ok"))
				tt.end(p, id)
			})
			r := request("PUT")
			r.Body, r.Length = zeros{}, 1<<40
			resp, _, err := roundTrip(context.Background(), p.dial2(), r)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(resp.Body)
			checkFault(t, err, tt.want)
			if string(b) != "ok" || resp.Body.Overtook() != (tt.want == nil) {
				t.Errorf("%q, overtook %v", b, resp.Body.Overtook())
			}
			_ = resp.Body.Close()
		})
	}
}

// TestMutedReplies2: that nothing can be sent to the peer any more loses nothing
// of what it has sent, and ends the reading where it can send nothing more.
func TestMutedReplies2(t *testing.T) {
	for name, tt := range map[string]struct {
		size  int
		end   bool
		want  *fault1
		reads int
	}{
		"whole":            {3 << 20, true, nil, 3 << 20},
		"cut":              {3 << 20, false, &fault1{retry.ClassTruncated, exitcode.HTTP2Stream, "before end of the underlying connection"}, 3 << 20},
		"window exhausted": {h2Window, false, &fault1{retry.ClassTruncated, exitcode.Truncated, "Muted"}, h2Window},
	} {
		t.Run(name, func(t *testing.T) {
			body := pattern(tt.size)
			over := make(chan struct{})
			p := serve2(t, func(p *h2peer) {
				id := p.request(true)
				_ = p.WritePing(false, [8]byte{1})
				p.head(id, false, ":status", "200")
				for b := body; len(b) > 0; b = b[min(len(b), 16384):] {
					_ = p.WriteData(id, false, b[:min(len(b), 16384)])
					_ = p.WritePing(false, [8]byte{2})
				}
				if tt.end {
					_ = p.WriteData(id, true, nil)
				}
				if tt.size == h2Window {
					<-over
				}
			})
			c := p.dial2()
			m := &mute{Conn: c.Conn}
			m.room.Store(200) // the request alone
			c.Conn, c.TCP = m, nil
			resp, _, err := roundTrip(context.Background(), c, request("GET"))
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			n, err := resp.Body.WriteTo(&got)
			close(over)
			checkFault(t, err, tt.want)
			if n != int64(tt.reads) || !bytes.Equal(got.Bytes(), body[:n]) || resp.Body.Reusable() {
				t.Errorf("%d bytes, reusable %v", n, resp.Body.Reusable())
			}
			_ = resp.Body.Close()
		})
	}
}
