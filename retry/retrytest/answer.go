package retrytest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// answer is a step made ready for one request.
type answer struct {
	status   int
	reason   string
	header   []Field // complete but for the fields of framing
	trailer  []Field
	content  io.ReaderAt
	from     int64 // of content
	length   int64 // of what follows the head
	declared int64 // Content-Length to announce; forever: none
	noBody   bool  // HEAD, 1xx, 204, 304: nothing follows
	close    func()
}

// render makes the answer of step st to request r at the wall time now.
func (s *Server) render(st *step, r *Record, now time.Time) (*answer, error) {
	a := &answer{status: st.status, reason: st.reason, trailer: st.trailer, close: func() {}}
	if a.reason == "" {
		a.reason = http.StatusText(a.status)
	}
	a.noBody = r.Method == http.MethodHead || a.status < 200 || a.status == 204 || a.status == 304
	if err := s.openBody(a, st); err != nil {
		return nil, err
	}
	clock := now.Add(st.dateOffset)
	if !st.noDate {
		a.header = append(a.header, Field{"Date", clock.UTC().Format(http.TimeFormat)})
	}
	for _, w := range st.retryAfter {
		a.header = append(a.header, Field{"Retry-After", w.value(clock)})
	}
	if st.etag != "" {
		a.header = append(a.header, Field{"ETag", st.etag})
	}
	if st.ranges {
		a.header = append(a.header, Field{"Accept-Ranges", "bytes"})
	}
	a.declared = a.length
	if st.ranges && a.status == 200 {
		a.applyRange(st, r)
	}
	if a.length > 0 && !has(st.header, "Content-Type") && a.status != 204 && a.status != 304 {
		kind := "text/plain; charset=utf-8"
		if st.size >= 0 || st.bodyFile != "" {
			kind = "application/octet-stream"
		}
		a.header = append(a.header, Field{"Content-Type", kind})
	}
	a.header = append(a.header, st.header...)
	if st.chunked || st.noLength || a.status == 204 || a.status == 304 || a.status < 200 || has(st.header, "Content-Length") {
		a.declared = forever
	}
	if a.noBody {
		a.length = 0
	}
	return a, nil
}

// openBody sets content and length.
func (s *Server) openBody(a *answer, st *step) error {
	switch {
	case st.bodyFile != "":
		f, err := os.Open(s.path(st.bodyFile))
		if err != nil {
			return fmt.Errorf("body file: %w", err)
		}
		info, err := f.Stat()
		if err != nil {
			_ = f.Close()
			return fmt.Errorf("body file: %w", err)
		}
		a.content, a.length, a.close = f, info.Size(), func() { _ = f.Close() }
	case st.size >= 0:
		a.content, a.length = pattern{}, st.size
	case st.hasBody:
		a.content, a.length = strings.NewReader(st.body), int64(len(st.body))
	default:
		text := strings.TrimSpace(strconv.Itoa(a.status)+" "+http.StatusText(a.status)) + "\n"
		a.content, a.length = strings.NewReader(text), int64(len(text))
	}
	return nil
}

// applyRange answers a Range of one part (RFC 9110 section 14), under If-Range
// only when it is the step's own strong ETag.
func (a *answer) applyRange(st *step, r *Record) {
	value := r.Get("Range")
	if value == "" || r.Method != http.MethodGet {
		return
	}
	if cond := r.Get("If-Range"); cond != "" && (cond != st.etag || strings.HasPrefix(cond, "W/")) {
		return
	}
	from, to, ok := parseRange(value, a.length)
	if !ok {
		return
	}
	if from >= a.length || from > to {
		a.header = append(a.header, Field{"Content-Range", fmt.Sprintf("bytes */%d", a.length)})
		a.status, a.length, a.declared = 416, 0, 0
		a.reason = http.StatusText(a.status)
		return
	}
	a.header = append(a.header, Field{"Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, a.length)})
	a.status, a.from, a.length = 206, from, to-from+1
	a.declared = a.length
	a.reason = http.StatusText(a.status)
}

// parseRange reads bytes=a-b, bytes=a- and bytes=-n; ok is false for what is to
// be ignored, several parts among it.
func parseRange(value string, size int64) (from, to int64, ok bool) {
	spec, ok := strings.CutPrefix(value, "bytes=")
	first, last, dash := strings.Cut(spec, "-")
	if !ok || !dash {
		return 0, 0, false
	}
	digits := func(s string) (int64, bool) {
		n, err := strconv.ParseUint(s, 10, 63)
		return int64(n), err == nil
	}
	if first == "" {
		n, ok := digits(last)
		if n == 0 {
			return size, size, ok // unsatisfiable
		}
		return max(0, size-n), size - 1, ok
	}
	if from, ok = digits(first); !ok {
		return 0, 0, false
	}
	if last == "" {
		return from, size - 1, true
	}
	if to, ok = digits(last); !ok || to < from {
		return 0, 0, false
	}
	return from, min(to, size-1), true
}

// value is the field value at an instant of the answer's clock.
func (w when) value(clock time.Time) string {
	t := clock.Add(w.after).UTC()
	switch w.form {
	case whenIMF:
		return t.Format(http.TimeFormat)
	case whenRFC850:
		return t.Format("Monday, 02-Jan-06 15:04:05 GMT")
	case whenASCTime:
		return t.Format(time.ANSIC)
	default:
		return w.text
	}
}

// asked is the longest wait that the Retry-After lines of an answer name, seen
// from the answer's own clock.
func asked(header []Field, clock time.Time) (longest time.Duration, ok bool) {
	for _, f := range header {
		if !strings.EqualFold(f.Name, "Retry-After") {
			continue
		}
		var d time.Duration
		n, err := strconv.ParseUint(f.Value, 10, 63)
		if err == nil || errors.Is(err, strconv.ErrRange) { // n saturates
			d = time.Duration(min(n, uint64(maxSeconds))) * time.Second
		} else if t, err := http.ParseTime(f.Value); err == nil {
			d = t.Sub(clock)
		} else {
			continue
		}
		longest, ok = max(longest, d), true
	}
	return longest, ok
}

const maxSeconds = (1<<63 - 1) / int64(time.Second)

// pattern is endless content in which every 16 bytes tell their own offset, so
// that a piece from the wrong place shows.
type pattern struct{}

// ReadAt fills p; it never fails.
func (pattern) ReadAt(p []byte, off int64) (int, error) {
	const hexDigits = "0123456789abcdef"
	for i := range p {
		at := off + int64(i)
		if in := at % 16; in == 15 {
			p[i] = '\n'
		} else {
			p[i] = hexDigits[(at/16)>>(4*(14-in))&15]
		}
	}
	return len(p), nil
}

// Pattern is the body of size=N: lines of 15 hexadecimal digits that count from
// 0, cut off after n bytes.
func Pattern(n int64) []byte {
	p := make([]byte, n)
	_, _ = pattern{}.ReadAt(p, 0)
	return p
}

func has(fields []Field, name string) bool {
	for _, f := range fields {
		if strings.EqualFold(f.Name, name) {
			return true
		}
	}
	return false
}
