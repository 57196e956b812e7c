package wire

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
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
	chunked  bool
}

// newMessage writes the head exactly as r says, in its order and case.
func newMessage(r *Request) (*message, error) {
	if err := checkLines(r, r.Target); err != nil {
		return nil, fault(retry.ClassRequest, exitcode.Usage, retry.SentNothing, retry.PhaseSend, err)
	}
	m := &message{chunked: r.Body != nil && r.Length < 0}
	if m.chunked && r.Version == "1.0" {
		err := &worded{text: "Chunky upload is not supported by HTTP 1.0"}
		return nil, fault(retry.ClassRequest, exitcode.Upload, retry.SentNothing, retry.PhaseSend, err)
	}
	small := r.Body != nil && r.Length <= smallBody && r.Expect == 0
	size := len(r.Method) + len(r.Target) + 16
	for _, f := range r.Header {
		size += len(f.Name) + len(f.Value) + 4
	}
	if small {
		size += int(max(r.Length, 0)) + 1
	}
	b := make([]byte, 0, size)
	b = append(append(append(b, r.Method...), ' '), r.Target...)
	b = append(append(append(b, " HTTP/"...), r.Version...), "\r\n"...)
	for _, f := range r.Header {
		b = append(append(b, f.Name...), ':')
		if f.Value != "" {
			if !f.Tight {
				b = append(b, ' ')
			}
			b = append(b, f.Value...)
		}
		b = append(b, "\r\n"...)
	}
	m.buf = append(b, "\r\n"...)
	m.head = len(m.buf)
	switch {
	case r.Body == nil || r.Length == 0:
		m.complete = true
		return m, m.nothing(r)
	case small && !m.chunked:
		return m, m.fill(r)
	}
	return m, nil
}

// nothing checks that a body of length 0 is one.
func (m *message) nothing(r *Request) error {
	if r.Body == nil {
		return nil
	}
	return checkEnd(r.Body, 0)
}

// fill appends the whole small body.
func (m *message) fill(r *Request) error {
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
func checkLines(r *Request, target string) error {
	if r.Method == "" || breaks(r.Method, ' ') {
		return errors.New("the method is not one word")
	}
	if target == "" || breaks(target, 0) {
		return errors.New("the request target is empty or has a line break")
	}
	for _, f := range r.Header {
		if breaks(f.Name, ':') || breaks(f.Value, 0) {
			return fmt.Errorf("a header has a line break: %s", strconv.Quote(f.Name))
		}
	}
	return nil
}

// breaks reports whether s has a byte that ends a line, NUL, or the byte also.
func breaks(s string, also byte) bool {
	for i := range len(s) {
		if c := s[i]; c == '\r' || c == '\n' || c == 0 || c == also {
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
