package retrytest

import (
	"bufio"
	"io"
	"net"
	"testing"
)

// BenchmarkServer is one request after the other on a kept-alive connection, with
// the log on: client and server together.
func BenchmarkServer(b *testing.B) {
	s, err := New("200 body=ok")
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	c, err := net.Dial("tcp", net.JoinHostPort(s.Host, s.Port))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	br := bufio.NewReader(c)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := io.WriteString(c, "GET /jobs HTTP/1.1\r\nHost: x\r\nUser-Agent: bench\r\n\r\n"); err != nil {
			b.Fatal(err)
		}
		for {
			line, err := br.ReadSlice('\n')
			if err != nil {
				b.Fatal(err)
			}
			if len(line) == 2 {
				break
			}
		}
		if _, err := br.Discard(2); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
