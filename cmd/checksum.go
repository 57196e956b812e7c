package cmd

import (
	"context"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"time"

	"github.com/bidehttp/bide/cmd/internal/checksum"
	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/outfile"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

// verification is --checksum for one operation: the digest of the body as it is
// written, over the attempts that brought it (R9.3b). What goes to a file is
// hashed as it stands there, so that the transfer itself needs no look at the
// bytes; what goes elsewhere, as it passes.
type verification struct {
	want checksum.Digest
	hash hash.Hash
	at   int64 // bytes of the body that are in hash
	buf  []byte
	// found are the digests of whole bodies, in lower-case hex.
	found map[*exchange.Response]string
}

// holds reports whether r's body is held to the checksum: one that is shown as
// an error's is not, and a 304 has none. A 416 may say that the body is there,
// and --until may want an error.
func (out *output) holds(r *exchange.Response, o *retry.Outcome) bool {
	if out.check == nil || r.Status == 304 {
		return false
	}
	return r.Continued() || r.Status < 400 || o.Class == retry.ClassNone || out.op.group.Fail == flags.FailNone
}

// reset begins anew, with the sink's own Reset.
func (v *verification) reset() {
	if v != nil {
		v.hash.Reset()
		v.at = 0
	}
}

// receive delivers r's body to w and holds it to the checksum. A body that does
// not match is of class checksum, and the next attempt begins from zero; an
// error's body is final.
func (out *output) receive(ctx context.Context, r *exchange.Response, w io.Writer, o *retry.Outcome) {
	v := out.check
	if !out.holds(r, o) {
		*o = r.Deliver(ctx, w, *o)
		return
	}
	if !r.Continued() {
		v.reset()
	}
	back, err := out.readBack()
	if err != nil {
		r.Discard()
		unwritten(o, err)
		return
	}
	if back == nil {
		*o = r.Deliver(ctx, &hashing{w, v}, *o)
	} else {
		stop := v.follow(back, out.headSize)
		*o = r.Deliver(ctx, w, *o)
		err = stop()
	}
	if o.Class != retry.ClassNone && o.Class != retry.ClassStatus {
		return
	}
	if err == nil && back != nil {
		err = v.catchUp(ctx, back, out.headSize, 0)
	}
	if err == nil {
		err = v.verdict(r)
	}
	if err != nil {
		out.op.exchange.From, out.op.exchange.Resume = nil, nil
		unverified(ctx, o, err)
		o.SeenAt = out.op.run.env.Clock.Mono()
	}
}

// readBack is the file in the making; nil where the output is none.
func (out *output) readBack() (outfile.ReadBack, error) {
	if file, ok := out.sink.(*outfile.FileSink); ok {
		return file.ReadBack()
	}
	return nil, nil
}

// unverified makes o that of a body that is not what it ought to be, or could
// not be looked at.
func unverified(ctx context.Context, o *retry.Outcome, err error) {
	errorsPage := o.Class == retry.ClassStatus
	unwritten(o, err)
	var classified retry.Classified
	switch {
	case errors.As(err, &classified):
		o.Class = classified.RetryClass()
		if errorsPage && o.Class == retry.ClassChecksum {
			o.Stop = retry.ChecksumMismatch // it will not become the right body
		}
	case ctx.Err() != nil:
		o.Class, o.Err = retry.ClassCanceled, context.Cause(ctx)
	}
}

// verdict compares; the digest is kept for the timeline.
func (v *verification) verdict(r *exchange.Response) error {
	got := hex.EncodeToString(v.hash.Sum(nil))
	v.found[r] = got
	if got != v.want.Hex {
		return &mismatch{got: got, want: v.want}
	}
	return nil
}

// mismatch is a body that is whole but not the right one.
type mismatch struct {
	got  string
	want checksum.Digest
}

func (m *mismatch) Error() string {
	return "the body's " + m.want.Algorithm.String() + " is " + m.got + ", not " + m.want.Hex
}

// RetryClass is checksum.
func (m *mismatch) RetryClass() retry.Class { return retry.ClassChecksum }

// hashing passes a body on, and takes in what was written.
type hashing struct {
	w io.Writer
	v *verification
}

func (h *hashing) Write(p []byte) (int, error) {
	n, err := h.w.Write(p)
	h.v.hash.Write(p[:n])
	h.v.at += int64(n)
	return n, err
}

// While a file is written to, it is hashed up to so far before its end, so that
// no write under way is looked at; and this often.
const (
	followBehind = 4 << 20
	followEvery  = 100 * time.Millisecond
)

// follow hashes what arrives in back behind the head of the given size, until
// stop.
func (v *verification) follow(back outfile.ReadBack, head int64) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		tick := time.NewTicker(followEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				done <- nil
				return
			case <-tick.C:
			}
			if err := v.catchUp(ctx, back, head, followBehind); err != nil && ctx.Err() == nil {
				done <- err
				return
			}
		}
	}()
	return func() error { cancel(); return <-done }
}

// catchUp hashes back from where the hash is, behind the head, up to so many
// bytes before its end.
func (v *verification) catchUp(ctx context.Context, back outfile.ReadBack, head, before int64) error {
	size, err := back.Size()
	if err != nil {
		return err
	}
	end := size - head - before
	if size-head < v.at { // the file was begun anew
		v.reset()
	}
	if v.buf == nil && end > v.at {
		v.buf = make([]byte, min(end-v.at, readBuffer))
	}
	for v.at < end {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := back.ReadAt(v.buf[:min(int64(len(v.buf)), end-v.at)], head+v.at)
		v.hash.Write(v.buf[:n])
		v.at += int64(n)
		if err != nil && v.at < end {
			return err
		}
	}
	return nil
}

// readBuffer is the size of the buffer through which a file is hashed.
const readBuffer = 128 << 10

// holdsAlready reports whether the file of that name is what the checksum says;
// without one, what is there is right.
func (v *verification) holdsAlready(ctx context.Context, path string) (bool, error) {
	if v == nil {
		return true, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	defer v.reset()
	if err := v.catchUp(ctx, fileReadBack{f, info.Size()}, 0, 0); err != nil {
		return false, err
	}
	return hex.EncodeToString(v.hash.Sum(nil)) == v.want.Hex, nil
}

// fileReadBack is a file that nobody writes to.
type fileReadBack struct {
	io.ReaderAt
	size int64
}

func (f fileReadBack) Size() (int64, error) { return f.size, nil }

// checksumOf is what the timeline says of r's digest; nil where none was made.
func (op *operation) checksumOf(r *exchange.Response) *render.Checksum {
	v := op.output.check
	if v == nil {
		return nil
	}
	got, whole := v.found[r]
	if !whole {
		return nil
	}
	return &render.Checksum{Algorithm: v.want.Algorithm.String(), Expected: v.want.Hex, Actual: got, Matches: got == v.want.Hex}
}
