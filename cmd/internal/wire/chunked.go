package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
)

const (
	// maxChunkLine bounds a line of chunk size and extensions.
	maxChunkLine = 8 << 10
	// framingAllowance is how much more framing than data a server may send,
	// beyond what small chunks need.
	framingAllowance = 64 << 10
	// framingPerChunk is free: size, two line ends and a short extension.
	framingPerChunk = 32
)

type chunkState int

const (
	chunkSize chunkState = iota
	chunkData
	chunkEnd // the line end after the data
	chunkTrailer
	chunkDone
)

// chunkReader decodes chunked transfer coding (RFC 9112 §7.1). With raw it
// gives the bytes as they came, but still knows their end.
type chunkReader struct {
	br      *bufio.Reader
	raw     bool
	state   chunkState
	left    int64  // of the chunk at hand
	pending []byte // framing still to be given out in raw mode
	excess  int64  // framing bytes beyond what the data excuses
	trailer string // raw trailer section with its empty line
	see     func([]byte)
}

func malformed(text string) error {
	return &replyError{code: exitcode.Recv, text: text + " in chunked-encoding"}
}

// Read fills p from as many chunks as are at hand, without waiting for more
// once it has some. io.EOF comes after the trailer section.
func (c *chunkReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(c.pending) > 0 {
			k := copy(p[n:], c.pending)
			c.pending = c.pending[k:]
			n += k
			continue
		}
		if n > 0 && !c.ready() {
			return n, nil
		}
		k, err := c.step(p[n:])
		n += k
		if err != nil {
			if n > 0 && err == io.EOF {
				return n, nil
			}
			return n, err
		}
	}
	return n, nil
}

// ready reports whether step will not wait for the peer.
func (c *chunkReader) ready() bool {
	switch c.state {
	case chunkSize:
		b, _ := c.br.Peek(c.br.Buffered())
		return bytes.IndexByte(b, '\n') >= 0
	case chunkTrailer:
		return false
	case chunkEnd:
		return c.br.Buffered() > 1
	}
	return c.br.Buffered() > 0 || c.state == chunkDone
}

// step goes on by one piece of data or framing.
func (c *chunkReader) step(p []byte) (int, error) {
	switch c.state {
	case chunkSize:
		return 0, c.readSize()
	case chunkData:
		if int64(len(p)) > c.left {
			p = p[:c.left]
		}
		n, err := c.br.Read(p)
		c.left -= int64(n)
		c.excess = max(0, c.excess-2*int64(n))
		if c.left == 0 {
			c.state, err = chunkEnd, nil
		}
		return n, eofIsShort(err)
	case chunkEnd:
		return 0, c.readEnd()
	case chunkTrailer:
		raw, err := readBlock(c.br, maxHeads, c.see)
		if err != nil {
			return 0, eofIsShort(err)
		}
		c.trailer, c.state = withCRLF(raw), chunkDone
		c.keep([]byte(raw))
		return 0, nil
	}
	return 0, io.EOF
}

// withCRLF gives every line CRLF, as curl shows trailers.
func withCRLF(raw string) string {
	if raw == "\r\n" { // mostly there are no lines
		return raw
	}
	var out strings.Builder
	for line := range strings.Lines(raw) {
		out.WriteString(strings.TrimRight(line, "\r\n"))
		out.WriteString("\r\n")
	}
	return out.String()
}

func (c *chunkReader) readSize() error {
	line, err := c.br.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) || len(line) > maxChunkLine {
		return malformed("Too long a chunk line")
	}
	if err != nil {
		return eofIsShort(err)
	}
	size, ok := parseChunkSize(line)
	if !ok {
		return malformed("Illegal or missing hexadecimal sequence")
	}
	c.excess += int64(len(line)) - framingPerChunk
	if c.excess > framingAllowance {
		return malformed("Too much framing")
	}
	c.excess = max(0, c.excess)
	c.keep(line)
	c.left, c.state = size, chunkData
	if size == 0 {
		c.state = chunkTrailer
	}
	return nil
}

func (c *chunkReader) readEnd() error {
	b, err := c.br.ReadByte()
	if err == nil && b == '\r' {
		c.keep([]byte{'\r'})
		b, err = c.br.ReadByte()
	}
	if err != nil {
		return eofIsShort(err)
	}
	if b != '\n' {
		return malformed("Malformed encoding found")
	}
	c.keep([]byte{'\n'})
	c.state = chunkSize
	return nil
}

func (c *chunkReader) keep(framing []byte) {
	if c.raw {
		c.pending = append(c.pending, framing...)
	}
}

// parseChunkSize reads the hexadecimal size in front of a line; white space or
// an extension may follow it.
func parseChunkSize(line []byte) (int64, bool) {
	var n int64
	for i, b := range line {
		d := unhex(b)
		if d < 0 {
			end := b == ';' || b == ' ' || b == '\t' || b == '\r' || b == '\n'
			return n, i > 0 && end
		}
		if n > math.MaxInt64>>4 {
			return 0, false
		}
		n = n<<4 | d
	}
	return 0, false
}

func unhex(b byte) int64 {
	switch {
	case '0' <= b && b <= '9':
		return int64(b - '0')
	case 'a' <= b && b <= 'f':
		return int64(b-'a') + 10
	case 'A' <= b && b <= 'F':
		return int64(b-'A') + 10
	}
	return -1
}

// eofIsShort turns the connection's end inside a body into what it is.
func eofIsShort(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
