// Package auth answers the challenges of servers and proxies (RFC 9110 §11):
// which scheme is used, and what stands in Authorization. It sends nothing.
package auth

import (
	"encoding/base64"
	"strings"
)

// Scheme is a set of authentication schemes.
type Scheme uint8

// The schemes. Any is what --anyauth allows.
const (
	Basic Scheme = 1 << iota
	Digest
	Any = Basic | Digest
)

// MaxChallenges bounds the challenges that are answered in one attempt, and to
// open one tunnel: a server or proxy may call every nonce stale.
const MaxChallenges = 10

// Session is the authentication of one operation with one server or proxy. It
// lives across hops and attempts, so that a nonce serves several requests.
// One goroutine at a time.
type Session struct {
	// Allowed are the schemes that may be used. One alone is used from the first
	// request on; of several, the server's challenge chooses.
	Allowed        Scheme
	User, Password string
	// Random fills p with unpredictable bytes, for the client's nonce.
	Random func(p []byte)

	digest  challenge
	cnonce  string
	count   uint32
	known   bool // a Digest challenge was seen
	refused bool // the credentials were not accepted, or nothing is to be tried
}

// Authorization is the value for one request; "" sends none. probing says that
// the request will be challenged for certain, so that a body had better stay
// back: it then goes out empty, as curl does.
func (s *Session) Authorization(method, uri string) (value string, probing bool) {
	switch {
	case s.Allowed == Basic:
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(s.User+":"+s.Password)), false
	case s.Allowed != Digest || s.refused:
		return "", false
	case !s.known:
		return "", true
	}
	s.count++
	if s.cnonce == "" {
		s.cnonce = newCnonce(s.Random)
	}
	return s.digest.answer(s.User, s.Password, method, uri, s.cnonce, s.count), false
}

// Challenged reads the values of WWW-Authenticate (or Proxy-Authenticate) of a
// 401 (or 407) and reports whether the request should be sent again.
func (s *Session) Challenged(values []string) bool {
	if s.refused {
		return false
	}
	offered, digest, ok := readChallenges(values)
	switch {
	case s.Allowed == Basic: // sent already, and not accepted
		s.refused = true
	case offered&s.Allowed&Digest != 0:
		if !ok || s.known && !digest.stale {
			s.refused = true
			break
		}
		s.Allowed, s.digest, s.known, s.count = Digest, digest, true, 0
	case offered&s.Allowed&Basic != 0:
		s.Allowed = Basic
	default:
		s.refused = true
	}
	return !s.refused
}

// Unchallenged is told that a probe was not challenged: the request is to be
// sent again, whole and without credentials.
func (s *Session) Unchallenged() { s.refused = true }

// readChallenges finds the schemes offered, and the first Digest challenge; ok
// is false when that one cannot be answered. Like curl it takes a scheme's name
// anywhere after a comma for the start of a challenge.
func readChallenges(values []string) (offered Scheme, digest challenge, ok bool) {
	for _, v := range values {
		for v = strings.TrimLeft(v, " \t"); v != ""; {
			switch {
			case begins(v, "Digest") && offered&Digest == 0:
				offered |= Digest
				digest, ok = parseChallenge(v[len("Digest"):])
			case begins(v, "Basic"):
				offered |= Basic
			}
			_, rest, more := strings.Cut(v, ",")
			if !more {
				break
			}
			v = strings.TrimLeft(rest, " \t")
		}
	}
	return offered, digest, ok
}

// begins: the scheme's name in any case, and not a longer word.
func begins(v, scheme string) bool {
	if len(v) < len(scheme) || !strings.EqualFold(v[:len(scheme)], scheme) {
		return false
	}
	return len(v) == len(scheme) || strings.IndexByte(" \t,", v[len(scheme)]) >= 0
}
