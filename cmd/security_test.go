package cmd_test

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bidehttp/bide/retry/retrytest"
)

// TestSecurityTable: each test that docs/security.md names is there.
func TestSecurityTable(t *testing.T) {
	there := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
			return err
		case strings.HasSuffix(path, ".txtar"):
			there[filepath.Base(path)] = true
		case strings.HasSuffix(path, "_test.go"):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
				there[m[1]] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) != 3 || strings.HasPrefix(line, "| what") {
			continue
		}
		rows++
		names := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[2], -1)
		if len(names) == 0 {
			t.Errorf("no test in the row of %s", cells[0])
		}
		for _, n := range names {
			if name, _, _ := strings.Cut(n[1], "/"); !there[name] {
				t.Errorf("no test %s, in the row of %s", n[1], cells[0])
			}
		}
	}
	const least = 45
	if rows < least {
		t.Errorf("%d rows, want %d", rows, least)
	}
}

// TestProxyCredentials: what is for a proxy goes to no server, and what is for a
// server to no proxy that does not need it.
func TestProxyCredentials(t *testing.T) {
	bide := buildBide(t)
	ca, err := retrytest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue(retrytest.Leaf{Hosts: []string{"origin.test"}})
	if err != nil {
		t.Fatal(err)
	}
	const forProxy, forOrigin = "pr0xys3cret", "0r1gins3cret"
	encoded := func(password string) string { return base64.StdEncoding.EncodeToString([]byte("me:" + password)) }
	direct := ""
	origin := newWitness(t, nil, func(path string) string {
		if path == "/away" {
			return "HTTP/1.1 302 Go\r\nContent-Length: 0\r\nLocation: http://127.0.0.1:" + direct + "/\r\n\r\n"
		}
		return reply("ok")
	})
	secure := newWitness(t, &tls.Config{Certificates: []tls.Certificate{cert}}, func(string) string { return reply("ok") })
	outside := newWitness(t, nil, func(string) string { return reply("ok") })
	direct = outside.port
	proxy := &witness{}
	address := rawServer(t, func(c net.Conn) { forwards(c, proxy, origin.port, secure.port) })
	common := []string{
		"-sS", "-k", "-L", "--attempts", "1", "-x", "http://" + address, "--noproxy", "127.0.0.1",
		"-U", "me:" + forProxy, "--proxy-header", "X-Proxy: " + forProxy, "-u", "me:" + forOrigin,
	}
	for _, url := range []string{"https://origin.test:443/", "http://origin.test/away"} {
		if e := runBuilt(t, bide, append(common, url)...); e.code != 0 || e.stdout != "ok" {
			t.Fatalf("%s: exit code %d, %s", url, e.code, e.stderr)
		}
	}
	for name, w := range map[string]*witness{"behind the tunnel": secure, "without the proxy": outside} {
		if got := w.text(); got == "" || strings.Contains(got, forProxy) || strings.Contains(got, encoded(forProxy)) || strings.Contains(got, "Proxy-") {
			t.Errorf("a server %s got\n%s", name, got)
		}
	}
	if got := outside.text(); strings.Contains(got, encoded(forOrigin)) {
		t.Errorf("another origin got\n%s", got)
	}
	connect, _, _ := strings.Cut(proxy.text(), "\r\n\r\n")
	if !strings.Contains(connect, encoded(forProxy)) || strings.Contains(connect, encoded(forOrigin)) {
		t.Errorf("CONNECT was\n%s", connect)
	}
}

