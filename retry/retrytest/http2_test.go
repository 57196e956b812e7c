package retrytest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// tlsConfig trusts a server's throw-away CA.
func tlsConfig(t *testing.T, s *Server) *tls.Config {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(s.CACert()) {
		t.Fatal("CACert holds no certificate")
	}
	return &tls.Config{RootCAs: pool}
}

// http2Client speaks HTTP/2 only, over TLS or by prior knowledge.
func http2Client(t *testing.T, s *Server) *http.Client {
	t.Helper()
	p := new(http.Protocols)
	tr := &http.Transport{Protocols: p}
	if strings.HasPrefix(s.URL, "https") {
		p.SetHTTP2(true)
		tr.TLSClientConfig = tlsConfig(t, s)
	} else {
		p.SetUnencryptedHTTP2(true)
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 20 * time.Second}
}

func TestServe_HTTP2(t *testing.T) {
	for name, opts := range map[string][]Option{"TLS": {WithTLS(), WithHTTP2()}, "prior knowledge": {WithHTTP2()}} {
		t.Run(name, func(t *testing.T) {
			s := Serve(t, `429 retry-after=1, 103 header='Link: </a>', 200 size=3MB chunked trailer='X-Sum: 7'`, opts...)
			c := http2Client(t, s)
			if status, _, head, err := get(t, c, s.URL); status != 429 || head.Get("Retry-After") != "1" || err != nil {
				t.Fatalf("first: %d %v %v", status, head, err)
			}
			var interim []int
			ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
				Got1xxResponse: func(code int, _ textproto.MIMEHeader) error { interim = append(interim, code); return nil },
			})
			sent := bytes.Repeat([]byte("upload "), 300_000)
			req, _ := http.NewRequestWithContext(ctx, "PUT", s.URL+"/p?q=1", bytes.NewReader(sent))
			resp, err := c.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || !bytes.Equal(body, Pattern(3_000_000)) {
				t.Fatalf("%d bytes, %v", len(body), err)
			}
			if resp.ProtoMajor != 2 || fmt.Sprint(interim) != "[103]" || resp.Trailer.Get("X-Sum") != "7" {
				t.Errorf("%s, interim %v, trailer %v", resp.Proto, interim, resp.Trailer)
			}
			r := s.Log().Records[1]
			if r.Proto != "HTTP/2.0" || r.Method != "PUT" || r.Target != "/p?q=1" || r.Path != "/p" || r.BodyBytes != int64(len(sent)) || !r.BodyComplete {
				t.Errorf("record %+v", r.Header)
			}
			s.Log().Check(t, "connections=1", "requests=2")
		})
	}
}

func TestServe_HTTP2_faults(t *testing.T) {
	for _, tt := range []struct {
		script string
		code   http2.ErrCode // of a stream error
		text   string
	}{
		{"refuse-stream", http2.ErrCodeRefusedStream, "REFUSED_STREAM"},
		{"rst-stream", http2.ErrCodeInternal, "INTERNAL_ERROR"},
		{"rst-stream=CANCEL", http2.ErrCodeCancel, "CANCEL"},
		{"200 size=100B rst-stream=ENHANCE_YOUR_CALM", http2.ErrCodeEnhanceYourCalm, "ENHANCE_YOUR_CALM"},
		{"200 size=100B truncate=20B", 0, "EOF"},
		{"200 size=100B close-after=20B", 0, "EOF"},
		{"200 size=100B reset", 0, "reset by peer"},
		{"close", 0, ""},
		{"reset", 0, ""},
		{"garbage", 0, ""},
		{"goaway=1", 0, ""},
		{"201 effect lost", 0, ""},
	} {
		t.Run(tt.script, func(t *testing.T) {
			s := Serve(t, tt.script, WithHTTP2())
			// POST: net/http sends it again only where it knows that nothing was done.
			resp, err := http2Client(t, s).Post(s.URL, "text/plain", io.MultiReader(strings.NewReader("x")))
			if err == nil {
				_, err = io.ReadAll(resp.Body)
				_ = resp.Body.Close()
			}
			if err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("got %v, want %q", err, tt.text)
			}
			var stream http2.StreamError
			if tt.code != 0 && errors.As(err, &stream) && stream.Code != tt.code {
				t.Errorf("code %v", stream.Code)
			}
			if r := s.Log().Records; len(r) == 0 || !r[0].HasAnswer {
				t.Errorf("log: %v", s.Log())
			}
		})
	}
}

// net/http's client sends a request again on a new connection when GOAWAY
// leaves its stream out.
func TestServe_HTTP2_goaway(t *testing.T) {
	for _, script := range []string{"goaway, 200", "200 goaway, 200"} {
		t.Run(script, func(t *testing.T) {
			s := Serve(t, script, WithTLS(), WithHTTP2())
			c := http2Client(t, s)
			for range 2 {
				if status, _, _, err := get(t, c, s.URL); status != 200 || err != nil {
					t.Fatalf("%d %v", status, err)
				}
			}
			l := s.Log()
			if l.Connections != 2 || l.Records[0].Answer != strings.TrimSuffix(script, ", 200") {
				t.Errorf("log: %v", l)
			}
		})
	}
}

func TestServe_HTTP2_early_answer(t *testing.T) {
	s := Serve(t, "413 read=0B", WithHTTP2())
	body, sender := io.Pipe() // a first byte, and never an end
	go func() { _, _ = sender.Write([]byte("x")) }()
	resp, err := http2Client(t, s).Post(s.URL, "text/plain", body)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != 413 || err != nil {
		t.Fatalf("%d %v", resp.StatusCode, err)
	}
}
