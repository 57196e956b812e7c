package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listen serves every connection of a loopback listener with f, which may keep
// it until the test ends by reading.
func listen(t testing.TB, f func(net.Conn)) (port string) {
	t.Helper()
	return listenOn(t, "tcp", "127.0.0.1:0", f)
}

func listenOn(t testing.TB, network, address string, f func(net.Conn)) (port string) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Skipf("cannot listen on %s: %v", address, err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			wg.Go(func() {
				defer c.Close()
				f(c)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

// hold keeps a connection open until the client or the test closes it.
func hold(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// reset closes a connection with RST.
func reset(c net.Conn) {
	_ = c.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
}

// refusedPort is a port of 127.0.0.1 that is taken, but on which nobody listens:
// no other test gets it meanwhile.
func refusedPort(t testing.TB) string {
	t.Helper()
	return retrytest.Serve(t, "200", retrytest.WithListenDelay(time.Hour)).Port
}

// nameServer answers by the name's first label: nx, fail, silent, v4 (127.0.0.1),
// both (127.0.0.1 and ::1).
func nameServer(t *testing.T) string {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			if b := nameAnswer(buf[:n]); b != nil {
				_, _ = pc.WriteTo(b, from)
			}
		}
	}()
	t.Cleanup(func() { _ = pc.Close(); <-done })
	return pc.LocalAddr().String()
}

func nameAnswer(query []byte) []byte {
	var msg dnsmessage.Message
	if msg.Unpack(query) != nil || len(msg.Questions) != 1 {
		return nil
	}
	q := msg.Questions[0]
	answer := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: msg.ID, Response: true, RecursionAvailable: true},
		Questions: msg.Questions,
	}
	add := func(body dnsmessage.ResourceBody) {
		answer.Answers = append(answer.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 1}, Body: body,
		})
	}
	label, _, _ := strings.Cut(q.Name.String(), ".")
	switch label {
	case "silent":
		return nil
	case "fail":
		answer.RCode = dnsmessage.RCodeServerFailure
	case "v4", "both":
		if q.Type == dnsmessage.TypeA {
			add(&dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}})
		}
		if q.Type == dnsmessage.TypeAAAA && label == "both" {
			add(&dnsmessage.AAAAResource{AAAA: [16]byte(net.IPv6loopback)})
		}
	default:
		answer.RCode = dnsmessage.RCodeNameError
	}
	b, err := answer.Pack()
	if err != nil {
		return nil
	}
	return b
}

// authority is a CA, its file, and a leaf for localhost.
type authority struct {
	ca   *retrytest.CA
	file string
	leaf tls.Certificate
}

func newAuthority(t testing.TB, leaf retrytest.Leaf) authority {
	t.Helper()
	ca, err := retrytest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue(leaf)
	if err != nil {
		t.Fatal(err)
	}
	return authority{ca: ca, file: writeFile(t, "ca.pem", ca.PEM()), leaf: cert}
}

func writeFile(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// serveTLS handshakes and then echoes.
func serveTLS(t testing.TB, cfg *tls.Config) (port string) {
	return listen(t, func(c net.Conn) {
		s := tls.Server(c, cfg)
		if s.Handshake() == nil {
			_, _ = io.Copy(s, s)
		}
	})
}

// recorder is a Trace that remembers.
type recorder struct {
	info    []string
	out, in []string
}

func (r *recorder) Info(s string)      { r.info = append(r.info, s) }
func (r *recorder) HeaderOut(b []byte) { r.out = append(r.out, string(b)) }
func (r *recorder) HeaderIn(b []byte)  { r.in = append(r.in, string(b)) }
func (r *recorder) DataOut([]byte)     {}
func (r *recorder) DataIn([]byte)      {}
func (r *recorder) WantsData() bool    { return false }

func newPool(t testing.TB) *Pool {
	p := &Pool{Clock: retry.SystemClock()}
	t.Cleanup(p.Close)
	return p
}

// get makes a connection that must come about.
func get(t testing.TB, p *Pool, target Target, s *Settings, tr Trace) *Conn {
	t.Helper()
	c, err := p.Get(context.Background(), target, s, tr)
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// want is what an error must say of itself.
type want struct {
	class retry.Class
	code  exitcode.Code
	phase retry.Phase
	text  string // the text begins with it
}

// mustFail makes a connection that must not come about.
func mustFail(t *testing.T, ctx context.Context, target Target, s *Settings, w want) *Error {
	t.Helper()
	c, err := newPool(t).Get(ctx, target, s, nil)
	if err == nil {
		_ = c.Close()
		t.Fatalf("connected, want %v", w)
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%T is no *Error", err)
	}
	if e.Class != w.class || e.Code != w.code || e.Phase != w.phase || !strings.HasPrefix(e.Error(), w.text) {
		t.Errorf("got %s %d %s %q\nwant %s %d %s %q", e.Class, e.Code, e.Phase, e.Error(), w.class, w.code, w.phase, w.text)
	}
	if e.Sent != retry.SentNothing && e.Sent != retry.SentUnprocessed {
		t.Errorf("sent %q: no byte of the request went out", e.Sent)
	}
	return e
}

func loopback(scheme, port string) Target {
	return Target{Scheme: scheme, Host: "127.0.0.1", Port: port}
}

// readHead reads a request's head on a server's side.
func readHead(c net.Conn) string {
	br := bufio.NewReader(c)
	var head strings.Builder
	for {
		line, err := br.ReadString('\n')
		head.WriteString(line)
		if err != nil || line == "\r\n" {
			return head.String()
		}
	}
}

// soon is a context that ends with cause in a moment, in the middle of a phase.
func soon(t *testing.T, cause error) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	timer := time.AfterFunc(200*time.Millisecond, func() { cancel(cause) })
	t.Cleanup(func() { timer.Stop(); cancel(nil) })
	return ctx
}
