package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/header"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
)

// h2peer is the server's side at the level of frames.
type h2peer struct {
	*http2.Framer
	c        net.Conn
	requests int
	fields   []hpack.HeaderField // of the last request
	body     []byte
}

// serve2 greets each connection and plays.
func serve2(t *testing.T, play func(p *h2peer)) *peer {
	return serve(t, func(c *net.TCPConn, br *bufio.Reader) {
		preface := make([]byte, len(http2.ClientPreface))
		if _, err := io.ReadFull(br, preface); err != nil {
			return
		}
		p := &h2peer{Framer: http2.NewFramer(c, br), c: c}
		p.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		_ = p.WriteSettings()
		play(p)
		// What the client still says is read, so that closing is no reset.
		_ = c.CloseWrite()
		_, _ = io.Copy(io.Discard, br)
	})
}

// request reads frames up to the end of one request; 0 at the connection's end.
func (p *h2peer) request(whole bool) uint32 {
	p.body = nil
	for {
		f, err := p.ReadFrame()
		if err != nil {
			return 0
		}
		switch f := f.(type) {
		case *http2.MetaHeadersFrame:
			p.requests++
			p.fields = f.Fields
			if f.StreamEnded() || !whole {
				return f.StreamID
			}
		case *http2.DataFrame:
			p.body = append(p.body, f.Data()...)
			if n := uint32(len(f.Data())); n > 0 {
				_ = p.WriteWindowUpdate(0, n)
				if !f.StreamEnded() {
					_ = p.WriteWindowUpdate(f.StreamID, n)
				}
			}
			if f.StreamEnded() {
				return f.StreamID
			}
		case *http2.RSTStreamFrame:
			return 0
		}
	}
}

func (p *h2peer) head(id uint32, end bool, pairs ...string) {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(pairs); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: b.Bytes(), EndHeaders: true, EndStream: end})
}

func (p *peer) dial2() *transport.Conn {
	c := p.dial()
	c.ALPN = "h2"
	return c
}

func TestRoundTrip2(t *testing.T) {
	p := serve2(t, func(p *h2peer) {
		for {
			id := p.request(true)
			if id == 0 {
				return
			}
			var got strings.Builder
			for _, f := range p.fields {
				got.WriteString(f.Name + "=" + f.Value + "|")
			}
			p.head(id, false, ":status", "103", "link", "x")
			p.head(id, false, ":status", "200", "x-b", got.String(), "x-a", "1", "content-length", itoa(int64(len(p.body))+2))
			_ = p.WriteData(id, false, append([]byte("> "), p.body...))
			_ = p.WritePing(false, [8]byte{1})
			p.head(id, true, "x-trailer", "t")
		}
	})
	c := p.dial2()
	for i, body := range []string{"", "hello"} {
		r := request("POST")
		r.Header = []header.Line{{Name: "Host", Value: "example.org"}, {Name: "X-One", Value: "1"}, {Name: "Connection", Value: "x-drop"}, {Name: "X-Drop", Value: "1"}, {Name: "TE", Value: "gzip"}, {Name: "Te", Value: "trailers"}, {Name: "Cookie", Value: "a=b; c=d"}, {Name: "Transfer-Encoding", Value: "chunked"}}
		if body != "" {
			r.Body, r.Length = strings.NewReader(body), int64(len(body))
		}
		tr := &recorder{}
		r.Trace = tr
		resp, tm, err := roundTrip(context.Background(), c, r)
		if err != nil {
			t.Fatal(err)
		}
		want := ":method=POST|:path=/x|:scheme=http|:authority=example.org|x-one=1|te=trailers|cookie=a=b; c=d|"
		wantRaw := "HTTP/2 200 \r\nx-b: " + want + "\r\nx-a: 1\r\ncontent-length: " + itoa(int64(len(body)+2)) + "\r\n\r\n"
		if resp.Raw != wantRaw {
			t.Errorf("raw %q\nwant %q", resp.Raw, wantRaw)
		}
		if len(resp.Interim) != 1 || resp.Interim[0] != "HTTP/2 103 \r\nlink: x\r\n\r\n" {
			t.Errorf("interim %q", resp.Interim)
		}
		if !strings.HasPrefix(tr.heads[0], "POST /x HTTP/2\r\nHost: example.org\r\n") || len(tr.heads) != 1 {
			t.Errorf("shown %q", tr.heads)
		}
		got, err := io.ReadAll(resp.Body)
		if err != nil || string(got) != "> "+body || !resp.Body.Reusable() {
			t.Errorf("%q, %v", got, err)
		}
		if tr := resp.Body.Trailer(); tr != "x-trailer: t\r\n" {
			t.Errorf("trailer %q", tr)
		}
		if tm.BodyOut != int64(len(body)) || tm.Head == 0 || tm.Sent == 0 {
			t.Errorf("%d: %+v", i, tm)
		}
		if u, ok := c.Session.(interface{ Usable() bool }); !ok || !u.Usable() {
			t.Error("session not usable")
		}
		_ = resp.Body.Close()
	}
	_ = c.Close()
}

