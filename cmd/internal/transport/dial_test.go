package transport

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

func TestResolveClasses(t *testing.T) {
	dns := nameServer(t)
	tests := []struct {
		name, host string
		settings   Settings
		want       want
	}{
		{"nxdomain", "nx.test", Settings{DNSServer: dns}, want{retry.ClassNXDomain, 6, retry.PhaseResolve, "Could not resolve host: nx.test"}},
		{"SERVFAIL", "fail.test", Settings{DNSServer: dns}, want{retry.ClassResolve, 6, retry.PhaseResolve, "Could not resolve host: fail.test (temporary failure)"}},
		{"silent server", "silent.test", Settings{DNSServer: dns, ConnectTimeout: 100 * time.Millisecond},
			want{retry.ClassResolve, 28, retry.PhaseResolve, "Resolving timed out after "}},
		{"no server", "v4.test", Settings{DNSServer: "127.0.0.1:" + refusedPort(t)}, want{retry.ClassResolve, 6, retry.PhaseResolve, "Could not resolve host: v4.test"}},
		{"no address of the family", "v4.test", Settings{DNSServer: dns, IPVersion: 6}, want{retry.ClassNXDomain, 6, retry.PhaseResolve, "Could not resolve host: v4.test"}},
		{"literal of the other family", "::1", Settings{IPVersion: 4}, want{retry.ClassNXDomain, 7, retry.PhaseResolve, "Couldn't connect to server"}},
		{"proxy nxdomain", "x.test", Settings{DNSServer: dns, Proxy: &Proxy{Scheme: "http", Host: "nx.test", Port: "1"}},
			want{retry.ClassNXDomain, 5, retry.PhaseResolve, "Could not resolve proxy: nx.test"}},
		{"proxy SERVFAIL", "x.test", Settings{DNSServer: dns, Proxy: &Proxy{Scheme: "http", Host: "fail.test", Port: "1"}},
			want{retry.ClassResolve, 5, retry.PhaseResolve, "Could not resolve proxy: fail.test"}},
		{"unprintable name", "nx\x1b[31m", Settings{DNSServer: dns}, want{retry.ClassNXDomain, 6, retry.PhaseResolve, `Could not resolve host: nx\x1b[31m`}},
	}
	for _, tt := range tests {
		t.Run("R3/"+tt.name, func(t *testing.T) {
			e := mustFail(t, context.Background(), Target{"http", tt.host, "80"}, &tt.settings, tt.want)
			if e.Facts == nil || len(e.Facts.Dials) != 0 {
				t.Errorf("facts %+v: no address was dialed", e.Facts)
			}
		})
	}
}

func TestResolveSecondServer(t *testing.T) {
	port := listen(t, hold)
	s := &Settings{DNSServer: "127.0.0.1:" + refusedPort(t) + "," + nameServer(t)}
	c := get(t, newPool(t), Target{"http", "v4.test", port}, s, nil)
	if c.Facts.DNS <= 0 || c.Facts.LookedUp == 0 {
		t.Errorf("no time of the name lookup: %+v", c.Facts)
	}
}

