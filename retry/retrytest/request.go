package retrytest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http/httputil"
	"strconv"
	"strings"
)

const (
	maxHead = 1 << 20 // bytes of a request's head
	maxKept = 1 << 20 // bytes of a request's body that the log keeps
	briefly = 256     // with WithBriefLog
)

var errMalformed = errors.New("malformed request")

// readHead reads one HTTP/1 request head into r as it stands on the wire.
func readHead(br *bufio.Reader, r *Record) error {
	for {
		line, err := br.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if len(r.RawHead)+len(line) > 0 {
				return io.ErrUnexpectedEOF
			}
			return io.EOF
		}
		r.RawHead = append(r.RawHead, line...)
		if len(r.RawHead) > maxHead {
			return errMalformed
		}
		if err != nil { // a line longer than the buffer goes on
			continue
		}
		if bytes.HasSuffix(r.RawHead, []byte("\n\r\n")) || bytes.HasSuffix(r.RawHead, []byte("\n\n")) {
			break
		}
		if len(bytes.TrimRight(r.RawHead, "\r\n")) == 0 {
			r.RawHead = nil // empty lines before a request are skipped: RFC 9112 section 2.2
		}
	}
	return parseHead(r)
}

// parseHead fills in r's fields from its raw head.
func parseHead(r *Record) error {
	lines := strings.Split(strings.TrimRight(string(r.RawHead), "\r\n"), "\n")
	parts := strings.Split(strings.TrimSuffix(lines[0], "\r"), " ")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || !strings.HasPrefix(parts[2], "HTTP/1.") {
		return errMalformed
	}
	r.Method, r.Target, r.Proto = parts[0], parts[1], parts[2]
	r.Path = pathOf(r.Target)
	for _, line := range lines[1:] {
		f, ok := parseField(strings.TrimSuffix(line, "\r"))
		if !ok {
			return errMalformed
		}
		r.Header = append(r.Header, f)
	}
	return nil
}

func parseField(line string) (Field, bool) {
	name, value, ok := strings.Cut(line, ":")
	if !ok || name == "" || strings.ContainsAny(name, " \t") {
		return Field{}, false
	}
	return Field{name, strings.Trim(value, " \t")}, true
}

// intake reads a request's body and keeps what the log wants of it.
type intake struct {
	src   io.Reader
	sum   hash.Hash
	kept  []byte
	keep  int // bytes that may be kept
	n     int64
	whole bool // read to its end
	none  bool // there is no body
	sink  io.Writer
	// trailer is filled at the end of a chunked body.
	trailer []Field
}

// newIntake finds the body's framing (RFC 9112 section 6.3).
func newIntake(br *bufio.Reader, r *Record) (*intake, error) {
	in := &intake{sum: sha256.New()}
	if coding := r.Get("Transfer-Encoding"); coding != "" {
		if !strings.EqualFold(coding, "chunked") {
			return nil, fmt.Errorf("%w: transfer coding", errMalformed)
		}
		in.src = &chunkedSource{br: br, r: httputil.NewChunkedReader(br), in: in}
		return in, nil
	}
	n := int64(0)
	if length := r.Get("Content-Length"); length != "" {
		var err error
		if n, err = strconv.ParseInt(length, 10, 64); err != nil || n < 0 {
			return nil, fmt.Errorf("%w: content length", errMalformed)
		}
	}
	in.none = n == 0
	in.src = &exactSource{io.LimitedReader{R: br, N: n}}
	return in, nil
}

// read takes up to limit bytes (forever: all) of the body, and keeps up to keep.
func (in *intake) read(limit int64, keep int) error {
	in.keep = keep
	if in.none {
		in.whole = true
		return nil
	}
	buf := make([]byte, 32<<10)
	for limit == forever || in.n < limit {
		p := buf
		if limit != forever {
			p = buf[:min(int64(len(buf)), limit-in.n)]
		}
		n, err := in.src.Read(p)
		in.take(p[:n])
		if errors.Is(err, io.EOF) {
			in.whole = true
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take notes bytes of the body.
func (in *intake) take(p []byte) {
	in.n += int64(len(p))
	in.sum.Write(p)
	if room := in.keep - len(in.kept); room > 0 {
		in.kept = append(in.kept, p[:min(room, len(p))]...)
	}
	if in.sink != nil {
		_, _ = in.sink.Write(p) // a proxy's origin that is gone shows in its answer
	}
}

// fill puts what was read into the record.
func (in *intake) fill(r *Record) {
	r.Body, r.BodyBytes, r.BodyComplete, r.Trailer = in.kept, in.n, in.whole, in.trailer
	r.BodySHA256 = hex.EncodeToString(in.sum.Sum(nil))
}

// exactSource turns an early end into io.ErrUnexpectedEOF.
type exactSource struct{ io.LimitedReader }

func (e *exactSource) Read(p []byte) (int, error) {
	n, err := e.LimitedReader.Read(p)
	if errors.Is(err, io.EOF) && e.N > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// chunkedSource reads a chunked body and the trailer section behind it.
type chunkedSource struct {
	br  *bufio.Reader
	r   io.Reader
	in  *intake
	end bool
}

func (c *chunkedSource) Read(p []byte) (int, error) {
	if c.end {
		return 0, io.EOF
	}
	n, err := c.r.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	for { // httputil's reader stops before the trailer section
		line, err := c.br.ReadString('\n')
		if err != nil {
			return n, io.ErrUnexpectedEOF
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			c.end = true
			return n, io.EOF
		}
		f, ok := parseField(line)
		if !ok || len(c.in.trailer) > 1000 {
			return n, errMalformed
		}
		c.in.trailer = append(c.in.trailer, f)
	}
}
