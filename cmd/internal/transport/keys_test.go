package transport

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// readKey reads a key that OpenSSL wrote: all hold the one of plain.pem, by the
// pass phrase "open sesame".
func readKey(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "keys", name+".pem"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parseKey(t *testing.T, text []byte) *ecdsa.PrivateKey {
	t.Helper()
	block, _ := pem.Decode(text)
	if block == nil {
		t.Fatalf("no PEM in %q", text)
	}
	if block.Type == "EC PRIVATE KEY" {
		key, err := x509.ParseECPrivateKey(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return key.(*ecdsa.PrivateKey)
}

func TestOpenKey(t *testing.T) {
	want := parseKey(t, readKey(t, "plain"))
	for _, c := range []struct {
		name, pass string
		err        error
	}{
		{"plain", "", nil},
		{"plain", "not needed", nil},
		{"aes256-sha256", "open sesame", nil},
		{"aes192-sha1", "open sesame", nil},
		{"aes128-sha384", "open sesame", nil},
		{"des3-sha512", "open sesame", nil},
		{"old", "open sesame", nil},
		{"aes256-sha256", "open barley", errKeyPass},
		{"old", "open barley", errKeyPass},
		{"aes256-sha256", "", errNoKeyPass},
		{"old", "", errNoKeyPass},
		{"scrypt", "open sesame", errKeyScheme},
		{"pbes1", "open sesame", errKeyScheme},
	} {
		t.Run(c.name+"/"+c.pass, func(t *testing.T) {
			got, err := openKey(readKey(t, c.name), c.pass)
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if err == nil && !parseKey(t, got).Equal(want) {
				t.Error("another key came out")
			}
		})
	}
}

// FuzzOpenKey: whatever stands in a key file, reading it neither panics nor
// hands on a key that is still encrypted.
func FuzzOpenKey(f *testing.F) {
	for _, name := range []string{"plain", "aes256-sha256", "des3-sha512", "old", "scrypt", "pbes1"} {
		f.Add(readKey(f, name))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := openKey(text, "open sesame")
		if err != nil {
			return
		}
		for block, rest := pem.Decode(got); block != nil; block, rest = pem.Decode(rest) {
			if block.Type == "ENCRYPTED PRIVATE KEY" {
				t.Fatalf("still encrypted: %q", got)
			}
		}
	})
}
