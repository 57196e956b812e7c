package retrytest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const (
	http2Window    = 1 << 20 // of each stream, for what a client sends
	http2FrameSize = 16 << 10
	http2MaxHeader = 1 << 20
)

var errGone = errors.New("stream or connection is gone")

// h2conn is one HTTP/2 connection (RFC 9113).
type h2conn struct {
	c  *conn
	fr *http2.Framer

	mu      sync.Mutex // everything below, and writing
	wake    *sync.Cond // windows, bodies and the end
	w       *bufio.Writer
	enc     *hpack.Encoder
	block   bytes.Buffer // of enc
	window  int64        // what may still be sent on the connection
	initial int64        // window of a new stream, as the client says
	frame   int          // largest frame that the client takes
	streams map[uint32]*h2stream
	newest  uint32
	leaving bool // GOAWAY was sent
	closed  bool
	running sync.WaitGroup
}

// h2stream is one request on it. h2conn.mu guards it.
type h2stream struct {
	id      uint32
	window  int64
	body    bytes.Buffer // received and not yet read
	ended   bool         // the client has sent all
	gone    bool         // reset by the client
	trailer []Field
}

// serveHTTP2 speaks HTTP/2 until the connection ends.
func (c *conn) serveHTTP2() {
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(c.br, preface); err != nil || string(preface) != http2.ClientPreface {
		return
	}
	h := &h2conn{
		c: c, w: bufio.NewWriterSize(c, 64<<10), window: 65535, initial: 65535,
		frame: http2FrameSize, streams: map[uint32]*h2stream{},
	}
	h.wake = sync.NewCond(&h.mu)
	h.fr = http2.NewFramer(h.w, c.br)
	h.fr.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	h.fr.MaxHeaderListSize = http2MaxHeader
	h.enc = hpack.NewEncoder(&h.block)
	err := h.write(func() error {
		err := h.fr.WriteSettings(
			http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 250},
			http2.Setting{ID: http2.SettingInitialWindowSize, Val: http2Window},
			http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: http2MaxHeader})
		return errors.Join(err, h.fr.WriteWindowUpdate(0, http2Window))
	})
	for err == nil {
		err = h.readFrame()
	}
	h.mu.Lock()
	h.closed = true
	h.wake.Broadcast()
	h.mu.Unlock()
	_ = c.bare.Close()
	h.running.Wait()
}

// write runs f with the right to write, and sends what it wrote.
func (h *h2conn) write(f func() error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errGone
	}
	if err := f(); err != nil {
		return err
	}
	return h.w.Flush()
}

// readFrame handles the next frame; its error ends the connection.
func (h *h2conn) readFrame() error {
	f, err := h.fr.ReadFrame()
	var bad http2.StreamError
	if errors.As(err, &bad) {
		return h.write(func() error { return h.fr.WriteRSTStream(bad.StreamID, bad.Code) })
	}
	if err != nil {
		return err
	}
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		h.headers(f)
	case *http2.DataFrame:
		return h.received(f)
	case *http2.SettingsFrame:
		return h.settings(f)
	case *http2.PingFrame:
		if !f.IsAck() {
			return h.write(func() error { return h.fr.WritePing(true, f.Data) })
		}
	case *http2.WindowUpdateFrame:
		h.change(f.StreamID, func(s *h2stream) {
			if s == nil {
				h.window += int64(f.Increment)
			} else {
				s.window += int64(f.Increment)
			}
		})
	case *http2.RSTStreamFrame:
		h.change(f.StreamID, func(s *h2stream) { s.gone = true })
	}
	return nil
}

// change applies f to a stream that is still there, or for id 0 to the
// connection (nil), and wakes who waits for it.
func (h *h2conn) change(id uint32, f func(*h2stream)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.streams[id]; s != nil || id == 0 {
		f(s)
		h.wake.Broadcast()
	}
}

// settings takes over what the client says, and acknowledges it.
func (h *h2conn) settings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		return nil
	}
	return h.write(func() error {
		err := f.ForeachSetting(func(s http2.Setting) error {
			switch s.ID {
			case http2.SettingInitialWindowSize:
				for _, st := range h.streams {
					st.window += int64(s.Val) - h.initial
				}
				h.initial = int64(s.Val)
				h.wake.Broadcast()
			case http2.SettingMaxFrameSize:
				h.frame = int(min(s.Val, 1<<20))
			case http2.SettingHeaderTableSize:
				h.enc.SetMaxDynamicTableSize(min(s.Val, 4096))
			}
			return s.Valid()
		})
		return errors.Join(err, h.fr.WriteSettingsAck())
	})
}

// received keeps a piece of a request's body. The connection's window is given
// back at once, the stream's when the piece is read.
func (h *h2conn) received(f *http2.DataFrame) error {
	h.change(f.StreamID, func(s *h2stream) {
		s.body.Write(f.Data())
		s.ended = s.ended || f.StreamEnded()
	})
	if f.Length == 0 {
		return nil
	}
	return h.write(func() error { return h.fr.WriteWindowUpdate(0, f.Length) })
}

// headers begins a request, or ends one with trailers.
func (h *h2conn) headers(f *http2.MetaHeadersFrame) {
	first := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.streams[f.StreamID]; s != nil {
		for _, hf := range f.RegularFields() {
			s.trailer = append(s.trailer, Field{hf.Name, hf.Value})
		}
		s.ended = s.ended || f.StreamEnded()
		h.wake.Broadcast()
		return
	}
	if h.leaving || f.StreamID <= h.newest {
		return // above the last stream (RFC 9113 section 6.8), or trailers of one that is over
	}
	h.newest = f.StreamID
	s := &h2stream{id: f.StreamID, window: h.initial, ended: f.StreamEnded()}
	h.streams[s.id] = s
	r := &Record{Connection: h.c.number, Stream: s.id, Proto: "HTTP/2.0", Method: f.PseudoValue("method")}
	r.Target = f.PseudoValue("path")
	if r.Target == "" {
		r.Target = f.PseudoValue("authority")
	}
	r.Path = pathOf(r.Target)
	r.Header = make([]Field, 0, len(f.RegularFields()))
	for _, hf := range f.RegularFields() {
		r.Header = append(r.Header, Field{hf.Name, hf.Value})
	}
	x := h.c.s.begin(r, first)
	h.running.Add(1)
	go h.answer(s, x)
}

// answer is a stream's goroutine.
func (h *h2conn) answer(s *h2stream, x *exchange) {
	defer h.running.Done()
	out := &http2Carrier{h: h, s: s, left: forever}
	if h.takeBody(s, x, out) {
		h.c.s.choose(x)
		if x.perform(out) && !x.req.BodyComplete {
			_ = h.write(func() error { return h.fr.WriteRSTStream(s.id, http2.ErrCodeNo) })
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, s.id)
	if h.leaving && len(h.streams) == 0 {
		h.c.closeWrite(true)
	}
}

// cut ends the connection on our side at once; the reader takes what still
// comes, so that the client sees an end and no reset.
func (h *h2conn) cut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leaving, h.closed = true, true
	h.wake.Broadcast()
	h.c.closeWrite(false) // as when the peer's machine dies: without close_notify
}
