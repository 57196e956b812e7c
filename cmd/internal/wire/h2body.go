package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/net/http2"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// read gives body bytes from as many frames as are at hand.
func (st *stream) read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(st.data) == 0 {
			if n > 0 && !st.frameAtHand() {
				break
			}
			if err := st.more(); err != nil {
				return n, err
			}
		}
		k := copy(p[n:], st.data)
		st.take(k)
		n += k
	}
	st.trace.dataIn(p[:n])
	return n, nil
}

// frameAtHand reports a whole frame in the reader.
func (st *stream) frameAtHand() bool {
	if st.ended || st.c.Buf.Buffered() < 9 {
		return false
	}
	b, _ := st.c.Buf.Peek(9)
	return st.c.Buf.Buffered() >= 9+int(b[0])<<16+int(b[1])<<8+int(b[2])
}

// more reads frames until there are data; io.EOF at the stream's end. The data
// are valid until the next call.
func (st *stream) more() error {
	for {
		if st.ended {
			return st.atEnd()
		}
		if err := st.s.giveBack(st); err != nil {
			return err
		}
		f, err := st.s.frame(st)
		if err != nil {
			return err
		}
		switch f := f.(type) {
		case *http2.DataFrame:
			st.ended = f.StreamEnded()
			st.unacked += int64(f.Header().Length)
			if err := st.got(f.Data()); err != nil || len(st.data) > 0 {
				return err
			}
		case *http2.MetaHeadersFrame:
			if err := st.trailers(f); err != nil {
				return err
			}
		case *http2.RSTStreamFrame:
			return st.reset(f.ErrCode)
		}
	}
}

func (st *stream) got(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	st.s.idle.Store(0)
	if st.left >= 0 {
		if int64(len(data)) > st.left {
			return &replyError{code: exitcode.HTTP2Stream, text: "HTTP/2 stream: more data than Content-Length says"}
		}
		st.left -= int64(len(data))
	}
	st.data = data
	return nil
}

func (st *stream) trailers(f *http2.MetaHeadersFrame) error {
	if !f.StreamEnded() || f.Truncated || len(f.PseudoFields()) > 0 {
		return &replyError{code: exitcode.HTTP2Stream, text: "HTTP/2 stream: malformed trailers"}
	}
	st.ended = true
	see := st.trace.headerIn()
	for _, hf := range f.RegularFields() {
		line := hf.Name + ": " + hf.Value + "\r\n"
		st.trail += line
		if see != nil {
			see([]byte(line))
		}
	}
	return nil
}

// atEnd is what END_STREAM means for the body.
func (st *stream) atEnd() error {
	if st.left > 0 && !st.done {
		return io.ErrUnexpectedEOF
	}
	return io.EOF
}

func (st *stream) buffered() []byte {
	if st.done || st.trace.wantsData() {
		return nil
	}
	return st.data
}

func (st *stream) take(n int) { st.data = st.data[n:] }

func (st *stream) splice(*Body, io.Writer) (int64, bool, error) { return 0, false, nil }

func (st *stream) size() int64 {
	if st.left >= 0 {
		return st.left + int64(len(st.data))
	}
	return -1
}

// finish settles the end. A success that overtook its upload goes on reading
// frames until that is done: it needs the windows that they open.
func (st *stream) finish(err error) error {
	st.done = true
	if err == io.EOF && st.up != nil && !st.up.stop.Load() {
		st.outlive()
		if unsent := st.unsent(); unsent != nil {
			st.s.broken = true
			st.wake.release()
			return unsent
		}
	}
	if err != io.EOF {
		st.abandon()
	}
	if err != io.EOF && st.ctx.Err() != nil {
		err = ended(st.ctx, retry.SentMaybe, retry.PhaseBody, "while reading the response body")
	} else if err != io.EOF {
		err = st.broke(err)
	}
	clean := st.wake.release()
	st.keep = clean && err == io.EOF && !st.s.broken && st.s.writeError() == nil && st.s.goaway == nil && (st.up == nil || st.up.whole())
	return err
}

