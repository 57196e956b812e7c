package wire

import (
	"bytes"
	"context"
	"io"
	"testing"

	"golang.org/x/net/http2"
)

// TestFlow2: windows are given back for a body larger than them, and kept for
// an upload into small ones.
func TestFlow2(t *testing.T) {
	const frames = 20 << 20 / 16384
	updates := make(map[uint32]uint32)
	p := serve2(t, func(p *h2peer) {
		_ = p.WriteSettings(
			http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1000},
			http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 20},
			http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0},
		)
		id := p.request(true)
		p.head(id, false, ":status", "200")
		read := make(chan struct{})
		go func() {
			defer close(read)
			for {
				f, err := p.ReadFrame()
				if err != nil {
					return
				}
				if u, ok := f.(*http2.WindowUpdateFrame); ok {
					updates[u.StreamID] += u.Increment
				}
			}
		}()
		for range frames {
			_ = p.WriteData(id, false, make([]byte, 16384))
		}
		_ = p.WriteData(id, true, p.body[:5])
		<-read
	})
	c := p.dial2()
	r := request("PUT")
	body := pattern(200 << 10)
	r.Body, r.Length = bytes.NewReader(body), int64(len(body))
	resp, _, err := roundTrip(context.Background(), c, r)
	if err != nil {
		t.Fatal(err)
	}
	n, err := resp.Body.WriteTo(io.Discard)
	if err != nil || n != frames*16384+5 || resp.Body.Uploaded() != int64(len(body)) || resp.Body.Received() != n {
		t.Errorf("%d bytes, uploaded %d, %v", n, resp.Body.Uploaded(), err)
	}
	_ = resp.Body.Close()
	_ = c.Close()
	if p.wait(); updates[1] < 8<<20 {
		t.Errorf("given back %v", updates)
	}
}

// TestOvertaken2: a success that comes before the upload's end lets it go on.
func TestOvertaken2(t *testing.T) {
	body := pattern(300 << 10)
	var got []byte
	p := serve2(t, func(p *h2peer) {
		id := p.request(false)
		p.head(id, false, ":status", "200")
		_ = p.WriteData(id, true, []byte("ok"))
		p.request(true)
		got = p.body
	})
	r := request("PUT")
	r.Body, r.Length = bytes.NewReader(body), int64(len(body))
	c := p.dial2()
	resp, _, err := roundTrip(context.Background(), c, r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if string(text) != "ok" || err != nil || !resp.Body.Reusable() || resp.Body.Uploaded() != int64(len(body)) {
		t.Errorf("%q, %v, uploaded %d", text, err, resp.Body.Uploaded())
	}
	_ = resp.Body.Close()
	_ = c.Close()
	if p.wait(); !bytes.Equal(got, body) {
		t.Errorf("server saw %d bytes", len(got))
	}
}

// TestBodyless2: HEAD, 204 and 304 have no body whatever Content-Length says.
func TestBodyless2(t *testing.T) {
	for method, status := range map[string]string{"HEAD": "200", "GET": "304", "PUT": "204"} {
		p := serve2(t, func(p *h2peer) {
			p.head(p.request(true), true, ":status", status, "content-length", "9")
			p.request(true)
		})
		c := p.dial2()
		resp, _, err := roundTrip(context.Background(), c, request(method))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(resp.Body); len(b) > 0 || err != nil || !resp.Body.Reusable() || resp.Length != 0 {
			t.Errorf("C12 %s %s: %q, %v", method, status, b, err)
		}
		_ = resp.Body.Close()
		_ = c.Close()
	}
}
