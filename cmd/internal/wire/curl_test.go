package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/transport"
)

// TestCurl gives odd answers to the installed curl and to RoundTrip. Status,
// body and raw head must agree; differs says where and why they do not.
func TestCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	for _, tt := range []struct {
		name, raw string
		differs   string
	}{
		{"plain", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", ""},
		{"LF ends", "HTTP/1.1 200 OK\nContent-Length: 3\n\nabc", ""},
		{"mixed ends", "HTTP/1.1 200 OK\nContent-Length: 3\r\n\nabc", ""},
		{"no reason", "HTTP/1.1 200\r\nContent-Length: 3\r\n\r\nabc", ""},
		{"reason with bytes", "HTTP/1.1 200 \xc3\xa9\xff \x1b[31m\r\nContent-Length: 3\r\n\r\nabc", ""},
		{"no space", "HTTP/1.1 200 OK\r\nContent-Length:3\r\nX:\r\n\r\nabc", ""},
		{"status 999", "HTTP/1.1 999 Odd\r\nContent-Length: 3\r\n\r\nabc", ""},
		{"1.0 to close", "HTTP/1.0 200 OK\r\n\r\nabc", ""},
		{"close-delimited", "HTTP/1.1 200 OK\r\nX: \xff\r\n\r\nabc", ""},
		{"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", ""},
		{"chunked, LF ends", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\n0\n\n", ""},
		{"chunked, extensions", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0;c\r\n\r\n", ""},
		{"chunked, leading zeros", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0003\r\nabc\r\n000\r\n\r\n", ""},
		{"chunked, case", "HTTP/1.1 200 OK\r\ntransfer-encoding: CHUNKED\r\n\r\n3\r\nabc\r\n0\r\n\r\n", ""},
		{"chunked on 1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", ""},
		{"chunked and length", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", ""},
		{"chunked, cut", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", ""},
		{"chunked, wrong", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n", ""},
		{"chunked, overrun", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n", ""},
		{"short", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", ""},
		{"excess", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc", ""},
		{"equal lengths", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", ""},
		{"204", "HTTP/1.1 204 No\r\n\r\n", ""},
		{"304", "HTTP/1.1 304 No\r\nContent-Length: 10\r\n\r\n", ""},
		{"100 first", "HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", ""},
		{"103 first", "HTTP/1.1 103 Hint\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", ""},
		{"negative length", "HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc", ""},
		{"garbage length", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nabc", ""},
		{"no colon", "HTTP/1.1 200 OK\r\nNonsense\r\n\r\nabc", ""},
		{"NUL", "HTTP/1.1 200 OK\r\nX: a\x00b\r\n\r\nabc", ""},
		{"empty", "", ""},
		{"0.9", "hello", ""},
		{"HTTP/1.2", "HTTP/1.2 200 OK\r\n\r\nabc", ""},
		{"HTTP/4", "HTTP/4.0 200 OK\r\n\r\nabc", ""},
		{"fold at the start", "HTTP/1.1 200 OK\r\n folded: x\r\n\r\nabc", "curl fails with another code"},
		{"differing lengths", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Length: 3\r\n\r\nabc", "curl takes the last: a way to smuggle"},
		{"length with a tail", "HTTP/1.1 200 OK\r\nContent-Length: 3abc\r\n\r\nabc", "curl reads the digits in front"},
		{"length over 63 bits", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nabc", "curl reads to the end"},
		{"cut in the head", "HTTP/1.1 200 OK\r\nContent-Len", "curl calls it a success"},
		{"status word", "HTTP/1.1 abc\r\n\r\nabc", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := serve(t, func(c *net.TCPConn, br *bufio.Reader) {
				readHead(br)
				_, _ = io.WriteString(c, tt.raw)
				_ = c.CloseWrite()
				_, _ = io.Copy(io.Discard, br)
			})
			cmd := exec.Command(curl, "-q", "-s", "-i", "--noproxy", "*", "http://"+p.addr+"/x")
			var out bytes.Buffer
			cmd.Stdout = &out
			err := cmd.Run()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			code := cmd.ProcessState.ExitCode()

			got, ours := outline(p.dial())
			agree := ours == code && got == out.String()
			if code != 0 && ours == code {
				// Before a failure, curl shows what it had by then.
				agree = true
			}
			switch {
			case !agree && tt.differs == "":
				t.Errorf("curl: exit %d, %.200q\nours: exit %d, %.200q", code, out.String(), ours, got)
			case agree && tt.differs != "":
				t.Logf("this curl agrees; an older one differs: %s", tt.differs)
			}
		})
	}
}

// outline is what curl -i prints, and the exit code.
func outline(c *transport.Conn) (string, int) {
	resp, _, err := roundTrip(context.Background(), c, request("GET"))
	var sb strings.Builder
	if err == nil {
		for _, b := range resp.Interim {
			sb.WriteString(b)
		}
		sb.WriteString(resp.Raw)
		_, err = resp.Body.WriteTo(&sb)
		_ = resp.Body.Close()
	}
	var e *transport.Error
	if errors.As(err, &e) {
		return sb.String(), int(e.Code)
	}
	return sb.String(), 0
}
