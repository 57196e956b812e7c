package request_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// recorder is a loopback server that keeps what it was sent, as it was sent.
type recorder struct {
	t        *testing.T
	listener net.Listener

	mu       sync.Mutex
	heads    []string
	bodies   []string
	location string // answer 302 with it
}

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{t: t, listener: l}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r.serve(c)
		}
	}()
	return r
}

func (r *recorder) addr() string { return r.listener.Addr().String() }

func (r *recorder) serve(c net.Conn) {
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	var raw bytes.Buffer
	in := bufio.NewReader(io.TeeReader(c, &raw))
	req, err := http.ReadRequest(in)
	if raw.Len() == 0 {
		return
	}
	head, _, _ := strings.Cut(raw.String(), "\r\n\r\n")
	var body []byte
	if err == nil {
		if req.Header.Get("Expect") != "" {
			io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
		}
		body, _ = io.ReadAll(req.Body)
	}
	r.mu.Lock()
	r.heads = append(r.heads, head)
	r.bodies = append(r.bodies, string(body))
	location := r.location
	r.mu.Unlock()
	if location != "" {
		io.WriteString(c, "HTTP/1.1 302 Found\r\nLocation: "+location+"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		return
	}
	io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}

// curl runs the installed curl so that every host is this recorder. It gives
// the heads and bodies seen, standard output and the exit code.
func (r *recorder) curl(args ...string) (heads, bodies []string, stdout string, code int) {
	r.t.Helper()
	path, err := exec.LookPath("curl")
	if err != nil {
		r.t.Skip("curl is not installed")
	}
	r.mu.Lock()
	r.heads, r.bodies = nil, nil
	r.mu.Unlock()
	base := []string{"-q", "-sS", "-g", "-m", "10"}
	if !slices.Contains(args, "-x") { // with a proxy this would ask for a tunnel
		base = append(base, "--connect-to", "::"+r.addr())
	}
	cmd := exec.Command(path, append(base, args...)...)
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasSuffix(strings.ToLower(name), "_proxy") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "LC_ALL=C.UTF-8")
	out, err := cmd.Output()
	if err != nil {
		if ee, ok := err.(*exec.ExitError); ok {
			code = ee.ExitCode()
		} else {
			r.t.Fatal(err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.heads, r.bodies, string(out), code
}
