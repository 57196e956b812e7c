package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
	"testing"
)

// FuzzHead compares the head parser with net/http's where both accept.
func FuzzHead(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", "HTTP/1.0 404 Not Found\nA:b\n\n",
		"HTTP/1.1 200\r\nX: a\r\n\tb\r\n\r\n", "HTTP/1.1 999 \xff\r\nA: 1\r\na: 2\r\n\r\n", "HTTP/1.1 200 OK\r\nNo colon\r\n\r\n",
		"HTTP/1.1 200 OK\r\n : x\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		br := bufio.NewReaderSize(bytes.NewReader(in), 16)
		if checkPrefix(br) != nil {
			return
		}
		seen := 0
		raw, err := readBlock(br, maxHeads, func(b []byte) { seen += len(b) })
		if !bytes.HasPrefix(in, []byte(raw)) || len(raw) > maxHeads {
			t.Fatalf("raw block %q of %q", raw, in)
		}
		if err != nil {
			return
		}
		if seen != len(raw) {
			t.Fatalf("showed %d of %d bytes", seen, len(raw))
		}
		h, err := parseHead(raw)
		if err != nil {
			var reply *replyError
			if !errors.As(err, &reply) || reply.code == 0 {
				t.Fatalf("error %v without a code", err)
			}
			return
		}
		if h.status < 100 || h.status > 999 {
			t.Fatalf("status %d", h.status)
		}
		d, derr := h.delimit(&Request{Method: "GET"}, false, false)
		resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(raw)), nil)
		if err != nil || derr != nil {
			return
		}
		if resp.StatusCode != h.status {
			t.Errorf("status %d, net/http says %d", h.status, resp.StatusCode)
		}
		if h.status >= 200 && d.kind == framedLength && resp.ContentLength != d.length {
			t.Errorf("length %d, net/http says %d", d.length, resp.ContentLength)
		}
		if strings.ContainsAny(strings.ReplaceAll(raw, "\r\n", ""), "\r") {
			return
		}
		for _, fl := range h.fields {
			switch http.CanonicalHeaderKey(fl.Name) {
			case "Content-Length", "Transfer-Encoding", "Trailer", "Connection":
				continue // net/http takes them out
			}
			found := strings.Contains(raw, "\n ") || strings.Contains(raw, "\n\t") // folds are joined otherwise
			for _, v := range resp.Header.Values(fl.Name) {
				found = found || v == fl.Value
			}
			if !found {
				t.Errorf("field %+v, net/http has %q", fl, resp.Header)
			}
		}
	})
}

// FuzzChunked compares the chunked reader with httputil's where both accept,
// and its raw mode with the input.
func FuzzChunked(f *testing.F) {
	for _, s := range []string{
		"3\r\nabc\r\n0\r\n\r\n", "3;x=y\nabc\n0\n\n", "0\r\nA: b\r\n\r\nrest", "2\r\nabc\r\n0\r\n\r\n", "ffffffffffffffff\r\n", "\r\n", "1 \r\na\r\n00\r\n\r\n", "5\r\nabc",
	} {
		f.Add([]byte(s), uint8(7))
	}
	f.Fuzz(func(t *testing.T, in []byte, step uint8) {
		decode := func(raw bool) ([]byte, *bufio.Reader, error) {
			br := bufio.NewReaderSize(bytes.NewReader(in), 16)
			c := &chunkReader{br: br, raw: raw}
			var out []byte
			p := make([]byte, int(step)+1)
			for {
				n, err := c.Read(p)
				out = append(out, p[:n]...)
				if err != nil {
					return out, br, err
				}
				if n == 0 {
					t.Fatal("no byte and no error")
				}
			}
		}
		got, rest, err := decode(false)
		if err != io.EOF {
			var reply *replyError
			if !errors.As(err, &reply) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("error %v", err)
			}
			return
		}
		tail, _ := io.ReadAll(rest)
		whole, _, err := decode(true)
		if err != io.EOF || string(whole)+string(tail) != string(in) {
			t.Errorf("raw %q and %q of %q, %v", whole, tail, in, err)
		}
		want, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(in)))
		if err == nil && !bytes.Equal(got, want) {
			t.Errorf("data %q, httputil says %q", got, want)
		}
	})
}
