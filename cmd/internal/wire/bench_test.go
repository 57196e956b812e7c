package wire

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/header"
	"github.com/bidehttp/bide/cmd/internal/transport"
)

// small is an answer as a server of files gives it.
const small = "HTTP/1.1 200 OK\r\nServer: nginx/1.26.3\r\nDate: Mon, 30 Nov 2026 03:06:01 GMT\r\nContent-Type: application/octet-stream\r\n" +
	"Content-Length: 5\r\nLast-Modified: Sun, 29 Nov 2026 21:09:14 GMT\r\nConnection: keep-alive\r\nETag: \"6742-5\"\r\nAccept-Ranges: bytes\r\n\r\nhello"

// canned is a connection on which the answer to each write is small.
type canned struct {
	net.Conn
	left string
}

func (e *canned) Write(p []byte) (int, error) { e.left = small; return len(p), nil }
func (e *canned) SetDeadline(time.Time) error { return nil }
func (e *canned) Close() error                { return nil }

func (e *canned) Read(p []byte) (int, error) {
	n := copy(p, e.left)
	e.left = e.left[n:]
	return n, nil
}

// BenchmarkRoundTrip is a small GET on a connection that is there, without the system's part in it.
func BenchmarkRoundTrip(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := &transport.Conn{Conn: &canned{}}
	r := request("GET")
	r.Header = append(r.Header, header.Line{Name: "User-Agent", Value: "bide/1.0"}, header.Line{Name: "Accept", Value: "*/*"})
	b.ReportAllocs()
	for b.Loop() {
		resp, _, err := roundTrip(ctx, c, r)
		if err != nil {
			b.Fatal(err)
		}
		if n, err := resp.Body.WriteTo(io.Discard); n != 5 || err != nil || !resp.Body.Reusable() {
			b.Fatal(n, err)
		}
		if err := resp.Body.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHead reads and parses one head.
func BenchmarkHead(b *testing.B) {
	source := strings.NewReader(small)
	br := bufio.NewReaderSize(source, readerSize)
	b.ReportAllocs()
	for b.Loop() {
		source.Reset(small)
		br.Reset(source)
		if err := checkPrefix(br); err != nil {
			b.Fatal(err)
		}
		raw, err := readBlock(br, maxHeads, nil)
		if err != nil {
			b.Fatal(err)
		}
		if h, err := parseHead(raw); err != nil || h.status != 200 {
			b.Fatal(h, err)
		}
	}
}
