package cmd

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pki is a CA with a server's and a client's certificate, and their files.
type pki struct {
	dir    string
	server tls.Certificate
	pool   *x509.CertPool
	pin    string // of the server's key
}

func newPKI(t *testing.T) *pki {
	t.Helper()
	p := &pki{dir: t.TempDir(), pool: x509.NewCertPool()}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, kind string, der []byte) {
		must(os.WriteFile(filepath.Join(p.dir, name+".der"), der, 0o600))
		must(os.WriteFile(filepath.Join(p.dir, name+".pem"), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	}
	issue := func(serial int64, name string, ca bool, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		must(err)
		template := &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, IsCA: ca, BasicConstraintsValid: true,
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
			DNSNames:    []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		}
		if ca {
			template.ExtKeyUsage, template.DNSNames, template.IPAddresses = nil, nil, nil
		}
		if parent == nil {
			parent, signer = template, key
		}
		der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
		must(err)
		cert, err := x509.ParseCertificate(der)
		must(err)
		write(name, "CERTIFICATE", der)
		keyDER, err := x509.MarshalPKCS8PrivateKey(key)
		must(err)
		write(name+"-key", "PRIVATE KEY", keyDER)
		write(name+"-public", "PUBLIC KEY", cert.RawSubjectPublicKeyInfo)
		return cert, key
	}
	ca, caKey := issue(1, "ca", true, nil, nil)
	server, serverKey := issue(2, "server", false, ca, caKey)
	issue(3, "client", false, ca, caKey)
	p.pool.AddCert(ca)
	p.server = tls.Certificate{Certificate: [][]byte{server.Raw}, PrivateKey: serverKey}
	sum := sha256.Sum256(server.RawSubjectPublicKeyInfo)
	p.pin = base64.StdEncoding.EncodeToString(sum[:])
	for name, serials := range map[string][]int64{"crl": {9}, "crl-revoked": {2}} {
		list := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: time.Now().Add(-time.Minute), NextUpdate: time.Now().Add(time.Hour)}
		for _, n := range serials {
			list.RevokedCertificateEntries = append(list.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: big.NewInt(n), RevocationTime: time.Now()})
		}
		der, err := x509.CreateRevocationList(rand.Reader, list, ca, caKey)
		must(err)
		write(name, "X509 CRL", der)
	}
	return p
}

