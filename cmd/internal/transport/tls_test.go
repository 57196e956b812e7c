package transport

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

func TestCertificateClasses(t *testing.T) {
	good := newAuthority(t, retrytest.Leaf{})
	expired := newAuthority(t, retrytest.Leaf{NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-time.Hour)})
	early := newAuthority(t, retrytest.Leaf{NotBefore: time.Now().Add(time.Hour), NotAfter: time.Now().Add(48 * time.Hour)})
	elsewhere := newAuthority(t, retrytest.Leaf{Hosts: []string{"elsewhere.test"}})
	tests := []struct {
		name   string
		leaf   tls.Certificate
		caFile string
		text   string
		result int
	}{
		{"untrusted", good.leaf, expired.file, "SSL certificate problem: unable to get local issuer certificate", 20},
		{"expired", expired.leaf, expired.file, "SSL certificate problem: certificate has expired", 10},
		{"not yet valid", early.leaf, early.file, "SSL certificate problem: certificate is not yet valid", 9},
		{"wrong name", elsewhere.leaf, elsewhere.file, "SSL: no alternative certificate subject name matches target host name '127.0.0.1'", 0},
		{"C6_self-signed", selfSigned(t), good.file, "SSL certificate problem: self-signed certificate", 18},
	}
	for _, tt := range tests {
		t.Run("R3/"+tt.name, func(t *testing.T) {
			port := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{tt.leaf}})
			s := &Settings{TLS: TLS{CAFile: tt.caFile}}
			e := mustFail(t, context.Background(), loopback("https", port), s, want{retry.ClassCert, exitcode.Cert, retry.PhaseTLS, tt.text})
			if e.Error() != tt.text || e.Facts.VerifyResult != tt.result {
				t.Errorf("%q, verify result %d", e.Error(), e.Facts.VerifyResult)
			}
			var v *tls.CertificateVerificationError
			if !errors.As(e, &v) {
				t.Error("the evidence is lost")
			}
		})
	}
}

// selfSigned is a leaf that is its own issuer.
func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "self"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestHandshakeClasses(t *testing.T) {
	a := newAuthority(t, retrytest.Leaf{})
	serve := func(change func(*tls.Config)) string {
		cfg := &tls.Config{Certificates: []tls.Certificate{a.leaf}}
		change(cfg)
		return serveTLS(t, cfg)
	}
	hello := func(c net.Conn) { _, _ = c.Read(make([]byte, 16<<10)) }
	raw := func(b string) string {
		return listen(t, func(c net.Conn) { hello(c); _, _ = io.WriteString(c, b) })
	}
	alert := func(n byte) string { return raw("\x15\x03\x03\x00\x02\x02" + string(rune(n))) }
	tests := []struct {
		name, port string
		tls        TLS
		class      retry.Class
		text       string
	}{
		{"cut", listen(t, hello), TLS{}, retry.ClassTLS, "SSL connect error: connection to 127.0.0.1 closed during the handshake"},
		{"cut in a record", raw("\x16\x03\x03\x01\x00half"), TLS{}, retry.ClassTLS, "SSL connect error: connection to 127.0.0.1 closed during the handshake"},
		{"reset", listen(t, func(c net.Conn) { hello(c); reset(c) }), TLS{}, retry.ClassTLS, "SSL connect error: connection to 127.0.0.1: connection reset by peer"},
		{"plain text", raw("HTTP/1.1 400 Bad Request\r\n\r\n"), TLS{}, retry.ClassProtocol, "SSL connect error: wrong version number"},
		{"alert handshake_failure", alert(40), TLS{}, retry.ClassCert, "SSL connect error: alert from 127.0.0.1: tls: handshake failure"},
		{"alert internal_error", alert(80), TLS{}, retry.ClassTLS, "SSL connect error: alert from 127.0.0.1: tls: internal error"},
		{"alert protocol_version", serve(func(c *tls.Config) { c.MinVersion = tls.VersionTLS13 }), TLS{Max: tls.VersionTLS12}, retry.ClassCert,
			"SSL connect error: alert from 127.0.0.1: tls: protocol version not supported"},
		{"version below ours", serve(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), TLS{Min: tls.VersionTLS13}, retry.ClassCert, "SSL connect error: "},
		{"alert no_application_protocol", serve(func(c *tls.Config) { c.NextProtos = []string{"other"} }), TLS{}, retry.ClassCert,
			"SSL connect error: alert from 127.0.0.1: tls: no application protocol"},
		{"certificate required, TLS 1.2", serve(func(c *tls.Config) {
			c.MaxVersion, c.ClientAuth = tls.VersionTLS12, tls.RequireAnyClientCert
		}), TLS{}, retry.ClassCert, "SSL connect error: alert from 127.0.0.1: "},
		{"no cipher in common", serve(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), TLS{Ciphers: "ECDHE-RSA-AES128-GCM-SHA256"}, retry.ClassCert,
			"SSL connect error: alert from 127.0.0.1: tls: handshake failure"},
	}
	for _, tt := range tests {
		t.Run("R3/"+tt.name, func(t *testing.T) {
			tt.tls.CAFile = a.file
			mustFail(t, context.Background(), loopback("https", tt.port), &Settings{TLS: tt.tls},
				want{tt.class, exitcode.TLS, retry.PhaseTLS, tt.text})
		})
	}
}

