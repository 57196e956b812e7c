package request

import (
	"fmt"
	"io"
	"strconv"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// From is body without its first skip bytes, which the server has already (-C
// with -T), and the Content-Range that says so ("bytes 50-99/100", RFC 9110
// §14.4); "" where the length is not known. Nothing being left is an error of
// class input, exit 18.
func From(body Body, skip int64) (rest Body, contentRange string, err error) {
	r, total, err := body.Open()
	if err != nil {
		return nil, "", err
	}
	if total < 0 {
		// Not read from yet: the next Open gives it from the start again.
		return &restBody{Body: body, skip: skip}, "", r.Close()
	}
	if err := r.Close(); err != nil {
		return nil, "", sourceError("the upload", err)
	}
	if total > 0 && skip >= total {
		return nil, "", &Error{Class: retry.ClassInput, Code: exitcode.Truncated, Err: errUploaded{}}
	}
	total = max(total, skip)
	contentRange = fmt.Sprintf("bytes %d-%d/%s", skip, total-1, strconv.FormatInt(total, 10))
	return &restBody{Body: body, skip: skip}, contentRange, nil
}

// errUploaded is an upload of which nothing is left; in curl's words.
type errUploaded struct{}

func (errUploaded) Error() string { return "File already completely uploaded" }

// restBody is a body from a later byte on.
type restBody struct {
	Body
	skip int64
}

// Open gives what follows the bytes that are skipped.
func (b *restBody) Open() (io.ReadCloser, int64, error) {
	r, n, err := b.Body.Open()
	if err != nil || b.skip == 0 {
		return r, n, err
	}
	if s, ok := r.(io.Seeker); ok {
		_, err = s.Seek(b.skip, io.SeekCurrent)
	} else if _, err = io.CopyN(io.Discard, r, b.skip); err == io.EOF {
		err = nil // nothing is left
	}
	if err != nil {
		r.Close()
		return nil, 0, sourceError("the upload", err)
	}
	if n >= 0 {
		n = max(n-b.skip, 0)
	}
	return r, n, nil
}

// SendChunked implements Chunker.
func (b *restBody) SendChunked() bool {
	c, ok := b.Body.(Chunker)
	return ok && c.SendChunked()
}
