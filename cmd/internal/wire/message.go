package wire

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/header"
	"github.com/bidehttp/bide/retry"
)

// smallBody is the largest body that goes out in one write with the head.
const smallBody = 64 << 10

// message is a request's head, with as much of the body as fits in one write.
type message struct {
	buf      []byte // head, and the small body in its framing
	head     int    // bytes of buf that are the head
	body     []byte // the part of buf that is body data
	complete bool   // nothing follows buf
}

// newMessage writes the head exactly as r and lines say, in their order and
// case. It is appended to room, so that one array does for many.
func newMessage(room []byte, r *Request, lines []header.Line) (message, error) {
	err := checkLines(r, lines)
	if err != nil {
		return message{}, fault(retry.ClassRequest, exitcode.Usage, retry.SentNothing, retry.PhaseSend, err)
	}
	chunked := r.Body != nil && r.Length < 0
	if chunked && r.HTTP10 {
		err = &worded{text: "Chunky upload is not supported by HTTP 1.0"}
		return message{}, fault(retry.ClassRequest, exitcode.Upload, retry.SentNothing, retry.PhaseSend, err)
	}
	b := appendHead(room, r, lines)
	m := message{buf: b, head: len(b)}
	switch {
	case r.Body == nil || r.Length == 0:
		m.complete = true
		err = nothing(r)
	case r.Length <= smallBody && r.Expect == 0 && !chunked:
		err = m.fill(r)
	}
	return m, err
}

func appendHead(b []byte, r *Request, lines []header.Line) []byte {
	version := " HTTP/1.1\r\n"
	if r.HTTP10 {
		version = " HTTP/1.0\r\n"
	}
	b = append(append(append(append(b, r.Method...), ' '), r.Target...), version...)
	for i := range lines {
		l := &lines[i]
		b = append(append(b, l.Name...), ':')
		if l.Value != "" {
			if !l.Tight {
				b = append(b, ' ')
			}
			b = append(b, l.Value...)
		}
		b = append(b, "\r\n"...)
	}
	return append(b, "\r\n"...)
}

// nothing checks that a body of length 0 is one.
func nothing(r *Request) error {
	if r.Body == nil {
		return nil
	}
	return checkEnd(r.Body, 0)
}

// fill appends the whole small body.
func (m *message) fill(r *Request) error {
	m.buf = slices.Grow(m.buf, int(r.Length))
	room := m.buf[m.head : m.head+int(r.Length)]
	n, err := io.ReadFull(r.Body, room)
	if err != nil {
		return shortInput(err, int64(n), r.Length)
	}
	if err := checkEnd(r.Body, r.Length); err != nil {
		return err
	}
	m.body, m.complete = room, true
	m.buf = m.buf[:m.head+len(room)]
	return nil
}

// checkLines refuses what would break the framing of the head.
func checkLines(r *Request, lines []header.Line) error {
	if r.Method == "" || breaks(r.Method, ' ') {
		return errors.New("the method is not one word")
	}
	if r.Target == "" || breaks(r.Target, 0) {
		return errors.New("the request target is empty or has a line break")
	}
	for i := range lines {
		if l := &lines[i]; breaks(l.Name, ':') || breaks(l.Value, 0) {
			return fmt.Errorf("a header has a line break: %s", strconv.Quote(l.Name))
		}
	}
	return nil
}

// breaks reports whether s has a byte that ends a line, NUL, or the byte also.
func breaks(s string, also byte) bool {
	for i := range len(s) {
		if c := s[i]; c == also || c < ' ' && (c == '\r' || c == '\n' || c == 0) {
			return true
		}
	}
	return false
}

// shortInput is the error of a body that ended or failed too early.
func shortInput(err error, got, want int64) error {
	if isEOF(err) {
		return &inputError{fmt.Errorf("%d bytes instead of %d", got, want)}
	}
	return &inputError{err}
}

// checkEnd reads on to make sure that a body has no more than its length.
func checkEnd(body io.Reader, length int64) error {
	var one [1]byte
	for {
		n, err := body.Read(one[:])
		switch {
		case n > 0:
			return &inputError{fmt.Errorf("more than %d bytes", length)}
		case err == io.EOF:
			return nil
		case err != nil:
			return &inputError{err}
		}
	}
}
