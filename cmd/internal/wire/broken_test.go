package wire

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
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
			resp, _, err := roundTrip(context.Background(), p.dial(), request("GET"))
			if err == nil || resp == nil {
				t.Fatalf("response %v, error %v", resp, err)
			}
			interim := ""
			for _, block := range resp.Interim {
				interim += block
			}
			if resp.Raw != c.head || interim != c.interim || resp.Body != nil {
				t.Errorf("interim %q, head %q; want %q, %q", interim, resp.Raw, c.interim, c.head)
			}
		})
	}
}

// TestNoHeadOnReuse: a connection that spoke HTTP/1 does not fall back to HTTP/0.9.
func TestNoHeadOnReuse(t *testing.T) {
	conn := answering(t, "no head at all").dial()
	conn.Reused = true
	r := request("GET")
	r.HTTP09 = true
	_, _, err := roundTrip(context.Background(), conn, r)
	if e := asError(t, err); e.Code != exitcode.WeirdReply || e.Error() != "Invalid status line" {
		t.Errorf("(%d) %v", e.Code, e)
	}
}

// TestUpgradeH2C: the request is stream 1 of the connection that a 101 makes.
func TestUpgradeH2C(t *testing.T) {
	p := serve(t, func(conn *net.TCPConn, br *bufio.Reader) {
		_ = readHead(br)
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
		fr := http2.NewFramer(conn, br)
		_ = fr.WriteSettings()
		preface := make([]byte, len(http2.ClientPreface))
		if _, err := io.ReadFull(br, preface); err != nil || string(preface) != http2.ClientPreface {
			return
		}
		f, err := fr.ReadFrame()
		if err != nil || f.Header().Type != http2.FrameSettings {
			return
		}
		var block bytes.Buffer
		henc := hpack.NewEncoder(&block)
		_ = henc.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
		_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true})
		_ = fr.WriteData(1, true, []byte("hello"))
		_, _ = io.Copy(io.Discard, br)
	})
	for _, asked := range []bool{true, false} {
		conn := p.dial()
		r := request("GET")
		r.UpgradeH2C = asked
		resp, _, err := roundTrip(context.Background(), conn, r)
		if !asked {
			if e := asError(t, err); e.Code != exitcode.WeirdReply {
				t.Errorf("not asked for: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || string(body) != "hello" || resp.Proto != "HTTP/2" || resp.Status != 200 || len(resp.Interim) != 1 || conn.ALPN != "h2" {
			t.Errorf("%q, %v, %+v", body, err, resp)
		}
		if !conn.Session.(*session).Usable() || conn.Session.(*session).next != 3 {
			t.Error("the connection cannot be used again")
		}
		_ = conn.Close()
	}
}
