package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"reflect"
	"syscall"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
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
	if alert, ok := remoteAlert(err); ok {
		class := retry.ClassTLS
		if finalAlert(alert) {
			class = retry.ClassCert
		}
		return m.fail(class, exitcode.TLS, retry.PhaseTLS, "SSL connect error: alert from "+where+": "+alertText(alert), err)
	}
	var record tls.RecordHeaderError
	if errors.As(err, &record) {
		// What speaks no TLS on this port will not do so in a second.
		return m.fail(retry.ClassCert, exitcode.TLS, retry.PhaseTLS,
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

// remoteAlert is the number of a fatal alert that the peer sent (RFC 8446 §6.2).
// crypto/tls exports no type for it outside QUIC: the error is a *net.OpError
// of "remote error" around an unexported uint8.
func remoteAlert(err error) (uint8, bool) {
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "remote error" || op.Err == nil {
		return 0, false
	}
	v := reflect.ValueOf(op.Err)
	if v.Kind() != reflect.Uint8 {
		return 0, false
	}
	return uint8(v.Uint()), true
}

func alertText(alert uint8) string { return tls.AlertError(alert).Error() }

// finalAlert reports whether an alert is a verdict on what was offered, which
// another try would offer again, rather than an accident.
func finalAlert(alert uint8) bool {
	switch alert {
	case 40, // handshake_failure
		41, 42, 43, 44, 45, 46, // about our certificate
		47,  // illegal_parameter
		48,  // unknown_ca
		49,  // access_denied
		60,  // export_restriction
		70,  // protocol_version
		71,  // insufficient_security
		86,  // inappropriate_fallback
		109, // missing_extension
		110, // unsupported_extension
		111, // certificate_unobtainable
		112, // unrecognized_name
		113, // bad_certificate_status_response
		115, // unknown_psk_identity
		116, // certificate_required
		120: // no_application_protocol
		return true
	}
	return false
}

// Alert classifies an error of reading or writing on a TLS connection as a
// verdict that the server sent as an alert, nil when it is none. TLS 1.3 servers
// refuse a client certificate only after the client's handshake is done, so that
// the alert comes in place of the response: class cert, exit code 56 as curl.
// The request was not acted on.
func Alert(err error, phase retry.Phase) *Error {
	alert, ok := remoteAlert(err)
	if !ok || !finalAlert(alert) {
		return nil
	}
	return &Error{
		Class: retry.ClassCert, Code: exitcode.Recv, Sent: retry.SentUnprocessed, Phase: phase,
		Err: &problem{text: "SSL read error: alert from the server: " + alertText(alert), err: err},
	}
}
