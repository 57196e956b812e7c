// Package checksum reads what the digest of a body ought to be: written out
// (sha256:HEX), or in a file of sums as sha256sum and sha512sum write it. It
// opens nothing by itself.
package checksum

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// Algorithm is a digest algorithm (FIPS 180-4).
type Algorithm uint8

// The algorithms. What collides, MD5 and SHA-1, is not among them.
const (
	SHA256 Algorithm = iota + 1
	SHA512
)

// String is the algorithm's name as it stands before the colon.
func (a Algorithm) String() string {
	if a == SHA512 {
		return "sha512"
	}
	return "sha256"
}

func (a Algorithm) digits() int {
	if a == SHA512 {
		return 2 * sha512.Size
	}
	return 2 * sha256.Size
}

// byDigits is the algorithm whose digest has that many hex digits; 0 none.
func byDigits(n int) Algorithm {
	for _, a := range [...]Algorithm{SHA256, SHA512} {
		if a.digits() == n {
			return a
		}
	}
	return 0
}

// Digest is what a body ought to come to. It is comparable.
type Digest struct {
	Algorithm Algorithm
	Hex       string // lower case
}

// New begins to compute a digest of the same kind.
func (d Digest) New() hash.Hash {
	if d.Algorithm == SHA512 {
		return sha512.New()
	}
	return sha256.New()
}

// Parse reads "sha256:HEX" and "sha512:HEX"; letters may be of either case.
func Parse(text string) (Digest, error) {
	name, digits, ok := strings.Cut(text, ":")
	if !ok {
		if a := byDigits(len(text)); a != 0 && isHex(text) {
			return Digest{}, fmt.Errorf("the algorithm is missing: %s:%s", a, text)
		}
		return Digest{}, fmt.Errorf("%q is not sha256:HEX, sha512:HEX or @FILE", shortened(text))
	}
	for _, a := range [...]Algorithm{SHA256, SHA512} {
		if !strings.EqualFold(name, a.String()) {
			continue
		}
		if len(digits) != a.digits() {
			return Digest{}, fmt.Errorf("a %s digest has %d hex digits, not %d", a, a.digits(), len(digits))
		}
		if !isHex(digits) {
			return Digest{}, fmt.Errorf("%q is not hexadecimal", shortened(digits))
		}
		return Digest{Algorithm: a, Hex: strings.ToLower(digits)}, nil
	}
	return Digest{}, fmt.Errorf("%q is not one of sha256, sha512", shortened(name))
}

func isHex(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil
}

func shortened(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// Source is one --checksum: a digest, or the file of sums in which it stands.
type Source struct {
	digest Digest
	sums   *Sums
}

// Literal is the Source of a digest that was written out.
func Literal(d Digest) *Source { return &Source{digest: d} }

// FromSums is the Source of a file of sums.
func FromSums(s *Sums) *Source { return &Source{sums: s} }

// OfOne reports whether the source has a digest for one body only, whatever
// that body's name.
func (s *Source) OfOne() bool { return s.sums == nil || s.sums.bare != (Digest{}) }

// IsFile reports whether the source is a file of sums.
func (s *Source) IsFile() bool { return s.sums != nil }

// For is the digest for the body that goes to the file output ("" none) and
// comes from a URL with that path.
func (s *Source) For(output, urlPath string) (Digest, error) {
	if s.sums == nil {
		return s.digest, nil
	}
	return s.sums.find(output, urlPath)
}