func TestFaults2(t *testing.T) {
	for name, tt := range map[string]struct {
		play func(p *h2peer, id uint32)
		head *fault1
		sent retry.Sent
		body string
		end  *fault1
	}{
		"C11 REFUSED_STREAM": {play: func(p *h2peer, id uint32) { _ = p.WriteRSTStream(id, http2.ErrCodeRefusedStream) },
			head: &fault1{retry.ClassRefused, 92, "REFUSED_STREAM"}, sent: retry.SentUnprocessed},
		"C11 GOAWAY below": {play: func(p *h2peer, id uint32) { _ = p.WriteGoAway(0, http2.ErrCodeNo, nil) },
			head: &fault1{retry.ClassRefused, 16, "GOAWAY"}, sent: retry.SentUnprocessed},
		"C11 GOAWAY below, with an error": {play: func(p *h2peer, id uint32) { _ = p.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, nil) },
			head: &fault1{retry.ClassRefused, 16, "ENHANCE_YOUR_CALM"}, sent: retry.SentUnprocessed},
		"GOAWAY above, then the end": {play: func(p *h2peer, id uint32) { _ = p.WriteGoAway(id, http2.ErrCodeNo, nil) },
			head: &fault1{retry.ClassClosed, 16, "GOAWAY"}, sent: retry.SentMaybe},
		"closed": {play: func(p *h2peer, id uint32) {},
			head: &fault1{retry.ClassClosed, 52, "Empty reply"}, sent: retry.SentMaybe},
		"RST before the head": {play: func(p *h2peer, id uint32) { _ = p.WriteRSTStream(id, http2.ErrCodeInternal) },
			head: &fault1{retry.ClassClosed, 92, "INTERNAL_ERROR (err 2)"}, sent: retry.SentMaybe},
		"RST asks for HTTP/1.1": {play: func(p *h2peer, id uint32) { _ = p.WriteRSTStream(id, http2.ErrCodeHTTP11Required) },
			head: &fault1{retry.ClassProtocol, 92, "HTTP_1_1_REQUIRED"}, sent: retry.SentMaybe},
		"RST in the body": {play: func(p *h2peer, id uint32) {
			p.head(id, false, ":status", "200")
			_ = p.WriteData(id, false, []byte("abc"))
			_ = p.WriteRSTStream(id, http2.ErrCodeInternal)
		}, body: "abc", end: &fault1{retry.ClassTruncated, 92, "INTERNAL_ERROR"}},
		"GOAWAY in the body, which ends": {play: func(p *h2peer, id uint32) {
			p.head(id, false, ":status", "200")
			_ = p.WriteGoAway(id, http2.ErrCodeNo, nil)
			_ = p.WriteData(id, true, []byte("abc"))
		}, body: "abc"},
		"GOAWAY in the body, cut": {play: func(p *h2peer, id uint32) {
			p.head(id, false, ":status", "200")
			_ = p.WriteGoAway(id, http2.ErrCodeNo, nil)
			_ = p.WriteData(id, false, []byte("abc"))
		}, body: "abc", end: &fault1{retry.ClassTruncated, 92, "not closed cleanly"}},
		"C1 short of Content-Length": {play: func(p *h2peer, id uint32) {
			p.head(id, false, ":status", "200", "content-length", "9")
			_ = p.WriteData(id, true, []byte("abc"))
		}, body: "abc", end: &fault1{retry.ClassTruncated, 92, "6 bytes remaining"}},
		"no data for Content-Length": {play: func(p *h2peer, id uint32) { p.head(id, true, ":status", "200", "content-length", "9") },
			end: &fault1{retry.ClassTruncated, 92, "9 bytes remaining"}},
		"longer than Content-Length": {play: func(p *h2peer, id uint32) {
			p.head(id, false, ":status", "200", "content-length", "2")
			_ = p.WriteData(id, true, []byte("abc"))
		}, end: &fault1{retry.ClassProtocol, 92, "more data"}},
		"upper-case field": {play: func(p *h2peer, id uint32) { p.head(id, true, ":status", "200", "X-Y", "1") },
			head: &fault1{retry.ClassProtocol, 92, "malformed"}, sent: retry.SentMaybe},
		"no status": {play: func(p *h2peer, id uint32) { p.head(id, true, "x-y", "1") },
			head: &fault1{retry.ClassProtocol, 92, "status"}, sent: retry.SentMaybe},
		"DATA before HEADERS": {play: func(p *h2peer, id uint32) { _ = p.WriteData(id, true, nil) },
			head: &fault1{retry.ClassProtocol, 16, "DATA before"}, sent: retry.SentMaybe},
		"not HTTP/2": {play: func(p *h2peer, id uint32) { _, _ = io.WriteString(p.c, "HTTP/1.1 400 Bad Request\r\n\r\n") },
			head: &fault1{retry.ClassProtocol, 16, "frame too large"}, sent: retry.SentMaybe},
		"header list flood": {play: func(p *h2peer, id uint32) {
			// HPACK references to one large entry of the dynamic table.
			var b bytes.Buffer
			e := hpack.NewEncoder(&b)
			_ = e.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
			for range 400 {
				_ = e.WriteField(hpack.HeaderField{Name: "x", Value: strings.Repeat("v", 3000)})
			}
			block := b.Bytes()
			first := true
			for len(block) > 0 {
				part := block[:min(len(block), 16000)]
				block = block[len(part):]
				if first {
					_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: part, EndHeaders: len(block) == 0})
				} else {
					_ = p.WriteContinuation(id, len(block) == 0, part)
				}
				first = false
			}
		}, head: &fault1{retry.ClassProtocol, 56, "Too large"}, sent: retry.SentMaybe},
		"endless CONTINUATION": {play: func(p *h2peer, id uint32) {
			p.AllowIllegalWrites = true
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id})
			for range 200 {
				if p.WriteContinuation(id, false, bytes.Repeat([]byte{0x40, 1, 'a', 1, 'b'}, 3000)) != nil {
					return
				}
			}
		}, head: &fault1{retry.ClassProtocol, 16, ""}, sent: retry.SentMaybe},
		"empty CONTINUATION flood": {play: func(p *h2peer, id uint32) {
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id})
			flood(p, func() error { return p.WriteContinuation(id, false, nil) })
		}, head: &fault1{retry.ClassProtocol, 16, "endless header block"}, sent: retry.SentMaybe},
		"PING flood":            {play: func(p *h2peer, id uint32) { flood(p, func() error { return p.WritePing(false, [8]byte{}) }) }, head: &fault1{retry.ClassProtocol, 16, "HTTP/2: "}, sent: retry.SentMaybe},
		"SETTINGS flood":        {play: func(p *h2peer, id uint32) { flood(p, func() error { return p.WriteSettings() }) }, head: &fault1{retry.ClassProtocol, 16, "HTTP/2: "}, sent: retry.SentMaybe},
		"WINDOW_UPDATE flood":   {play: func(p *h2peer, id uint32) { flood(p, func() error { return p.WriteWindowUpdate(0, 1) }) }, head: &fault1{retry.ClassProtocol, 16, "HTTP/2: "}, sent: retry.SentMaybe},
		"window over its limit": {play: func(p *h2peer, id uint32) { _ = p.WriteWindowUpdate(0, 1<<31-1) }, head: &fault1{retry.ClassProtocol, 16, "window"}, sent: retry.SentMaybe},
		"push": {play: func(p *h2peer, id uint32) {
			_ = p.WritePushPromise(http2.PushPromiseParam{StreamID: id, PromiseID: 2, EndHeaders: true})
		}, head: &fault1{retry.ClassProtocol, 16, "PUSH"}, sent: retry.SentMaybe},
		"empty DATA flood": {play: func(p *h2peer, id uint32) {
			p.head(id, false, ":status", "200")
			flood(p, func() error { return p.WriteData(id, false, nil) })
		}, end: &fault1{retry.ClassProtocol, 16, "without progress"}},
		"endless interim": {play: func(p *h2peer, id uint32) {
			for range 100 {
				p.head(id, false, ":status", "103")
			}
		}, head: &fault1{retry.ClassProtocol, 92, "informational"}, sent: retry.SentMaybe},
	} {
		t.Run("R1.1/"+name, func(t *testing.T) {
			requests := 0
			p := serve2(t, func(p *h2peer) {
				if id := p.request(true); id != 0 {
					tt.play(p, id)
				}
				requests += p.requests
			})
			c := p.dial2()
			r := request("POST")
			r.Header = append(r.Header, header.Line{Name: "Idempotency-Key", Value: "k"})
			resp, _, err := roundTrip(context.Background(), c, r)
			if tt.head != nil {
				checkFault(t, err, tt.head)
				if e := asError(t, err); e.Sent != tt.sent {
					t.Errorf("sent %q, want %q", e.Sent, tt.sent)
				}
				if strings.Contains(name, "HTTP/1.1") != errors.Is(err, ErrHTTP11Required) {
					t.Errorf("asks for HTTP/1.1: %v", err)
				}
			} else if err != nil {
				t.Fatal(err)
			} else {
				body, err := io.ReadAll(resp.Body)
				if string(body) != tt.body {
					t.Errorf("body %q", body)
				}
				if tt.end != nil {
					checkFault(t, err, tt.end)
				} else if err != nil || resp.Body.Reusable() {
					t.Errorf("%v, reusable %v", err, resp.Body.Reusable())
				}
				_ = resp.Body.Close()
			}
			if u := c.Session.(interface{ Usable() bool }); u.Usable() {
				t.Error("a dead session is usable")
			}
			_ = c.Close()
			if p.wait(); requests != 1 {
				t.Errorf("%d requests on the wire", requests)
			}
		})
	}
}