// outlive reads frames of the connection until the upload is over or the peer
// resets the stream: with NO_ERROR it wants no more of it (RFC 9113 §8.1).
func (st *stream) outlive() {
	defer st.abandon()
	for st.up.failure() == nil && !st.up.whole() && !st.up.late() {
		st.wake.readBy(time.Now().Add(20 * time.Millisecond))
		_, err := st.c.Buf.Peek(9)
		if st.ctx.Err() != nil || err != nil && !isTimeout(err) {
			return
		}
		st.wake.readBy(time.Time{})
		if err != nil {
			continue
		}
		f, err := st.s.frame(st)
		if reset, ok := f.(*http2.RSTStreamFrame); ok || err != nil {
			st.dropped = st.dropped || ok && reset.ErrCode == http2.ErrCodeNo
			return
		}
	}
	st.wake.readBy(time.Time{})
}

// broke gives an error inside the body its class.
func (st *stream) broke(err error) error {
	var refused *refusedError
	var reset *resetError
	switch {
	case errors.As(err, &refused), errors.As(err, &reset):
	case isEOF(err) && st.ended:
		err = &worded{fmt.Sprintf("HTTP/2 stream ended with %d bytes remaining to read", st.left), err}
	case isEOF(err):
		err = &worded{"HTTP/2 stream was not closed cleanly before end of the underlying connection", err}
	default:
		return inBody(err, st.left)
	}
	return fault(retry.ClassTruncated, exitcode.HTTP2Stream, retry.SentMaybe, retry.PhaseBody, err)
}

func (st *stream) reusable() bool { return st.done && st.keep }

func (st *stream) trailer() string { return st.trail }

// readUntil ends a read; a frame that it cuts in two leaves the session broken.
func (st *stream) readUntil(t time.Time) {
	if !st.done {
		st.up.waitUntil(t)
		st.wake.readBy(t)
	}
}

// close resets a stream that is not over, and closes the connection: what is
// on its way for that stream is not worth waiting for.
func (st *stream) close(whole bool) error {
	if whole {
		return nil
	}
	st.s.broken = true
	st.abandon()
	if !st.done && st.ctx.Err() == nil {
		_ = st.c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
		_ = st.s.answer(func(fr *http2.Framer) { _ = fr.WriteRSTStream(st.id, http2.ErrCodeCancel) })
	}
	st.wake.release()
	return st.c.Close()
}

// sendFrames copies the request body in DATA frames, several in one write.
func (u *upload) sendFrames() error {
	st, length := u.h2, u.length
	buf := make([]byte, copyBuffer/4)
	for got := int64(0); ; {
		p := buf
		if length >= 0 {
			p = buf[:min(int64(len(buf)), length-got)]
		}
		n, err := u.read(p)
		got += int64(n)
		last := err == io.EOF
		switch {
		case err == errStopped:
			return err
		case err != nil && !last:
			return &inputError{err}
		case last && length >= 0 && got < length:
			return shortInput(err, got, length)
		case got == length && length >= 0 && !last:
			if end := u.checkEnd(nil); end != nil {
				return end
			}
			last = true
		}
		if err := st.sendData(buf[:n], last); err != nil {
			return err
		}
		if last {
			return nil
		}
	}
}

// sendData sends p within the windows; end closes our side of the stream.
func (st *stream) sendData(p []byte, end bool) error {
	var b bytes.Buffer
	fr := http2.NewFramer(&b, nil)
	for {
		n := 0
		if len(p) > 0 {
			var err error
			if n, err = st.s.take(len(p)); err != nil {
				return err
			}
		}
		piece := p[:n]
		p = p[n:]
		st.trace.dataOut(piece)
		b.Reset()
		for first := true; first || len(piece) > 0; first = false {
			k := min(len(piece), h2FrameSize)
			_ = fr.WriteData(st.id, end && len(p) == 0 && k == len(piece), piece[:k])
			piece = piece[k:]
		}
		if _, err := st.s.write(b.Bytes()); err != nil {
			return err
		}
		st.s.idle.Store(0)
		st.up.count(int64(n))
		if len(p) == 0 {
			return nil
		}
	}
}
