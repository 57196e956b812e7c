package wire

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/header"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
)

func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"h"}}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// serveTLS plays on the server's side of a TLS connection; raw is below it.
func serveTLS(t *testing.T, conf *tls.Config, play func(c *tls.Conn, br *bufio.Reader)) *transport.Conn {
	conf.Certificates = []tls.Certificate{certificate(t)}
	p := serve(t, func(raw *net.TCPConn, br *bufio.Reader) {
		c := tls.Server(raw, conf)
		if c.Handshake() == nil {
			play(c, bufio.NewReader(c))
		}
	})
	tc := p.dial()
	client := tls.Client(&eofNoter{Conn: tc.Conn}, &tls.Config{InsecureSkipVerify: true, NextProtos: conf.NextProtos})
	if err := client.Handshake(); err != nil {
		t.Fatal(err)
	}
	return &transport.Conn{Conn: client, ALPN: client.ConnectionState().NegotiatedProtocol}
}

// eofNoter is what transport puts below TLS.
type eofNoter struct {
	net.Conn
	saw atomic.Bool
}

func (e *eofNoter) Read(p []byte) (int, error) {
	n, err := e.Conn.Read(p)
	if err == io.EOF {
		e.saw.Store(true)
	}
	return n, err
}

func (e *eofNoter) SawEOF() bool { return e.saw.Load() }

func TestTLS(t *testing.T) {
	for name, tt := range map[string]struct {
		notify bool
		end    *fault1
	}{
		"close_notify":         {true, nil},
		"without close_notify": {false, &fault1{retry.ClassTruncated, exitcode.Truncated, "outstanding"}},
	} {
		t.Run("R3/close-delimited "+name, func(t *testing.T) {
			c := serveTLS(t, &tls.Config{}, func(c *tls.Conn, br *bufio.Reader) {
				readHead(br)
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\nabc")
				if tt.notify {
					_ = c.Close()
				}
			})
			resp, _, err := roundTrip(context.Background(), c, request("GET"))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if string(body) != "abc" {
				t.Errorf("body %q", body)
			}
			if tt.end != nil {
				checkFault(t, err, tt.end)
			} else if err != nil {
				t.Error(err)
			}
			_ = resp.Body.Close()
		})
	}
	t.Run("R3/certificate required", func(t *testing.T) {
		c := serveTLS(t, &tls.Config{ClientAuth: tls.RequireAnyClientCert}, func(*tls.Conn, *bufio.Reader) {})
		_, _, err := roundTrip(context.Background(), c, request("POST"))
		checkFault(t, err, &fault1{retry.ClassCert, exitcode.Recv, "certificate required"})
		if e := asError(t, err); e.Sent != retry.SentUnprocessed {
			t.Errorf("sent %q", e.Sent)
		}
	})
	t.Run("R3/ended before the head", func(t *testing.T) {
		c := serveTLS(t, &tls.Config{}, func(c *tls.Conn, br *bufio.Reader) { readHead(br); _ = c.Close() })
		_, _, err := roundTrip(context.Background(), c, request("GET"))
		checkFault(t, err, &fault1{retry.ClassClosed, exitcode.Empty, "Empty reply"})
	})
	t.Run("upload and an early end", func(t *testing.T) {
		c := serveTLS(t, &tls.Config{}, func(c *tls.Conn, br *bufio.Reader) {
			readHead(br)
			_, _ = io.WriteString(c, "HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno")
			_, _ = io.CopyN(io.Discard, br, 1<<20)
		})
		r := request("PUT")
		r.Body, r.Length = zeros{}, 1<<40
		resp, _, err := roundTrip(context.Background(), c, r)
		if err != nil || resp.Status != 413 {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(resp.Body); string(b) != "no" || err != nil || resp.Body.Reusable() {
			t.Errorf("%q, %v", b, err)
		}
		_ = resp.Body.Close()
	})
}

// TestOneWrite: head and small body are one write.
func TestOneWrite(t *testing.T) {
	for _, length := range []int64{0, 5, 60000} {
		c1, c2 := net.Pipe()
		counted := &writes{Conn: c1}
		go func() {
			_, _ = io.CopyN(io.Discard, bufio.NewReader(c2), length+30)
			_, _ = io.WriteString(c2, "HTTP/1.1 204 No\r\n\r\n")
			_, _ = io.Copy(io.Discard, c2)
		}()
		r := request("POST")
		r.Header = append(r.Header, header.Line{Name: "A", Value: "b"})
		r.Body, r.Length = strings.NewReader(strings.Repeat("x", int(length))), length
		resp, _, err := roundTrip(context.Background(), &transport.Conn{Conn: counted}, r)
		if err != nil {
			t.Fatal(err)
		}
		if counted.n != 1 {
			t.Errorf("%d writes for %d bytes of body", counted.n, length)
		}
		_ = resp.Body.Close()
		_ = c1.Close()
		_ = c2.Close()
	}
}

type writes struct {
	net.Conn
	n int
}

func (w *writes) Write(p []byte) (int, error) { w.n++; return w.Conn.Write(p) }