// TLS 1.3 tells the verdict on a client certificate after the handshake.
func TestAlertAfterHandshake(t *testing.T) {
	a := newAuthority(t, retrytest.Leaf{})
	port := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{a.leaf}, MinVersion: tls.VersionTLS13, ClientAuth: tls.RequireAnyClientCert})
	c := get(t, newPool(t), loopback("https", port), &Settings{TLS: TLS{CAFile: a.file}}, nil)
	_, err := c.Read(make([]byte, 1))
	e := Alert(err, retry.PhaseResponse)
	if e == nil || e.Class != retry.ClassCert || e.Code != exitcode.Recv || e.Sent != retry.SentUnprocessed {
		t.Errorf("%v is %+v", err, e)
	}
	if Alert(io.EOF, retry.PhaseResponse) != nil || Alert(&net.OpError{Op: "read", Err: net.ErrClosed}, retry.PhaseResponse) != nil {
		t.Error("an ordinary error taken for an alert")
	}
}

// What files hold is judged before anything is dialed.
func TestTLSFiles(t *testing.T) {
	port := listen(t, func(net.Conn) { t.Error("dialed") })
	ca := newAuthority(t, retrytest.Leaf{})
	certOnly := writeFile(t, "cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.leaf.Certificate[0]}))
	encrypted := writeFile(t, "key.pem", pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte{1}}))
	oldEncrypted := writeFile(t, "old.pem", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: []byte{1},
		Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-128-CBC,00"}}))
	empty := writeFile(t, "empty.pem", nil)
	tests := []struct {
		name string
		tls  TLS
		code exitcode.Code
		text string
	}{
		{"no CA file", TLS{CAFile: "/nonexistent"}, 77, "error setting certificate file: /nonexistent (no such file or directory)"},
		{"empty CA file", TLS{CAFile: empty}, 77, "error setting certificate file: " + empty + " (no certificate in it)"},
		{"no CA path", TLS{CAPath: "/nonexistent"}, 77, "error setting certificate path: /nonexistent"},
		{"no SSL_CERT_FILE", TLS{SystemFile: "/nonexistent"}, 77, "error setting certificate file: /nonexistent"},
		{"no certificate", TLS{CertFile: "/nonexistent"}, 58, "could not load PEM client certificate from /nonexistent (no such file or directory)"},
		{"no key in it", TLS{CertFile: certOnly}, 58, "could not load client certificate '" + certOnly + "'"},
		{"no key file", TLS{CertFile: certOnly, KeyFile: "/nonexistent"}, 58, "unable to set private key file: '/nonexistent' type PEM"},
		{"encrypted key", TLS{CertFile: certOnly, KeyFile: encrypted}, 58, "unable to set private key file: '" + encrypted + "' type PEM (the key is encrypted and no pass phrase is given"},
		{"old encrypted key", TLS{CertFile: certOnly, KeyFile: oldEncrypted}, 58, "unable to set private key file: '" + oldEncrypted + "' type PEM (the key is encrypted and no pass phrase is given"},
		{"cipher", TLS{Ciphers: "HIGH:!aNULL"}, 59, "failed setting cipher list: HIGH:!aNULL"},
		{"TLS 1.3 cipher", TLS{Ciphers: "TLS_AES_128_GCM_SHA256"}, 59, "failed setting cipher list"},
		{"versions", TLS{Min: tls.VersionTLS13, Max: tls.VersionTLS12}, 35, "the lowest TLS version"},
	}
	for _, tt := range tests {
		t.Run("R3/"+tt.name, func(t *testing.T) {
			mustFail(t, context.Background(), loopback("https", port), &Settings{TLS: tt.tls}, want{retry.ClassRequest, tt.code, retry.PhaseTLS, tt.text})
		})
	}
}

