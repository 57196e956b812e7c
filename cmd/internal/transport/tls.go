package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// closeNotifyLimit bounds the alert that closes a TLS connection: a peer that
// does not read must not delay the end of the process.
const closeNotifyLimit = 20 * time.Millisecond

// alpn is what is offered to the origin.
func (m *maker) alpn() []string {
	if m.s.NoALPN {
		return nil
	}
	return alpnOffer(m.s.HTTP)
}

// alpnOffer are the protocols offered for Settings.HTTP: curl's offers.
func alpnOffer(http string) []string {
	switch http {
	case "1.0":
		return []string{"http/1.0"}
	case "1.1":
		return []string{"http/1.1"}
	default:
		return []string{"h2", "http/1.1"}
	}
}

// tlsConfig reads what settings name. Its errors are of class request: nothing
// has been dialed, and another try would find the same files.
func (m *maker) tlsConfig(t *TLS, host string, alpn []string) (*tls.Config, *Error) {
	cfg := &tls.Config{
		ServerName: serverName(host), NextProtos: alpn, InsecureSkipVerify: t.Insecure,
		MinVersion: t.Min, MaxVersion: t.Max,
	}
	if clock := m.pool.Clock; clock != nil {
		cfg.Time = clock.Wall
	}
	if t.Max != 0 && t.Min > t.Max {
		return nil, m.unfit(exitcode.TLS, "the lowest TLS version allowed is above the highest", nil)
	}
	if t.Min == 0 && t.Max != 0 && t.Max < tls.VersionTLS12 {
		cfg.MinVersion = tls.VersionTLS10
	}
	if t.Ciphers != "" {
		ids, ok := parseCiphers(t.Ciphers)
		if !ok {
			return nil, m.unfit(exitcode.Cipher, "failed setting cipher list: "+printable(t.Ciphers), nil)
		}
		cfg.CipherSuites = ids
	}
	if !t.Insecure {
		roots, err := m.pool.roots(t)
		if err != nil {
			return nil, m.unfit(exitcode.CACert, err.Error(), err)
		}
		cfg.RootCAs = roots
	}
	if t.CertFile != "" {
		cert, err := loadClientCert(t)
		if err != nil {
			return nil, m.unfit(exitcode.ClientCert, err.Error(), err)
		}
		// As curl: the certificate is sent whatever issuers the server names, and
		// a server that asks for it later (TLS 1.2 renegotiation) gets it once.
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return cert, nil }
		cfg.Renegotiation = tls.RenegotiateOnceAsClient
	}
	if t.Curves != "" {
		if cfg.CurvePreferences = parseCurves(t.Curves); cfg.CurvePreferences == nil {
			return nil, m.unfit(exitcode.Cipher, "failed setting curves list: '"+printable(t.Curves)+"'", nil)
		}
	}
	if t.Pinned != "" || t.CRLFile != "" {
		check, err := m.connectionCheck(t)
		if err != nil {
			return nil, err
		}
		cfg.VerifyConnection = check
	}
	if t.KeyLogFile != "" {
		cfg.KeyLogWriter = keyLog(t.KeyLogFile)
	}
	return cfg, nil
}

func (m *maker) unfit(code exitcode.Code, text string, err error) *Error {
	return m.fail(retry.ClassRequest, code, retry.PhaseTLS, text, err)
}

// keyLog appends each line of NSS key log format to a file. Like curl's, a log
// that cannot be written disturbs nothing.
type keyLog string

func (k keyLog) Write(p []byte) (int, error) {
	f, err := os.OpenFile(string(k), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return len(p), nil
	}
	_, _ = f.Write(p)
	_ = f.Close()
	return len(p), nil
}

// handshake puts TLS on conn.
func (m *maker) handshake(ctx context.Context, conn net.Conn, cfg *tls.Config, host string) (*tls.Conn, *Error) {
	if m.trace != nil && len(cfg.NextProtos) > 0 {
		m.info("ALPN: offers ", strings.Join(cfg.NextProtos, ","))
	}
	c := tls.Client(conn, cfg)
	if err := c.HandshakeContext(ctx); err != nil {
		if stopped := m.stopped(ctx, retry.PhaseTLS); stopped != nil {
			return nil, stopped
		}
		return nil, m.tlsFailed(err, host)
	}
	if m.trace != nil {
		m.traceTLS(c.ConnectionState(), cfg)
	}
	return c, nil
}

// quickClose is the socket below TLS. crypto/tls waits up to five seconds to
// tell the peer that it closes; here it waits closeNotifyLimit at most.
type quickClose struct {
	net.Conn
	closing atomic.Bool
	eof     atomic.Bool
}

func (q *quickClose) Read(p []byte) (int, error) {
	n, err := q.Conn.Read(p)
	if err == io.EOF {
		q.eof.Store(true)
	}
	return n, err
}

