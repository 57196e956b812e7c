package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
)

const (
	// maxHeads bounds all header blocks of one answer together: curl's figure.
	maxHeads = 300 << 10
	// maxLine bounds one line of a head, and maxFields their number: curl's figures.
	maxLine   = 100 << 10
	maxFields = 5000
	// maxInterim bounds the 1xx answers before the final one.
	maxInterim = 64
	// readerSize holds any ordinary head and the body's beginning.
	readerSize = 32 << 10
)

// head is one parsed response header block of HTTP/1.
type head struct {
	minor  int // of HTTP/1.x
	status int
	reason string
	fields []Field
	raw    []byte
}

// proto as it stood in the status line.
func (h *head) proto() string {
	if h.minor == 0 {
		return "HTTP/1.0"
	}
	return "HTTP/1.1"
}

// errNoHead says that the answer does not begin as HTTP/1 does.
var errNoHead = errors.New("answer without a head")

// errCutPrefix says that the connection ended within what could have become "HTTP/".
var errCutPrefix = fmt.Errorf("%w: %w", errNoHead, io.ErrUnexpectedEOF)

// checkPrefix peeks until the answer is known to begin with "HTTP/" or not.
func checkPrefix(br *bufio.Reader) error {
	const want = "HTTP/"
	for n := 1; n <= len(want); n++ {
		b, err := br.Peek(n)
		if len(b) < n {
			if n > 1 && isEOF(err) {
				return errCutPrefix
			}
			return err
		}
		if b[n-1] != want[n-1] {
			return errNoHead
		}
		if n == 1 && br.Buffered() >= len(want) { // mostly it is all there
			if b, _ = br.Peek(len(want)); string(b) == want {
				return nil
			}
		}
	}
	return nil
}

// readBlock reads lines up to and including an empty one, at most limit bytes.
// Lines end in LF, with CR before it or not (RFC 9112 §2.2). Every line is
// shown to see, when that is not nil.
func readBlock(br *bufio.Reader, limit int, see func([]byte)) ([]byte, error) {
	// Most heads are in the buffer already, with little of the body.
	raw := make([]byte, 0, min(br.Buffered(), limit, 1<<10))
	for start := 0; ; start = len(raw) {
		for {
			part, err := br.ReadSlice('\n')
			if len(raw)+len(part) > limit {
				return raw, &replyError{code: exitcode.Recv, text: fmt.Sprintf("Too large response headers: %d > %d", len(raw)+len(part), limit)}
			}
			raw = append(raw, part...)
			if err == nil {
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				return raw, err
			}
		}
		line := raw[start:]
		if len(line) >= maxLine {
			return raw[:start], &replyError{code: exitcode.TooMuch, text: "A value or data field grew larger than allowed"}
		}
		if see != nil {
			see(line)
		}
		if len(line) == 1 || len(line) == 2 && line[0] == '\r' {
			return raw, nil
		}
	}
}

// parseHead parses a block that readBlock made. It is as lenient as curl: any
// reason text, bytes above 0x7f, folded lines, no space after the colon; and
// as strict where curl is: a header without colon and NUL are no HTTP.
func parseHead(raw []byte) (*head, error) {
	line, rest := cutLine(raw)
	h := &head{raw: raw}
	if err := h.statusLine(line); err != nil {
		return nil, err
	}
	var err error
	h.fields, err = parseFields(rest)
	return h, err
}

func (h *head) statusLine(line []byte) error {
	if bytes.IndexByte(line, 0) >= 0 {
		return &replyError{code: exitcode.WeirdReply, text: "Nul byte in header"}
	}
	v, ok := bytes.CutPrefix(line, []byte("HTTP/1."))
	switch {
	case !ok && bytes.HasPrefix(line, []byte("HTTP/2 ")):
		return &replyError{code: exitcode.WeirdReply, text: "Version mismatch (from HTTP/1 to HTTP/2)"}
	case !ok:
		return &replyError{code: exitcode.BadProtocol, text: "Unsupported HTTP version" + shownVersion(line) + " in response"}
	}
	if len(v) < 5 || v[0] != '0' && v[0] != '1' || v[1] != ' ' && v[1] != '\t' || !digits(v[2:5]) {
		return &replyError{code: exitcode.BadProtocol, text: "Unsupported HTTP/1 subversion in response"}
	}
	h.minor = int(v[0] - '0')
	h.status = int(v[2]-'0')*100 + int(v[3]-'0')*10 + int(v[4]-'0')
	if h.status < 100 {
		return &replyError{code: exitcode.BadProtocol, text: "Unsupported response code in HTTP response"}
	}
	h.reason = string(bytes.TrimPrefix(v[5:], []byte(" ")))
	return nil
}

