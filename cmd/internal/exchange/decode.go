package exchange

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/wire"
	"github.com/bidehttp/bide/retry"
)

const (
	// maxCodings is how many codings on top of each other are taken off (curl's limit).
	maxCodings = 5
	// maxWindow is the largest zstd window, libzstd's own default limit.
	maxWindow = 128 << 20
)

// transferMark tells transfer codings, which every client must undo, from the
// content codings that --compressed asked for.
const transferMark = "transfer:"

// bodyCodings lists what is to be taken off, the outermost last: content
// codings in the order applied (RFC 9110 §8.4), then transfer codings.
func bodyCodings(resp *wire.Response, compressed bool) []string {
	var list []string
	if compressed {
		for _, line := range fieldsOf(resp.Header).values("Content-Encoding") {
			for name := range strings.SplitSeq(line, ",") {
				name = strings.ToLower(strings.Trim(name, " \t"))
				if name != "" && name != "identity" && name != "none" {
					list = append(list, name)
				}
			}
		}
	}
	for _, name := range resp.Codings {
		list = append(list, transferMark+name)
	}
	return list
}

// decode takes the codings off, the last first. Its errors are src's own, or of
// class decode (exit 61), or truncated where a coded stream ends early.
func decode(src io.Reader, codings []string) (io.Reader, error) {
	if len(codings) > maxCodings {
		return nil, undecodable(words(fmt.Sprintf("Reject response due to more than %d content encodings", maxCodings)))
	}
	for i := len(codings) - 1; i >= 0; i-- {
		name := strings.TrimPrefix(codings[i], transferMark)
		open := opener(name)
		if open == nil {
			// The name comes from the server.
			return nil, undecodable(words(fmt.Sprintf("Unrecognized content encoding type. bide understands deflate, gzip, br, zstd content encodings.; not %.40q", name)))
		}
		src = &layer{name: name, open: open, src: &faithful{src: src}}
	}
	return src, nil
}

func undecodable(err error) error {
	return failure(retry.ClassDecode, exitcode.Decode, retry.PhaseBody, err)
}

// opener gives the function that starts a decoder; nil for a name not known.
func opener(name string) func(*bufio.Reader) (io.Reader, error) {
	switch name {
	case "gzip", "x-gzip":
		return openGzip
	case "deflate":
		return openDeflate
	case "br":
		return func(r *bufio.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }
	case "zstd":
		return func(r *bufio.Reader) (io.Reader, error) {
			return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		}
	}
	return nil
}

// members is a series of gzip members (RFC 1952 §2.2). What is too short for a
// header and no part of one is wrong, not cut off: another attempt would bring
// the same.
type members struct {
	src *bufio.Reader
	*gzip.Reader
}

func openGzip(r *bufio.Reader) (io.Reader, error) {
	head, err := gzipHead(r)
	if err != nil {
		return nil, err
	}
	member, err := gzip.NewReader(head)
	if err != nil {
		return nil, err
	}
	member.Multistream(false)
	return &members{r, member}, nil
}

func (m *members) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if err != io.EOF {
		return n, err
	}
	if _, err := m.src.Peek(1); err != nil {
		return n, err
	}
	head, err := gzipHead(m.src)
	if err != nil {
		return n, err
	}
	if err := m.Reset(head); err != nil {
		return n, err
	}
	m.Multistream(false)
	return n, nil
}

// errNotGzip is zlib's word for a stream that does not begin as one.
var errNotGzip = errors.New("incorrect header check")

// gzipMagic reports what cannot be the start of a member.
func gzipMagic(r *bufio.Reader) error {
	head, _ := r.Peek(2)
	if !strings.HasPrefix("\x1f\x8b", string(head)) {
		return errNotGzip
	}
	return nil
}

// The flags of a member's header (RFC 1952 §2.3.1).
const (
	gzipCRC     = 1 << 1
	gzipExtra   = 1 << 2
	gzipName    = 1 << 3
	gzipComment = 1 << 4
)

// headed gives a member's bare header before what follows its real one.
type headed struct {
	head []byte
	*bufio.Reader
}

func (h *headed) Read(p []byte) (int, error) {
	if len(h.head) == 0 {
		return h.Reader.Read(p)
	}
	n := copy(p, h.head)
	h.head = h.head[n:]
	return n, nil
}

