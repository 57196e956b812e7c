package transport

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/bounded"
)

// rootsKey is what loadRoots reads.
type rootsKey struct{ caFile, caPath, systemFile, systemDir string }

// roots is loadRoots, once for all connections that ask for the same: reading a
// bundle costs milliseconds of processor time, and a wait makes many connections.
// It is safe for concurrent use; a failure is not kept.
func (p *Pool) roots(t *TLS) (*x509.CertPool, error) {
	key := rootsKey{t.CAFile, t.CAPath, t.SystemFile, t.SystemDir}
	p.state.rootsMu.Lock()
	defer p.state.rootsMu.Unlock()
	if roots, ok := p.state.roots[key]; ok {
		return roots, nil
	}
	roots, err := loadRoots(t)
	if err != nil {
		return nil, err
	}
	if p.state.roots == nil {
		p.state.roots = make(map[rootsKey]*x509.CertPool)
	}
	p.state.roots[key] = roots
	return roots, nil
}

// loadRoots returns the certificates to trust, nil for the system's, which
// crypto/x509 loads when it first verifies. Files named by the user replace the
// system's.
func loadRoots(t *TLS) (*x509.CertPool, error) {
	file, dirs := t.CAFile, []string{t.CAPath}
	if file == "" && t.CAPath == "" {
		file, dirs = t.SystemFile, filepath.SplitList(t.SystemDir)
		if file == "" && len(dirs) == 0 {
			return nil, nil
		}
	}
	pool := x509.NewCertPool()
	if file != "" {
		b, err := bounded.ReadFile(file, bounded.Bundle)
		if err == nil && !pool.AppendCertsFromPEM(b) {
			err = errors.New("no certificate in it")
		}
		if err != nil {
			return nil, fileProblem("error setting certificate file: "+file, err)
		}
	}
	for _, d := range dirs {
		if d == "" {
			continue
		}
		// One of several places of SSL_CERT_DIR may be missing; --capath may not.
		if err := addDir(pool, d); err != nil && t.CAPath != "" {
			return nil, fileProblem("error setting certificate path: "+d, err)
		}
	}
	return pool, nil
}

// addDir adds the certificates of a directory's files; what is none is passed over.
func addDir(pool *x509.CertPool, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		// Through links, which is how such directories are made; pipes and the
		// like would block.
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if b, err := bounded.ReadFile(path, bounded.Bundle); err == nil {
			pool.AppendCertsFromPEM(b)
		}
	}
	return nil
}

// loadClientCert reads a certificate with its chain, and the key from its own
// file or from the same one.
func loadClientCert(t *TLS) (*tls.Certificate, error) {
	certPEM, err := bounded.ReadFile(t.CertFile, bounded.Bundle)
	if err != nil {
		return nil, fileProblem("could not load PEM client certificate from "+t.CertFile, err)
	}
	keyFile, keyPEM := t.CertFile, certPEM
	if t.KeyFile != "" {
		keyFile = t.KeyFile
		if keyPEM, err = bounded.ReadFile(keyFile, bounded.Bundle); err != nil {
			return nil, fileProblem("unable to set private key file: '"+keyFile+"' type PEM", err)
		}
	}
	certPEM, keyPEM = toPEM(certPEM, t.CertType, "CERTIFICATE"), toPEM(keyPEM, t.KeyType, "PRIVATE KEY")
	if keyPEM, err = openKey(keyPEM, t.CertPass); err != nil {
		return nil, fileProblem("unable to set private key file: '"+keyFile+"' type PEM", err)
	}
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fileProblem("could not load client certificate '"+t.CertFile+"' with key '"+keyFile+"'",
			errors.New(strings.TrimPrefix(err.Error(), "tls: ")))
	}
	return &cert, nil
}

// toPEM wraps a file of type DER; PEM stays as it is.
func toPEM(b []byte, kind, block string) []byte {
	if !strings.EqualFold(kind, "DER") {
		return b
	}
	return pem.EncodeToMemory(&pem.Block{Type: block, Bytes: b})
}

// fileProblem adds the reason to curl's words, without saying the path twice.
func fileProblem(text string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("%s (%w)", text, path.Err)
	}
	return fmt.Errorf("%s (%w)", text, err)
}
