package request

import "io"

// transform appends what becomes of src to dst. It has no state: any split of
// the input gives the same output.
type transform func(dst, src []byte) []byte

// dropBreaks is what -d @file does: CR, LF and NUL go.
func dropBreaks(dst, src []byte) []byte {
	for _, c := range src {
		if c != '\r' && c != '\n' && c != 0 {
			dst = append(dst, c)
		}
	}
	return dst
}

const upperHex = "0123456789ABCDEF"

// encodeBytes is what --data-urlencode does: what is not unreserved (RFC 3986
// §2.3) becomes %XX, a space "+".
func encodeBytes(dst, src []byte) []byte { return appendEncoded(dst, src, upperHex, true) }

func appendEncoded[S []byte | string](dst []byte, src S, hex string, plus bool) []byte {
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case isAlnum(c), c == '-', c == '.', c == '_', c == '~':
			dst = append(dst, c)
		case c == ' ' && plus:
			dst = append(dst, '+')
		default:
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		}
	}
	return dst
}

func urlEncode(s string) string      { return string(appendEncoded(nil, s, upperHex, false)) }
func urlEncodeLower(s string) string { return string(appendEncoded(nil, s, lowerHex, false)) }
func urlEncodePlus(s string) string  { return string(appendEncoded(nil, s, upperHex, true)) }

// transformReader applies t to what it reads, a block at a time.
type transformReader struct {
	r   io.Reader
	t   transform
	in  []byte
	out []byte // transformed, not yet read
	buf []byte // backing of out
	err error
}

func newTransformReader(r io.Reader, t transform) *transformReader {
	return &transformReader{r: r, t: t, in: make([]byte, 64<<10)}
}

func (t *transformReader) Read(p []byte) (int, error) {
	for len(t.out) == 0 {
		if t.err != nil {
			return 0, t.err
		}
		var n int
		n, t.err = t.r.Read(t.in)
		t.buf = t.t(t.buf[:0], t.in[:n])
		t.out = t.buf
	}
	n := copy(p, t.out)
	t.out = t.out[n:]
	return n, nil
}
