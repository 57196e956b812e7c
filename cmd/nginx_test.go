package cmd_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry/retrytest"
)

// nginxServer is a real nginx on loopback with a rate limit: 429, and a
// Retry-After that its own log lets us hold every client to.
type nginxServer struct {
	http, https string
	dir         string
}

const nginxConfig = `
%[5]spid %[1]s/pid;
error_log %[1]s/error.log;
worker_processes 1;
events { worker_connections 1024; }
http {
  log_format timed '$msec $status $http_x_client $server_protocol';
  client_body_temp_path %[1]s/t1; proxy_temp_path %[1]s/t2; fastcgi_temp_path %[1]s/t3; uwsgi_temp_path %[1]s/t4; scgi_temp_path %[1]s/t5;
  limit_req_zone $server_port zone=api:1m rate=40r/s;
  limit_req_status 429;
  map $status $wait { 429 1; default ""; }
  server {
    listen 127.0.0.1:%[2]d;
    listen 127.0.0.1:%[3]d ssl http2;
    ssl_certificate %[1]s/cert.pem;
    ssl_certificate_key %[1]s/key.pem;
    root %[4]s;
    access_log %[1]s/access.log timed;
    location / { }
    location /limited {
      limit_req zone=api burst=5 nodelay;
      add_header Retry-After $wait always;
      try_files /file =404;
    }
  }
}
`

func startNginx(t *testing.T) *nginxServer {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		t.Skip("nginx is not installed")
	}
	s := &nginxServer{dir: t.TempDir()}
	writeFile(t, filepath.Join(s.dir, "root", "file"), "hello from nginx\n")
	writeCertificate(t, s.dir)
	plain, secure := boundSocket(t), boundSocket(t)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	line := ""
	if me.Uid == "0" {
		line = "user " + me.Username + ";\n"
	}
	config := filepath.Join(s.dir, "nginx.conf")
	writeFile(t, config, fmt.Sprintf(nginxConfig, s.dir, plain.port, secure.port, filepath.Join(s.dir, "root"), line))
	ctx, cancel := context.WithCancel(context.Background())
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "-c", config, "-p", s.dir, "-g", "daemon off;")
	cmd.Stderr = &stderr
	// Its sockets are inherited, as in an upgrade of nginx: nobody else gets the ports.
	cmd.ExtraFiles = []*os.File{plain.file, secure.file}
	cmd.Env = append(os.Environ(), "NGINX=3;4;")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
	s.http, s.https = fmt.Sprintf("http://127.0.0.1:%d", plain.port), fmt.Sprintf("https://127.0.0.1:%d", secure.port)
	for range 1000 { // the pid is written when nginx is ready
		if _, err := os.Stat(filepath.Join(s.dir, "pid")); err == nil {
			return s
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("nginx does not start: %s", stderr.String())
	return nil
}

// socket is one that listens on a port of 127.0.0.1.
type socket struct {
	file *os.File
	port int
}

func boundSocket(t *testing.T) socket {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return socket{file, l.Addr().(*net.TCPAddr).Port}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestNginx runs the built binary against a real server.
func TestNginx(t *testing.T) {
	s := startNginx(t)
	bide := buildBide(t)
	run := func(t *testing.T, args ...string) (stdout, stderr string) {
		t.Helper()
		cmd := exec.Command(bide, args...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			t.Fatalf("bide %q: %v\n%s", args, err, errs.String())
		}
		return out.String(), errs.String()
	}
	t.Run("plain", func(t *testing.T) {
		if out, _ := run(t, "-q", s.http+"/file"); out != "hello from nginx\n" {
			t.Errorf("stdout %q", out)
		}
	})
	for version, flag := range map[string]string{"HTTP/2": "--http2", "HTTP/1.1": "--http1.1"} {
		t.Run("TLS_"+version, func(t *testing.T) {
			out, _ := run(t, "-q", flag, "--cacert", filepath.Join(s.dir, "ca.pem"), "--timeline", "json", s.https+"/file")
			if !strings.Contains(out, `"protocol":"`+version+`"`) || !strings.Contains(out, `"body":"hello from nginx\n"`) {
				t.Errorf("timeline %s", out)
			}
		})
	}
	t.Run("hundred_parallel_processes_keep_their_turn", func(t *testing.T) { s.hundred(t, bide) })
}

// hundred starts a hundred clients at once against 40 requests per second:
// all succeed in the end, and nginx's own log shows that none came back within
// the second it was told to wait.
func (s *nginxServer) hundred(t *testing.T, bide string) {
	var wg sync.WaitGroup
	failures := make(chan string, 100)
	for i := range 100 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			out, err := exec.Command(bide, "-q", "-sS", "-H", "X-Client: c"+strconv.Itoa(i), "--attempts", "unlimited", "--deadline", "60s",
				"--base", "100ms", "--jitter", "0.5", s.http+"/limited").CombinedOutput()
			if err != nil || string(out) != "hello from nginx\n" {
				failures <- fmt.Sprintf("client %d: %v: %s", i, err, out)
			}
		}()
	}
	wg.Wait()
	close(failures)
	for f := range failures {
		t.Error(f)
	}
	log, err := os.ReadFile(filepath.Join(s.dir, "access.log"))
	if err != nil {
		t.Fatal(err)
	}
	checkTurns(t, string(log))
}

// checkTurns reads nginx's log: time in seconds, status, client.
func checkTurns(t *testing.T, log string) {
	t.Helper()
	type visit struct {
		at     float64
		status string
	}
	visits := make(map[string][]visit)
	refused := 0
	for line := range strings.Lines(log) {
		f := strings.Fields(line)
		if len(f) < 3 || !strings.HasPrefix(f[2], "c") {
			continue
		}
		at, err := strconv.ParseFloat(f[0], 64)
		if err != nil {
			t.Fatalf("nginx's log: %q", line)
		}
		visits[f[2]] = append(visits[f[2]], visit{at, f[1]})
		if f[1] == "429" {
			refused++
		}
	}
	if len(visits) != 100 || refused == 0 {
		t.Fatalf("%d clients and %d refusals in nginx's log, want 100 and some", len(visits), refused)
	}
	for client, all := range visits {
		sort.Slice(all, func(i, j int) bool { return all[i].at < all[j].at })
		for i := 1; i < len(all); i++ {
			// nginx's clock has milliseconds.
			if gap := all[i].at - all[i-1].at; all[i-1].status == "429" && gap < 0.998 {
				t.Errorf("%s came back after %.3f s, told to wait 1 s", client, gap)
			}
		}
		if last := all[len(all)-1]; last.status != "200" {
			t.Errorf("%s ended with %s", client, last.status)
		}
	}
}

// writeCertificate puts a throw-away authority and a certificate of 127.0.0.1 into dir.
func writeCertificate(t *testing.T, dir string) {
	t.Helper()
	ca, err := retrytest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "ca.pem"), string(ca.PEM()))
	cert, err := ca.Issue(retrytest.Leaf{})
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, dir, cert)
}
