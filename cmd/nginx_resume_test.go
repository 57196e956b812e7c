package cmd_test

import (
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry/retrytest"
)

// cutter passes connections on to a server and ends each after limit bytes of
// what the server says.
type cutter struct {
	addr        string
	connections atomic.Int64
}

func newCutter(t *testing.T, to string, limit int64) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c := &cutter{addr: l.Addr().String()}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			c.connections.Add(1)
			go cut(client, to, limit)
		}
	}()
	return c
}

func cut(client net.Conn, to string, limit int64) {
	defer client.Close()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	go func() { _, _ = io.Copy(server, client) }()
	_, _ = io.CopyN(client, server, limit)
}

// TestNginxContinues/E7 downloads from a real server through connections that
// die after 3 MB each: its entity tags, parts and If-Range are what is relied on.
func TestNginxContinues(t *testing.T) {
	s := startNginx(t)
	bide := buildBide(t)
	want := retrytest.Pattern(10 << 20)
	file := filepath.Join(s.dir, "root", "large")
	writeFile(t, file, string(want))
	if err := os.Chtimes(file, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"HTTP/1.1": {"http", s.http}, "TLS": {"https", s.https, "--http1.1"}, "HTTP/2": {"https", s.https, "--http2"},
	} {
		t.Run("E7_"+strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			_, server, _ := strings.Cut(args[1], "://")
			for _, out := range []string{"-", filepath.Join(t.TempDir(), "f")} {
				c := newCutter(t, server, 3<<20)
				cmd := exec.Command(bide, append([]string{"-q", "-sS", "--base", "10ms", "--cacert", filepath.Join(s.dir, "ca.pem"),
					"-o", out, args[0] + "://" + c.addr + "/large"}, args[2:]...)...)
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				if err := cmd.Run(); err != nil {
					t.Fatalf("%v: %s", err, stderr.String())
				}
				got := stdout.Bytes()
				if out != "-" {
					var err error
					if got, err = os.ReadFile(out); err != nil {
						t.Fatal(err)
					}
				}
				if n := c.connections.Load(); !bytes.Equal(got, want) || n < 4 || n > 12 {
					t.Errorf("to %s: %d bytes over %d connections", out, len(got), n)
				}
			}
		})
	}
}
