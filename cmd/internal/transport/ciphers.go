package transport

import (
	"crypto/tls"
	"strings"
)

// parseCiphers reads --ciphers: names of TLS 1.2 suites, OpenSSL's or IANA's,
// separated by colons, commas or spaces. Groups and operators of OpenSSL's
// cipher strings are not known, and TLS 1.3 suites cannot be chosen.
func parseCiphers(list string) ([]uint16, bool) {
	suites := append(tls.CipherSuites(), tls.InsecureCipherSuites()...)
	var ids []uint16
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ':' || r == ',' || r == ' ' }) {
		id, ok := cipherID(suites, name)
		if !ok {
			return nil, false
		}
		ids = append(ids, id)
	}
	return ids, len(ids) > 0
}

func cipherID(suites []*tls.CipherSuite, name string) (uint16, bool) {
	for _, s := range suites {
		if len(s.SupportedVersions) == 1 && s.SupportedVersions[0] == tls.VersionTLS13 {
			continue
		}
		if strings.EqualFold(s.Name, name) || strings.EqualFold(opensslName(s.ID), name) {
			return s.ID, true
		}
	}
	return 0, false
}

// parseCurves reads --curves: groups by OpenSSL's names, joined by colons; nil
// where one is unknown. Which of them is offered first is crypto/tls's choice.
func parseCurves(list string) []tls.CurveID {
	var ids []tls.CurveID
	for name := range strings.SplitSeq(list, ":") {
		switch strings.ToLower(name) {
		case "x25519":
			ids = append(ids, tls.X25519)
		case "p-256", "prime256v1", "secp256r1":
			ids = append(ids, tls.CurveP256)
		case "p-384", "secp384r1":
			ids = append(ids, tls.CurveP384)
		case "p-521", "secp521r1":
			ids = append(ids, tls.CurveP521)
		case "x25519mlkem768":
			ids = append(ids, tls.X25519MLKEM768)
		default:
			return nil
		}
	}
	return ids
}

// opensslName is the name that OpenSSL and curl -v give a suite; it follows from
// IANA's, but for CHACHA20, CBC and the key exchange RSA.
func opensslName(id uint16) string {
	name := tls.CipherSuiteName(id)
	exchange, rest, ok := strings.Cut(strings.TrimPrefix(name, "TLS_"), "_WITH_")
	if !ok {
		return name // TLS 1.3 suites have one name only
	}
	switch {
	case strings.HasPrefix(rest, "CHACHA20_POLY1305"):
		rest = "CHACHA20-POLY1305"
	case strings.HasPrefix(rest, "3DES_EDE_CBC"):
		rest = "DES-CBC3" + strings.TrimPrefix(rest, "3DES_EDE_CBC")
	case strings.HasPrefix(rest, "RC4_128"):
		rest = "RC4" + strings.TrimPrefix(rest, "RC4_128")
	default:
		rest = strings.Replace(strings.Replace(rest, "_CBC", "", 1), "AES_", "AES", 1)
	}
	if exchange == "RSA" {
		return strings.ReplaceAll(rest, "_", "-")
	}
	return strings.ReplaceAll(exchange+"-"+rest, "_", "-")
}
