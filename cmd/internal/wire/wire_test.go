package wire

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/bidehttp/bide/cmd/internal/header"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is a loopback server of one connection, played by a script.
type peer struct {
	t    testing.TB
	addr string
	l    net.Listener
	wg   sync.WaitGroup
}

// serve runs play for each connection in turn.
func serve(t testing.TB, play func(c *net.TCPConn, br *bufio.Reader)) *peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, addr: l.Addr().String(), l: l}
	p.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			play(c.(*net.TCPConn), bufio.NewReader(c))
			_ = c.Close()
		}
	})
	t.Cleanup(p.wait)
	return p
}

// wait ends the server, after the connections at hand.
func (p *peer) wait() { _ = p.l.Close(); p.wg.Wait() }

func (p *peer) dial() *transport.Conn {
	p.t.Helper()
	c, err := net.Dial("tcp", p.addr)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = c.Close() })
	return &transport.Conn{Conn: c, TCP: c.(*net.TCPConn)}
}

// readHead reads a request's head as it came.
func readHead(br *bufio.Reader) string {
	var sb strings.Builder
	for {
		line, err := br.ReadString('\n')
		sb.WriteString(line)
		if err != nil || line == "\r\n" {
			return sb.String()
		}
	}
}

// call is all that RoundTrip takes but the connection.
type call struct {
	Request
	Header []header.Line
}

func request(method string) *call {
	return &call{
		Request: Request{Method: method, Target: "/x", Scheme: "http", Authority: "h", Clock: retry.SystemClock()},
		Header:  []header.Line{{Name: "Host", Value: "h"}},
	}
}

func roundTrip(ctx context.Context, c *transport.Conn, r *call) (*Response, Timing, error) {
	resp, err := RoundTrip(ctx, c, &r.Request, r.Header)
	return resp, resp.Timing, err
}

// answering gives raw to every request and closes.
func answering(t *testing.T, raw string) *peer {
	return serve(t, func(c *net.TCPConn, br *bufio.Reader) {
		readHead(br)
		_, _ = io.WriteString(c, raw)
	})
}

func asError(t *testing.T, err error) *transport.Error {
	t.Helper()
	var e *transport.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v (%T), want a *transport.Error", err, err)
	}
	return e
}

func TestRoundTrip1(t *testing.T) {
	p := serve(t, func(c *net.TCPConn, br *bufio.Reader) {
		for range 2 {
			head := readHead(br)
			_, _ = io.WriteString(c, "HTTP/1.1 200 Fine\r\nX-Head: "+strings.ReplaceAll(head, "\r\n", "|")+"\r\nContent-Length: 5\r\n\r\nhello")
		}
	})
	c := p.dial()
	for range 2 {
		r := request("GET")
		r.Header = append(r.Header, header.Line{Name: "x-CaSe", Value: "Kept"}, header.Line{Name: "Empty", Value: ""})
		resp, tm, err := roundTrip(context.Background(), c, r)
		if err != nil {
			t.Fatal(err)
		}
		if want := "GET /x HTTP/1.1|Host: h|x-CaSe: Kept|Empty:||"; resp.Header[0].Value != want {
			t.Errorf("head sent %q, want %q", resp.Header[0].Value, want)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || string(body) != "hello" || !resp.Body.Reusable() {
			t.Errorf("body %q, %v, reusable %v", body, err, resp.Body.Reusable())
		}
		if resp.Status != 200 || resp.Proto != "HTTP/1.1" || resp.Length != 5 {
			t.Errorf("%+v", resp)
		}
		if tm.Sent == 0 || tm.FirstByte < tm.Sent || tm.Head < tm.FirstByte || tm.HeadOut != 50 || tm.HeadIn != int64(len(resp.Raw)) {
			t.Errorf("timing %+v", tm)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}
