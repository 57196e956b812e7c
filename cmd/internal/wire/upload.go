package wire

import (
	"errors"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// copyBuffer is the one large buffer of a direction.
	copyBuffer = 256 << 10
	// sendSlice is how much goes by sendfile before the counters move.
	sendSlice = 1 << 20
)

// upload sends a request body beside the reading of the answer.
type upload struct {
	f        *flight
	body     io.Reader
	length   int64         // -1: in chunks, or frames
	progress *atomic.Int64 // of the Request; nil none

	h2      *stream      // nil on HTTP/1
	sent    atomic.Int64 // body bytes
	end     atomic.Int64 // instant at which the last byte was written
	stop    atomic.Bool
	reading atomic.Bool // in Body.Read, which nothing can wake
	done    chan struct{}
	err     error // valid after done

	until time.Time // its wait is over then; zero: it has no end of its own

	mu       sync.Mutex
	answered bool // the final head is there
}

func newUpload(f *flight, r *Request) *upload {
	return &upload{f: f, body: r.Body, length: r.Length, progress: r.Progress, done: make(chan struct{})}
}

// skip ends an upload that never started.
func (u *upload) skip() {
	u.err = errStopped
	close(u.done)
}

type stoppedError struct{}

func (stoppedError) Error() string { return "upload stopped" }

// errStopped is the end of an upload that its answer made needless.
var errStopped error = stoppedError{}

func (u *upload) run() {
	u.err = u.transfer()
	failed := u.err != nil
	switch {
	case !failed:
		u.end.Store(int64(u.f.clock.Mono()))
	case u.stop.Load():
		u.err = errStopped
	}
	close(u.done)
	if failed && u.err != errStopped && u.f.ctx.Err() == nil {
		u.wakeReader()
	}
}

// overtaken notes that the final head came before the upload's end. A
// connection that takes no more bytes does not hurry the answer's body: that
// ends as it ends (RFC 9112 §9.6).
func (u *upload) overtaken() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.answered = true
	var input *inputError
	if !errors.As(u.failure(), &input) {
		u.f.wake.readBy(time.Time{})
	}
}

func (u *upload) transfer() error {
	switch {
	case u.h2 != nil:
		return u.sendFrames()
	case u.length < 0:
		return u.sendChunked()
	case u.bySendfile():
		return u.sendFile()
	}
	return u.sendLength()
}

// wakeReader ends the wait for an answer after the upload failed. A body that
// cannot be read ends it at once; a connection that takes no more bytes may
// still hold an answer.
func (u *upload) wakeReader() {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch _, input := u.err.(*inputError); {
	case input:
		u.f.wake.readBy(past())
	case !u.answered:
		u.f.wake.readBy(time.Now().Add(afterWriteError))
	}
}

// whole reports that the body is sent to its end.
func (u *upload) whole() bool {
	select {
	case <-u.done:
		return u.err == nil
	default:
		return false
	}
}

// failure is what ended the upload, nil while it runs.
func (u *upload) failure() error {
	select {
	case <-u.done:
		if u.err == errStopped {
			return nil
		}
		return u.err
	default:
		return nil
	}
}

// abandon stops the upload and waits for it, unless it sits in a Read of the
// body: then it ends, without another byte sent, when that Read returns.
func (u *upload) abandon() {
	u.stop.Store(true)
	select {
	case <-u.done:
		return
	default:
	}
	u.f.wake.stopWrites()
	for stuck := 0; stuck < readGrace; {
		select {
		case <-u.done:
			return
		case <-time.After(time.Millisecond):
			if u.reading.Load() {
				stuck++
			}
		}
	}
}

// readGrace is how many milliseconds a Read of the body may last before it
// counts as blocked: a file answers sooner, a silent pipe never does.
const readGrace = 20

// runs reports that the upload goes on; there may be none.
func (u *upload) runs() bool {
	if u == nil || u.stop.Load() {
		return false
	}
	select {
	case <-u.done:
		return false
	default:
		return true
	}
}

// waitUntil bounds the wait for the upload's end; the zero time takes that back.
func (u *upload) waitUntil(t time.Time) {
	if u != nil {
		u.until = t
	}
}

// late reports that the upload is not waited for any longer.
func (u *upload) late() bool { return !u.until.IsZero() && !time.Now().Before(u.until) }

// wait waits for the upload's end, the context's, or as long as waitUntil says.
func (u *upload) wait() {
	var late <-chan time.Time
	if !u.until.IsZero() {
		late = time.After(time.Until(u.until))
	}
	select {
	case <-u.done:
		return
	case <-late:
	case <-u.f.ctx.Done():
	}
	u.abandon()
}

