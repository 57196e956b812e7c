package httpretry

import (
	"crypto/rand"
	"fmt"
	"net/http"

	"github.com/bidehttp/bide/retry"
)

// UnsafeKey is an IdempotencyKey that gives a random UUID to each operation whose
// method is not idempotent (POST, PATCH), and none to the others. Use it only
// with servers that know such keys: others act twice on what is sent twice.
func UnsafeKey(req *http.Request) string {
	if retry.IdempotentMethod(method(req)) {
		return ""
	}
	var b [16]byte
	_, _ = rand.Read(b[:])  // never fails
	b[6] = b[6]&0x0f | 0x40 // version 4 (RFC 9562, section 5.4)
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// keyed is the header of an operation's requests: the caller's, with a key made
// by newKey where there is none. On a request to which http.Client was redirected
// from another origin there is no key (R7.6).
func (d Describer) keyed(req *http.Request, newKey func(*http.Request) string) http.Header {
	key := d.key(req.Header)
	if left(req) {
		if key == "" {
			return req.Header
		}
		header := req.Header.Clone()
		header.Del(d.keyHeader())
		return header
	}
	if key != "" || newKey == nil {
		return req.Header
	}
	if key = newKey(req); key == "" {
		return req.Header
	}
	header := req.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set(d.keyHeader(), key)
	return header
}

// left reports whether the redirects that led to req crossed origins.
func left(req *http.Request) bool {
	for req.Response != nil && req.Response.Request != nil {
		from := req.Response.Request
		if origin(from.URL) != origin(req.URL) {
			return true
		}
		req = from
	}
	return false
}
