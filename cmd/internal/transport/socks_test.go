package transport

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/bidehttp/bide/retry"
)

// step of a SOCKS proxy: what it expects to read, and what it answers.
type step struct{ in, out string }

// socksProxy plays steps, then sends "hello".
func socksProxy(t *testing.T, steps ...step) string {
	return listen(t, func(c net.Conn) {
		for _, s := range steps {
			b := make([]byte, len(s.in))
			if _, err := io.ReadFull(c, b); err != nil || string(b) != s.in {
				t.Errorf("proxy got %q (%v), want %q", b, err, s.in)
				return
			}
			_, _ = io.WriteString(c, s.out)
		}
		_, _ = io.WriteString(c, "hello")
	})
}

func TestSocks(t *testing.T) {
	const ok4, ok5 = "\x00\x5a\x00\x00\x00\x00\x00\x00", "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
	any5 := step{"\x05\x01\x00", "\x05\x00"}
	long := strings.Repeat("u", 256)
	resolve := []string{"a.test:80:::1,1.2.3.4"}
	const refused = retry.ClassProxyRefused
	tests := []struct {
		name, scheme, host, user string
		steps                    []step
		class                    retry.Class
		text                     string
	}{
		{"4", "socks4", "1.2.3.4", "", []step{{"\x04\x01\x00\x50\x01\x02\x03\x04\x00", ok4}}, "", ""},
		{"4 resolves here, IPv4 only", "socks4", "a.test", "me", []step{{"\x04\x01\x00\x50\x01\x02\x03\x04me\x00", ok4}}, "", ""},
		{"4a", "socks4a", "a.test", "", []step{{"\x04\x01\x00\x50\x00\x00\x00\x01\x00a.test\x00", ok4}}, "", ""},
		{"4a refused", "socks4a", "a.test", "", []step{{"\x04\x01\x00\x50\x00\x00\x00\x01\x00a.test\x00", "\x00\x5b\x00\x00\x00\x00\x00\x00"}}, refused,
			"Can't complete SOCKS4 connection to a.test:80. (91), request rejected or failed."},
		{"4 version", "socks4", "1.2.3.4", "", []step{{"\x04\x01\x00\x50\x01\x02\x03\x04\x00", "HTTP/1.1"}}, refused, "SOCKS4 reply has wrong version, version should be 0."},
		{"4 IPv6", "socks4", "::1", "", nil, refused, "SOCKS4 connection to ::1 not supported"},
		{"4 NUL in the user", "socks4", "1.2.3.4", "a\x00b", nil, retry.ClassRequest, "SOCKS4: "},
		{"5h", "socks5h", "a.test", "", []step{any5, {"\x05\x01\x00\x03\x06a.test\x00\x50", ok5}}, "", ""},
		{"5 resolves here", "socks5", "a.test", "", []step{any5, {"\x05\x01\x00\x04" + strings.Repeat("\x00", 15) + "\x01\x00\x50", ok5}}, "", ""},
		{"5h address", "socks5h", "1.2.3.4", "", []step{any5, {"\x05\x01\x00\x01\x01\x02\x03\x04\x00\x50", "\x05\x00\x00\x04" + strings.Repeat("\x00", 18)}}, "", ""},
		{"5h bound to a name", "socks5h", "a.test", "", []step{any5, {"\x05\x01\x00\x03\x06a.test\x00\x50", "\x05\x00\x00\x03\x02xy\x00\x50"}}, "", ""},
		{"5 user", "socks5h", "a.test", "me", []step{{"\x05\x02\x00\x02", "\x05\x02"}, {"\x01\x02me\x06secret", "\x01\x00"}, {"\x05\x01\x00\x03\x06a.test\x00\x50", ok5}}, "", ""},
		{"5 user not asked for", "socks5h", "a.test", "me", []step{{"\x05\x02\x00\x02", "\x05\x00"}, {"\x05\x01\x00\x03\x06a.test\x00\x50", ok5}}, "", ""},
		{"5 user rejected", "socks5h", "a.test", "me", []step{{"\x05\x02\x00\x02", "\x05\x02"}, {"\x01\x02me\x06secret", "\x01\x01"}}, refused,
			"User was rejected by the SOCKS5 server (1 1)."},
		{"5 user too long", "socks5h", "a.test", long, nil, retry.ClassRequest, "Excessive user name"},
		{"5 name too long", "socks5h", long, "", nil, retry.ClassRequest, "SOCKS5: the destination hostname is too long"},
		{"5 no method", "socks5", "1.2.3.4", "", []step{{"\x05\x01\x00", "\x05\xff"}}, refused, "No authentication method was acceptable."},
		{"5 method not offered", "socks5", "1.2.3.4", "", []step{{"\x05\x01\x00", "\x05\x02"}}, refused, "No authentication method was acceptable."},
		{"5 not SOCKS", "socks5", "1.2.3.4", "", []step{{"\x05\x01\x00", "HT"}}, refused, "Received invalid version in initial SOCKS5 response."},
		{"5 refused", "socks5h", "a.test", "", []step{any5, {"\x05\x01\x00\x03\x06a.test\x00\x50", "\x05\x05\x00\x01\x00\x00\x00\x00\x00\x00"}}, refused,
			"Can't complete SOCKS5 connection to a.test. (5)"},
		{"5 version of the reply", "socks5h", "1.2.3.4", "", []step{any5, {"\x05\x01\x00\x01\x01\x02\x03\x04\x00\x50", "HTTP/"}}, refused, "SOCKS5 reply has wrong version"},
		{"5 address type", "socks5h", "1.2.3.4", "", []step{any5, {"\x05\x01\x00\x01\x01\x02\x03\x04\x00\x50", "\x05\x00\x00\x09\x00"}}, refused, "SOCKS5 reply has wrong address type."},
	}
	for _, tt := range tests {
		t.Run("R3/"+tt.name, func(t *testing.T) {
			s := &Settings{Resolve: resolve, Proxy: &Proxy{
				Scheme: tt.scheme, Host: "127.0.0.1", Port: socksProxy(t, tt.steps...),
				HasAuth: tt.user != "", User: tt.user, Password: "secret",
			}}
			target := Target{"http", tt.host, "80"}
			if tt.text != "" {
				e := mustFail(t, context.Background(), target, s, want{tt.class, 97, retry.PhaseConnect, tt.text})
				if strings.Contains(e.Error(), "secret") {
					t.Error("a secret in the text")
				}
				return
			}
			c := get(t, newPool(t), target, s, nil)
			if b, err := io.ReadAll(c); string(b) != "hello" || err != nil {
				t.Errorf("%q %v", b, err)
			}
			if c.TCP == nil || c.ViaProxy || !c.Facts.ProxyUsed {
				t.Error("a SOCKS connection is a bare socket")
			}
		})
	}
}

func TestSocksBroken(t *testing.T) {
	t.Run("R3/cut", func(t *testing.T) {
		port := listen(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 3)) })
		s := &Settings{Proxy: &Proxy{Scheme: "socks5h", Host: "127.0.0.1", Port: port}}
		mustFail(t, context.Background(), Target{"http", "a.test", "80"}, s, want{retry.ClassProxy, 97, retry.PhaseConnect, "connection to proxy closed"})
	})
	t.Run("R3/origin nxdomain", func(t *testing.T) {
		s := &Settings{DNSServer: nameServer(t), Proxy: &Proxy{Scheme: "socks5", Host: "127.0.0.1", Port: listen(t, hold)}}
		mustFail(t, context.Background(), Target{"http", "nx.test", "80"}, s, want{retry.ClassNXDomain, 6, retry.PhaseResolve, "Could not resolve host: nx.test"})
	})
}