func flood(p *h2peer, write func() error) {
	_ = p.c.SetDeadline(time.Now().Add(20 * time.Second))
	go func() { _, _ = io.Copy(io.Discard, p.c) }()
	for range 200000 {
		if write() != nil {
			return
		}
	}
}

func TestUpload2(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB
	p := serve2(t, func(p *h2peer) {
		for id := p.request(true); id != 0; id = p.request(true) {
			p.head(id, false, ":status", "200")
			for b := p.body; len(b) > 0; b = b[min(len(b), 16384):] {
				_ = p.WriteData(id, false, b[:min(len(b), 16384)])
			}
			_ = p.WriteData(id, true, nil)
		}
	})
	c := p.dial2()
	for _, tt := range []struct {
		body   io.Reader
		length int64
	}{
		{bytes.NewReader(big), int64(len(big))},
		{io.MultiReader(bytes.NewReader(big)), -1},
		{bytes.NewReader(big[:20000]), 20000},
	} {
		r := request("PUT")
		r.Body, r.Length = tt.body, tt.length
		resp, _, err := roundTrip(context.Background(), c, r)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		n, err := resp.Body.WriteTo(&got)
		if want := big[:max(tt.length, 0)]; err != nil || n != int64(got.Len()) || tt.length > 0 && !bytes.Equal(got.Bytes(), want) || tt.length < 0 && !bytes.Equal(got.Bytes(), big) {
			t.Errorf("%d bytes, %v", n, err)
		}
		if sent := resp.Body.Uploaded(); sent != n || !resp.Body.Reusable() {
			t.Errorf("uploaded %d, reusable %v", sent, resp.Body.Reusable())
		}
		_ = resp.Body.Close()
	}
	_ = c.Close()
}

