package cmd

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// rawServer answers each request with the next of its answers, as they stand
// (the last again and again), and keeps what came, byte for byte.
type rawServer struct {
	addr    string
	mu      sync.Mutex
	answers []string
	next    int
	conns   int
	log     []string
}

func serveRaw(t *testing.T, answers ...string) *rawServer {
	t.Helper()
	s := &rawServer{answers: answers}
	s.addr = listen(t, s.serve)
	return s
}

// listen serves each connection until the test's end.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	AcceptAll(t, l, serve)
	return l.Addr().String()
}

func (s *rawServer) serve(c net.Conn) {
	s.mu.Lock()
	s.conns++
	number := s.conns
	s.mu.Unlock()
	br := bufio.NewReader(c)
	for {
		head, body, err := readRaw(br)
		if err != nil {
			return
		}
		s.mu.Lock()
		answer := s.answers[min(s.next, len(s.answers)-1)]
		s.next++
		s.log = append(s.log, fmt.Sprintf("conn %d\n%s[%s]\n", number, head, body))
		s.mu.Unlock()
		if _, err := io.WriteString(c, answer); err != nil || strings.Contains(answer, "Connection: close") || !strings.HasPrefix(answer, "HTTP/") {
			return
		}
	}
}

// readRaw reads a head as it came, and a body with a length or in chunks.
func readRaw(br *bufio.Reader) (head, body string, err error) {
	var b strings.Builder
	length, chunked := 0, false
	for {
		line, err := br.ReadString('\n')
		if err != nil {
			return "", "", err
		}
		b.WriteString(line)
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch textproto.CanonicalMIMEHeaderKey(name) {
		case "Content-Length":
			length, _ = strconv.Atoi(strings.TrimSpace(value))
		case "Transfer-Encoding":
			chunked = true
		}
		if strings.TrimSpace(line) == "" {
			break
		}
	}
	data := make([]byte, length)
	if _, err := io.ReadFull(br, data); err != nil {
		return "", "", err
	}
	for last := !chunked; !last; {
		line, err := br.ReadString('\n')
		if err != nil {
			return "", "", err
		}
		size, _ := strconv.ParseInt(strings.TrimSpace(line), 16, 32)
		chunk := make([]byte, size+2)
		if _, err := io.ReadFull(br, chunk); err != nil {
			return "", "", err
		}
		data, last = append(data, chunk[:size]...), size == 0
	}
	return b.String(), string(data), nil
}

// take gives what came since the last take, and starts the answers again.
func (s *rawServer) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := strings.Join(s.log, "")
	s.log, s.next, s.conns = nil, 0, 0
	return out
}

// socksServer speaks SOCKS 4, 4a and 5 and leads every connection to one
// address; it keeps what clients said in the handshake, in hexadecimal digits.
type socksServer struct {
	addr string
	to   string
	mu   sync.Mutex
	said []string
}

func serveSOCKS(t *testing.T, to string) *socksServer {
	s := &socksServer{to: to}
	s.addr = listen(t, s.serve)
	return s
}

func (s *socksServer) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := strings.Join(s.said, "\n")
	s.said = nil
	return out
}

func (s *socksServer) serve(c net.Conn) {
	var said bytes.Buffer
	br := bufio.NewReader(c)
	ok := s.handshake(c, &noted{Reader: br, Buffer: &said})
	s.mu.Lock()
	s.said = append(s.said, hex.EncodeToString(said.Bytes()))
	s.mu.Unlock()
	if !ok {
		return
	}
	up, err := net.Dial("tcp", s.to)
	if err != nil {
		return
	}
	defer up.Close()
	go func() { _, _ = io.Copy(up, br); _ = up.(*net.TCPConn).CloseWrite() }()
	_, _ = io.Copy(c, up)
}

// noted keeps what is read, unless it is off.
type noted struct {
	io.Reader
	*bytes.Buffer
	off bool
}

func (n *noted) Read(p []byte) (int, error) {
	k, err := n.Reader.Read(p)
	if !n.off {
		n.Write(p[:k])
	}
	return k, err
}

func (s *socksServer) handshake(c net.Conn, in io.Reader) bool {
	read := func(n int) []byte {
		b := make([]byte, n)
		_, _ = io.ReadFull(in, b)
		return b
	}
	zero := func() {
		for b := read(1); b[0] != 0; b = read(1) {
		}
	}
	switch read(1)[0] {
	case 4:
		b := read(7)
		zero()
		if b[3] == 0 && b[4] == 0 && b[5] == 0 && b[6] != 0 {
			zero()
		}
		_, _ = c.Write([]byte{0, 90, 0, 0, 0, 0, 0, 0})
		return true
	case 5:
		// Not GSSAPI, which curl offers where it was built with it.
		said := in.(*noted)
		said.off = true
		methods := slices.DeleteFunc(read(int(read(1)[0])), func(b byte) bool { return b == 1 })
		said.off = false
		said.Write(methods)
		if bytes.IndexByte(methods, 2) >= 0 {
			_, _ = c.Write([]byte{5, 2})
			read(1)
			read(int(read(1)[0]))
			read(int(read(1)[0]))
			_, _ = c.Write([]byte{1, 0})
		} else {
			_, _ = c.Write([]byte{5, 0})
		}
		switch read(4)[3] {
		case 1:
			read(6)
		case 3:
			read(int(read(1)[0]) + 2)
		case 4:
			read(18)
		}
		_, _ = c.Write([]byte{5, 0, 0, 1, 127, 0, 0, 1, 0, 1})
		return true
	}
	return false
}