// forwards is a proxy: it opens a tunnel to secure, and hands other requests to
// plain. It keeps their heads.
func forwards(c net.Conn, seen io.Writer, plain, secure string) {
	br := bufio.NewReader(c)
	r, err := http.ReadRequest(br)
	if err != nil {
		return
	}
	_, _ = io.WriteString(seen, r.Method+" "+r.RequestURI+"\r\n")
	_ = r.Header.Write(seen)
	_, _ = io.WriteString(seen, "\r\n")
	port := plain
	if r.Method == http.MethodConnect {
		port = secure
	}
	to, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		return
	}
	defer to.Close()
	if r.Method == http.MethodConnect {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
	} else {
		r.Header.Del("Proxy-Authorization")
		r.Header.Del("Proxy-Connection")
		r.Header.Set("Connection", "close")
		_ = r.Write(to)
	}
	go func() { _, _ = io.Copy(to, br); _ = to.Close() }()
	_, _ = io.Copy(c, to)
}

// TestGroupsShareNoSecret: what stands before --next is for the URLs before it.
func TestGroupsShareNoSecret(t *testing.T) {
	bide := buildBide(t)
	const s = "s3cret"
	one := newWitness(t, nil, func(string) string { return reply("") })
	two := newWitness(t, nil, func(string) string { return reply("") })
	e := runBuilt(t, bide, "-sS", "-u", "me:"+s, "-b", "a="+s, "-H", "X-Own: "+s, "-e", "http://"+s+".test/", "-A", s, "-X", "POST", "-d", s,
		"http://127.0.0.1:"+one.port+"/", "--next", "http://127.0.0.1:"+two.port+"/", "-:", "http://127.0.0.1:"+one.port+"/second")
	if e.code != 0 {
		t.Fatal(e.stderr)
	}
	_, second, _ := strings.Cut(one.text(), "GET /second")
	for _, got := range []string{two.text(), second} {
		if got == "" || strings.Contains(got, s) || strings.Contains(got, "Authorization") || strings.Contains(got, "POST") {
			t.Errorf("a later group sent\n%s", got)
		}
	}
}

// TestPinFailsClosed: a pin that cannot be read, or is none, trusts nobody.
func TestPinFailsClosed(t *testing.T) {
	bide := buildBide(t)
	ca, err := retrytest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue(retrytest.Leaf{})
	if err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	writeFile(t, empty, "")
	for _, pin := range []string{"missing.pem", empty, "sha256//", "sha256//AAAA", "sha256//;sha256//", "sha1//AAAA", t.TempDir()} {
		w := newWitness(t, &tls.Config{Certificates: []tls.Certificate{cert}}, func(string) string { return reply("ok") })
		e := runBuilt(t, bide, "-sSk", "--attempts", "1", "--pinnedpubkey", pin, "https://127.0.0.1:"+w.port+"/")
		if e.code != 90 || w.text() != "" || e.stdout != "" {
			t.Errorf("%s: exit code %d, sent %q, %s", pin, e.code, w.text(), e.stderr)
		}
	}
}

// TestHSTSHolds: no spelling of a host's name gets around its wish for https,
// and no later answer over http takes it back.
func TestHSTSHolds(t *testing.T) {
	bide := buildBide(t)
	for _, url := range []string{
		"http://a.test/", "http://A.TEST/", "http://a.test./", "http://a%2etest/", "http://a。test/", "http://a．test/", "http://sub.a.test/",
		"http://sub.a.test./", "http://bücher.test/", "http://xn--bcher-kva.test/", "http://BÜCHER.test/", "a.test/", "http://me:pw@a.test/", "http:a.test/",
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			cache := filepath.Join(t.TempDir(), "hsts")
			writeFile(t, cache, ".a.test \"unlimited\"\nxn--bcher-kva.test \"unlimited\"\n")
			w := newWitness(t, nil, func(string) string { return reply("ok", "Strict-Transport-Security: max-age=0") })
			for range 2 {
				e := runBuilt(t, bide, "-sS", "--attempts", "1", "--hsts", cache, "--connect-to", "::127.0.0.1:"+w.port, url)
				if e.code == 0 || strings.Contains(w.text(), "HTTP/1.1") {
					t.Fatalf("exit code %d, and by http went\n%s", e.code, w.text())
				}
			}
		})
	}
}
