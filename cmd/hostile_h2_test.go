package cmd_test

import (
	"bytes"
	"io"
	"net"
	"os"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// h2play is a server that speaks HTTP/2 frame by frame once a request is there.
type h2play struct {
	*http2.Framer
	id   uint32 // of the request's stream
	head bytes.Buffer
	enc  *hpack.Encoder
}

// h2server plays for the first request of each connection.
func h2server(play func(p *h2play)) func(net.Conn) {
	return func(c net.Conn) {
		preface := make([]byte, len(http2.ClientPreface))
		if _, err := io.ReadFull(c, preface); err != nil {
			return
		}
		p := &h2play{Framer: http2.NewFramer(c, c)}
		p.enc = hpack.NewEncoder(&p.head)
		if p.WriteSettings() != nil {
			return
		}
		for p.id == 0 {
			f, err := p.ReadFrame()
			if err != nil {
				return
			}
			if h, ok := f.(*http2.HeadersFrame); ok {
				p.id = h.StreamID
			}
		}
		go func() { _, _ = io.Copy(io.Discard, c) }() // whatever it answers
		play(p)
	}
}

// block encodes a header block.
func (p *h2play) block(fields ...string) []byte {
	p.head.Reset()
	for i := 0; i < len(fields); i += 2 {
		_ = p.enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}) // into a buffer
	}
	return p.head.Bytes()
}

// ok sends the head of an answer.
func (p *h2play) ok() {
	_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: p.id, BlockFragment: p.block(":status", "200"), EndHeaders: true})
}

// forever writes frames until nobody takes them any more.
func (p *h2play) forever(write func() error) {
	for write() == nil {
	}
}

// TestHostileHTTP2 does for HTTP/2's frames what TestHostileServers does for
// HTTP/1.1.
func TestHostileHTTP2(t *testing.T) {
	bide := buildBide(t)
	for name, row := range map[string]struct {
		play func(p *h2play)
		code int
		line string
	}{
		"settings_flood": {func(p *h2play) { p.forever(func() error { return p.WriteSettings() }) }, 16, "HTTP/2"},
		"settings_flood_in_the_body": {func(p *h2play) {
			p.ok()
			p.forever(func() error {
				return p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1})
			})
		}, 16, "HTTP/2"},
		"ping_flood": {func(p *h2play) { p.forever(func() error { return p.WritePing(false, [8]byte{}) }) }, 16, "HTTP/2"},
		"priority_flood": {func(p *h2play) {
			p.forever(func() error { return p.WritePriority(p.id, http2.PriorityParam{StreamDep: 0}) })
		}, 16, "HTTP/2"},
		"unknown_flood": {func(p *h2play) { p.forever(func() error { return p.WriteRawFrame(0xee, 0, 0, nil) }) }, 16, "HTTP/2"},
		"reset_flood": {func(p *h2play) {
			p.forever(func() error { return p.WriteRSTStream(p.id+2, http2.ErrCodeCancel) })
		}, 16, "HTTP/2"},
		"reset": {func(p *h2play) { _ = p.WriteRSTStream(p.id, http2.ErrCodeEnhanceYourCalm) }, 92, "ENHANCE_YOUR_CALM"},
		"continuation_flood": {func(p *h2play) {
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: p.id, BlockFragment: p.block(":status", "200")})
			p.forever(func() error { return p.WriteContinuation(p.id, false, p.block("x-flood", "0123456789")) })
		}, 16, "HTTP/2"},
		"empty_continuation_flood": {func(p *h2play) {
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: p.id, BlockFragment: p.block(":status", "200")})
			p.forever(func() error { return p.WriteContinuation(p.id, false, nil) })
		}, 16, "HTTP/2"},
		"header_list": {func(p *h2play) {
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: p.id, BlockFragment: p.block(":status", "200")})
			big := string(bytes.Repeat([]byte("v"), 4000))
			p.forever(func() error { return p.WriteContinuation(p.id, false, p.block("x-big", big)) })
		}, 16, "HTTP/2"},
		"interim_flood": {func(p *h2play) {
			p.forever(func() error {
				return p.WriteHeaders(http2.HeadersFrameParam{StreamID: p.id, BlockFragment: p.block(":status", "103"), EndHeaders: true})
			})
		}, 92, "informational"},
		"empty_data_flood": {func(p *h2play) {
			p.ok()
			p.forever(func() error { return p.WriteData(p.id, false, nil) })
		}, 16, "HTTP/2"},
		"padding_flood": {func(p *h2play) {
			p.ok()
			pad := make([]byte, 255)
			p.forever(func() error { return p.WriteDataPadded(p.id, false, nil, pad) })
		}, 16, "HTTP/2"},
		"window_overflow_of_the_connection": {func(p *h2play) {
			p.forever(func() error { return p.WriteWindowUpdate(0, 1<<31-1) })
		}, 16, "HTTP/2"},
		"window_overflow_of_the_stream": {func(p *h2play) {
			p.forever(func() error { return p.WriteWindowUpdate(p.id, 1<<31-1) })
		}, 16, "HTTP/2"},
		"window_update_flood": {func(p *h2play) {
			p.forever(func() error { return p.WriteRawFrame(http2.FrameWindowUpdate, 0, 0, []byte{0, 0, 0, 1}) })
		}, 16, "HTTP/2"},
		"push": {func(p *h2play) {
			_ = p.WritePushPromise(http2.PushPromiseParam{StreamID: p.id, PromiseID: 2, BlockFragment: p.block(":status", "200"), EndHeaders: true})
		}, 16, "PUSH_PROMISE"},
		"frame_too_large": {func(p *h2play) {
			p.ok()
			_ = p.WriteRawFrame(http2.FrameData, 0, p.id, make([]byte, 1<<20))
		}, 16, "HTTP/2"},
		"goaway_flood": {func(p *h2play) {
			p.forever(func() error { return p.WriteGoAway(p.id, http2.ErrCodeNo, []byte("debug")) })
		}, 16, "HTTP/2"},
		"more_than_the_window": {func(p *h2play) {
			p.ok()
			p.forever(func() error { return p.WriteData(p.id, false, make([]byte, 16384)) })
		}, 63, "size"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := rawServer(t, h2server(row.play))
			e := runBuilt(t, bide, "-sS", "--attempts", "1", "--http2-prior-knowledge", "--max-filesize", "64M", "-o", os.DevNull, "http://"+address+"/")
			wantHostile(t, e, row.code, row.line)
		})
	}
}
