package cmd_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// built is the binary as a user would build it, made when the first test asks
// for it, in a folder that TestMain removes.
var built = sync.OnceValues(func() (name string, err error) {
	dir, err := os.MkdirTemp("", "bide-test-")
	if err != nil {
		return "", err
	}
	name = filepath.Join(dir, "bide")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", name, "github.com/bidehttp/bide").CombinedOutput(); err != nil {
		return name, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return name, nil
})

// wasBuilt: there is a folder to be removed.
var wasBuilt atomic.Bool

func TestMain(m *testing.M) {
	if result := os.Getenv(measuring); result != "" {
		os.Exit(measure(result, os.Args[1:]))
	}
	code := m.Run()
	if wasBuilt.Load() {
		if name, _ := built(); name != "" {
			_ = os.RemoveAll(filepath.Dir(name))
		}
	}
	os.Exit(code)
}

// buildBide gives the binary, built once for all tests.
func buildBide(t *testing.T) string {
	t.Helper()
	wasBuilt.Store(true)
	name, err := built()
	if err != nil {
		t.Fatal(err)
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
