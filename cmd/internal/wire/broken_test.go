package wire

import (
	"context"
	"strings"
	"testing"
)

// TestBrokenHead: what came of an answer that is none is there with the error.
func TestBrokenHead(t *testing.T) {
	for _, c := range []struct{ name, raw, interim, head string }{
		{"before the wrong length", "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: -1\r\nC: d\r\n\r\n", "", "HTTP/1.1 200 OK\r\nA: b\r\n"},
		{"before the wrong coding", "HTTP/1.1 200 OK\nA: b\nTransfer-Encoding: chunked, gzip\n\n", "", "HTTP/1.1 200 OK\nA: b\n"},
		{"whole lines of a head that breaks off", "HTTP/1.1 200 OK\r\nA: b\r\nC: ", "", "HTTP/1.1 200 OK\r\nA: b\r\n"},
		{"what was there before the end", "HTTP/1.1 103 E\r\n\r\n", "HTTP/1.1 103 E\r\n\r\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := answering(t, c.raw)
			resp, _, err := RoundTrip(context.Background(), p.dial(), request("GET"))
			if err == nil || resp == nil {
				t.Fatalf("response %v, error %v", resp, err)
			}
			interim := ""
			for _, block := range resp.Interim {
				interim += string(block)
			}
			if string(resp.Raw) != c.head || interim != c.interim || resp.Body != nil {
				t.Errorf("interim %q, head %q; want %q, %q", interim, resp.Raw, c.interim, c.head)
			}
		})
	}
}

// TestVersionOnReuse: a connection does not change its version.
func TestVersionOnReuse(t *testing.T) {
	for _, second := range []string{"HTTP/2 200 OK\r\n\r\n", "no head at all"} {
		p := answering(t, second)
		conn := p.dial()
		conn.Reused = true
		_, _, err := RoundTrip(context.Background(), conn, request("GET"))
		if err == nil || !strings.Contains(err.Error(), "Version mismatch") && !strings.Contains(err.Error(), "Invalid status line") {
			t.Errorf("%q: %v", second, err)
		}
	}
}
