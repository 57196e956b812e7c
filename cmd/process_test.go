package cmd_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os/exec"
	"path/filepath"
	"testing"
)

// buildBide builds the binary as a user would, once per test.
func buildBide(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "bide")
	out, err := exec.Command("go", "build", "-o", name, "github.com/bidehttp/bide").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return name
}

func writePEM(t *testing.T, dir string, cert tls.Certificate) {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "cert.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})))
	writeFile(t, filepath.Join(dir, "key.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
}