func TestEarlyAnswer2(t *testing.T) {
	p := serve2(t, func(p *h2peer) {
		id := p.request(false)
		p.head(id, false, ":status", "413")
		_ = p.WriteData(id, true, []byte("no!"))
	})
	r := request("PUT")
	r.Body, r.Length = zeros{}, 1<<40
	resp, _, err := roundTrip(context.Background(), p.dial2(), r)
	if err != nil || resp.Status != 413 {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if string(body) != "no!" || err != nil || resp.Body.Reusable() {
		t.Errorf("%q %v", body, err)
	}
	_ = resp.Body.Close()
}

func TestInput2(t *testing.T) {
	for name, tt := range map[string]struct {
		body   io.Reader
		length int64
	}{
		"short":       {strings.NewReader("ab"), 3},
		"long":        {strings.NewReader("abcd"), 3},
		"large short": {io.LimitReader(zeros{}, 100000), 200000},
		"large long":  {io.LimitReader(zeros{}, 200001), 200000},
		"breaks":      {failing{errors.New("boom")}, -1},
	} {
		t.Run("R3/"+name, func(t *testing.T) {
			p := serve2(t, func(p *h2peer) { p.request(true) })
			r := request("PUT")
			r.Body, r.Length = tt.body, tt.length
			_, _, err := roundTrip(context.Background(), p.dial2(), r)
			checkFault(t, err, &fault1{retry.ClassInput, exitcode.Input, "request body"})
		})
	}
}

func TestContext2(t *testing.T) {
	for name, upload := range map[string]bool{"head": false, "upload without window": true} {
		t.Run("R6.3/"+name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			p := serve2(t, func(p *h2peer) {
				p.request(false)
				time.Sleep(20 * time.Millisecond)
				cancel()
			})
			r := request("PUT")
			if upload {
				r.Body, r.Length = zeros{}, 1<<30
			}
			c := p.dial2()
			_, _, err := roundTrip(ctx, c, r)
			if e := asError(t, err); e.Class != retry.ClassCanceled || e.Sent != retry.SentMaybe {
				t.Errorf("%+v", e)
			}
		})
	}
	t.Run("E11/closing early", func(t *testing.T) {
		p := serve2(t, func(p *h2peer) {
			id := p.request(true)
			p.head(id, false, ":status", "503")
			_ = p.WriteData(id, false, make([]byte, 10000))
			if p.request(true) != 0 {
				t.Error("another request")
			}
		})
		resp, _, err := roundTrip(context.Background(), p.dial2(), request("GET"))
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Drain(5000, time.Second) {
			t.Error("drained more than asked for")
		}
		_ = resp.Body.Close()
		if _, err := resp.Body.Read(make([]byte, 1)); err == nil {
			t.Error("read after Close")
		}
	})
}

