package httpretry

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/bidehttp/bide/retry"
)

type recordKey struct{}

// RecordFrom gives the story of the operation that led to resp: its attempts,
// waits, and the reason for which it ended. ok is false for a response that did
// not come from a Transport. Where there is no response, errors.As finds a
// *retry.Error, whose Record it is.
func RecordFrom(resp *http.Response) (record *retry.Record, ok bool) {
	if resp == nil || resp.Request == nil {
		return nil, false
	}
	record, ok = resp.Request.Context().Value(recordKey{}).(*retry.Record)
	return record, ok
}

func withRecord(req *http.Request, record *retry.Record) *http.Request {
	return req.WithContext(context.WithValue(req.Context(), recordKey{}, record))
}

// deliver is the body of the final answer. It is read under the limits of the
// last attempt, which end with its Close, or at once where there is nothing to read.
func deliver(ctx context.Context, body io.ReadCloser, cancel func()) io.ReadCloser {
	if body == http.NoBody {
		cancel()
		return body
	}
	d := &delivered{ReadCloser: body, ctx: ctx, cancel: cancel}
	if w, ok := body.(io.Writer); ok { // 101 (Switching Protocols)
		return &upgraded{delivered: d, Writer: w}
	}
	return d
}

type delivered struct {
	io.ReadCloser
	ctx    context.Context
	cancel func()
}

// Read names the limit that cut the body, where net/http says "canceled".
func (d *delivered) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = cause(d.ctx, err)
	}
	return n, err
}

// Close releases the attempt's context.
func (d *delivered) Close() error {
	err := d.ReadCloser.Close()
	d.cancel()
	return err
}

type upgraded struct {
	*delivered
	io.Writer
}

// hold reads up to limit bytes of a body ahead, and reports whether that was all.
// A stream of events is not held: its reader wants them as they come.
func hold(resp *http.Response, limit int64) (complete bool, err error) {
	if resp.StatusCode == http.StatusSwitchingProtocols ||
		strings.HasPrefix(strings.ToLower(resp.Header.Get("Content-Type")), "text/event-stream") {
		return false, nil
	}
	if resp.Body == http.NoBody {
		return true, nil
	}
	held, err := io.ReadAll(io.LimitReader(resp.Body, limit))
	if err != nil {
		return false, err
	}
	ahead := io.Reader(bytes.NewReader(held))
	var one [1]byte
	switch _, err = io.ReadFull(resp.Body, one[:]); err {
	case io.EOF:
		complete = true
	case nil:
		ahead = io.MultiReader(ahead, bytes.NewReader(one[:]), resp.Body)
	default:
		return false, err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{ahead, resp.Body}
	return complete, nil
}
