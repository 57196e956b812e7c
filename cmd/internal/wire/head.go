package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

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

// head is one parsed response header block of HTTP/1; the zero head is none.
type head struct {
	minor  int // of HTTP/1.x
	status int
	fields []Field
	raw    string
	at     time.Duration // instant at which it was whole
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
// shown to see, when that is not nil. With an error comes what was read.
func readBlock(br *bufio.Reader, limit int, see func([]byte)) (string, error) {
	b, _ := br.Peek(br.Buffered())
	n := blockEnd(b)
	if n == 0 || n > limit {
		return readLines(br, limit, see)
	}
	// Most heads are in the buffer as a whole, which is shorter than maxLine.
	if see != nil {
		for line := range bytes.Lines(b[:n]) {
			see(line)
		}
	}
	block := string(b[:n])
	_, err := br.Discard(n)
	return block, err
}

// blockEnd is the length of the block that b begins with, 0 when its end is not there.
func blockEnd(b []byte) int {
	for end := 0; ; {
		size := bytes.IndexByte(b[end:], '\n')
		if size < 0 {
			return 0
		}
		empty := size == 0 || size == 1 && b[end] == '\r'
		if end += size + 1; empty {
			return end
		}
	}
}

// readLines is readBlock of a block that is not in the buffer as a whole.
func readLines(br *bufio.Reader, limit int, see func([]byte)) (string, error) {
	var raw []byte
	for start := 0; ; start = len(raw) {
		for {
			part, err := br.ReadSlice('\n')
			if len(raw)+len(part) > limit {
				return string(raw), &replyError{code: exitcode.Recv, text: fmt.Sprintf("Too large response headers: %d > %d", len(raw)+len(part), limit)}
			}
			raw = append(raw, part...)
			if err == nil {
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				return string(raw), err
			}
		}
		line := raw[start:]
		if len(line) >= maxLine {
			return string(raw[:start]), &replyError{code: exitcode.TooMuch, text: "A value or data field grew larger than allowed"}
		}
		if see != nil {
			see(line)
		}
		if len(line) == 1 || len(line) == 2 && line[0] == '\r' {
			return string(raw), nil
		}
	}
}

// parseHead parses a block that readBlock made. It is as lenient as curl: any
// reason text, bytes above 0x7f, folded lines, no space after the colon; and
// as strict where curl is: a header without colon and NUL are no HTTP.
func parseHead(raw string) (head, error) {
	line, rest := cutLine(raw)
	h := head{raw: raw}
	err := h.statusLine(line)
	if err == nil {
		h.fields, err = parseFields(rest)
	}
	return h, err
}

func (h *head) statusLine(line string) error {
	if hasNUL(line) {
		return errNUL()
	}
	v, ok := strings.CutPrefix(line, "HTTP/1.")
	switch {
	case !ok && strings.HasPrefix(line, "HTTP/2 "):
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
	return nil
}

// shownVersion is the version of a status line, as " (3.7)", where it is one.
func shownVersion(line string) string {
	v, _ := strings.CutPrefix(line, "HTTP/")
	if len(v) >= 4 && digits(v[:1]) && v[1] == '.' && digits(v[2:3]) && v[3] == ' ' {
		return " (" + v[:3] + ")"
	}
	return ""
}

func hasNUL(s string) bool { return strings.IndexByte(s, 0) >= 0 }

func errNUL() error { return &replyError{code: exitcode.WeirdReply, text: "Nul byte in header"} }

// parseFields parses header or trailer lines up to the empty line or the end.
// Names and values are parts of block, folded ones excepted.
func parseFields(block string) ([]Field, error) {
	fields := make([]Field, 0, max(strings.Count(block, "\n")-1, 0))
	dirty := hasNUL(block) // somewhere; it counts where parsing gets that far
	for rest := block; rest != ""; {
		var line string
		if line, rest = cutLine(rest); line == "" {
			break
		}
		if dirty && hasNUL(line) {
			return nil, errNUL()
		}
		if line[0] == ' ' || line[0] == '\t' {
			if len(fields) > 0 {
				if line, rest = fold(line, rest); dirty && hasNUL(line) {
					return nil, errNUL()
				}
				last := &fields[len(fields)-1]
				last.Value = strings.TrimRight(last.Value+" "+line, " \t")
				continue
			}
			line = strings.TrimLeft(line, " \t") // nothing that it could go on: a field like others (curl)
		}
		colon := strings.IndexByte(line, ':')
		if colon < 0 {
			return nil, &replyError{code: exitcode.WeirdReply, text: "Header without colon"}
		}
		if fields = append(fields, Field{Name: line[:colon], Value: trim(line[colon+1:])}); len(fields) > maxFields {
			return nil, &replyError{code: exitcode.TooMuch, text: fmt.Sprintf("Too many response headers, %d is max", maxFields)}
		}
	}
	return fields, nil
}

// blank are the bytes that do not belong to a value at its ends.
func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

func trim(s string) string {
	for len(s) > 0 && blank(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && blank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// fold joins this and the folded lines that follow (obs-fold, RFC 9112 §5.2)
// at once, so that a flood of them costs no more than its size.
func fold(line, rest string) (joined, after string) {
	var b strings.Builder
	b.WriteString(trim(line))
	for rest != "" && (rest[0] == ' ' || rest[0] == '\t') {
		line, rest = cutLine(rest)
		b.WriteByte(' ')
		b.WriteString(trim(line))
	}
	return b.String(), rest
}

// cutLine takes the first line off s, without its CRLF or LF.
func cutLine(s string) (line, rest string) {
	end := strings.IndexByte(s, '\n')
	if end < 0 {
		end = len(s)
	}
	line, rest = s[:end], s[min(end+1, len(s)):]
	return strings.TrimSuffix(line, "\r"), rest
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
