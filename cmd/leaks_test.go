package cmd_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bidehttp/bide/cmd"
	"github.com/bidehttp/bide/retry/retrytest"
)

// witness is a server that keeps what it is sent, byte by byte.
type witness struct {
	port string
	mu   sync.Mutex
	seen bytes.Buffer
}

// Write keeps p.
func (w *witness) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen.Write(p)
}

func (w *witness) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen.String()
}

// newWitness answers every request with what answer says for its path.
func newWitness(t *testing.T, config *tls.Config, answer func(path string) string) *witness {
	t.Helper()
	w := &witness{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, w.port, _ = net.SplitHostPort(l.Addr().String())
	if config != nil {
		l = tls.NewListener(l, config)
	}
	cmd.AcceptAll(t, l, func(c net.Conn) {
		br := bufio.NewReader(io.TeeReader(c, w))
		for {
			r, err := http.ReadRequest(br)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(c, answer(r.URL.Path))
		}
	})
	return w
}

// TestLeaks: no credential, cookie, key or secret of a URL reaches another
// origin by way of a redirect, whatever brought it (R7.6, R7.6b, fault D11).
func TestLeaks(t *testing.T) {
	bide := buildBide(t)
	ca, err := retrytest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue(retrytest.Leaf{Hosts: []string{"a.test", "b.test"}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		writeFile(t, path, text)
		return path
	}
	const s = "s3cret"
	sources := map[string][]string{
		"user":                 {"-u", "me:" + s},
		"user_digest":          {"--digest", "-u", "me:" + s},
		"authorization_header": {"-H", "Authorization: Bearer " + s},
		"header_in_other_case": {"-H", "aUTHORIZATION: Bearer " + s},
		"header_file":          {"-H", "@" + file("headers", "Authorization: Bearer "+s+"\n")},
		"cookie_header":        {"-H", "Cookie: sid=" + s},
		"cookie_text":          {"-b", "sid=" + s},
		"cookie_file":          {"-b", file("jar", "a.test\tFALSE\t/\tFALSE\t0\tsid\t"+s+"\n")},
		"cookie_of_the_answer": {"-b", "", "--url", "http://a.test:PORT/set"},
		"bearer":               {"--oauth2-bearer", s},
		"netrc":                {"--netrc-file", file("netrc", "machine a.test login me password "+s+"\n")},
		"netrc_half_an_entry":  {"--netrc-file", file("netrc2", "machine a.test login me password "+s+"\nmachine b.test login me\n")},
		"netrc_empty_default":  {"--netrc-file", file("netrc3", "machine a.test login me password "+s+"\ndefault\n")},
		"key":                  {"--idempotency-key", s},
		"key_by_hand":          {"-H", "Idempotency-Key: " + s},
		"referer":              {"-e", ";auto"},
		"sigv4":                {"--aws-sigv4", "aws:amz:r:svc", "-u", "me:" + s, "-H", "X-Amz-Security-Token: " + s},
		"api_key":              {"-H", "X-Api-Key: " + s},
		"auth_token":           {"-H", "X-Auth-Token: " + s},
		"host_header":          {"-H", "Host: " + s},
		"proxy_header":         {"--proxy-header", "X: " + s},
		"proxy_user":           {"-U", "me:" + s},
	}
	for name, args := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port := newWitness(t, nil, func(string) string { return reply("ok") })
			secure := newWitness(t, &tls.Config{Certificates: []tls.Certificate{cert}}, func(string) string { return reply("ok") })
			places := map[string]string{
				"/host":   "http://b.test:" + port.port + "/",
				"/port":   "http://a.test:" + port.port + "/",
				"/scheme": "https://a.test:" + secure.port + "/",
			}
			home := newWitness(t, nil, func(path string) string {
				if path == "/set" {
					return reply("", "Set-Cookie: sid="+s)
				}
				return "HTTP/1.1 307 Go\r\nContent-Length: 0\r\nLocation: " + places[path] + "\r\n\r\n"
			})
			for place := range places {
				if place != "/host" && strings.Contains(name, "cookie_") && name != "cookie_header" && name != "cookie_text" {
					continue // cookies know no ports (RFC 6265 §8.5)
				}
				if place != "/host" && (strings.HasPrefix(name, "netrc") || name == "host_header") {
					continue // nor does .netrc; and a Host is one host's, as in curl
				}
				run := []string{"-sS", "-L", "-k", "--attempts", "1", "--noproxy", "*"}
				for _, p := range []string{home.port, port.port, secure.port} {
					run = append(run, "--resolve", "a.test:"+p+":127.0.0.1", "--resolve", "b.test:"+p+":127.0.0.1")
				}
				for _, a := range args {
					run = append(run, strings.ReplaceAll(a, "PORT", home.port))
				}
				url := "http://a.test:" + home.port + place
				if name == "referer" {
					url = "http://me:" + s + "@a.test:" + home.port + place + "#" + s
				}
				if e := runBuilt(t, bide, append(run, url)...); e.code != 0 {
					t.Errorf("%s: exit code %d: %s", place, e.code, e.stderr)
				}
			}
			for where, w := range map[string]*witness{"another host or port": port, "another scheme": secure} {
				got := w.text()
				if strings.Contains(got, s) || strings.Contains(got, "bWU6czNjcmV0") {
					t.Errorf("%s was sent\n%s", where, got)
				}
			}
			if !strings.Contains(port.text(), "HTTP/1.1") {
				t.Error("nobody went there: the test shows nothing")
			}
		})
	}
}

// TestHeaderInjection: no line of its own comes from a line break in a value,
// whichever flag, file or answer it stands in.
func TestHeaderInjection(t *testing.T) {
	bide := buildBide(t)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		writeFile(t, path, text)
		return path
	}
	for _, brk := range []string{"\r\n", "\n", "\r", "\x00", "\r\n "} {
		evil := "x" + brk + "Evil: 1"
		rows := map[string][]string{
			"header":          {"-H", "X: " + evil},
			"header_name":     {"-H", evil + ": y"},
			"header_file":     {"-H", "@" + file(fmt.Sprintf("h%x", brk), "X: "+strings.ReplaceAll(evil, "\n", "")+"\n")},
			"user_agent":      {"-A", evil},
			"referer":         {"-e", evil},
			"cookie":          {"-b", "a=" + evil},
			"method":          {"-X", "GET / HTTP/1.1" + brk + "Evil: 1"},
			"range":           {"-r", "1-2" + brk + "Evil: 1"},
			"bearer":          {"--oauth2-bearer", evil},
			"user":            {"-u", evil},
			"target":          {"--request-target", "/ HTTP/1.1" + brk + "Evil: 1"},
			"key":             {"--idempotency-key", evil},
			"key_header":      {"--idempotency-key", "k", "--idempotency-header", evil},
			"form_name":       {"--form-string", evil + "=v"},
			"form_filename":   {"-F", "f=v;filename=\"" + evil + "\""},
			"form_type":       {"-F", "f=v;type=text/plain" + brk + "Evil: 1"},
			"form_header":     {"-F", "f=v;headers=\"X: " + evil + "\""},
			"form_escape":     {"--form-escape", "--form-string", evil + "=v"},
			"url_query":       {"--url-query", "a=" + evil},
			"get":             {"-G", "-d", "a=" + evil},
			"upload_name":     {"-T", "{" + file("u"+strings.NewReplacer("\x00", "", "/", "").Replace(evil), "x") + "}"},
			"etag":            {"--etag-compare", file(fmt.Sprintf("e%x", brk), evil)},
			"cookie_file":     {"-b", file(fmt.Sprintf("c%x", brk), "127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t"+strings.ReplaceAll(evil, "\n", "")+"\n")},
			"netrc":           {"--netrc-file", file(fmt.Sprintf("n%x", brk), "machine 127.0.0.1 login \""+evil+"\" password p\n")},
			"haproxy_address": {"--haproxy-clientip", "1.2.3.4" + brk + "Evil: 1"},
			"proxy_header":    {"-x", "http://127.0.0.1:PORT", "--proxy-header", "X: " + evil},
			"proxy_user":      {"-x", "http://127.0.0.1:PORT", "-U", evil},
			"sigv4":           {"--aws-sigv4", "aws:amz:" + evil + ":svc", "-u", "a:b"},
		}
		for name, args := range rows {
			if strings.Contains(strings.Join(args, ""), "\x00") {
				continue // no argument holds a NUL
			}
			t.Run(fmt.Sprintf("%s_%x", name, brk), func(t *testing.T) {
				t.Parallel()
				w := newWitness(t, nil, func(string) string { return reply("ok") })
				run := []string{"-sS", "--attempts", "1"}
				for _, a := range args {
					run = append(run, strings.ReplaceAll(a, "PORT", w.port))
				}
				wantNoEvil(t, w, runBuilt(t, bide, append(run, "http://127.0.0.1:"+w.port+"/")...))
			})
		}
		if brk == "\x00" {
			continue
		}
		for name, url := range map[string]string{
			"path": "/a" + brk + "Evil: 1", "query": "/?a" + brk + "Evil: 1", "fragment": "/#" + brk + "Evil: 1", "host": brk + "Evil: 1/",
		} {
			t.Run(fmt.Sprintf("url_%s_%x", name, brk), func(t *testing.T) {
				t.Parallel()
				w := newWitness(t, nil, func(string) string { return reply("ok") })
				wantNoEvil(t, w, runBuilt(t, bide, "-sS", "--attempts", "1", "http://127.0.0.1:"+w.port+url))
			})
		}
		for name, answer := range map[string]string{
			"location":     "HTTP/1.1 302 Go\r\nContent-Length: 0\r\nLocation: /a" + brk + "Evil: 1\r\n\r\n",
			"set_cookie":   "HTTP/1.1 302 Go\r\nContent-Length: 0\r\nSet-Cookie: a=b" + brk + "Evil: 1\r\nLocation: /ok\r\n\r\n",
			"nonce":        "HTTP/1.1 401 No\r\nContent-Length: 0\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n" + brk + "Evil: 1\"\r\n\r\n",
			"realm":        "HTTP/1.1 401 No\r\nContent-Length: 0\r\nWWW-Authenticate: Digest realm=\"r" + brk + "Evil: 1\", nonce=\"n\"\r\n\r\n",
			"content_type": "HTTP/1.1 302 Go\r\nContent-Length: 0\r\nLocation: http://127.0.0.1:0" + brk + "Evil: 1/\r\n\r\n",
		} {
			t.Run(fmt.Sprintf("answer_%s_%x", name, brk), func(t *testing.T) {
				t.Parallel()
				w := newWitness(t, nil, func(path string) string {
					if path == "/" {
						return answer
					}
					return reply("ok")
				})
				wantNoEvil(t, w, runBuilt(t, bide, "-sS", "-L", "--max-redirs", "3", "--attempts", "1", "-b", "", "--digest", "-u", "a:b", "http://127.0.0.1:"+w.port+"/"))
			})
		}
	}
}

// wantNoEvil fails when the injected text became a line, in a head or a part.
func wantNoEvil(t *testing.T, w *witness, e ended) {
	t.Helper()
	got := w.text()
	for line := range strings.FieldsFuncSeq(got, func(r rune) bool { return r == '\r' || r == '\n' || r == 0 }) {
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), "Evil") {
			t.Errorf("it was sent (exit code %d)\n%q", e.code, got)
			return
		}
	}
	if got == "" && e.code == 0 {
		t.Error("nothing was sent, and that is no error")
	}
}