// serve answers with what TLS agreed on.
func (p *pki) serve(t *testing.T) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		peer := "nobody"
		if len(r.TLS.PeerCertificates) > 0 {
			peer = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		fmt.Fprintf(w, "%s %x %s %s", r.Proto, r.TLS.Version, tls.CipherSuiteName(r.TLS.CipherSuite), peer)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{
		Certificates: []tls.Certificate{p.server}, ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS10,
		CurvePreferences: []tls.CurveID{tls.CurveP384},
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// TestTLSLikeCurl compares the outcome of TLS flags with the installed curl's.
func TestTLSLikeCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	p := newPKI(t)
	addr := p.serve(t)
	const url = " https://SERVER/"
	for name, line := range map[string]string{
		"plain":                 "--cacert DIR/ca.pem" + url,
		"untrusted":             url,
		"pin":                   "--cacert DIR/ca.pem --pinnedpubkey sha256//PIN" + url,
		"pin_second":            "--cacert DIR/ca.pem --pinnedpubkey sha256//AAAA;sha256//PIN" + url,
		"pin_wrong":             "--cacert DIR/ca.pem --pinnedpubkey sha256//AAAA" + url,
		"pin_wrong_insecure":    "-k --pinnedpubkey sha256//AAAA" + url,
		"pin_insecure":          "-k --pinnedpubkey sha256//PIN" + url,
		"pin_file_pem":          "--cacert DIR/ca.pem --pinnedpubkey DIR/server-public.pem" + url,
		"pin_file_der":          "--cacert DIR/ca.pem --pinnedpubkey DIR/server-public.der" + url,
		"pin_file_other":        "--cacert DIR/ca.pem --pinnedpubkey DIR/client-public.pem" + url,
		"pin_file_missing":      "--cacert DIR/ca.pem --pinnedpubkey DIR/none" + url,
		"pin_untrusted":         "--pinnedpubkey sha256//PIN" + url,
		"crl":                   "--cacert DIR/ca.pem --crlfile DIR/crl.pem" + url,
		"crl_revoked":           "--cacert DIR/ca.pem --crlfile DIR/crl-revoked.pem" + url,
		"crl_missing":           "--cacert DIR/ca.pem --crlfile DIR/none" + url,
		"client_pem":            "--cacert DIR/ca.pem -E DIR/client.pem --key DIR/client-key.pem" + url,
		"client_der":            "--cacert DIR/ca.pem -E DIR/client.der --cert-type DER --key DIR/client-key.der --key-type DER" + url,
		"client_der_lower":      "--cacert DIR/ca.pem -E DIR/client.der --cert-type der --key DIR/client-key.der --key-type der" + url,
		"client_wrong_type":     "--cacert DIR/ca.pem -E DIR/client.pem --cert-type DER --key DIR/client-key.pem" + url,
		"client_other_key":      "--cacert DIR/ca.pem -E DIR/client.pem --key DIR/server-key.pem" + url,
		"client_missing":        "--cacert DIR/ca.pem -E DIR/none.pem" + url,
		"no_alpn":               "--cacert DIR/ca.pem --no-alpn" + url,
		"no_sessionid":          "--cacert DIR/ca.pem --no-sessionid" + url,
		"http1.1":               "--cacert DIR/ca.pem --http1.1" + url,
		"curves":                "--cacert DIR/ca.pem --curves P-384:X25519" + url,
		"curves_none_in_common": "--cacert DIR/ca.pem --curves P-256" + url,
		"curves_unknown":        "--cacert DIR/ca.pem --curves nonsense" + url,
		"tls1.2":                "--cacert DIR/ca.pem --tls-max 1.2 --ciphers ECDHE-ECDSA-AES256-GCM-SHA384" + url,
		"tls1.3":                "--cacert DIR/ca.pem --tlsv1.3" + url,
		"ciphers_unknown":       "--cacert DIR/ca.pem --ciphers nonsense" + url,
		"resolve_and_verify":    "--cacert DIR/ca.pem --resolve localhost:PORT:127.0.0.1 https://localhost:PORT/",
		"connect_to_and_verify": "--cacert DIR/ca.pem --connect-to localhost:443:SERVER https://localhost/",
		"wrong_name":            "--cacert DIR/ca.pem --resolve other.test:PORT:127.0.0.1 https://other.test:PORT/",
		"proxy_untrusted":       "-x https://SERVER http://h.test/",
		"proxy_trusted":         "-x https://SERVER --proxy-cacert DIR/ca.pem --proxy-tlsv1 http://h.test/",
		"proxy_insecure":        "-x https://SERVER --proxy-insecure http://h.test/",
		"proxy_pin":             "-x https://SERVER --proxy-cacert DIR/ca.pem --proxy-pinnedpubkey sha256//PIN http://h.test/",
		"proxy_pin_wrong":       "-x https://SERVER --proxy-cacert DIR/ca.pem --proxy-pinnedpubkey sha256//AAAA http://h.test/",
		"proxy_crl_revoked":     "-x https://SERVER --proxy-cacert DIR/ca.pem --proxy-crlfile DIR/crl-revoked.pem http://h.test/",
		"proxy_client":          "-x https://SERVER --proxy-cacert DIR/ca.pem --proxy-cert DIR/client.der --proxy-cert-type DER --proxy-key DIR/client-key.der --proxy-key-type DER http://h.test/",
		"proxy_ciphers":         "-x https://SERVER --proxy-cacert DIR/ca.pem --proxy-ciphers ECDHE-ECDSA-AES256-GCM-SHA384 http://h.test/",
		"proxy_cacert_not_ours": "-x https://SERVER --cacert DIR/ca.pem http://h.test/",
		"origin_pin_not_proxys": "-x https://SERVER --proxy-cacert DIR/ca.pem --pinnedpubkey sha256//AAAA http://h.test/",
	} {
		t.Run(name, func(t *testing.T) {
			_, port, _ := net.SplitHostPort(addr)
			args := strings.Fields(strings.NewReplacer("SERVER", addr, "PORT", port, "DIR", p.dir, "PIN", p.pin).Replace(line))
			curl := exec.Command("curl", append([]string{"-q", "-s"}, args...)...)
			curl.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir}
			var out bytes.Buffer
			curl.Stdout = &out
			code := 0
			var exit *exec.ExitError
			if err := curl.Run(); errors.As(err, &exit) {
				code = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			r := runMain(t, append([]string{"-q", "-sS", "--attempts", "1", "--no-fail"}, args...)...)
			// Which TLS 1.3 suite is taken depends on the machine.
			suite := strings.NewReplacer("TLS_AES_128_GCM_SHA256", "TLS 1.3", "TLS_AES_256_GCM_SHA384", "TLS 1.3", "TLS_CHACHA20_POLY1305_SHA256", "TLS 1.3")
			if name == "proxy_pin_wrong" {
				// curl 7.88 does not look at it; its manual says exit 90.
				code = 90
				out.Reset()
			}
			got, want := suite.Replace(fmt.Sprint(r.code, " ", r.stdout)), suite.Replace(fmt.Sprint(code, " ", out.String()))
			if got != want {
				t.Errorf("%s\nbide %s (%s)\ncurl %s", line, got, strings.TrimSpace(r.stderr), want)
			}
		})
	}
}
