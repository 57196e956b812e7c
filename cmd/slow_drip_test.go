package cmd_test

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// drips writes start at once and then text, a byte at a time and again and again.
func drips(start, text string) func(net.Conn) {
	return func(c net.Conn) {
		go func() { _, _ = io.Copy(io.Discard, c) }()
		if _, err := io.WriteString(c, start); err != nil {
			return
		}
		for i := 0; ; i = (i + 1) % len(text) {
			if _, err := io.WriteString(c, text[i:i+1]); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// sips reads a byte at a time: the client can send no more than fits on the way.
func sips(c net.Conn) {
	for b := make([]byte, 1); ; time.Sleep(20 * time.Millisecond) {
		if _, err := c.Read(b); err != nil {
			return
		}
	}
}

// TestSlowDrip: a server that is slow enough to last for ever, in whatever it
// should do next, is ended by each limit that the user can set (R6.1, R6.3).
// Until the connection is made that is --connect-timeout, and -Y and -y count
// from then on, as in curl.
func TestSlowDrip(t *testing.T) {
	bide := buildBide(t)
	upload := filepath.Join(t.TempDir(), "upload")
	writeFile(t, upload, "")
	if err := os.Truncate(upload, 64<<20); err != nil {
		t.Fatal(err)
	}
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	const plain = "http://ADDRESS/"
	phases := []struct {
		name       string
		serve      func(net.Conn)
		args       []string
		connecting bool // --connect-timeout is about this
	}{
		{"resolve", nil, []string{"--dns-servers", silent.LocalAddr().String(), "http://slow.test/"}, true},
		{"tls_nothing", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, []string{"-k", "https://ADDRESS/"}, true},
		{"tls_record", drips("\x16\x03\x03\x40\x00", "\x02"), []string{"-k", "https://ADDRESS/"}, true},
		{"proxy_connect", drips("", "HTTP/1.1 200 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), []string{"-x", plain, "https://origin.test/"}, true},
		{"proxy_connect_headers", drips("HTTP/1.1 200 OK\r\n", "X: y\r\n"), []string{"-x", plain, "https://origin.test/"}, true},
		{"socks_greeting", func(c net.Conn) { _, _ = io.WriteString(c, "\x05"); _, _ = io.Copy(io.Discard, c) }, []string{"--socks5-hostname", "ADDRESS", "http://origin.test/"}, true},
		{"socks_answer", drips("\x05\x00\x05\x00\x00\x03\xff", "a"), []string{"--socks5-hostname", "ADDRESS", "http://origin.test/"}, true},
		{"request_body_not_read", sips, []string{"-T", upload, "-H", "Expect:", plain}, false},
		{"nothing", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, []string{plain}, false},
		{"status_line", drips("HTTP/1.1 200 ", "a"), []string{plain}, false},
		{"headers", drips("HTTP/1.1 200 OK\r\n", "X: y\r\n"), []string{plain}, false},
		{"interim", drips("", "HTTP/1.1 103 Early Hints\r\n\r\n"), []string{plain}, false},
		{"body", drips("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", "a"), []string{plain}, false},
		{"body_until_the_end", drips("HTTP/1.1 200 OK\r\n\r\n", "a"), []string{plain}, false},
		{"error_body", drips("HTTP/1.1 404 Not Found\r\n\r\n", "a"), []string{"--fail-with-body", plain}, false},
		{"chunk_header", drips("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "a"), []string{plain}, false},
		{"chunks", drips("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n"), []string{plain}, false},
		{"trailer", drips("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X: y\r\n"), []string{plain}, false},
		{"http2_pings", h2server(func(p *h2play) {
			p.forever(func() error { time.Sleep(20 * time.Millisecond); return p.WritePing(false, [8]byte{}) })
		}), []string{"--http2-prior-knowledge", plain}, false},
		{"http2_data", h2server(func(p *h2play) {
			p.ok()
			p.forever(func() error { time.Sleep(20 * time.Millisecond); return p.WriteData(p.id, false, []byte("a")) })
		}), []string{"--http2-prior-knowledge", plain}, false},
	}
	limits := []struct {
		name string
		args []string
		line string
	}{
		{"low_speed", []string{"-Y", "1000", "-y", "1"}, "too slow"},
		{"max_time", []string{"-m", "0.5"}, "time|deadline"},
		{"max_time_of_the_attempt", []string{"-m", "0.3", "--attempts", "2"}, "time"},
		{"deadline", []string{"--deadline", "0.5"}, "deadline"},
		{"connect_timeout", []string{"--connect-timeout", "0.5"}, "time"},
	}
	var checks []func()
	const together = 24 // they wait more than they work
	room := make(chan struct{}, together)
	for _, p := range phases {
		address := ""
		if p.serve != nil {
			address = rawServer(t, p.serve)
		}
		for _, l := range limits {
			if l.name == "connect_timeout" && !p.connecting || l.name == "low_speed" && p.connecting {
				continue
			}
			args := append([]string{"-sS", "--attempts", "1", "--base", "10ms", "-o", os.DevNull}, l.args...)
			for _, a := range p.args {
				args = append(args, strings.ReplaceAll(a, "ADDRESS", address))
			}
			code := 28
			if l.name == "connect_timeout" && strings.HasPrefix(p.name, "tls") {
				code = 35 // contract §3: a handshake that times out
			}
			var e ended
			var err error
			done := make(chan struct{})
			go func() {
				defer close(done)
				room <- struct{}{}
				e, err = tryBuilt(t, bide, args...)
				<-room
			}()
			checks = append(checks, func() {
				t.Run(p.name+"/"+l.name, func(t *testing.T) {
					if <-done; err != nil {
						t.Fatal(err)
					}
					wantHostile(t, e, code, l.line)
				})
			})
		}
	}
	for _, check := range checks {
		check()
	}
}