// read fills p from the body.
func (u *upload) read(p []byte) (int, error) {
	u.reading.Store(true)
	n, err := u.body.Read(p)
	u.reading.Store(false)
	if u.stop.Load() {
		return 0, errStopped
	}
	return n, err
}

// write sends p, of which the bytes from lo to hi are body.
func (u *upload) write(p []byte, lo, hi int) error {
	u.f.trace.dataOut(p[lo:hi])
	n, err := u.f.c.Write(p)
	u.count(int64(max(0, min(n, hi)-lo)))
	return err
}

func (u *upload) count(n int64) {
	u.sent.Add(n)
	advance(u.progress, n)
}

// advance adds n to a counter, if there is one.
func advance(progress *atomic.Int64, n int64) {
	if progress != nil {
		progress.Add(n)
	}
}

// sendLength copies a body of known length. The last piece goes out only when
// the body is known to end there, so that a server never acts on a wrong one.
func (u *upload) sendLength() error {
	length := u.length
	buf := make([]byte, min(length, copyBuffer))
	for got := int64(0); got < length; {
		p := buf[:min(int64(len(buf)), length-got)]
		n, err := u.read(p)
		if n > 0 {
			got += int64(n)
			if got == length {
				if end := u.checkEnd(err); end != nil {
					return end
				}
			}
			if werr := u.write(p[:n], 0, n); werr != nil {
				return werr
			}
		}
		switch {
		case err == errStopped:
			return err
		case err != nil && got < length:
			return shortInput(err, got, length)
		}
	}
	return nil
}

// checkEnd makes sure that the body ends here; err came with the last bytes.
func (u *upload) checkEnd(err error) error {
	if err == io.EOF {
		return nil
	}
	u.reading.Store(true)
	end := checkEnd(u.body, u.length)
	u.reading.Store(false)
	if u.stop.Load() {
		return errStopped
	}
	return end
}

// chunkRoom is the space in front of the data for the longest size line.
const chunkRoom = 10

// sendChunked copies a body of unknown length (RFC 9112 §7.1): each read goes
// out as one chunk in one write, the last one with the end mark when the body
// said so with it.
func (u *upload) sendChunked() error {
	buf := make([]byte, chunkRoom+copyBuffer+len("\r\n0\r\n\r\n"))
	for {
		n, err := u.read(buf[chunkRoom : chunkRoom+copyBuffer])
		if err != nil && err != io.EOF {
			if err == errStopped {
				return err
			}
			return &inputError{err}
		}
		p, lo := frameChunk(buf, n, err == io.EOF)
		if len(p) > 0 {
			if werr := u.write(p, lo, lo+n); werr != nil {
				return werr
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// frameChunk puts the size line before the n bytes at chunkRoom and the line
// end after them. lo is where the data begin in the result.
func frameChunk(buf []byte, n int, last bool) (p []byte, lo int) {
	start, end := chunkRoom, chunkRoom+n
	if n > 0 {
		var line [chunkRoom]byte
		size := append(strconv.AppendInt(line[:0], int64(n), 16), "\r\n"...)
		start -= len(size)
		copy(buf[start:], size)
		end += copy(buf[end:], "\r\n")
	}
	if last {
		end += copy(buf[end:], "0\r\n\r\n")
	}
	return buf[start:end], chunkRoom - start
}

// bySendfile reports whether the body can go out without being looked at: a
// file, or a part of one, on bare TCP.
func (u *upload) bySendfile() bool {
	if u.f.c.TCP == nil || u.f.trace.wantsData() {
		return false
	}
	file, ok := u.body.(*os.File)
	if part, limited := u.body.(*io.LimitedReader); limited {
		if part.N < u.length {
			return false
		}
		file, ok = part.R.(*os.File)
	}
	if !ok {
		return false
	}
	st, err := file.Stat()
	return err == nil && st.Mode().IsRegular()
}

func (u *upload) sendFile() error {
	length := u.length
	for sent := int64(0); sent < length; {
		if u.stop.Load() {
			return errStopped
		}
		n, err := u.f.c.TCP.ReadFrom(&io.LimitedReader{R: u.source(), N: min(sendSlice, length-sent)})
		sent += n
		u.count(n)
		if part, ok := u.body.(*io.LimitedReader); ok {
			part.N -= n
		}
		if errors.Is(err, syscall.EIO) {
			return &inputError{err}
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return shortInput(io.EOF, sent, length)
		}
	}
	return checkEnd(u.body, length)
}

// source is the file of a body that goes by sendfile.
func (u *upload) source() io.Reader {
	if part, ok := u.body.(*io.LimitedReader); ok {
		return part.R
	}
	return u.body
}