func TestClientCertificate(t *testing.T) {
	a := newAuthority(t, retrytest.Leaf{})
	cert, err := a.ca.Issue(retrytest.Leaf{Client: true})
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
	// The server names other issuers: the certificate is sent all the same.
	other := newAuthority(t, retrytest.Leaf{})
	seen := make(chan int, 2)
	port := serveTLS(t, &tls.Config{
		Certificates: []tls.Certificate{a.leaf}, ClientAuth: tls.RequireAnyClientCert, ClientCAs: other.ca.Pool(),
		VerifyConnection: func(st tls.ConnectionState) error { seen <- len(st.PeerCertificates); return nil },
	})
	for name, s := range map[string]TLS{
		"combined": {CAFile: a.file, CertFile: writeFile(t, "both.pem", slices.Concat(certPEM, keyPEM))},
		"two":      {CAFile: a.file, CertFile: writeFile(t, "c.pem", certPEM), KeyFile: writeFile(t, "k.pem", keyPEM)},
	} {
		get(t, newPool(t), loopback("https", port), &Settings{TLS: s}, nil)
		if n := <-seen; n != 1 {
			t.Errorf("%s: %d certificates arrived", name, n)
		}
	}
}

func TestTLSFacts(t *testing.T) {
	a := newAuthority(t, retrytest.Leaf{})
	names := make(chan string, 8)
	port := serveTLS(t, &tls.Config{
		Certificates: []tls.Certificate{a.leaf}, NextProtos: []string{"h2", "http/1.1"},
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			names <- h.ServerName + " " + strings.Join(h.SupportedProtos, ",")
			return nil, nil
		},
	})
	keys, dir := filepath.Join(t.TempDir(), "keys"), filepath.Dir(a.file)
	tests := []struct {
		name, host, http, hello, alpn string
		tls                           TLS
		result                        int
	}{
		{"default", "localhost", "", "localhost h2,http/1.1", "h2", TLS{CAFile: a.file, KeyLogFile: keys}, 0},
		{"trailing dot", "localhost.", "1.1", "localhost http/1.1", "http/1.1", TLS{CAPath: dir}, 0},
		{"address", "127.0.0.1", "2", " h2,http/1.1", "h2", TLS{SystemFile: a.file}, 0},
		{"insecure", "127.0.0.1", "1.1", " http/1.1", "http/1.1", TLS{Insecure: true}, 20},
		{"TLS 1.2", "localhost", "1.1", "localhost http/1.1", "http/1.1",
			TLS{SystemDir: "/nonexistent" + string(filepath.ListSeparator) + dir, Max: tls.VersionTLS12, Ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := get(t, newPool(t), Target{"https", tt.host, port}, &Settings{HTTP: tt.http, TLS: tt.tls}, nil)
			if got := <-names; got != tt.hello {
				t.Errorf("hello %q, want %q", got, tt.hello)
			}
			f := c.Facts
			if c.ALPN != tt.alpn || c.TCP != nil || f.VerifyResult != tt.result {
				t.Errorf("ALPN %q, verify result %d", c.ALPN, f.VerifyResult)
			}
			if f.TLS.Issuer != "CN=retrytest throw-away CA" || len(f.TLS.Chain) != 1 || f.TLS.NotAfter.Before(time.Now()) {
				t.Errorf("facts %+v", f.TLS)
			}
			if tt.tls.Max != 0 && (f.TLS.Version != "TLS 1.2" || f.TLS.Cipher != "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256") {
				t.Errorf("%s %s", f.TLS.Version, f.TLS.Cipher)
			}
			if f.LookedUp > f.Connected || f.Connected > f.TLSDone || f.TLSTime <= 0 {
				t.Errorf("instants out of order: %+v", f)
			}
			if _, err := c.Write([]byte("ping")); err != nil {
				t.Fatal(err)
			}
			b := make([]byte, 4)
			if _, err := io.ReadFull(c, b); err != nil || string(b) != "ping" {
				t.Errorf("%q %v", b, err)
			}
		})
	}
	b, err := os.ReadFile(keys)
	if err != nil || !strings.HasPrefix(string(b), "CLIENT_HANDSHAKE_TRAFFIC_SECRET ") {
		t.Errorf("key log %q, %v", b, err)
	}
}

