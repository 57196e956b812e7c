package wire

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"golang.org/x/net/http2"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/header"
)

// UpgradeSettings is the value of HTTP2-Settings in a request that asks for h2c
// (RFC 7540 §3.2.1), as curl sends it: 100 streams, a window of 64 KiB, no push.
// The preface that follows an upgrade says what really holds.
const UpgradeSettings = "AAMAAABkAAQAAQAAAAIAAAAA"

// errUpgraded: the server has switched to HTTP/2, as it was asked to.
var errUpgraded = errors.New("switched to HTTP/2")

// switched judges a 101: the upgrade that was asked for, or a wrong answer.
func (f *flight) switched(h *head) error {
	offered := func(f Field) bool { return header.Same(f.Name, "Upgrade") && lists(f.Value, "h2c") }
	if f.h2c && slices.ContainsFunc(h.fields, offered) {
		return errUpgraded
	}
	return &replyError{code: exitcode.WeirdReply, text: "Switching Protocols was not asked for"}
}

// upgraded goes on in HTTP/2: the request was stream 1, and its answer comes
// there (RFC 7540 §3.2). The connection speaks HTTP/2 from then on.
func (f *flight) upgraded() (*Response, error) {
	s := newSession(f.c)
	st := &stream{flight: f, s: s, id: s.next, left: -1}
	s.next += 2
	f.c.Session, f.c.ALPN = s, "h2"
	unhook := context.AfterFunc(f.ctx, s.halt)
	defer unhook()
	var b bytes.Buffer
	s.preface(&b, http2.NewFramer(&b, nil))
	_, err := s.write(b.Bytes())
	if err == nil {
		f.resp.Proto = "HTTP/2"
		err = st.answer()
	}
	if err != nil {
		s.broken = true
		return &Response{Timing: f.figures()}, st.failed(err)
	}
	return &f.resp, nil
}
