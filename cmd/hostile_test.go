package cmd_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// hostile is one way to harm a client over HTTP/1.1, and how it ends.
type hostile struct {
	name  string
	serve func(c net.Conn)
	args  []string
	code  int
	line  string // a regular expression for stderr
}

// hostiles are heads without end, bodies that are not what they seem, and
// answers that nobody asked for.
func hostiles(t *testing.T) []hostile {
	head := func(start, endless string) func(net.Conn) {
		return answering(func(w io.Writer) {
			_, _ = io.WriteString(w, start)
			forever(w, endless)
		})
	}
	whole := func(text string) func(net.Conn) {
		return answering(func(w io.Writer) { _, _ = io.WriteString(w, text) })
	}
	var hops atomic.Int64
	return []hostile{
		{"header_flood", head("HTTP/1.1 200 OK\r\n", "X: y\r\n"), nil, 56, "header"},
		{"header_line_without_end", head("HTTP/1.1 200 OK\r\nX: ", "a"), nil, 56, "header"},
		{"status_line_without_end", head("HTTP/1.1 200 ", "a"), nil, 56, "header"},
		{"folded_header_without_end", head("HTTP/1.1 200 OK\r\nX: y\r\n", " z\r\n"), nil, 56, "header"},
		{"interim_answers_without_end", head("", "HTTP/1.1 100 Continue\r\n\r\n"), nil, 8, "informational"},
		{"early_hints_without_end", head("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), nil, 8, "informational"},
		{"trailers_without_end", head("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", "X: y\r\n"), nil, 56, "header"},
		{"chunk_extension_without_end", head("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "a"), nil, 56, "chunk"},
		{"chunk_size_overflow", whole("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\na"), nil, 56, "chunk"},
		{"chunk_size_negative", whole("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\na"), nil, 56, "chunk"},
		{"two_lengths", whole("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"), nil, 8, "Content-Length"},
		{"length_negative", whole("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nab"), nil, 8, "Content-Length"},
		{"length_overflow", whole("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nab"), nil, 8, "Content-Length"},
		{"redirects_without_end", answering(func(w io.Writer) {
			fmt.Fprintf(w, "HTTP/1.1 302 Found\r\nLocation: /%d\r\nContent-Length: 0\r\n\r\n", hops.Add(1))
		}), []string{"-L"}, 47, "redirect"},
		{"redirect_with_a_body_without_end", head("HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n", "a"), []string{"-L", "--max-redirs", "3"}, 47, "redirect"},
		{"challenges_without_end", whole("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Digest realm=r, nonce=n, stale=true, qop=auth\r\nContent-Length: 0\r\n\r\n"), []string{"--digest", "-u", "a:b"}, 22, "401"},
		{"body_without_end", head("HTTP/1.1 200 OK\r\n\r\n", "a"), []string{"--max-filesize", "1M"}, 63, "size"},
		{"error_body_without_end", head("HTTP/1.1 404 Not Found\r\n\r\n", "a"), nil, 22, "404"},
		{"retried_body_without_end", head("HTTP/1.1 503 Busy\r\n\r\n", "a"), []string{"--attempts", "3"}, 75, "503"},
		{"length_over_the_limit", whole("HTTP/1.1 200 OK\r\nContent-Length: 1099511627776\r\n\r\n"), []string{"--max-filesize", "1M"}, 63, "size"},
		{"gzip_bomb", whole(bomb(t, "gzip", 256<<20)), []string{"--compressed", "--max-filesize", "1M"}, 63, "size"},
		{"brotli_bomb", whole(bomb(t, "br", 256<<20)), []string{"--compressed", "--max-filesize", "1M"}, 63, "size"},
		{"zstd_bomb", whole(bomb(t, "zstd", 256<<20)), []string{"--compressed", "--max-filesize", "1M"}, 63, "size"},
		{"bomb_in_bombs", whole(bomb(t, "gzip, gzip, gzip", 64<<20)), []string{"--compressed", "--max-filesize", "1M"}, 63, "size"},
		{"zstd_window_of_a_gigabyte", whole(reply("\x28\xb5\x2f\xfd\x00\xa0\x01\x00\x00a", "Content-Encoding: zstd")), []string{"--compressed"}, 61, "zstd|window"},
		{"codings_without_end", whole(reply("x", "Content-Encoding: "+strings.Repeat("gzip, ", 1000)+"gzip")), []string{"--compressed"}, 61, "coding"},
		{"escapes_in_the_status_text", whole("HTTP/1.1 404 \x1b[2J\x1b]0;owned\x07\x00\x7f\r\nContent-Length: 0\r\n\r\n"), nil, 8, "Nul byte"},
		{"escapes_without_a_nul", whole("HTTP/1.1 404 \x1b[2J\x1b]0;owned\x07\x7f\r\nX: \x1b[1m\r\nContent-Length: 0\r\n\r\n"), []string{"-v"}, 22, ""},
		{"escapes_in_an_error_body", whole("HTTP/1.1 404 No\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\n\x1b[31mred\x07\r\n\x00"), nil, 22, "404"},
		{"escapes_in_a_location", whole("HTTP/1.1 302 Found\r\nLocation: ht\x1b[2Jtp://x/\r\nContent-Length: 0\r\n\r\n"), []string{"-L"}, 3, "redirect target"},
		{"no_http_at_all", whole("\x1b[2J\x00\xff\r\n\r\n"), nil, 1, "HTTP/0.9"},
		{"cookies_without_end", answering(func(w io.Writer) {
			_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n")
			for i := range 4000 {
				fmt.Fprintf(w, "Set-Cookie: c%d=%s\r\n", i, strings.Repeat("v", 40))
			}
			_, _ = io.WriteString(w, "\r\n")
		}), []string{"-b", ""}, 0, ""},
	}
}

// bomb is an answer whose body is small and becomes size bytes.
func bomb(t *testing.T, codings string, size int64) string {
	t.Helper()
	body := func(w io.Writer) error { _, err := io.CopyN(w, zeros{}, size); return err }
	var b bytes.Buffer
	for i, name := range strings.Split(codings, ", ") {
		inner := bytes.NewReader(bytes.Clone(b.Bytes()))
		if i > 0 {
			body = func(w io.Writer) error { _, err := io.Copy(w, inner); return err }
		}
		b.Reset()
		var w io.WriteCloser = gzip.NewWriter(&b)
		switch name {
		case "br":
			w = brotli.NewWriterLevel(&b, 5)
		case "zstd":
			var err error
			if w, err = zstd.NewWriter(&b); err != nil {
				t.Fatal(err)
			}
		}
		if err := body(w); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return reply(b.String(), "Content-Encoding: "+codings)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestHostileServers: what a server can send that would fill the memory, never
// end, or reach the terminal ends in bounded time and memory, with one clear
// line and its exit code.
func TestHostileServers(t *testing.T) {
	bide := buildBide(t)
	for _, h := range hostiles(t) {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			address := rawServer(t, h.serve)
			e := runBuilt(t, bide, append([]string{"-sS", "--base", "10ms", "-o", os.DevNull, "http://" + address + "/"}, h.args...)...)
			wantHostile(t, e, h.code, h.line)
		})
	}
}

// TestResponseAfterTheResponse: what a server sends that no request asked for
// never becomes the answer to the next one.
func TestResponseAfterTheResponse(t *testing.T) {
	bide := buildBide(t)
	const smuggled = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
	for name, first := range map[string]string{
		"behind_a_length":       reply("good") + smuggled,
		"behind_chunks":         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngood\r\n0\r\n\r\n" + smuggled,
		"behind_no_body":        "HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\ngood" + smuggled,
		"garbage":               reply("good") + "\r\n\r\nxxxx",
		"length_beside_chunks":  "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngood\r\n0\r\n\r\n" + smuggled,
		"behind_a_shorter_body": reply("good", "Content-Length: 4") + smuggled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var connections atomic.Int64
			address := rawServer(t, func(c net.Conn) {
				n := connections.Add(1)
				answering(func(w io.Writer) {
					if n == 1 {
						_, _ = io.WriteString(w, first)
						return
					}
					_, _ = io.WriteString(w, reply("second"))
				})(c)
			})
			e := runBuilt(t, bide, "-sS", "http://"+address+"/1", "http://"+address+"/2")
			if strings.Contains(e.stdout, "evil") || !strings.HasSuffix(e.stdout, "second") || e.code != 0 {
				t.Errorf("exit code %d, stdout %q, stderr %q", e.code, e.stdout, e.stderr)
			}
		})
	}
}

// TestHostileProxies does for a proxy's answers what TestHostileServers does for
// a server's.
func TestHostileProxies(t *testing.T) {
	bide := buildBide(t)
	endless := func(start, text string) func(net.Conn) {
		return func(c net.Conn) {
			_, _ = io.ReadAtLeast(c, make([]byte, 1<<10), 1)
			_, _ = io.WriteString(c, start)
			forever(c, text)
		}
	}
	const challenge = "HTTP/1.1 407 No\r\nProxy-Authenticate: Digest realm=r, nonce=n, stale=true, qop=auth\r\n"
	for _, h := range []hostile{
		{"header_flood", endless("HTTP/1.1 200 OK\r\n", "X: y\r\n"), nil, 56, "too large"},
		{"header_line_without_end", endless("HTTP/1.1 200 OK\r\nX: ", "a"), nil, 56, "too large"},
		{"status_line_without_end", endless("HTTP/1.1 200 ", "a"), nil, 56, "too large"},
		{"interim_answers_without_end", endless("", "HTTP/1.1 100 Continue\r\n\r\n"), nil, 56, ""},
		{"challenges_without_end", answering(func(w io.Writer) { _, _ = io.WriteString(w, challenge+"Content-Length: 0\r\n\r\n") }), []string{"--proxy-digest", "-U", "a:b"}, 56, "407"},
		{"challenge_with_a_body_without_end", endless(challenge+"\r\n", "a"), []string{"--proxy-digest", "-U", "a:b"}, 56, ""},
		{"refusal_with_a_body_without_end", endless("HTTP/1.1 403 No\r\n\r\n", "a"), nil, 56, "403"},
		{"chunked_refusal_without_end", endless("HTTP/1.1 403 No\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n"), nil, 56, "403"},
		{"no_http_at_all", endless("", "\x00\x1b[2J"), nil, 56, ""},
	} {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			address := rawServer(t, h.serve)
			e := runBuilt(t, bide, append([]string{"-sS", "--attempts", "1", "-x", "http://" + address, "https://origin.test/"}, h.args...)...)
			wantHostile(t, e, h.code, h.line)
		})
	}
}