func (h *headed) ReadByte() (byte, error) {
	if len(h.head) == 0 {
		return h.Reader.ReadByte()
	}
	c := h.head[0]
	h.head = h.head[1:]
	return c, nil
}

// gzipHead is r without the name, comment and extra field of the member that
// begins there: Go's reader takes short ones alone.
func gzipHead(r *bufio.Reader) (io.Reader, error) {
	if err := gzipMagic(r); err != nil {
		return nil, err
	}
	const size, flags = 10, 3
	head, err := r.Peek(size)
	if err != nil || head[flags]&(gzipExtra|gzipName|gzipComment) == 0 {
		return r, nil // as it is; what is wrong with it the decoder says
	}
	bare := bytes.Clone(head)
	has := func(flag byte) bool { return bare[flags]&flag != 0 }
	if _, err := r.Discard(size); err != nil {
		return nil, err
	}
	if has(gzipExtra) {
		var length [2]byte
		if _, err := io.ReadFull(r, length[:]); err != nil {
			return nil, err
		}
		if _, err := r.Discard(int(length[0]) | int(length[1])<<8); err != nil {
			return nil, err
		}
	}
	for _, text := range [...]byte{gzipName, gzipComment} {
		if has(text) {
			if err := discardText(r); err != nil {
				return nil, err
			}
		}
	}
	if has(gzipCRC) {
		if _, err := r.Discard(2); err != nil {
			return nil, err
		}
	}
	bare[flags] = 0
	return &headed{bare, r}, nil
}

// discardText skips bytes up to a NUL.
func discardText(r *bufio.Reader) error {
	for {
		switch _, err := r.ReadSlice(0); {
		case err == nil:
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// openDeflate reads the zlib format, which "deflate" means (RFC 9110 §8.4.1.2),
// and the bare one that some servers send.
func openDeflate(r *bufio.Reader) (io.Reader, error) {
	head, err := r.Peek(2)
	if err == nil && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(r)
	}
	return flate.NewReader(r), nil
}

// layer is one coding. A body without a byte decodes to nothing, whatever it
// claims to be (HEAD, 204, Content-Length: 0).
type layer struct {
	name string
	open func(*bufio.Reader) (io.Reader, error)
	src  *faithful
	buf  *bufio.Reader
	dec  io.Reader
}

func (l *layer) Read(p []byte) (int, error) {
	if l.dec == nil {
		l.buf = bufio.NewReaderSize(l.src, copyBuffer/2)
		if _, err := l.buf.Peek(1); err != nil {
			return 0, err
		}
		dec, err := l.open(l.buf)
		if err != nil {
			return 0, l.explain(err)
		}
		l.dec = dec
	}
	n, err := l.dec.Read(p)
	switch {
	case err == nil:
		return n, nil
	case err != io.EOF:
		return n, l.explain(err)
	}
	return n, l.rest()
}

// rest reads on to the source's own end: the framing may still tell that the
// body is not whole, and the connection is wanted again. What follows a stream
// is no part of it, and is not left out in silence.
func (l *layer) rest() error {
	if _, err := l.buf.ReadByte(); err != nil {
		return err // io.EOF: as it should be
	}
	return undecodable(unencoding(fmt.Errorf("data after the end of the %s stream", l.name)))
}

// explain gives a decoder's error its class. The source's own goes first: some
// decoders report it in other words.
func (l *layer) explain(err error) error {
	if errors.Is(err, errNotGzip) {
		return undecodable(unencoding(err))
	}
	if l.src.err != nil && l.src.err != io.EOF {
		return l.src.err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return failure(retry.ClassTruncated, exitcode.Truncated, retry.PhaseBody,
			fmt.Errorf("the %s stream ended early: %w", l.name, io.ErrUnexpectedEOF))
	}
	return undecodable(unencoding(err))
}

func unencoding(err error) error {
	return words("Error while processing content unencoding: " + err.Error())
}

// faithful remembers the error of a source.
type faithful struct {
	src io.Reader
	err error
}

func (f *faithful) Read(p []byte) (int, error) {
	n, err := f.src.Read(p)
	if err != nil {
		f.err = err
	}
	return n, err
}