// TestIdle2: what comes between two requests is seen before the next one.
func TestIdle2(t *testing.T) {
	for name, tt := range map[string]struct {
		say    func(p *h2peer)
		usable bool
	}{
		"ping":   {func(p *h2peer) { _ = p.WritePing(false, [8]byte{}) }, true},
		"goaway": {func(p *h2peer) { _ = p.WriteGoAway(1, http2.ErrCodeNo, nil) }, false},
		"closed": {func(p *h2peer) { _ = p.c.(*net.TCPConn).CloseWrite() }, false},
		"reset":  {func(p *h2peer) { _ = p.c.(*net.TCPConn).SetLinger(0); _ = p.c.Close() }, false},
	} {
		t.Run("D8/"+name, func(t *testing.T) {
			read, said, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
			defer close(over)
			p := serve2(t, func(p *h2peer) {
				p.head(p.request(true), true, ":status", "200")
				<-read
				tt.say(p)
				close(said)
				<-over
			})
			c := p.dial2()
			resp, _, err := roundTrip(context.Background(), c, request("GET"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(resp.Body); err != nil || !resp.Body.Reusable() {
				t.Fatal(err)
			}
			close(read)
			<-said
			time.Sleep(5 * time.Millisecond)
			if got := c.Session.(interface{ Usable() bool }).Usable(); got != tt.usable {
				t.Errorf("usable %v", got)
			}
			_ = c.Close()
		})
	}
}