// shownVersion is the version of a status line, as " (3.7)", where it is one.
func shownVersion(line []byte) string {
	v, _ := bytes.CutPrefix(line, []byte("HTTP/"))
	if len(v) >= 4 && digits(v[:1]) && v[1] == '.' && digits(v[2:3]) && v[3] == ' ' {
		return " (" + string(v[:3]) + ")"
	}
	return ""
}

// parseFields parses header or trailer lines up to the empty line or the end.
func parseFields(b []byte) ([]Field, error) {
	fields := make([]Field, 0, bytes.Count(b, []byte{'\n'}))
	// One copy for all names and values: text(p) is the part p of b in it.
	whole, all := b, string(b)
	text := func(p []byte) string { at := cap(whole) - cap(p); return all[at : at+len(p)] }
	for len(b) > 0 {
		var line []byte
		line, b = cutLine(b)
		if len(line) == 0 {
			break
		}
		if bytes.IndexByte(line, 0) >= 0 {
			return nil, &replyError{code: exitcode.WeirdReply, text: "Nul byte in header"}
		}
		if line[0] == ' ' || line[0] == '\t' {
			if len(fields) == 0 { // nothing that it could go on: a field like others (curl)
				field, err := parseField(bytes.TrimLeft(line, " \t"))
				if err != nil {
					return nil, err
				}
				fields = append(fields, field)
				continue
			}
			var more []byte
			more, b = fold(line, b)
			if bytes.IndexByte(more, 0) >= 0 {
				return nil, &replyError{code: exitcode.WeirdReply, text: "Nul byte in header"}
			}
			last := &fields[len(fields)-1]
			last.Value = strings.TrimRight(last.Value+" "+string(more), " \t")
			continue
		}
		name, value, ok := bytes.Cut(line, []byte{':'})
		if !ok {
			return nil, &replyError{code: exitcode.WeirdReply, text: "Header without colon"}
		}
		if fields = append(fields, Field{Name: text(name), Value: text(trim(value))}); len(fields) > maxFields {
			return nil, &replyError{code: exitcode.TooMuch, text: fmt.Sprintf("Too many response headers, %d is max", maxFields)}
		}
	}
	return fields, nil
}

func parseField(line []byte) (Field, error) {
	name, value, ok := strings.Cut(string(line), ":")
	if !ok {
		return Field{}, &replyError{code: exitcode.WeirdReply, text: "Header without colon"}
	}
	return Field{Name: name, Value: strings.Trim(value, " \t\r")}, nil
}

// trim is bytes.Trim(b, " \t\r"), which keeps the capacity, so that b's place is
// known, also when nothing is left.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\r') {
		b = b[1:]
	}
	for n := len(b); n > 0 && (b[n-1] == ' ' || b[n-1] == '\t' || b[n-1] == '\r'); n = len(b) {
		b = b[:n-1]
	}
	return b
}

// fold joins this and the folded lines that follow (obs-fold, RFC 9112 §5.2)
// at once, so that a flood of them costs no more than its size.
func fold(line, rest []byte) (joined, after []byte) {
	joined = bytes.Clone(bytes.Trim(line, " \t\r"))
	for len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t') {
		var next []byte
		next, rest = cutLine(rest)
		joined = append(append(joined, ' '), bytes.Trim(next, " \t\r")...)
	}
	return joined, rest
}

// cutLine takes the first line off b, without its CRLF or LF.
func cutLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), rest
}

func digits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}