// SawEOF reports whether the peer has ended TCP. Where TLS has not ended before
// it, by close_notify, the stream was cut off (RFC 8446 §6.1).
func (q *quickClose) SawEOF() bool { return q.eof.Load() }

func (q *quickClose) SetWriteDeadline(t time.Time) error {
	if q.closing.Load() && !t.IsZero() {
		if limit := time.Now().Add(closeNotifyLimit); t.After(limit) {
			t = limit
		}
	}
	return q.Conn.SetWriteDeadline(t)
}

// describeTLS fills the facts of the origin's handshake.
func (m *maker) describeTLS(st tls.ConnectionState, cfg *tls.Config) {
	f := &TLSFacts{
		Version: tls.VersionName(st.Version), Cipher: tls.CipherSuiteName(st.CipherSuite), ALPN: st.NegotiatedProtocol,
	}
	for _, c := range st.PeerCertificates {
		f.Chain = append(f.Chain, c.Raw)
	}
	if len(st.PeerCertificates) > 0 {
		leaf := st.PeerCertificates[0]
		f.Issuer, f.NotAfter = printable(leaf.Issuer.String()), leaf.NotAfter.UTC()
		if cfg.InsecureSkipVerify {
			m.facts.VerifyResult = unverifiedResult(st.PeerCertificates)
		}
	}
	m.facts.TLS = f
}

// unverifiedResult is OpenSSL's verify result where nobody is trusted: what curl
// reports with -k, for which roots are not loaded.
func unverifiedResult(chain []*x509.Certificate) int {
	switch {
	case selfIssued(chain[0]):
		return verifySelfSigned
	case selfIssued(chain[len(chain)-1]):
		return verifySelfSignedInChain
	default:
		return verifyNoIssuer
	}
}

func selfIssued(c *x509.Certificate) bool { return bytes.Equal(c.RawIssuer, c.RawSubject) }

// traceTLS tells what curl -v tells of a handshake.
func (m *maker) traceTLS(st tls.ConnectionState, cfg *tls.Config) {
	m.info("SSL connection using ", strings.Replace(tls.VersionName(st.Version), "TLS ", "TLSv", 1), " / ", opensslName(st.CipherSuite))
	if st.NegotiatedProtocol == "" {
		m.info("ALPN: server did not agree on a protocol. Uses default.")
	} else {
		m.info("ALPN: server accepted ", st.NegotiatedProtocol)
	}
	if len(st.PeerCertificates) == 0 {
		return
	}
	leaf := st.PeerCertificates[0]
	const date = "Jan _2 15:04:05 2006 GMT"
	m.info("Server certificate:")
	m.info(" subject: ", nameText(leaf.Subject))
	m.info(" start date: ", leaf.NotBefore.UTC().Format(date))
	m.info(" expire date: ", leaf.NotAfter.UTC().Format(date))
	if !cfg.InsecureSkipVerify {
		m.info(" subjectAltName: host \"", cfg.ServerName, "\" matched ", matchedName(leaf, cfg.ServerName))
	}
	m.info(" issuer: ", nameText(leaf.Issuer))
	if cfg.InsecureSkipVerify {
		n := unverifiedResult(st.PeerCertificates)
		m.info(" SSL certificate verify result: ", verifyText(n), " (", itoa(int64(n)), "), continuing anyway.")
	} else {
		m.info(" SSL certificate verify ok.")
	}
}

// matchedName tells which name of a verified certificate is the host's.
func matchedName(leaf *x509.Certificate, host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return "cert's IP address!"
	}
	for _, name := range leaf.DNSNames {
		_, domain, _ := strings.Cut(host, ".")
		if strings.EqualFold(name, host) || strings.EqualFold(name, "*."+domain) {
			return "cert's \"" + name + "\""
		}
	}
	return "cert"
}

// nameText writes a distinguished name in the order of the certificate, as curl
// does: "C=US; O=Acme; CN=example.org".
func nameText(n pkix.Name) string {
	var parts []string
	for _, a := range n.Names {
		value, ok := a.Value.(string)
		if !ok {
			continue
		}
		parts = append(parts, attributeName(a.Type.String())+"="+value)
	}
	return strings.Join(parts, "; ")
}

func attributeName(oid string) string {
	switch oid {
	case "2.5.4.3":
		return "CN"
	case "2.5.4.5":
		return "serialNumber"
	case "2.5.4.6":
		return "C"
	case "2.5.4.7":
		return "L"
	case "2.5.4.8":
		return "ST"
	case "2.5.4.9":
		return "street"
	case "2.5.4.10":
		return "O"
	case "2.5.4.11":
		return "OU"
	case "2.5.4.17":
		return "postalCode"
	case "1.2.840.113549.1.9.1":
		return "emailAddress"
	case "0.9.2342.19200300.100.1.25":
		return "DC"
	default:
		return oid
	}
}