// A peer that does not read must not hold Close up: crypto/tls alone would wait for five seconds.
func TestCloseDoesNotWait(t *testing.T) {
	a := newAuthority(t, retrytest.Leaf{})
	port := listen(t, func(c net.Conn) {
		s := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{a.leaf}})
		_ = s.Handshake()
		<-t.Context().Done()
	})
	c := get(t, newPool(t), loopback("https", port), &Settings{TLS: TLS{CAFile: a.file}}, nil)
	_ = c.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
	for {
		if _, err := c.Write(make([]byte, 64<<10)); err != nil {
			break
		}
	}
	start := time.Now()
	_ = c.Close()
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("Close took %v", took)
	}
}

func TestCipherNames(t *testing.T) {
	for iana, openssl := range map[uint16]string{
		tls.TLS_AES_128_GCM_SHA256:                        "TLS_AES_128_GCM_SHA256",
		tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384:         "ECDHE-RSA-AES256-GCM-SHA384",
		tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-ECDSA-CHACHA20-POLY1305",
		tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA:            "ECDHE-RSA-AES128-SHA",
		tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256:         "ECDHE-RSA-AES128-SHA256",
		tls.TLS_RSA_WITH_AES_128_GCM_SHA256:               "AES128-GCM-SHA256",
		tls.TLS_RSA_WITH_3DES_EDE_CBC_SHA:                 "DES-CBC3-SHA",
		tls.TLS_RSA_WITH_RC4_128_SHA:                      "RC4-SHA",
		0xffff:                                            "0xFFFF",
	} {
		if got := opensslName(iana); got != openssl {
			t.Errorf("%#x: %s, want %s", iana, got, openssl)
		}
	}
	ids, ok := parseCiphers("ECDHE-RSA-AES256-GCM-SHA384:TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,aes128-sha")
	want := []uint16{tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_128_CBC_SHA}
	if !ok || !slices.Equal(ids, want) {
		t.Errorf("%x", ids)
	}
}

func TestTLSTrace(t *testing.T) {
	a := newAuthority(t, retrytest.Leaf{})
	port := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{a.leaf}, NextProtos: []string{"http/1.1"}, MaxVersion: tls.VersionTLS12})
	var tr recorder
	get(t, newPool(t), Target{"https", "localhost", port}, &Settings{TLS: TLS{CAFile: a.file}}, &tr)
	text := strings.Join(tr.info, "\n")
	for _, line := range []string{
		"  Trying 127.0.0.1:" + port + "...",
		"Connected to localhost (127.0.0.1) port " + port + " (#0)",
		"ALPN: offers h2,http/1.1",
		"SSL connection using TLSv1.2 / ECDHE-ECDSA-AES128-GCM-SHA256",
		"ALPN: server accepted http/1.1",
		"Server certificate:\n subject: CN=retrytest\n start date: ",
		" subjectAltName: host \"localhost\" matched cert's \"localhost\"",
		" issuer: CN=retrytest throw-away CA",
		" SSL certificate verify ok.",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}

// TestRootsAreReadOnce: connections to come need the bundle no more, one that
// could not be read is read again.
func TestRootsAreReadOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	pool, settings := new(Pool), &TLS{CAFile: file}
	if roots, err := pool.roots(settings); err == nil {
		t.Fatalf("%v without a file", roots)
	}
	text, err := os.ReadFile(newAuthority(t, retrytest.Leaf{}).file)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	first, err := pool.roots(settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if again, err := pool.roots(&TLS{CAFile: file}); err != nil || again != first {
		t.Errorf("%p, %v, want %p", again, err, first)
	}
}
