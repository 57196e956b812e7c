package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/transport"
)

const (
	h2Window     = 16 << 20 // receive window of a stream; nothing is buffered in the process
	h2ConnWindow = 1 << 30
	h2Default    = 65535 // windows before any SETTINGS (RFC 9113 §6.9.2)
	h2FrameSize  = 16384
	// h2Idle bounds the frames that bring a request no further.
	h2Idle = 10000
	// h2Block bounds what the frames of one header block take on the wire, empty
	// ones included: they are read in one go.
	h2Block = 2 * maxHeads
	// h2Queue bounds the bytes of replies (PING, SETTINGS) that the peer does not take.
	h2Queue = 64 << 10
)

// session is an HTTP/2 connection that carries one request at a time. It has
// no goroutine of its own: frames are read by whoever waits for the answer, so
// a request is never sent again and its fate is known from the frames
// themselves. The framer and HPACK are golang.org/x/net/http2's.
type session struct {
	c  *transport.Conn
	br *bufio.Reader
	in *http2.Framer
	// block is between the two.
	block *io.LimitedReader

	wmu  sync.Mutex // what is written to c, in whole frames
	henc *hpack.Encoder
	hbuf bytes.Buffer

	qmu   sync.Mutex // replies wait here while an upload holds wmu
	queue bytes.Buffer
	reply *http2.Framer
	lost  error // of a write: nothing more is written, but what the peer sent is read

	fmu      sync.Mutex // send windows
	room     *sync.Cond
	connOut  int64
	out      int64 // of the stream at hand
	initial  int64
	maxFrame int
	halted   bool // the stream takes no more data

	next    uint32
	goaway  *http2.ErrCode // of the GOAWAY received; nil none
	broken  bool
	connIn  int64        // received on the connection and not yet given back
	idle    atomic.Int64 // frames since the last progress
	started bool
}

func newSession(c *transport.Conn) *session {
	if c.Buf == nil {
		c.Buf = bufio.NewReaderSize(c, readerSize)
	}
	s := &session{
		c: c, br: c.Buf, next: 1,
		connOut: h2Default, initial: h2Default, maxFrame: h2FrameSize,
	}
	s.room = sync.NewCond(&s.fmu)
	s.block = &io.LimitedReader{R: s.br}
	s.in = http2.NewFramer(io.Discard, s.block)
	s.in.SetReuseFrames()
	s.in.SetMaxReadFrameSize(h2FrameSize)
	s.in.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	s.in.MaxHeaderListSize = maxHeads
	s.reply = http2.NewFramer(&s.queue, nil)
	s.henc = hpack.NewEncoder(&s.hbuf)
	return s
}

// preface writes what opens a connection (RFC 9113 §3.4).
func (s *session) preface(b *bytes.Buffer, fr *http2.Framer) {
	b.WriteString(http2.ClientPreface)
	_ = fr.WriteSettings(
		http2.Setting{ID: http2.SettingEnablePush, Val: 0},
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: h2Window},
		http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: maxHeads},
	)
	_ = fr.WriteWindowUpdate(0, h2ConnWindow-h2Default)
	s.started = true
}

// Usable reports whether the session can take another request. It looks at
// what came in the meantime; transport's pool asks before it hands the
// connection out.
func (s *session) Usable() bool {
	if s.broken || s.goaway != nil || s.next > 1<<30 || s.writeError() != nil {
		return false
	}
	defer func() { _ = s.c.SetDeadline(time.Time{}) }()
	for range h2Idle {
		_ = s.c.SetDeadline(time.Now().Add(idleLook))
		head, err := s.br.Peek(9)
		if err == nil {
			size := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
			_, err = s.br.Peek(9 + min(size, h2FrameSize))
		}
		if err != nil {
			return isTimeout(err) && s.br.Buffered() == 0
		}
		_ = s.c.SetDeadline(time.Now().Add(time.Second))
		if _, err := s.frame(nil); err != nil || s.goaway != nil {
			s.broken = true
			return false
		}
	}
	return false
}

// idleLook is how long Usable waits for what may lie in the socket: a deadline
// that passed before the read began would hide it.
const idleLook = time.Millisecond

// h2Fault is an error of the peer's HTTP/2.
func h2Fault(format string, a ...any) error {
	return &replyError{code: exitcode.HTTP2, text: "HTTP/2: " + fmt.Sprintf(format, a...)}
}

// frame reads one frame, sees to those of the connection, and returns those of
// st; nil without an error for any other.
func (s *session) frame(st *stream) (http2.Frame, error) {
	s.block.N = h2Block
	f, err := s.in.ReadFrame()
	if err != nil {
		s.broken = true
		if s.block.N <= 0 {
			return nil, h2Fault("endless header block")
		}
		return nil, h2ReadError(err)
	}
	if s.idle.Add(1) > h2Idle {
		return nil, h2Fault("too many frames without progress")
	}
	id := f.Header().StreamID
	switch f := f.(type) {
	case *http2.SettingsFrame:
		err = s.settings(f)
	case *http2.PingFrame:
		if !f.IsAck() {
			data := f.Data
			err = s.answer(func(fr *http2.Framer) { _ = fr.WritePing(true, data) })
		}
	case *http2.GoAwayFrame:
		code := f.ErrCode
		s.goaway = &code
		if st != nil && st.id > f.LastStreamID {
			return nil, &refusedError{code: exitcode.HTTP2, text: fmt.Sprintf("HTTP/2: GOAWAY (%s) before the request was processed", f.ErrCode)}
		}
	case *http2.WindowUpdateFrame:
		err = s.widen(st, id, int64(f.Increment))
	case *http2.PushPromiseFrame:
		err = h2Fault("PUSH_PROMISE was not allowed")
	case *http2.DataFrame:
		s.connIn += int64(f.Header().Length)
		if st != nil && id == st.id {
			return f, nil
		}
		err = s.strange(id)
	case *http2.MetaHeadersFrame, *http2.RSTStreamFrame:
		if st != nil && id == st.id {
			return f, nil
		}
		err = s.strange(id)
	}
	if err != nil {
		s.broken = true
	}
	return nil, err
}

