package cmd_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// recorder is one loopback port that keeps every byte of each request and
// answers from differentialSite. It takes what comes: plain HTTP/1, TLS, the
// requests of an HTTP proxy, CONNECT (what follows is answered here, too) and
// SOCKS. It knows nothing of who asks.
type recorder struct {
	addr string
	tls  *tls.Config

	mu     sync.Mutex
	log    []string       // requests and what else came, in order of arrival
	conns  int            // accepted since the last take
	hits   map[string]int // answers given by path
	active int            // connections being served
	gone   *sync.Cond     // one of them has ended
}

func newRecorder(t *testing.T, certificate tls.Certificate) *recorder {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{addr: l.Addr().String(), hits: map[string]int{}}
	r.gone = sync.NewCond(&r.mu)
	r.tls = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS10, NextProtos: []string{"http/1.1"}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r.mu.Lock()
			r.conns++
			r.active++
			id := r.conns
			r.mu.Unlock()
			go func() {
				r.serve(c, "c"+strconv.Itoa(id))
				r.mu.Lock()
				defer r.mu.Unlock()
				r.active--
				r.gone.Broadcast()
			}()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done; r.take() })
	return r
}

// take returns what was recorded since the last take, once all connections are gone.
func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.active > 0 {
		r.gone.Wait()
	}
	log := r.log
	r.log, r.conns, r.hits = nil, 0, map[string]int{}
	return log
}

func (r *recorder) note(who, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, who+": "+text)
}

// serve finds out by the first byte what is spoken on a connection or inside a tunnel.
func (r *recorder) serve(c net.Conn, who string) {
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second)) //nolint:errcheck // a hanging client fails its case
	br := bufio.NewReader(c)
	first, err := br.Peek(1)
	switch {
	case err != nil:
		r.note(who, "nothing")
	case first[0] == 0x16:
		secure := tls.Server(&buffered{Conn: c, r: br}, r.tls)
		if err := secure.Handshake(); err != nil {
			r.note(who, "TLS handshake failed")
			return
		}
		defer secure.CloseWrite() //nolint:errcheck // the client may be gone
		r.http(secure, bufio.NewReader(secure), who+" tls")
	case first[0] == 4 || first[0] == 5:
		if r.socks(c, br, who) {
			r.serve(&buffered{Conn: c, r: br}, who+" socks")
		}
	default:
		r.http(c, br, who)
	}
}

// buffered is a connection of which a reader already holds some bytes.
type buffered struct {
	net.Conn
	r io.Reader
}

func (b *buffered) Read(p []byte) (int, error) { return b.r.Read(p) }

// http answers requests until the connection or an answer ends it.
func (r *recorder) http(c net.Conn, br *bufio.Reader, who string) {
	for {
		head, err := readHead(br)
		if err != nil {
			if len(head) > 0 {
				r.note(who, string(head)+"<cut>")
			}
			return
		}
		line, _, _ := strings.Cut(string(head), "\r\n")
		method, target, _ := strings.Cut(line, " ")
		target, _, _ = strings.Cut(target, " ")
		fields := parseFields(head)
		if method == "CONNECT" {
			r.note(who, string(head))
			answer := r.answer("CONNECT", target, fields)
			if _, err := io.WriteString(c, answer); err != nil {
				return
			}
			if !strings.HasPrefix(answer, "HTTP/1.1 200") {
				continue // it may be asked again, with credentials
			}
			r.serve(&buffered{Conn: c, r: br}, who+" tunnel")
			return
		}
		expects := strings.EqualFold(fields.Get("Expect"), "100-continue")
		refused := strings.Contains(target, "/no100") || expects && strings.Contains(target, "/expect")
		if expects && !refused && !strings.Contains(target, "/never100") {
			io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n") //nolint:errcheck // the next write tells
		}
		var body []byte
		if !refused {
			body, err = readBody(br, fields)
		}
		text := string(head) + string(body)
		if err != nil {
			r.note(who, text+"<cut>")
			return
		}
		r.note(who, text)
		if !r.reply(c, method, r.answer(method, target, fields)) || refused && !expects {
			return
		}
	}
}

// reply writes an answer; false ends the connection. An answer may end in
// <close>, <reset> or <stall>.
func (r *recorder) reply(c net.Conn, method, answer string) bool {
	answer, closes := strings.CutSuffix(answer, "<close>")
	answer, resets := strings.CutSuffix(answer, "<reset>")
	answer, stalls := strings.CutSuffix(answer, "<stall>")
	if i := strings.LastIndex(answer, "\r\n\r\n"); method == "HEAD" && i >= 0 {
		if first := strings.Index(answer, "\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 1") {
			i = first
		}
		answer = answer[:i+4]
	}
	_, err := io.WriteString(c, answer)
	switch {
	case resets:
		if t, ok := c.(*net.TCPConn); ok {
			t.SetLinger(0) //nolint:errcheck // then it is closed without a reset, and the case tells
		}
	case stalls:
		io.Copy(io.Discard, c) //nolint:errcheck // until the client has had enough
	}
	return err == nil && !closes && !resets && !stalls
}