func TestConnectClasses(t *testing.T) {
	port := refusedPort(t)
	refused := "Failed to connect to 127.0.0.1 port " + port + " after "
	tests := []struct {
		name     string
		target   Target
		settings Settings
		want     want
	}{
		{"refused", loopback("http", port), Settings{}, want{retry.ClassConnect, 7, retry.PhaseConnect, refused}},
		{"proxy refused", Target{"http", "a.test", "80"}, Settings{Proxy: &Proxy{Scheme: "http", Host: "127.0.0.1", Port: port}},
			want{retry.ClassProxy, 7, retry.PhaseConnect, refused}},
		{"SOCKS proxy refused", Target{"http", "a.test", "80"}, Settings{Proxy: &Proxy{Scheme: "socks5h", Host: "127.0.0.1", Port: port}},
			want{retry.ClassProxy, 7, retry.PhaseConnect, refused}},
		{"no such socket", Target{"http", "a.test", "80"}, Settings{UnixSocket: "/nonexistent/socket"},
			want{retry.ClassConnect, 7, retry.PhaseConnect, "Failed to connect to a.test port 80 after "}},
		{"scheme", Target{"ftp", "a.test", "80"}, Settings{}, want{retry.ClassRequest, 1, retry.PhaseResolve, `Protocol "ftp" not supported`}},
		{"port", Target{"http", "127.0.0.1", "99999"}, Settings{}, want{retry.ClassRequest, 3, retry.PhaseResolve, "Port number"}},
		{"proxy scheme", Target{"http", "127.0.0.1", "80"}, Settings{Proxy: &Proxy{Scheme: "ftp", Host: "127.0.0.1", Port: listen(t, hold)}},
			want{retry.ClassRequest, 1, retry.PhaseConnect, "Unsupported proxy scheme 'ftp'"}},
	}
	for _, tt := range tests {
		t.Run("R3/"+tt.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && tt.settings.UnixSocket != "" {
				t.Skip("error texts of sockets differ on Windows")
			}
			mustFail(t, context.Background(), tt.target, &tt.settings, tt.want)
		})
	}
}

// C5: a name is judged over all its addresses.
func TestAllAddresses(t *testing.T) {
	port := listen(t, hold)
	if l, err := net.Listen("tcp", "[::1]:"+port); err != nil {
		t.Skipf("no IPv6 loopback, or the port is in use there: %v", err)
	} else {
		_ = l.Close()
	}
	tests := []struct{ name, resolve string }{
		{"C5_IPv6_refused_IPv4_answers", "::1,127.0.0.1"},
		{"C5_IPv4_first", "127.0.0.1,::1"},
		{"C5_three", "::1,127.0.0.1,::1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &Settings{Resolve: []string{"n.test:" + port + ":" + tt.resolve}}
			c := get(t, newPool(t), Target{"http", "n.test", port}, s, nil)
			if c.Facts.Remote != "127.0.0.1:"+port {
				t.Errorf("connected to %s", c.Facts.Remote)
			}
			last := c.Facts.Dials[len(c.Facts.Dials)-1]
			if last.Err != nil && !errors.Is(last.Err, errSuperseded) || !strings.HasSuffix(last.Address, ":"+port) {
				t.Errorf("dials %+v", c.Facts.Dials)
			}
		})
	}
	t.Run("C5_all_refused", func(t *testing.T) {
		port := refusedPort(t)
		s := &Settings{Resolve: []string{"n.test:" + port + ":::1,127.0.0.1"}}
		e := mustFail(t, context.Background(), Target{"http", "n.test", port}, s,
			want{retry.ClassConnect, exitcode.Connect, retry.PhaseConnect, "Failed to connect to n.test port " + port})
		if len(e.Facts.Dials) != 2 || e.Facts.Dials[0].Address != "[::1]:"+port || !errors.Is(e, syscall.ECONNREFUSED) {
			t.Errorf("dials %+v", e.Facts.Dials)
		}
	})
}

// An address that does not answer holds the next one up for attemptDelay only.
func TestHappyEyeballsSlowFirst(t *testing.T) {
	full := fullBacklog(t)
	port := portOf(full)
	listenOn(t, "tcp", "[::1]:"+port, hold)
	s := &Settings{Resolve: []string{"n.test:" + port + ":127.0.0.1,::1"}}
	c := get(t, newPool(t), Target{"http", "n.test", port}, s, nil)
	if len(c.Facts.Dials) != 2 || !errors.Is(c.Facts.Dials[0].Err, errSuperseded) || c.Facts.Dials[1].Err != nil {
		t.Errorf("dials %+v", c.Facts.Dials)
	}
	if c.Facts.Connect < attemptDelay {
		t.Errorf("second address tried after %v, before the first had %v", c.Facts.Connect, attemptDelay)
	}
}

