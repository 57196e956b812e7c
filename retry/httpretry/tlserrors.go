package httpretry

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"reflect"

	"github.com/bidehttp/bide/retry"
)

// handshake knows verdicts on certificates and on what was offered (final), and
// handshakes that came to nothing.
func handshake(err error) retry.Class {
	if notTrusted(err) {
		return retry.ClassCert
	}
	var record tls.RecordHeaderError
	var ech *tls.ECHRejectionError
	alert, hasAlert := TLSAlert(err)
	text := root(err).Error()
	switch {
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return retry.ClassProtocol
	case hasAlert && FinalAlert(alert), errors.As(err, &ech), isTLSText(text):
		return retry.ClassCert
	case hasAlert, isHandshakeTimeoutText(text):
		return retry.ClassTLS
	}
	return retry.ClassNone
}

// notTrusted: the certificate does not pass.
func notTrusted(err error) bool {
	var verify *tls.CertificateVerificationError
	var name x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var roots x509.SystemRootsError
	return errors.As(err, &verify) || errors.As(err, &name) || errors.As(err, &unknown) ||
		errors.As(err, &invalid) || errors.As(err, &roots)
}

// TLSAlert is the number of a fatal alert that the peer sent (RFC 8446,
// section 6.2): crypto/tls gives a *net.OpError of "remote error" around an
// unexported uint8.
func TLSAlert(err error) (alert uint8, ok bool) {
	var op *net.OpError
	if !errors.As(err, &op) {
		return 0, false
	}
	for op.Op != "remote error" { // a proxy's stands within "proxyconnect"
		if !errors.As(op.Err, &op) {
			return 0, false
		}
	}
	v := reflect.ValueOf(op.Err)
	if v.Kind() != reflect.Uint8 {
		return 0, false
	}
	return uint8(v.Uint()), true
}

// FinalAlert reports whether an alert is a verdict on what was offered, which
// another try would offer again, rather than an accident.
func FinalAlert(alert uint8) bool {
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