// strange judges a frame of another stream: an old one's may still come.
func (s *session) strange(id uint32) error {
	if id%2 == 0 || id >= s.next {
		return h2Fault("frame of stream %d, which was never opened", id)
	}
	return nil
}

func (s *session) settings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		return nil
	}
	if f.NumSettings() > 100 {
		return h2Fault("too many settings")
	}
	err := f.ForeachSetting(func(v http2.Setting) error {
		if err := v.Valid(); err != nil {
			return h2Fault("invalid %s", v.ID)
		}
		s.fmu.Lock()
		defer s.fmu.Unlock()
		switch v.ID {
		case http2.SettingInitialWindowSize:
			s.out += int64(v.Val) - s.initial
			s.initial = int64(v.Val)
			s.room.Broadcast()
		case http2.SettingMaxFrameSize:
			s.maxFrame = int(v.Val)
		case http2.SettingHeaderTableSize:
			s.henc.SetMaxDynamicTableSizeLimit(min(v.Val, 4096))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.answer(func(fr *http2.Framer) { _ = fr.WriteSettingsAck() })
}

// widen takes a WINDOW_UPDATE (RFC 9113 §6.9).
func (s *session) widen(st *stream, id uint32, n int64) error {
	s.fmu.Lock()
	defer s.fmu.Unlock()
	switch {
	case id == 0:
		s.connOut += n
	case st != nil && id == st.id:
		s.out += n
	}
	if max(s.connOut, s.out) > 1<<31-1 {
		return h2Fault("flow control window over its limit")
	}
	s.room.Broadcast()
	return nil
}

// take waits until data may be sent and returns how much, at most n.
func (s *session) take(n int) (int, error) {
	s.fmu.Lock()
	defer s.fmu.Unlock()
	for s.connOut <= 0 || s.out <= 0 {
		if s.halted {
			return 0, errStopped
		}
		s.room.Wait()
	}
	if s.halted {
		return 0, errStopped
	}
	n = int(min(int64(n), s.connOut, s.out))
	s.connOut -= int64(n)
	s.out -= int64(n)
	return n, nil
}

// halt ends the sending of data on the stream at hand.
func (s *session) halt() {
	s.fmu.Lock()
	s.halted = true
	s.room.Broadcast()
	s.fmu.Unlock()
}

// answer queues a reply and sends it, unless an upload is writing: that sends
// it then. So a reader never waits for a writer. That a reply cannot be sent is
// no end of the reading: a peer that has closed may have sent all before.
func (s *session) answer(write func(*http2.Framer)) error {
	s.qmu.Lock()
	if s.lost == nil {
		write(s.reply)
	}
	size := s.queue.Len()
	s.qmu.Unlock()
	if size > h2Queue {
		return h2Fault("peer takes no replies")
	}
	s.flush()
	return nil
}

func (s *session) flush() {
	for s.queued() && s.wmu.TryLock() {
		s.qmu.Lock()
		b := bytes.Clone(s.queue.Bytes())
		s.queue.Reset()
		s.qmu.Unlock()
		_, err := s.c.Write(b)
		s.wmu.Unlock()
		s.wrote(err)
	}
}

func (s *session) queued() bool {
	s.qmu.Lock()
	defer s.qmu.Unlock()
	return s.queue.Len() > 0
}

// wrote notes the error of a write: after it a frame may be cut in two.
func (s *session) wrote(err error) {
	if err == nil {
		return
	}
	s.qmu.Lock()
	defer s.qmu.Unlock()
	if s.lost == nil {
		s.lost = err
	}
	s.queue.Reset()
}

func (s *session) writeError() error {
	s.qmu.Lock()
	defer s.qmu.Unlock()
	return s.lost
}

// write sends whole frames, and the replies that waited meanwhile.
func (s *session) write(b []byte) (int, error) {
	s.wmu.Lock()
	n, err := s.c.Write(b)
	s.wmu.Unlock()
	if s.wrote(err); err == nil {
		s.flush()
	}
	return n, err
}

// giveBack returns flow control for what was consumed, in large steps. Where
// that cannot be done any more, it fails when the peer may send nothing more.
func (s *session) giveBack(st *stream) error {
	conn, own := s.connIn >= h2ConnWindow/4, st.unacked >= h2Window/2 && !st.ended
	if !conn && !own {
		return nil
	}
	if lost := s.writeError(); lost != nil {
		if s.connIn >= h2ConnWindow || st.unacked >= h2Window {
			return &writeError{lost}
		}
		return nil
	}
	return s.answer(func(fr *http2.Framer) {
		if conn {
			_ = fr.WriteWindowUpdate(0, uint32(s.connIn))
			s.connIn = 0
		}
		if own {
			_ = fr.WriteWindowUpdate(st.id, uint32(st.unacked))
			st.unacked = 0
		}
	})
}

// h2ReadError tells the peer's faults from the connection's.
func h2ReadError(err error) error {
	var conn http2.ConnectionError
	var st http2.StreamError
	switch {
	case errors.As(err, &conn):
		return h2Fault("%s", http2.ErrCode(conn))
	case errors.As(err, &st):
		return &replyError{code: exitcode.HTTP2Stream, text: fmt.Sprintf("HTTP/2 stream: malformed answer (%s)", st.Code)}
	case errors.Is(err, http2.ErrFrameTooLarge):
		return h2Fault("frame too large")
	}
	return eofIsShort(err)
}