func TestConnectTimeout(t *testing.T) {
	full := fullBacklog(t)
	s := &Settings{ConnectTimeout: 100 * time.Millisecond}
	target := loopback("http", portOf(full))
	t.Run("R3/connect", func(t *testing.T) {
		mustFail(t, context.Background(), target, s,
			want{retry.ClassConnect, 28, retry.PhaseConnect, "Connection timed out after "})
	})
	t.Run("R3/all addresses", func(t *testing.T) {
		s := &Settings{ConnectTimeout: 100 * time.Millisecond, Resolve: []string{"n.test:" + target.Port + ":127.0.0.1,127.0.0.1"}}
		mustFail(t, context.Background(), Target{"http", "n.test", target.Port}, s, want{retry.ClassConnect, 28, retry.PhaseConnect, "Connection timed out"})
	})
	t.Run("R3/proxy", func(t *testing.T) {
		s := &Settings{ConnectTimeout: 100 * time.Millisecond, Proxy: &Proxy{Scheme: "http", Host: "127.0.0.1", Port: target.Port}}
		mustFail(t, context.Background(), Target{"http", "a.test", "80"}, s, want{retry.ClassProxy, 28, retry.PhaseConnect, "Connection timed out"})
	})
	t.Run("R3/proxy answer", func(t *testing.T) {
		s := &Settings{ConnectTimeout: 100 * time.Millisecond, Proxy: &Proxy{Scheme: "http", Host: "127.0.0.1", Port: listen(t, hold), Tunnel: true}}
		mustFail(t, context.Background(), Target{"http", "a.test", "80"}, s, want{retry.ClassProxy, 28, retry.PhaseConnect, "Connection timed out"})
	})
	t.Run("R3/tls", func(t *testing.T) {
		mustFail(t, context.Background(), loopback("https", listen(t, hold)), s,
			want{retry.ClassTLS, 35, retry.PhaseTLS, "SSL connection timeout"})
	})
}

// R6.3, R10.1: whatever a phase waits for, the end of the context wakes it; the
// cause tells a limit from a cancellation.
func TestContextEnds(t *testing.T) {
	dns := nameServer(t)
	full := portOf(fullBacklog(t))
	silent := listen(t, hold)
	proxy := func(scheme string) *Proxy {
		return &Proxy{Scheme: scheme, Host: "127.0.0.1", Port: silent, Tunnel: true}
	}
	phases := []struct {
		name   string
		target Target
		s      Settings
		phase  retry.Phase
	}{
		{"resolve", Target{"http", "silent.test", "80"}, Settings{DNSServer: dns}, retry.PhaseResolve},
		{"connect", loopback("http", full), Settings{}, retry.PhaseConnect},
		{"race", Target{"http", "n.test", full}, Settings{Resolve: []string{"n.test:" + full + ":127.0.0.1,127.0.0.1"}}, retry.PhaseConnect},
		{"CONNECT", Target{"http", "a.test", "80"}, Settings{Proxy: proxy("http")}, retry.PhaseConnect},
		{"HTTPS proxy", Target{"http", "a.test", "80"}, Settings{Proxy: proxy("https")}, retry.PhaseTLS},
		{"SOCKS", Target{"http", "a.test", "80"}, Settings{Proxy: proxy("socks5h")}, retry.PhaseConnect},
		{"tls", loopback("https", silent), Settings{}, retry.PhaseTLS},
	}
	causes := []struct {
		name  string
		cause error
		class retry.Class
		code  exitcode.Code
	}{
		{"R10.1_canceled", context.Canceled, retry.ClassCanceled, 0},
		{"R6.3_attempt", retry.ErrAttemptTimeout, retry.ClassTimeout, 28},
		{"R6.3_deadline", retry.ErrDeadline, retry.ClassTimeout, 28},
	}
	for _, p := range phases {
		for _, c := range causes {
			t.Run(p.name+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				e := mustFail(t, soon(t, c.cause), p.target, &p.s, want{c.class, c.code, p.phase, ""})
				if !errors.Is(e, c.cause) {
					t.Errorf("%v does not wrap its cause", e)
				}
			})
		}
	}
	t.Run("R10.1_canceled before the start", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		port := listen(t, func(net.Conn) { t.Error("dialed") })
		mustFail(t, ctx, loopback("http", port), &Settings{}, want{retry.ClassCanceled, 0, retry.PhaseResolve, "Connection canceled"})
	})
}

