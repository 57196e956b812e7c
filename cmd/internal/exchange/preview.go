package exchange

import (
	"bytes"
	"context"
	"io"
)

// Preview reads the decoded body ahead of Deliver, which gives it all the same,
// for those who must look at it first. whole says that body, at most limit bytes
// long, is all of it. After an error nothing is known of the body; Deliver
// reports the error, after what had come. ctx is Deliver's.
func (r *Response) Preview(ctx context.Context, limit int) (body []byte, whole bool, err error) {
	l := r.live
	switch {
	case l == nil || l.taken:
		return nil, true, nil
	case l.op.HeadOnly:
		return nil, false, nil // it is left unread
	}
	l.ctx.Tie(ctx)
	stop := l.watch()
	defer stop()
	src, err := l.source()
	if err != nil {
		l.src = failed{err}
		return nil, false, err
	}
	body, err = io.ReadAll(io.LimitReader(src, int64(limit)+1))
	switch {
	case err != nil:
		l.src = io.MultiReader(bytes.NewReader(body), failed{err})
		return nil, false, err
	case len(body) > limit:
		l.src = io.MultiReader(bytes.NewReader(body), src)
		return nil, false, nil
	}
	l.src = bytes.NewReader(body)
	return body, true, nil
}

// failed is a source that has nothing but its error.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }
