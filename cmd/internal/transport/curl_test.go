package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/bidehttp/bide/retry/retrytest"
)

// curl runs the installed one; the error line without its prefix, and the code.
func curl(t *testing.T, args ...string) (line string, code int) {
	t.Helper()
	path, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), path, append([]string{"-q", "-sS", "--noproxy", "", "-m", "20"}, args...)...)
	cmd.Env, cmd.Stderr = []string{}, &stderr
	_ = cmd.Run()
	line, _, _ = strings.Cut(stderr.String(), "\n")
	_, line, _ = strings.Cut(line, ") ")
	return strings.TrimSpace(line), cmd.ProcessState.ExitCode()
}

// Failures have curl's exit codes, and its words where they are no OpenSSL
// internals and hold no measured time.
func TestLikeCurl(t *testing.T) {
	a := newAuthority(t, retrytest.Leaf{})
	socks := func(answers ...string) string {
		return listen(t, func(c net.Conn) {
			for _, s := range answers {
				_, _ = c.Read(make([]byte, 512))
				_, _ = io.WriteString(c, s)
			}
		})
	}
	secure := "https://127.0.0.1:" + serveTLS(t, &tls.Config{Certificates: []tls.Certificate{a.leaf}}) + "/"
	missing := "/nonexistent/file"
	tests := []struct {
		name, url string
		args      []string
		settings  Settings
		words     bool // the same
	}{
		{"refused", "http://127.0.0.1:" + refusedPort(t) + "/", nil, Settings{}, false},
		{"CONNECT 407", "https://a.test/", []string{"-x"}, Settings{Proxy: httpProxy(answering(t, "HTTP/1.1 407 x\r\n\r\n"))}, true},
		{"CONNECT 503", "https://a.test/", []string{"-x"}, Settings{Proxy: httpProxy(answering(t, "HTTP/1.1 503 x\r\n\r\n"))}, true},
		{"CONNECT cut", "https://a.test/", []string{"-x"}, Settings{Proxy: httpProxy(answering(t, ""))}, true},
		{"SOCKS5 no method", "http://a.test/", []string{"-x"}, Settings{Proxy: &Proxy{Scheme: "socks5h", Port: socks("\x05\xff")}}, true},
		{"SOCKS5 refused", "http://a.test/", []string{"-x"}, Settings{Proxy: &Proxy{Scheme: "socks5h", Port: socks("\x05\x00", "\x05\x05\x00\x01\x00\x00\x00\x00\x00\x00")}}, true},
		{"SOCKS5 cut", "http://a.test/", []string{"-x"}, Settings{Proxy: &Proxy{Scheme: "socks5h", Port: socks("")}}, true},
		{"SOCKS4 refused", "http://a.test/", []string{"-x"}, Settings{Proxy: &Proxy{Scheme: "socks4a", Port: socks("\x00\x5b\x00\x00\x00\x00\x00\x00")}}, false},
		{"untrusted", secure, []string{"--cacert", newAuthority(t, retrytest.Leaf{}).file, "--capath", t.TempDir()}, Settings{}, true},
		{"CA file", secure, []string{"--cacert", missing}, Settings{TLS: TLS{CAFile: missing}}, false},
		{"client certificate", secure, []string{"-k", "-E", missing}, Settings{TLS: TLS{Insecure: true, CertFile: missing}}, false},
		{"ciphers", secure, []string{"-k", "--ciphers", "FOO"}, Settings{TLS: TLS{Insecure: true, Ciphers: "FOO"}}, true},
		{"plain text", "https://127.0.0.1:" + socks("HTTP/1.1 400 x\r\n\r\n") + "/", []string{"-k"}, Settings{TLS: TLS{Insecure: true}}, false},
		{"handshake cut", "https://127.0.0.1:" + socks("") + "/", []string{"-k"}, Settings{TLS: TLS{Insecure: true}}, false},
		{"no such socket", "http://a.test/", []string{"--unix-socket", missing}, Settings{UnixSocket: missing}, false},
		{"socket path", "http://a.test/", []string{"--unix-socket", "/" + strings.Repeat("x", 200)}, Settings{UnixSocket: "/" + strings.Repeat("x", 200)}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if p := tt.settings.Proxy; p != nil {
				p.Host = "127.0.0.1"
				tt.args = append(tt.args, p.Scheme+"://127.0.0.1:"+p.Port)
			} else if tt.name == "untrusted" {
				tt.settings.TLS.CAFile = tt.args[1]
			}
			line, code := curl(t, append(tt.args, tt.url)...)
			_, err := newPool(t).Get(context.Background(), targetOf(tt.url), &tt.settings, nil)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v; curl: (%d) %s", err, code, line)
			}
			if int(e.Code) != code || tt.words && e.Error() != line {
				t.Errorf("(%d) %s\ncurl: (%d) %s", e.Code, e, code, line)
			}
		})
	}
}

// targetOf reads a URL of the test above.
func targetOf(u string) Target {
	scheme, rest, _ := strings.Cut(u, "://")
	host, port, ok := strings.Cut(strings.TrimSuffix(rest, "/"), ":")
	if !ok {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return Target{scheme, host, port}
}

// The CONNECT that goes out is curl's, byte for byte.
func TestConnectHeadLikeCurl(t *testing.T) {
	heads := make(chan string, 2)
	port := listen(t, func(c net.Conn) { heads <- readHead(c) })
	curl(t, "-x", "http://127.0.0.1:"+port, "-U", "me:secret", "-A", "agent/1", "--proxy-header", "X-One: 1", "--proxy-header", "x-two: 2", "-H", "Not: this", "https://a.test:8443/path")
	s := &Settings{Proxy: httpProxy(port)}
	s.Proxy.HasAuth, s.Proxy.User, s.Proxy.Password, s.Proxy.UserAgent = true, "me", "secret", "agent/1"
	s.Proxy.Headers = [][2]string{{"X-One", "1"}, {"x-two", "2"}}
	if _, err := newPool(t).Get(context.Background(), Target{"https", "a.test", "8443"}, s, nil); err == nil {
		t.Fatal("connected")
	}
	if theirs, ours := <-heads, <-heads; theirs != ours {
		t.Errorf("curl sent\n%s\nwe sent\n%s", theirs, ours)
	}
}