// answer is the text for a request; "$H" in it is our own address.
func (r *recorder) answer(method, target string, fields http.Header) string {
	if method != "CONNECT" {
		if _, rest, ok := strings.Cut(target, "://"); ok {
			_, path, _ := strings.Cut(rest, "/")
			target = "/" + path
		}
		target, _, _ = strings.Cut(target, "?")
	}
	r.mu.Lock()
	n := r.hits[target]
	r.hits[target]++
	r.mu.Unlock()
	text := differentialAnswer(method, target, n, fields)
	return strings.ReplaceAll(text, "$H", r.addr)
}

// socks speaks a SOCKS 4, 4a or 5 server's part: it records the request and grants it.
func (r *recorder) socks(c net.Conn, br *bufio.Reader, who string) bool {
	version, _ := br.ReadByte()
	if version == 4 {
		req := make([]byte, 7)
		io.ReadFull(br, req) //nolint:errcheck // a short one shows in the record
		user, _ := br.ReadString(0)
		name := ""
		if req[3] == 0 && req[4] == 0 && req[5] == 0 && req[6] != 0 {
			name, _ = br.ReadString(0)
			req = req[:3]
		}
		r.note(who, fmt.Sprintf("socks4 % x user %q name %q", req[:1], user, name))
		code := byte(90)
		if name == "refused.test" {
			code = 91
		}
		_, err := c.Write([]byte{0, code, 0, 0, 0, 0, 0, 0})
		return err == nil && code == 90
	}
	n, _ := br.ReadByte()
	methods := make([]byte, n)
	io.ReadFull(br, methods) //nolint:errcheck // a short one shows in the record
	chosen := byte(0)
	if bytes.IndexByte(methods, 2) >= 0 {
		chosen = 2
	}
	c.Write([]byte{5, chosen}) //nolint:errcheck // the next read tells
	login := ""
	if chosen == 2 {
		br.ReadByte() //nolint:errcheck // the next read tells
		login = readCounted(br) + ":" + readCounted(br)
		c.Write([]byte{1, 0}) //nolint:errcheck // the next read tells
	}
	req := make([]byte, 4)
	if _, err := io.ReadFull(br, req); err != nil {
		return false
	}
	var name string
	if req[3] == 3 {
		name = readCounted(br)
	} else {
		ip := make([]byte, map[byte]int{1: 4, 4: 16}[req[3]])
		io.ReadFull(br, ip) //nolint:errcheck // a short one shows in the record
		name = net.IP(ip).String()
	}
	br.Discard(2) //nolint:errcheck // the port: the recorder's own or a made-up one
	r.note(who, fmt.Sprintf("socks5 % x login %q name %q", req, login, name))
	code := byte(0)
	if name == "refused.test" {
		code = 5
	}
	_, err := c.Write([]byte{5, code, 0, 1, 0, 0, 0, 0, 0, 0})
	return err == nil && code == 0
}

func readCounted(br *bufio.Reader) string {
	n, _ := br.ReadByte()
	text := make([]byte, n)
	io.ReadFull(br, text) //nolint:errcheck // a short one shows in the record
	return string(text)
}

// readHead reads up to the empty line, as it came.
func readHead(br *bufio.Reader) ([]byte, error) {
	var head []byte
	for {
		line, err := br.ReadBytes('\n')
		head = append(head, line...)
		if err != nil {
			return head, err
		}
		if string(line) == "\r\n" {
			return head, nil
		}
	}
}

func parseFields(head []byte) http.Header {
	fields := http.Header{}
	for _, line := range strings.Split(string(head), "\r\n")[1:] {
		if name, value, ok := strings.Cut(line, ":"); ok {
			fields.Add(name, strings.TrimSpace(value))
		}
	}
	return fields
}

// readBody reads the request's body with its framing.
func readBody(br *bufio.Reader, fields http.Header) ([]byte, error) {
	if fields.Get("Transfer-Encoding") != "chunked" {
		n, _ := strconv.Atoi(fields.Get("Content-Length"))
		body := make([]byte, n)
		got, err := io.ReadFull(br, body)
		return body[:got], err
	}
	var all []byte
	for {
		line, err := br.ReadBytes('\n')
		all = append(all, line...)
		if err != nil {
			return all, err
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(line)), 16, 32)
		if err != nil {
			return all, errors.New("bad chunk size")
		}
		chunk := make([]byte, n+2)
		got, err := io.ReadFull(br, chunk)
		all = append(all, chunk[:got]...)
		if err != nil || n == 0 {
			return all, err
		}
	}
}
