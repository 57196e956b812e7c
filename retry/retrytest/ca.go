package retrytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// CA is a certificate authority that lives in memory only. Its methods may be
// called from any goroutine.
type CA struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Leaf says what a certificate holds.
type Leaf struct {
	// Hosts are names and addresses; empty: localhost, 127.0.0.1 and ::1.
	Hosts []string
	// NotBefore and NotAfter bound its validity; zero: an hour ago and a day ahead.
	NotBefore, NotAfter time.Time
	// Client makes it one for TLS clients too.
	Client bool
}

// NewCA makes a new authority with a fresh key.
func NewCA() (*CA, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("throw-away CA: %w", err)
	}
	t := template("retrytest throw-away CA", time.Time{}, time.Time{})
	t.IsCA, t.BasicConstraintsValid = true, true
	t.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("throw-away CA: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("throw-away CA: %w", err)
	}
	return &CA{cert: cert, key: key}, nil
}

// PEM is the authority's own certificate.
func (c *CA) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.cert.Raw})
}

// Pool holds the authority's certificate only.
func (c *CA) Pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(c.cert)
	return p
}

// Issue signs a certificate for a fresh key.
func (c *CA) Issue(l Leaf) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate: %w", err)
	}
	t := template("retrytest", l.NotBefore, l.NotAfter)
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if l.Client {
		t.ExtKeyUsage = append(t.ExtKeyUsage, x509.ExtKeyUsageClientAuth)
	}
	hosts := l.Hosts
	if len(hosts) == 0 {
		hosts = []string{"localhost", "127.0.0.1", "::1"}
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, c.cert, &key.PublicKey, c.key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// template is what all certificates share.
func template(name string, from, to time.Time) *x509.Certificate {
	if from.IsZero() {
		from = time.Now().Add(-time.Hour)
	}
	if to.IsZero() {
		to = time.Now().Add(24 * time.Hour)
	}
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    from,
		NotAfter:     to,
	}
}

// prepareTLS makes the server's certificate and settings, if it speaks TLS.
func (s *Server) prepareTLS() error {
	if !s.cfg.tls {
		return nil
	}
	cert := s.cfg.certificate
	if cert == nil {
		ca, err := NewCA()
		if err != nil {
			return err
		}
		leaf, err := ca.Issue(Leaf{})
		if err != nil {
			return err
		}
		s.ca, cert = ca, &leaf
	}
	s.tls = &tls.Config{
		Certificates: []tls.Certificate{*cert},
		MinVersion:   tls.VersionTLS10, // clients under test choose; nothing secret passes here
		NextProtos:   []string{"http/1.1"},
	}
	if s.cfg.http2 {
		s.tls.NextProtos = []string{"h2", "http/1.1"}
	}
	if s.cfg.tlsConfig != nil {
		s.cfg.tlsConfig(s.tls)
	}
	return nil
}