func TestUnixSocket(t *testing.T) {
	dir := t.TempDir()
	if len(dir) > 80 {
		t.Skip("the temporary folder's path is too long for a socket")
	}
	path := filepath.Join(dir, "s")
	listenOn(t, "unix", path, func(c net.Conn) { _, _ = io.WriteString(c, "hello") })
	// A proxy plays no part with a unix socket.
	s := &Settings{UnixSocket: path, Proxy: &Proxy{Scheme: "http", Host: "127.0.0.1", Port: refusedPort(t)}}
	c := get(t, newPool(t), Target{"http", "a.test", "80"}, s, nil)
	if b, _ := io.ReadAll(c); string(b) != "hello" {
		t.Errorf("read %q", b)
	}
	if c.TCP != nil || c.Facts.Remote != path || c.ViaProxy {
		t.Errorf("facts %+v", c.Facts)
	}
}

func TestUnixSocketWithAt(t *testing.T) {
	t.Chdir(t.TempDir())
	listenOn(t, "unix", "./@s", hold)
	get(t, newPool(t), Target{"http", "a.test", "80"}, &Settings{UnixSocket: "@s"}, nil)
}

func TestAbstractSocket(t *testing.T) {
	target, s := Target{"http", "a.test", "80"}, &Settings{AbstractSocket: "bide-test-" + filepath.Base(t.TempDir())}
	if !abstractSockets {
		mustFail(t, context.Background(), target, s, want{retry.ClassRequest, 43, retry.PhaseConnect, "abstract unix sockets"})
		return
	}
	listenOn(t, "unix", "@"+s.AbstractSocket, hold)
	get(t, newPool(t), target, s, nil)
}

func TestLocalhostNeedsNoResolver(t *testing.T) {
	port := listen(t, hold)
	s := &Settings{DNSServer: "127.0.0.1:" + refusedPort(t)}
	for _, host := range []string{"localhost", "LOCALHOST.", "app.localhost", "127.0.0.1"} {
		c := get(t, newPool(t), Target{"http", host, port}, s, nil)
		if c.Facts.DNS != 0 {
			t.Errorf("%s: asked the resolver", host)
		}
	}
	if isLocalhost("notlocalhost") || isLocalhost("localhost.test") {
		t.Error("another name taken for localhost")
	}
}

func TestInterleave(t *testing.T) {
	parse := func(s string) (out []netip.Addr) {
		for _, a := range strings.Fields(s) {
			out = append(out, netip.MustParseAddr(a))
		}
		return out
	}
	tests := []struct{ in, want string }{
		{"::1 ::2 ::3 1.1.1.1 1.1.1.2", "::1 1.1.1.1 ::2 1.1.1.2 ::3"},
		{"1.1.1.1 1.1.1.2 ::1", "1.1.1.1 ::1 1.1.1.2"},
		{"1.1.1.1 1.1.1.2 1.1.1.3", "1.1.1.1 1.1.1.2 1.1.1.3"},
		{"", ""},
	}
	for _, tt := range tests {
		got := interleave(parse(tt.in))
		want := parse(tt.want)
		if len(got) != len(want) {
			t.Fatalf("%s: %v", tt.in, got)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: got %v", tt.in, got)
				break
			}
		}
	}
}

// BenchmarkDial is the way of a plain request to a literal address.
func BenchmarkDial(b *testing.B) {
	port := listen(b, func(net.Conn) {})
	p, s, target := newPool(b), &Settings{}, loopback("http", port)
	b.ReportAllocs()
	for b.Loop() {
		c, err := p.Get(context.Background(), target, s, nil)
		if err != nil {
			b.Fatal(err)
		}
		_ = c.TCP.SetLinger(0)
		_ = c.Close()
	}
}
