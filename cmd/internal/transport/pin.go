package transport

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/bounded"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

const (
	verifyNoCRL   = 3
	verifyRevoked = 23
	verifyOldCRL  = 12
)

// connectionCheck is what is asked of a handshake beyond trust: the pinned key
// (with -k, too) and the revocation list. Its errors are *Error.
func (m *maker) connectionCheck(t *TLS) (func(tls.ConnectionState) error, *Error) {
	var crls []*x509.RevocationList
	if t.CRLFile != "" && !t.Insecure {
		var err error
		if crls, err = loadCRLs(t.CRLFile); err != nil {
			return nil, m.unfit(exitcode.CRL, err.Error(), err)
		}
	}
	return func(st tls.ConnectionState) error {
		if crls != nil {
			if err := m.notRevoked(st, crls); err != nil {
				return err
			}
		}
		if t.Pinned != "" && (len(st.PeerCertificates) == 0 || !pinned(t.Pinned, st.PeerCertificates[0])) {
			return m.fail(retry.ClassCert, exitcode.PinMismatch, retry.PhaseTLS, "SSL: public key does not match pinned public key", nil)
		}
		return nil
	}, nil
}

// pinned reports whether a certificate's key is one of the pins: hashes of the
// form sha256//BASE64, joined by semicolons, or a file with the key itself in
// PEM or DER.
func pinned(pins string, leaf *x509.Certificate) bool {
	key := leaf.RawSubjectPublicKeyInfo
	if strings.HasPrefix(pins, "sha256//") {
		sum := sha256.Sum256(key)
		own := base64.StdEncoding.EncodeToString(sum[:])
		for pin := range strings.SplitSeq(pins, ";") {
			if hash, ok := strings.CutPrefix(pin, "sha256//"); ok && hash == own {
				return true
			}
		}
		return false
	}
	b, err := bounded.ReadFile(pins, bounded.Bundle)
	if err != nil {
		return false
	}
	if block, _ := pem.Decode(b); block != nil && block.Type == "PUBLIC KEY" {
		b = block.Bytes
	}
	return bytes.Equal(b, key)
}

// loadCRLs reads certificate revocation lists in PEM.
func loadCRLs(name string) ([]*x509.RevocationList, error) {
	b, err := bounded.ReadFile(name, bounded.Bundle)
	if err != nil {
		return nil, fileProblem("error loading CRL file: "+name, err)
	}
	var crls []*x509.RevocationList
	for {
		var block *pem.Block
		if block, b = pem.Decode(b); block == nil {
			break
		}
		if block.Type != "X509 CRL" {
			continue
		}
		crl, err := x509.ParseRevocationList(block.Bytes)
		if err != nil {
			return nil, fileProblem("error loading CRL file: "+name, err)
		}
		crls = append(crls, crl)
	}
	if len(crls) == 0 {
		return nil, fileProblem("error loading CRL file: "+name, errors.New("no CRL in it"))
	}
	return crls, nil
}

// notRevoked looks every certificate of the chain up in its issuer's list.
func (m *maker) notRevoked(st tls.ConnectionState, crls []*x509.RevocationList) error {
	if len(st.VerifiedChains) == 0 {
		return nil
	}
	chain := st.VerifiedChains[0]
	for i := range chain {
		issuer := chain[min(i+1, len(chain)-1)]
		result := verifyNoCRL
		for _, crl := range crls {
			if crl.CheckSignatureFrom(issuer) == nil {
				result = m.lookUpCRL(crl, chain[i])
				break
			}
		}
		if result != 0 {
			m.facts.VerifyResult = result
			return m.fail(retry.ClassCert, exitcode.Cert, retry.PhaseTLS, "SSL certificate problem: "+verifyText(result), nil)
		}
	}
	return nil
}

func (m *maker) lookUpCRL(crl *x509.RevocationList, c *x509.Certificate) int {
	for _, revoked := range crl.RevokedCertificateEntries {
		if revoked.SerialNumber.Cmp(c.SerialNumber) == 0 {
			return verifyRevoked
		}
	}
	if clock := m.pool.Clock; clock != nil && !crl.NextUpdate.IsZero() && clock.Wall().After(crl.NextUpdate) {
		return verifyOldCRL
	}
	return 0
}
