package cmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"testing"
)

// TestFootprint bounds what one small operation among many leaves to the garbage
// collector: a page that the system has to give for it costs as much time as
// several system calls.
func TestFootprint(t *testing.T) {
	const maxBytes, maxObjects = 3600, 14
	url := serveSmall(t)
	few, fewObjects := footprint(t, url, 500)
	many, manyObjects := footprint(t, url, 2500)
	bytes, objects := (many-few)/2000, (manyObjects-fewObjects)/2000
	t.Logf("%d bytes in %d objects an operation", bytes, objects)
	if bytes > maxBytes || objects > maxObjects {
		t.Errorf("an operation leaves %d bytes in %d objects, want at most %d in %d", bytes, objects, maxBytes, maxObjects)
	}
}

// footprint is what was allocated by a run of n operations side by side.
func footprint(t *testing.T, url string, n int) (bytes, objects uint64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	getMany(t, url, n, "-Z", "--parallel-max", "50")
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs
}

// BenchmarkOperations is one small operation of many, the server's part included.
func BenchmarkOperations(b *testing.B) {
	url := serveSmall(b)
	for _, c := range []struct {
		name string
		args []string
	}{
		{"side by side", []string{"-Z", "--parallel-max", "50"}},
		{"one after the other", nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			getMany(b, url, b.N, c.args...)
		})
	}
}

// getMany runs n operations.
func getMany(t testing.TB, url string, n int, args ...string) {
	t.Helper()
	env, _, stderr := testEnv(append(args, "-q", "-s", fmt.Sprintf("%s/[1-%d]", url, n))...)
	env.Stdout = io.Discard
	if code := Main(context.Background(), env); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
}

// serveSmall answers every request alike, and allocates nothing for it.
func serveSmall(t testing.TB) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	answer := []byte("HTTP/1.1 200 OK\r\nServer: test\r\nDate: Mon, 30 Nov 2026 03:00:00 GMT\r\nContent-Type: text/plain\r\n" +
		"Content-Length: 12\r\nLast-Modified: Sun, 29 Nov 2026 03:00:00 GMT\r\nETag: \"6926-c\"\r\nAccept-Ranges: bytes\r\n\r\nanswer 1000\n")
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go answerAll(c, answer)
		}
	}()
	return "http://" + l.Addr().String()
}

// answerAll answers the requests on c, which come whole, until it is closed.
func answerAll(c net.Conn, answer []byte) {
	defer c.Close()
	request := make([]byte, 4<<10)
	for {
		n, err := c.Read(request)
		if err != nil || !bytes.HasSuffix(request[:n], []byte("\r\n\r\n")) {
			return
		}
		if _, err := c.Write(answer); err != nil {
			return
		}
	}
}
