package cmd

import (
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/outfile"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/cmd/internal/writeout"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

// writeOut prints -w's text after the operation has ended.
func (op *operation) writeOut(rec *retry.Record, code exitcode.Code, doc *render.Document) error {
	if op.group.format == nil {
		return nil
	}
	values := op.values(rec, code)
	if doc != nil && code != exitcode.OK && doc.Outcome.Message != nil {
		values.ErrorMessage = render.Cause(*doc.Outcome.Message)
	}
	err := op.group.format.Write(op.stdout(), op.run.console.live, values, func(name string, add bool) (io.WriteCloser, error) {
		mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
		if add {
			mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND
		}
		return os.OpenFile(name, mode, 0o666)
	})
	if err != nil {
		return &outfile.Error{Path: "--write-out", Err: err}
	}
	return nil
}

// stdout is standard output for text: with -Z, in the operation's turn. A write
// that nobody takes ends with the deadline.
func (op *operation) stdout() io.Writer { return turnWriter{op} }

type turnWriter struct{ op *operation }

func (w turnWriter) Write(p []byte) (int, error) {
	if err := w.op.turn.Take(nil); err != nil {
		return 0, err
	}
	return outfile.Bounded(w.op.run.stdout, w.op.lastWords()).Write(p)
}

// lastWords bounds a write when the operation is over: by what is left of its
// deadline, or a little time for a reader who reads.
func (op *operation) lastWords() (ended func() error) {
	clock, limit := op.run.env.Clock, op.policy().Deadline
	until := max(op.began+limit, clock.Mono()+signalGrace)
	return func() error {
		if limit > 0 && clock.Mono() >= until {
			return retry.ErrDeadline
		}
		return nil
	}
}

func (op *operation) values(rec *retry.Record, code exitcode.Code) *writeout.Values {
	v := &writeout.Values{
		URL: op.given, URLEffective: op.given, URLNum: op.num,
		ExitCode: int(code), Attempts: len(rec.Attempts), Reason: string(rec.Reason),
		TimeOperation: rec.Elapsed, TimeWaited: rec.Waited, Version: "bide/" + version,
	}
	if op.template.URL != nil {
		v.URLEffective, v.Method, v.Scheme = op.template.URL.String(), op.template.Method, op.template.URL.Scheme
	}
	v.Filename = op.output.path
	if r := op.final(); r != nil {
		fillResponse(v, r)
		if op.output.unmet {
			v.Status = 304 // what the server ought to have said (curl)
		}
		if failed := connectionFacts(rec); failed != nil && len(r.Hops) == 0 {
			v.HTTPConnect, v.SSLVerifyResult = failed.ProxyStatus, failed.VerifyResult
		}
	}
	if n := len(rec.Attempts); n > 0 {
		v.TimeTotal = rec.Attempts[n-1].Duration
	}
	if seconds := v.TimeTotal.Seconds(); seconds > 0 {
		v.SpeedDownload = int64(float64(v.SizeDownload) / seconds)
		v.SpeedUpload = int64(float64(v.SizeUpload) / seconds)
	}
	if r := op.final(); r != nil && r.Continued() {
		v.SizeDownload = r.Arrived() // the whole, whichever attempt brought it
		if from := op.exchange.From; from != nil {
			v.SizeDownload -= from.Offset // but not what was there before (curl)
		}
	}
	return v
}

// fillResponse adds what the last attempt's answer and hops tell.
func fillResponse(v *writeout.Values, r *exchange.Response) {
	v.Status, v.NumRedirects, v.RedirectURL = r.Status, r.Redirects, r.RedirectURL
	v.HTTPVersion = strings.TrimSuffix(strings.TrimPrefix(r.Proto, "HTTP/"), ".0")
	v.URLEffective, v.Scheme, v.Method = r.URL().String(), r.URL().Scheme, r.Method()
	for _, f := range r.Header {
		v.Headers = append(v.Headers, writeout.Header{Name: f.Name, Value: f.Value})
		if strings.EqualFold(f.Name, "Content-Type") {
			v.ContentType = f.Value
		}
	}
	var start time.Duration
	for i := range r.Hops {
		h := &r.Hops[i]
		if i == 0 {
			start = h.Start
		}
		v.SizeHeader += h.Timing.HeadIn
		v.SizeRequest += h.Timing.HeadOut
		if h.Timing.BodyOut <= sentWithHead && h.Method != "PUT" {
			v.SizeRequest += h.Timing.BodyOut
		}
		if !h.Reused {
			for _, block := range h.Facts.ProxyBlocks {
				v.SizeHeader += int64(len(block))
			}
			v.SizeRequest += h.Facts.ProxyOut
			v.NumConnects++
		}
		if i > 0 {
			v.TimeRedirect = since(start, h.Start)
		}
	}
	if n := len(r.Hops); n > 0 {
		fillHop(v, &r.Hops[n-1], start)
	}
}

func fillHop(v *writeout.Values, h *exchange.Hop, start time.Duration) {
	v.RemoteIP, v.RemotePort = splitAddress(h.Facts.Remote)
	v.LocalIP, v.LocalPort = splitAddress(h.Facts.Local)
	v.Referer = h.Referer
	v.SizeUpload, v.SizeDownload = h.Timing.BodyOut, h.BodyIn // of the last request alone, as curl counts
	v.HTTPConnect = h.Facts.ProxyStatus
	v.SSLVerifyResult = h.Facts.VerifyResult
	v.TimeNameLookup = since(start, h.Facts.LookedUp)
	v.TimeConnect = since(start, h.Facts.Connected)
	v.TimeAppConnect = since(start, h.Facts.TLSDone)
	v.TimePreTransfer = since(start, h.Timing.Start)
	v.TimeStartTransfer = since(start, h.Timing.FirstByte)
	if tls := h.Facts.TLS; tls != nil {
		v.NumCerts = len(tls.Chain)
		var text strings.Builder
		for _, der := range tls.Chain {
			_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: der}) // a strings.Builder does not fail
		}
		v.Certs = text.String()
	}
}

// sentWithHead is the largest body of a POST that curl sends, and counts, with the head.
const sentWithHead = 64 << 10

// connectionFacts are those of a connection that the last attempt could not make.
func connectionFacts(rec *retry.Record) *transport.Facts {
	if n := len(rec.Attempts); n > 0 {
		if failed, ok := errors.AsType[*transport.Error](rec.Attempts[n-1].Outcome.Err); ok {
			return failed.Facts
		}
	}
	return nil
}

// since is an instant as a time from start; 0 for what did not happen.
func since(start, instant time.Duration) time.Duration {
	if instant <= start {
		return 0
	}
	return instant - start
}

func splitAddress(address string) (host string, port int) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0
	}
	port, err = strconv.Atoi(text)
	if err != nil {
		return "", 0
	}
	return host, port
}
