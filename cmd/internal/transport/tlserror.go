package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/httpretry"
)

// OpenSSL's verify results, for %{ssl_verify_result}.
const (
	verifyUnspecified       = 1
	verifyNotYetValid       = 9
	verifyExpired           = 10
	verifySelfSigned        = 18
	verifySelfSignedInChain = 19
	verifyNoIssuer          = 20
	verifyInvalidCA         = 24
	verifyPathLength        = 25
	verifyPurpose           = 26
	verifyNotPermitted      = 47
)

func verifyText(n int) string {
	switch n {
	case verifyNotYetValid:
		return "certificate is not yet valid"
	case verifyExpired:
		return "certificate has expired"
	case verifySelfSigned:
		return "self-signed certificate"
	case verifySelfSignedInChain:
		return "self-signed certificate in certificate chain"
	case verifyNoIssuer:
		return "unable to get local issuer certificate"
	case verifyInvalidCA:
		return "invalid CA certificate"
	case verifyPathLength:
		return "path length constraint exceeded"
	case verifyPurpose:
		return "unsuitable certificate purpose"
	case verifyNoCRL:
		return "unable to get certificate CRL"
	case verifyOldCRL:
		return "CRL has expired"
	case verifyRevoked:
		return "certificate revoked"
	case verifyNotPermitted:
		return "permitted subtree violation"
	default:
		return "unspecified certificate verification error"
	}
}

// tlsFailed classifies a handshake that did not come to its end: a certificate
// that is not accepted, a verdict of the server, or a broken connection.
func (m *maker) tlsFailed(err error, host string) *Error {
	var refusal *Error
	if errors.As(err, &refusal) {
		return refusal // of connectionCheck
	}
	var verify *tls.CertificateVerificationError
	if errors.As(err, &verify) {
		return m.notTrusted(verify, host)
	}
	where := printable(host)
	if alert, ok := httpretry.TLSAlert(err); ok {
		class := retry.ClassTLS
		if httpretry.FinalAlert(alert) {
			class = retry.ClassCert
		}
		return m.fail(class, exitcode.TLS, retry.PhaseTLS, "SSL connect error: alert from "+where+": "+alertText(alert), err)
	}
	var record tls.RecordHeaderError
	if errors.As(err, &record) {
		// What speaks no TLS on this port will hardly do so in a second.
		return m.fail(retry.ClassProtocol, exitcode.TLS, retry.PhaseTLS,
			"SSL connect error: wrong version number: "+where+" does not speak TLS on this port", err)
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return m.fail(retry.ClassTLS, exitcode.TLS, retry.PhaseTLS, "SSL connect error: connection to "+where+" closed during the handshake", err)
	case isNetwork(err):
		return m.fail(retry.ClassTLS, exitcode.TLS, retry.PhaseTLS, "SSL connect error: connection to "+where+": "+reasonText(err), err)
	}
	// What is left is crypto/tls's own refusal of what the server said.
	return m.fail(retry.ClassCert, exitcode.TLS, retry.PhaseTLS, "SSL connect error: "+printable(err.Error()), err)
}

func isNetwork(err error) bool {
	var op *net.OpError
	var number syscall.Errno
	return errors.As(err, &op) || errors.As(err, &number) || errors.Is(err, net.ErrClosed)
}

// notTrusted names why a certificate was not accepted, in OpenSSL's words.
func (m *maker) notTrusted(v *tls.CertificateVerificationError, host string) *Error {
	var wrongName x509.HostnameError
	if errors.As(v.Err, &wrongName) {
		return m.fail(retry.ClassCert, exitcode.Cert, retry.PhaseTLS,
			"SSL: no alternative certificate subject name matches target host name '"+printable(host)+"'", v)
	}
	n := m.verifyResult(v.Err, v.UnverifiedCertificates)
	m.facts.VerifyResult = n
	return m.fail(retry.ClassCert, exitcode.Cert, retry.PhaseTLS, "SSL certificate problem: "+verifyText(n), v)
}

// verifyResult is OpenSSL's number for what crypto/x509 found wrong.
func (m *maker) verifyResult(err error, chain []*x509.Certificate) int {
	var invalid x509.CertificateInvalidError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &invalid):
		switch invalid.Reason {
		case x509.Expired:
			if clock := m.pool.Clock; clock != nil && invalid.Cert != nil && clock.Wall().Before(invalid.Cert.NotBefore) {
				return verifyNotYetValid
			}
			return verifyExpired
		case x509.NotAuthorizedToSign:
			return verifyInvalidCA
		case x509.TooManyIntermediates:
			return verifyPathLength
		case x509.IncompatibleUsage:
			return verifyPurpose
		case x509.CANotAuthorizedForThisName, x509.UnconstrainedName:
			return verifyNotPermitted
		}
	case errors.As(err, &unknown) && len(chain) > 0:
		return unverifiedResult(chain)
	}
	return verifyUnspecified
}

func alertText(alert uint8) string { return tls.AlertError(alert).Error() }

// Alert classifies an error of reading or writing on a TLS connection as a
// verdict that the server sent as an alert, nil when it is none. TLS 1.3 servers
// refuse a client certificate only after the client's handshake is done, so that
// the alert comes in place of the response: class cert, exit code 56 as curl.
// The request was not acted on.
func Alert(err error, phase retry.Phase) *Error {
	alert, ok := httpretry.TLSAlert(err)
	if !ok || !httpretry.FinalAlert(alert) {
		return nil
	}
	return &Error{
		Class: retry.ClassCert, Code: exitcode.Recv, Sent: retry.SentUnprocessed, Phase: phase,
		Err: &problem{text: "SSL read error: alert from the server: " + alertText(alert), err: err},
	}
}
