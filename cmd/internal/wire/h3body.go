package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// read gives body bytes.
func (f *flight3) read(p []byte) (int, error) {
	n, err := f.resp.Body.Read(p)
	if f.left > 0 {
		f.left -= int64(n)
	}
	f.trace.dataIn(p[:n])
	return n, err
}

func (f *flight3) buffered() []byte { return nil }

func (f *flight3) take(int) {}

func (f *flight3) splice(*Body, io.Writer) (int64, bool, error) { return 0, false, nil }

func (f *flight3) size() int64 { return f.left }

// finish settles the end.
func (f *flight3) finish(err error) error {
	if err == io.EOF {
		f.whole = true
		if f.up != nil && !f.up.stop.Load() {
			if unsent := f.outlive(); unsent != nil {
				f.whole = false
				return unsent
			}
		}
		return err
	}
	if f.up != nil {
		f.up.stop.Store(true)
	}
	var input *inputError
	switch {
	case f.ctx.Err() != nil:
		return ended(f.ctx, retry.SentMaybe, retry.PhaseBody, "while reading the response body")
	case errors.As(err, &input):
		return fault(retry.ClassInput, exitcode.Input, retry.SentMaybe, retry.PhaseSend, input)
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = &worded{fmt.Sprintf("transfer closed with %d bytes remaining to read", f.left), err}
		return fault(retry.ClassTruncated, exitcode.Truncated, retry.SentMaybe, retry.PhaseBody, err)
	}
	class, _, text := verdict3(err)
	if h3 := (*http3.Error)(nil); class != retry.ClassProtocol || errors.As(err, &h3) {
		class = retry.ClassTruncated // whatever the code, it ended in the middle
	}
	return fault(class, exitcode.HTTP3, retry.SentMaybe, retry.PhaseBody, text)
}

// outlive waits for the end of an upload that a success overtook. The peer may
// want no more of it (RFC 9114 §4.1); if it breaks off otherwise that is the error.
func (f *flight3) outlive() error {
	err := error(nil)
	select {
	case <-f.up.over:
		err = f.up.err
	case <-f.ctx.Done():
		return ended(f.ctx, retry.SentMaybe, retry.PhaseSend, "while sending the request")
	case <-f.s.client.Context().Done():
		err = context.Cause(f.s.client.Context())
	}
	var input *inputError
	var reset *quic.StreamError
	switch {
	case err == nil || errors.As(err, &reset) && reset.ErrorCode == quic.StreamErrorCode(http3.ErrCodeNoError):
		return nil
	case errors.As(err, &input):
		return fault(retry.ClassInput, exitcode.Input, retry.SentMaybe, retry.PhaseSend, input)
	}
	return fault(retry.ClassClosed, exitcode.HTTP3, retry.SentMaybe, retry.PhaseSend, sendFailure(err))
}

func (f *flight3) cut() bool { return f.up != nil && f.up.end.Load() == 0 }

func (f *flight3) sending() bool { return f.cut() && !f.up.stop.Load() }

func (f *flight3) reusable() bool {
	return f.whole && f.s.Usable() && (f.up == nil || f.up.stop.Load() || f.up.end.Load() > 0)
}

func (f *flight3) trailer() string {
	if !f.whole {
		return ""
	}
	var b strings.Builder
	for _, field := range sorted(f.resp.Trailer) {
		b.WriteString(field.Name + ": " + field.Value + "\r\n")
	}
	return b.String()
}

func (f *flight3) uploaded() int64 {
	if f.up == nil {
		return 0
	}
	return f.up.sent.Load()
}

// readUntil gives the rest up at t: a stream that was given up cannot go on.
func (f *flight3) readUntil(t time.Time) {
	if f.late != nil {
		f.late.Stop()
		f.late = nil
	}
	if !t.IsZero() {
		f.late = time.AfterFunc(time.Until(t), func() { f.cancel(context.DeadlineExceeded) })
	}
}

// close ends the stream; the connection may go on.
func (f *flight3) close(whole bool) error {
	if f.up != nil && !whole {
		f.up.stop.Store(true)
	}
	err := f.resp.Body.Close()
	f.cancel(context.Canceled)
	if !whole {
		_ = f.c.Close()
	}
	return err
}
