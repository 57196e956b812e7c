package formdata

import (
	"bufio"
	"encoding/base64"
	"errors"
	"io"
)

// The encoders that a part may name (RFC 2045 §6).
const (
	encBinary = "binary"
	enc8bit   = "8bit"
	enc7bit   = "7bit"
	encBase64 = "base64"
	encQP     = "quoted-printable"
)

// encodedSize is the length of n bytes after the encoder, -1 unknown.
func encodedSize(encoder string, n int64) int64 {
	switch {
	case n <= 0:
		return n
	case encoder == encBase64:
		size := 4 * (1 + (n-1)/3)
		return size + 2*((size-1)/lineLength)
	case encoder == encQP:
		return -1
	}
	return n
}

// encode gives r's bytes through the encoder.
func encode(encoder string, r io.Reader) io.Reader {
	switch encoder {
	case enc7bit:
		return &sevenBit{r}
	case encBase64:
		return &refill{src: bufio.NewReader(r), next: base64Line()}
	case encQP:
		return &refill{src: bufio.NewReader(r), next: (&quotedPrintable{}).next}
	}
	return r
}

var errNot7Bit = errors.New("the content holds bytes over 127, which the encoder 7bit cannot send")

// sevenBit fails on a byte over 127.
type sevenBit struct{ r io.Reader }

func (s *sevenBit) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	for i, c := range p[:n] {
		if c > 127 {
			return i, errNot7Bit
		}
	}
	return n, err
}

// refillSize is how much is encoded at once, about.
const refillSize = 16 << 10

// refill reads what next appends, a piece at a time, until next gives io.EOF.
type refill struct {
	src  *bufio.Reader
	next func(dst []byte, src *bufio.Reader) ([]byte, error)
	buf  []byte // backing of out
	out  []byte
	err  error
}

func (f *refill) Read(p []byte) (int, error) {
	for len(f.out) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		f.buf = f.buf[:0]
		for len(f.buf) < refillSize && f.err == nil {
			f.buf, f.err = f.next(f.buf, f.src)
		}
		f.out = f.buf
	}
	n := copy(p, f.out)
	f.out = f.out[n:]
	return n, nil
}

// lineLength is the longest line of both encodings (RFC 2045 §6.7, §6.8).
const lineLength = 76

// base64Line gives lines of base64 with CRLF between them.
func base64Line() func([]byte, *bufio.Reader) ([]byte, error) {
	first := true
	in := make([]byte, lineLength/4*3)
	return func(dst []byte, src *bufio.Reader) ([]byte, error) {
		n, err := io.ReadFull(src, in)
		if err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		if n == 0 {
			return dst, err
		}
		if !first {
			dst = append(dst, "\r\n"...)
		}
		first = false
		return base64.StdEncoding.AppendEncode(dst, in[:n]), err
	}
}

// quotedPrintable encodes text: CRLF stays a line break, everything else that
// is not printable is escaped, and lines are broken at lineLength.
type quotedPrintable struct{ column int }

const upperHex = "0123456789ABCDEF"

func (q *quotedPrintable) next(dst []byte, src *bufio.Reader) ([]byte, error) {
	c, err := src.ReadByte()
	if err != nil {
		return dst, err
	}
	literal := c > ' ' && c < 0x7f && c != '='
	switch c {
	case '\r':
		if after, _ := src.Peek(1); len(after) == 1 && after[0] == '\n' {
			_, err = src.Discard(1)
			q.column = 0
			return append(dst, "\r\n"...), err
		}
	case ' ', '\t':
		literal = !endsLine(src)
	}
	size := 1
	if !literal {
		size = 3
	}
	// The last column is for the "=" of a soft line break, unless the line ends here.
	if q.column+size > lineLength || q.column+size == lineLength && !endsLine(src) {
		dst = append(dst, "=\r\n"...)
		q.column = 0
	}
	q.column += size
	if literal {
		return append(dst, c), nil
	}
	return append(dst, '=', upperHex[c>>4], upperHex[c&15]), nil
}

// endsLine: what comes next is a line break or the end.
func endsLine(src *bufio.Reader) bool {
	after, _ := src.Peek(2)
	return len(after) == 0 || len(after) == 2 && after[0] == '\r' && after[1] == '\n'
}
