package wire

import (
	"errors"
	"io"
	"sync/atomic"
	"time"
)

// Body is the rest of a response. It is not safe for concurrent use.
type Body struct {
	received atomic.Int64
	err      error // what ended it: io.EOF when whole; sticky
	closed   bool
	src      source
}

// source is a body in one protocol's framing.
type source interface {
	// read gives body bytes; io.EOF when the body is whole.
	read(p []byte) (int, error)
	// buffered gives bytes that are at hand already, for a copy without a
	// buffer of its own; take consumes n of them.
	buffered() []byte
	take(n int)
	// finish is called once at the body's end or break and gives the final
	// error, io.EOF when it was whole.
	finish(err error) error
	// splice copies past the process to w; ok is false when it cannot.
	splice(b *Body, w io.Writer) (n int64, ok bool, err error)
	reusable() bool
	trailer() string // once it is whole, "" none
	uploaded() int64
	// cut reports that the upload, if there is one, has ended short of its end.
	cut() bool
	// sending reports that the upload, if there is one, goes on.
	sending() bool
	// readUntil ends a read, and the wait for an upload at the body's end, at t; the
	// zero time takes that back.
	readUntil(t time.Time)
	close(whole bool) error
	size() int64 // a hint for the copy's buffer: bytes left, -1 unknown
}

// errBodyClosed is what reading a closed body gives.
var errBodyClosed = errors.New("read on a closed response body")

// Read reads decoded (un-chunked) bytes; io.EOF only when the body is whole.
// A body that broke off gives a *transport.Error of class truncated.
func (b *Body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := b.src.read(p)
	b.received.Add(int64(n))
	if err != nil {
		b.end(err)
		if n > 0 {
			return n, nil
		}
		return 0, b.err
	}
	return n, nil
}

func (b *Body) end(err error) { b.err = b.src.finish(err) }

// WriteTo copies the whole body to w. To an *os.File, or a Patient output, from
// bare TCP, with a length or up to the connection's end, it goes by splice on
// Linux, without touching the bytes. An error of w is returned as it is; one of
// the connection is a *transport.Error. The context of the request does not
// wake a write that blocks: a Patient output has its own.
func (b *Body) WriteTo(w io.Writer) (int64, error) {
	var total int64
	if b.err != nil {
		if b.err == io.EOF {
			return 0, nil
		}
		return 0, b.err
	}
	for p := b.src.buffered(); len(p) > 0; p = b.src.buffered() {
		n, err := w.Write(p)
		b.src.take(n)
		b.received.Add(int64(n))
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	n, ok, err := b.src.splice(b, w)
	total += n
	if err != nil {
		return total, err
	}
	if !ok {
		n, err = b.copy(w)
		total += n
	}
	return total, err
}

// copy goes through one buffer. It reads before it allocates a large one: a
// body that is over needs none.
func (b *Body) copy(w io.Writer) (int64, error) {
	var total int64
	var buf []byte
	if left := b.src.size(); left == 0 {
		buf = make([]byte, 1)
	} else if left < 0 || left > copyBuffer {
		buf = make([]byte, copyBuffer)
	} else {
		buf = make([]byte, left)
	}
	for {
		n, err := b.Read(buf)
		if n > 0 {
			m, werr := w.Write(buf[:n])
			total += int64(m)
			if werr != nil {
				return total, werr
			}
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// Drain reads up to limit bytes of the rest, for at most the time within, so
// that the connection can be used again; it reports Reusable. A rest that is
// larger or slower is left alone.
func (b *Body) Drain(limit int64, within time.Duration) bool {
	if b.err != nil || b.closed {
		return b.Reusable()
	}
	if left := b.src.size(); left > limit {
		return false
	}
	b.src.readUntil(time.Now().Add(within))
	defer b.src.readUntil(time.Time{})
	buf := make([]byte, min(limit+1, 8<<10))
	for got := int64(0); b.err == nil && got <= limit; {
		n, _ := b.Read(buf)
		got += int64(n)
	}
	return b.Reusable()
}

// Left is how many bytes are still to come, as far as announced; -1 unknown.
func (b *Body) Left() int64 { return b.src.size() }

// Received is the number of body bytes that came over the wire so far; it may
// be called from another goroutine while WriteTo runs (meters poll it).
func (b *Body) Received() int64 { return b.received.Load() }

// Uploaded is the number of bytes of the request's body that went out by now.
// It may be called from another goroutine.
func (b *Body) Uploaded() int64 { return b.src.uploaded() }

// Overtook reports of a body that is over that the request's body did not go
// out whole: the answer ended it, or what broke once the answer was there.
func (b *Body) Overtook() bool { return b.err == io.EOF && b.src.cut() }

// Sending reports that a success came before the request's body was out, which
// goes on: the end of this body waits for that.
func (b *Body) Sending() bool { return b.src.sending() }

// Reusable reports whether the body is whole and the connection may carry
// another request.
func (b *Body) Reusable() bool { return b.err == io.EOF && b.src.reusable() }

// Trailer is the trailer section of a body that is whole, as received, without
// the empty line after it, as -i and -D show it; empty when there was none.
func (b *Body) Trailer() string { return b.src.trailer() }

// Close gives up what is not yet read: HTTP/1 closes the connection unless
// Reusable, HTTP/2 resets the stream.
func (b *Body) Close() error {
	if b.closed {
		return nil
	}
	b.closed = true
	whole := b.Reusable()
	if b.err == nil {
		b.err = errBodyClosed
	}
	return b.src.close(whole)
}
