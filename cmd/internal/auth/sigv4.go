package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"time"
)

// SigV4 is --aws-sigv4: AWS Signature Version 4 and its relatives of other
// providers.
type SigV4 struct {
	Provider1, Provider2 string // "aws", "amz"
	Region, Service      string // "" is taken from the host's name
}

// ParseSigV4 reads PROVIDER1[:PROVIDER2[:REGION[:SERVICE]]]; an empty text is
// aws:amz.
func ParseSigV4(text string) (SigV4, error) {
	if text == "" {
		text = "aws:amz"
	}
	parts := strings.SplitN(text, ":", 4)
	for _, p := range parts {
		if len(p) > 64 || strings.ContainsFunc(p, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return SigV4{}, errors.New("PROVIDER1[:PROVIDER2[:REGION[:SERVICE]]] holds a part that is too long or not printable ASCII")
		}
	}
	s := SigV4{Provider1: parts[0], Provider2: parts[0]}
	if s.Provider1 == "" {
		return SigV4{}, errors.New("the first provider is missing: PROVIDER1[:PROVIDER2[:REGION[:SERVICE]]]")
	}
	if len(parts) > 1 && parts[1] != "" {
		s.Provider2 = parts[1]
	}
	if len(parts) > 2 {
		s.Region = parts[2]
	}
	if len(parts) > 3 {
		s.Service = parts[3]
	}
	return s, nil
}

// Signed is what a request has to carry: Authorization, and the date and hash
// fields that its user has not given himself. The order is that of the wire.
type Signed [][2]string

// SignRequest is a request as far as its signature covers it.
type SignRequest struct {
	Method, Host string // Host as in the Host field
	HostName     string // without port: SERVICE.REGION.example.com
	Path, Query  string // as in the request-target, the query without "?"
	Header       [][2]string
	// Body opens the body; nil is none.
	Body func() (io.ReadCloser, error)
	Now  time.Time
}

// Sign makes the signature of r. A date field among r's own decides the time.
func (s SigV4) Sign(r SignRequest, user, password string) (Signed, error) {
	region, service, err := s.scope(r.HostName)
	if err != nil {
		return nil, err
	}
	provider := strings.ToLower(s.Provider1)
	dateName := "X-" + capital(s.Provider2) + "-Date"
	date := r.Now.UTC().Format("20060102T150405Z")
	var extra Signed
	if own, ok := valueOf(r.Header, dateName); ok {
		date = strings.TrimSpace(own)
	} else {
		extra = append(extra, [2]string{dateName, date})
	}
	if len(date) < len("20060102") {
		return nil, fmt.Errorf("--aws-sigv4: the value of %s is not a date", dateName)
	}
	hashName := "x-" + strings.ToLower(s.Provider2) + "-content-sha256"
	digest, ok := valueOf(r.Header, hashName)
	if digest = strings.TrimSpace(digest); !ok {
		if digest, err = bodyHash(r.Body); err != nil {
			return nil, err
		}
		if provider == "aws" && service == "s3" {
			extra = append(extra, [2]string{hashName, digest})
		}
	}
	lines, names := canonicalHeaders(r, extra)
	canonical := strings.Join([]string{
		r.Method, canonicalPath(r.Path, service), canonicalQuery(r.Query), lines, names, digest,
	}, "\n")
	scope := strings.Join([]string{date[:8], region, service, provider + "4_request"}, "/")
	algorithm := strings.ToUpper(s.Provider1) + "4-HMAC-SHA256"
	toSign := strings.Join([]string{algorithm, date, scope, hexSHA256(canonical)}, "\n")
	key := []byte(strings.ToUpper(s.Provider1) + "4" + password)
	for _, part := range []string{date[:8], region, service, provider + "4_request"} {
		key = mac(key, part)
	}
	value := fmt.Sprintf("%s Credential=%s/%s, SignedHeaders=%s, Signature=%s", algorithm, user, scope, names, hex.EncodeToString(mac(key, toSign)))
	return append(Signed{{"Authorization", value}}, extra...), nil
}

// scope completes service and region from the host's first two labels, as curl.
func (s SigV4) scope(host string) (region, service string, err error) {
	region, service = s.Region, s.Service
	first, rest, ok := strings.Cut(host, ".")
	if service == "" {
		if !ok || first == "" {
			return "", "", errors.New("--aws-sigv4: the service is neither in the flag nor in the host's name")
		}
		service = first
	}
	if region == "" {
		second, _, ok := strings.Cut(rest, ".")
		if !ok || second == "" {
			return "", "", errors.New("--aws-sigv4: the region is neither in the flag nor in the host's name")
		}
		region = second
	}
	return region, service, nil
}

func bodyHash(open func() (io.ReadCloser, error)) (string, error) {
	sum := sha256.New()
	if open != nil {
		body, err := open()
		if err != nil {
			return "", err
		}
		_, err = io.Copy(sum, body)
		if cerr := body.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// canonicalHeaders are the lines that are signed, each with its break, and
// their names: Host, the user's own fields, and ours.
func canonicalHeaders(r SignRequest, extra Signed) (lines, names string) {
	all := append([][2]string{{"host", r.Host}}, extra...)
	for _, f := range r.Header {
		if !strings.EqualFold(f[0], "host") && !strings.EqualFold(f[0], "authorization") {
			all = append(all, f)
		}
	}
	for i := range all {
		all[i] = [2]string{strings.ToLower(all[i][0]), strings.Join(strings.Fields(all[i][1]), " ")}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i][0] < all[j][0] })
	var b strings.Builder
	var list []string
	for i, f := range all {
		if i > 0 && all[i-1][0] == f[0] {
			b.WriteString("," + f[1])
			continue
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(f[0] + ":" + f[1])
		list = append(list, f[0])
	}
	b.WriteByte('\n')
	return b.String(), strings.Join(list, ";")
}

// canonicalPath encodes the path once more, as every service but S3 wants it.
func canonicalPath(path, service string) string {
	if path == "" {
		return "/"
	}
	if service == "s3" {
		return path
	}
	return escape(path, "/")
}

// canonicalQuery sorts the parameters and writes each as NAME=VALUE in one
// spelling of percent-encoding.
func canonicalQuery(query string) string {
	if query == "" {
		return ""
	}
	var pairs [][2]string
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		pairs = append(pairs, [2]string{escape(unescape(name), ""), escape(unescape(value), "")})
	}
	sort.SliceStable(pairs, func(i, j int) bool {
		if pairs[i][0] != pairs[j][0] {
			return pairs[i][0] < pairs[j][0]
		}
		return pairs[i][1] < pairs[j][1]
	})
	out := make([]string, len(pairs))
	for i, p := range pairs {
		out[i] = p[0] + "=" + p[1]
	}
	return strings.Join(out, "&")
}

// escape writes every byte but RFC 3986's unreserved ones, and those of also,
// as %XX.
func escape(s, also string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			strings.IndexByte("-._~", c) >= 0, strings.IndexByte(also, c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// unescape decodes %XX and leaves a % that begins no such code.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				b.WriteByte(c[0])
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func valueOf(fields [][2]string, name string) (string, bool) {
	for _, f := range fields {
		if strings.EqualFold(f[0], name) {
			return f[1], true
		}
	}
	return "", false
}

// capital writes a provider as curl does in a field's name: "Amz".
func capital(s string) string { return strings.ToUpper(s[:1]) + strings.ToLower(s[1:]) }

func mac(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

func hexSHA256(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
