package auth

import (
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// challenge is a Digest challenge (RFC 7616 §3.3) as far as an answer needs it.
type challenge struct {
	realm, nonce, opaque string
	algorithm            string // as received; "" not named
	qop                  string // the one chosen: auth, auth-int or none
	hasOpaque            bool
	stale, userhash      bool
}

// parseChallenge reads what stands after "Digest". ok is false where no answer
// can be given: no nonce, an unknown algorithm, or -sess without a qop.
func parseChallenge(s string) (c challenge, ok bool) {
	for {
		name, value, rest, found := nextParam(s)
		if !found {
			break
		}
		s = rest
		switch strings.ToLower(name) {
		case "realm":
			c.realm = value
		case "nonce":
			c.nonce = value
		case "opaque":
			c.opaque, c.hasOpaque = value, true
		case "stale":
			c.stale = strings.EqualFold(value, "true")
		case "userhash":
			c.userhash = strings.EqualFold(value, "true")
		case "algorithm":
			c.algorithm = value
		case "qop":
			c.qop = chooseQOP(value)
		}
	}
	newHash, session := hashOf(c.algorithm)
	return c, c.nonce != "" && newHash != nil && (!session || c.qop != "")
}

// chooseQOP prefers auth: auth-int would need the body before the head.
func chooseQOP(list string) string {
	chosen := ""
	for word := range strings.SplitSeq(list, ",") {
		switch word = strings.TrimSpace(word); {
		case strings.EqualFold(word, "auth"):
			return "auth"
		case strings.EqualFold(word, "auth-int"):
			chosen = "auth-int"
		}
	}
	return chosen
}

// nextParam reads one name=value, quoted or not, and the comma after it.
func nextParam(s string) (name, value, rest string, ok bool) {
	s = strings.TrimLeft(s, " \t,")
	name, s, ok = strings.Cut(s, "=")
	if !ok {
		return "", "", "", false
	}
	name = strings.TrimSpace(name)
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, " \t,\r\n")
		if end < 0 {
			end = len(s)
		}
		return name, s[:end], s[end:], true
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return name, b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return "", "", "", false // the quotation has no end
}

// hashOf is the hash of an algorithm's name, nil for an unknown one.
func hashOf(algorithm string) (newHash func() hash.Hash, session bool) {
	name := strings.ToUpper(algorithm)
	name, session = strings.CutSuffix(name, "-SESS")
	switch name {
	case "MD5":
		return md5.New, session
	case "":
		if !session {
			return md5.New, false
		}
	case "SHA-256":
		return sha256.New, session
	case "SHA-512-256":
		return sha512.New512_256, session
	}
	return nil, session
}

// answer is the value of Authorization, its parameters in curl's order.
func (c *challenge) answer(user, password, method, uri, cnonce string, count uint32) string {
	newHash, session := hashOf(c.algorithm)
	h := func(parts ...string) string {
		sum := newHash()
		sum.Write([]byte(strings.Join(parts, ":")))
		return hex.EncodeToString(sum.Sum(nil))
	}
	a1 := h(user, c.realm, password)
	if session {
		a1 = h(a1, c.nonce, cnonce)
	}
	shown := user
	if c.userhash {
		shown = h(user, c.realm)
	}
	a2 := h(method, uri)
	if c.qop == "auth-int" {
		a2 = h(method, uri, h("")) // as curl: of an empty body
	}
	var b strings.Builder
	fmt.Fprintf(&b, `Digest username="%s", realm="%s", nonce="%s", uri="%s", `, quoted(shown), quoted(c.realm), quoted(c.nonce), uri)
	if c.qop != "" {
		nc := fmt.Sprintf("%08x", count)
		fmt.Fprintf(&b, `cnonce="%s", nc=%s, qop=%s, response="%s"`, cnonce, nc, c.qop, h(a1, c.nonce, nc, cnonce, c.qop, a2))
	} else {
		fmt.Fprintf(&b, `response="%s"`, h(a1, c.nonce, a2))
	}
	if c.hasOpaque {
		b.WriteString(`, opaque="` + quoted(c.opaque) + `"`)
	}
	if c.algorithm != "" {
		b.WriteString(", algorithm=" + c.algorithm)
	}
	if c.userhash {
		b.WriteString(", userhash=true")
	}
	return b.String()
}

// quoted escapes what ends a quoted-string (RFC 9110 §5.6.4).
func quoted(s string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) }

// newCnonce has curl's shape: 32 hexadecimal digits in Base64.
func newCnonce(random func([]byte)) string {
	var b [16]byte
	random(b[:])
	return base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString(b[:])))
}
