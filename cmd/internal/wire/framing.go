package wire

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/header"
)

// framing is how the end of a body is known (RFC 9112 §6.3).
type framing int8

const (
	framedNone    framing = iota // there is no body
	framedLength                 // Content-Length
	framedChunked                // Transfer-Encoding: chunked
	framedClose                  // up to the connection's end
)

// delimit is the framing of h's body and its length, -1 when unknown; keep
// says whether the connection may be used again after it (RFC 9112 §9.3).
type delimit struct {
	kind    framing
	length  int64
	keep    bool
	codings []string
	vast    bool // it announced more than can be counted
}

// bodyless reports the answers that have no body whatever their fields say: all
// to a HEAD, and those of some statuses.
func bodyless(head bool, status int) bool {
	return head || status == 204 || status == 304 || status < 200
}

// delimit reads the answer to r; last: the request has said that it is the last
// on its connection.
func (h *head) delimit(r *Request, last, viaProxy bool) (delimit, error) {
	d := delimit{length: -1, keep: !last && h.persists(viaProxy)}
	none := bodyless(r.Method == "HEAD", h.status)
	codings, err := transferCodings(h.fields)
	if err != nil && !none {
		return d, err
	}
	length, err := contentLength(h.fields, r.Lenient)
	d.vast = length == vast
	switch {
	case none:
		d.kind, d.length = framedNone, 0
		return d, nil
	case r.Raw && length >= 0 && len(codings) > 0 && codings[len(codings)-1] != "chunked":
		d.kind, d.length, d.keep = framedLength, length, false // as it would be without the codings (curl)
		return d, nil
	case len(codings) > 0:
		// Both kinds of framing in one answer: Transfer-Encoding wins, and the
		// connection is not trusted further (RFC 9112 §6.3 item 3).
		d.keep = d.keep && length < 0 && err == nil && h.minor == 1
		if last := len(codings) - 1; codings[last] == "chunked" {
			d.kind, d.codings = framedChunked, codings[:last]
		} else {
			d.kind, d.codings, d.keep = framedClose, codings, false
		}
		return d, nil
	case r.IgnoreLength:
		d.kind, d.keep = framedClose, false
		return d, nil
	case err != nil:
		return d, err
	case length >= 0:
		d.kind, d.length = framedLength, length
		return d, nil
	}
	d.kind, d.keep = framedClose, false
	return d, nil
}

// transferCodings are those of an answer, in lower case, without "identity", an
// old name for no coding, and with "chunked" once, however often it is named at
// the end (curl). Elsewhere it is an error (RFC 9112 §6.1).
func transferCodings(fields []Field) ([]string, error) {
	var out []string
	for i := range fields {
		if !header.Same(fields[i].Name, "Transfer-Encoding") {
			continue
		}
		for rest, more := fields[i].Value, true; more; {
			var c string
			c, rest, more = cutElement(rest)
			c = strings.ToLower(c)
			chunked := len(out) > 0 && out[len(out)-1] == "chunked"
			switch {
			case c == "", c == "identity" && !chunked, chunked && c == "chunked":
			case chunked:
				return nil, &replyError{code: exitcode.Decode, about: "Transfer-Encoding",
					text: "Reject response due to 'chunked' not being the last Transfer-Encoding"}
			default:
				out = append(out, c)
			}
		}
	}
	return out, nil
}

// vast is a Content-Length that no number can hold.
const vast = -2

// contentLength is the value of Content-Length, -1 when absent. Repeated equal
// values are one (RFC 9110 §8.6); anything else is an error, but for the lenient
// one that is too large: vast.
func contentLength(fields []Field, lenient bool) (int64, error) {
	length := int64(-1)
	for i := range fields {
		f := &fields[i]
		if !header.Same(f.Name, "Content-Length") {
			continue
		}
		for rest, more := f.Value, true; more; {
			var part string
			part, rest, more = strings.Cut(rest, ",")
			part = strings.Trim(part, " \t")
			n, err := strconv.ParseInt(part, 10, 64)
			switch whole := digits(part); {
			case err != nil && whole && lenient:
				return vast, nil
			case err != nil, !whole:
				return -1, &replyError{code: exitcode.WeirdReply, about: f.Name, text: "Invalid Content-Length: value"}
			case length >= 0 && n != length:
				return -1, &replyError{code: exitcode.WeirdReply, about: f.Name, text: "Differing Content-Length: values"}
			}
			length = n
		}
	}
	return length, nil
}

// persists reports whether the server keeps the connection open.
func (h *head) persists(viaProxy bool) bool {
	keep := h.minor == 1
	for i := range h.fields {
		f := &h.fields[i]
		if !header.Same(f.Name, "Connection") && !(viaProxy && header.Same(f.Name, "Proxy-Connection")) {
			continue
		}
		if lists(f.Value, "close") {
			return false
		}
		keep = keep || lists(f.Value, "keep-alive")
	}
	return keep
}

// ofConnection reports whether a Connection line of a request lists option.
func ofConnection(lines []header.Line, option string) bool {
	return slices.ContainsFunc(lines, func(l header.Line) bool { return header.Same(l.Name, "Connection") && lists(l.Value, option) })
}

// cutElement takes the first element, which may be empty, off a list, without
// its parameters; more says that another follows.
func cutElement(list string) (element, rest string, more bool) {
	element, rest, more = strings.Cut(list, ",")
	element, _, _ = strings.Cut(element, ";")
	return strings.Trim(element, " \t"), rest, more
}

// lists reports whether option is an element of value, in any case.
func lists(value, option string) bool {
	for rest, more := value, true; more; {
		var element string
		if element, rest, more = cutElement(rest); header.Same(element, option) {
			return true
		}
	}
	return false
}
