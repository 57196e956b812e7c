package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/cmd/internal/outfile"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

// partialRecord stands beside a partial file: what it is the beginning of. The
// URL may hold secrets, so only its hash is kept.
type partialRecord struct {
	URL       string `json:"url_sha256"`
	Validator string `json:"validator"`
	Total     int64  `json:"total"` // -1 unknown
}

// continues: -C is about what is received.
func (op *operation) continues() bool {
	return (op.group.ContinueFile || op.group.ContinueAt > 0) && !op.template.Upload
}

// keepsPartial: a body that breaks off stays beside its file. A head in the
// file (-i) would be taken for the body's beginning.
func (op *operation) keepsPartial() bool {
	return op.group.ContinueFile && op.continues() && !op.group.Include
}

// takeUp finds what -C goes on from.
func (out *output) takeUp() error {
	op := out.op
	file, isFile := out.sink.(*outfile.FileSink)
	switch {
	case !op.continues():
	case op.group.ContinueAt > 0:
		op.exchange.From = &exchange.Resume{Offset: op.group.ContinueAt, Total: -1}
		if isFile {
			_, err := file.Append()
			return err
		}
	case op.group.ContinueFile && isFile:
		size, record, err := int64(0), []byte(nil), error(nil)
		if op.keepsPartial() {
			size, record, err = file.TakeUp()
		}
		if err != nil {
			return err
		}
		if size > 0 {
			if op.exchange.From = op.recorded(size, record); op.exchange.From != nil {
				return nil
			}
			file.Anew()
			return errors.Join(file.Keep(nil), file.Reset())
		}
		if size, err = file.Append(); err != nil || size == 0 {
			return err
		}
		op.exchange.From = &exchange.Resume{Offset: size, Total: -1}
		if op.group.AsCurl {
			return nil
		}
		op.run.console.notice(fmt.Sprintf("going on behind the %d bytes of %s; nothing tells whether the rest belongs to them", size, render.Text(out.path)))
	}
	return nil
}

// recorded is what a partial file of size bytes may be continued as; nil not at all.
func (op *operation) recorded(size int64, text []byte) *exchange.Resume {
	var r partialRecord
	if json.Unmarshal(text, &r) != nil || r.URL != op.urlHash() || r.Validator == "" || r.Total >= 0 && size > r.Total {
		return nil
	}
	return &exchange.Resume{Offset: size, Total: r.Total, Validator: r.Validator}
}

func (op *operation) urlHash() string {
	sum := sha256.Sum256([]byte(op.template.URL.String()))
	return hex.EncodeToString(sum[:])
}

// keepPartial makes what comes of r's body stay if it breaks off, where a later
// run can prove that the rest belongs to it.
func (out *output) keepPartial(r *exchange.Response) error {
	file, ok := out.sink.(*outfile.FileSink)
	if !ok || !out.op.keepsPartial() {
		return nil
	}
	rest := r.Rest()
	if rest == nil || rest.Validator == "" || out.op.exchange.From != nil && out.op.exchange.From.Validator == "" {
		return file.Keep(nil)
	}
	record, err := json.Marshal(partialRecord{URL: out.op.urlHash(), Validator: rest.Validator, Total: rest.Total})
	if err != nil {
		return err
	}
	return file.Keep(record)
}

// doubt takes keepPartial back where what was received may not be what its
// record says: a part that broke its own framing.
func (out *output) doubt(after *retry.Outcome) {
	file, ok := out.sink.(*outfile.FileSink)
	if !ok || !out.op.keepsPartial() || after.Resumable {
		return
	}
	switch after.Class {
	case retry.ClassNone, retry.ClassStatus, retry.ClassCanceled, retry.ClassTimeout, retry.ClassClosed, retry.ClassOutput:
	default:
		_ = file.Keep(nil) // it only fails where nothing stays anyway
	}
}

// startOver drops what attempts wrote: down to what an earlier run left, or all
// of it where the server has another body now.
func (out *output) startOver() error {
	if file, ok := out.sink.(*outfile.FileSink); ok && out.op.exchange.From == nil {
		file.Anew()
	}
	return out.sink.Reset()
}

// beside is the answer, where something is to be continued, that must not be
// added to it: a redirect's own body or an error's.
func (out *output) beside(ctx context.Context, r *exchange.Response, o *retry.Outcome) {
	out.headOwed = out.op.group.Include
	if out.failed && out.keepsErrors() {
		r.Discard()
		o.Class, o.Phase, o.Err = retry.ClassProtocol, retry.PhaseBody, exchange.CannotResume()
		return
	}
	if out.failed {
		out.excerptOnly(ctx, r, o)
		return
	}
	r.Discard()
}
