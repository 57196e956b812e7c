package transport

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"hash"
	"strings"
)

var (
	errKeyPass   = errors.New("the pass phrase does not open the key")
	errNoKeyPass = errors.New("the key is encrypted and no pass phrase is given: --pass PHRASE, or -E FILE:PASSWORD")
	errKeyScheme = errors.New("the key is encrypted by a scheme that is not supported: decrypt it first, e.g. with 'openssl pkey'")
)

// openKey returns the PEM text with its private keys decrypted: PKCS #8 (RFC
// 5958 section 3, with PBES2 of RFC 8018) and OpenSSL's older format. What is
// not encrypted stays as it is.
func openKey(text []byte, pass string) ([]byte, error) {
	var out []byte
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		old := strings.HasSuffix(block.Type, "PRIVATE KEY") && strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED")
		if !old && block.Type != "ENCRYPTED PRIVATE KEY" {
			out = append(out, pem.EncodeToMemory(block)...)
			continue
		}
		if pass == "" {
			return nil, errNoKeyPass
		}
		open := openPKCS8
		if old {
			open = openOldKey
		}
		opened, err := open(block, pass)
		if err != nil {
			return nil, err
		}
		out = append(out, pem.EncodeToMemory(opened)...)
	}
	return out, nil
}

func openOldKey(block *pem.Block, pass string) (*pem.Block, error) {
	//lint:ignore SA1019 the format is weak, but a user's key may be in it
	der, err := x509.DecryptPEMBlock(block, []byte(pass))
	if err != nil {
		return nil, errKeyPass
	}
	return &pem.Block{Type: block.Type, Bytes: der}, nil
}

// encryptedKeyInfo is EncryptedPrivateKeyInfo of RFC 5958.
type encryptedKeyInfo struct {
	Algorithm pkix.AlgorithmIdentifier
	Data      []byte
}

// pbes2Params and pbkdf2Params are those of RFC 8018, appendix A.
type pbes2Params struct {
	KDF, Cipher pkix.AlgorithmIdentifier
}

type pbkdf2Params struct {
	Salt       []byte
	Iterations int
	KeyLength  int                      `asn1:"optional"`
	PRF        pkix.AlgorithmIdentifier `asn1:"optional"`
}

// mostIterations bounds the work that a key file may ask for.
const mostIterations = 10_000_000

func openPKCS8(block *pem.Block, pass string) (*pem.Block, error) {
	var info encryptedKeyInfo
	var scheme pbes2Params
	var kdf pbkdf2Params
	var iv []byte
	if !parsed(block.Bytes, &info) || info.Algorithm.Algorithm.String() != "1.2.840.113549.1.5.13" ||
		!parsed(info.Algorithm.Parameters.FullBytes, &scheme) || scheme.KDF.Algorithm.String() != "1.2.840.113549.1.5.12" ||
		!parsed(scheme.KDF.Parameters.FullBytes, &kdf) || !parsed(scheme.Cipher.Parameters.FullBytes, &iv) {
		return nil, errKeyScheme
	}
	digest := keyDigest(kdf.PRF.Algorithm)
	newCipher, size := keyCipher(scheme.Cipher.Algorithm)
	if digest == nil || newCipher == nil || kdf.Iterations < 1 || kdf.Iterations > mostIterations {
		return nil, errKeyScheme
	}
	key, err := pbkdf2.Key(digest, pass, kdf.Salt, kdf.Iterations, size)
	if err != nil {
		return nil, errKeyScheme
	}
	c, err := newCipher(key)
	if err != nil || len(iv) != c.BlockSize() {
		return nil, errKeyScheme
	}
	data := info.Data
	if len(data) == 0 || len(data)%c.BlockSize() != 0 {
		return nil, errKeyScheme
	}
	cipher.NewCBCDecrypter(c, iv).CryptBlocks(data, data)
	padding := int(data[len(data)-1])
	if padding < 1 || padding > c.BlockSize() {
		return nil, errKeyPass
	}
	data = data[:len(data)-padding]
	if _, err := x509.ParsePKCS8PrivateKey(data); err != nil {
		return nil, errKeyPass
	}
	return &pem.Block{Type: "PRIVATE KEY", Bytes: data}, nil
}

// parsed reads one whole DER value.
func parsed(der []byte, value any) bool {
	rest, err := asn1.Unmarshal(der, value)
	return err == nil && len(rest) == 0
}

// keyDigest is PBKDF2's hash by the identifier of its HMAC; SHA-1 is the default.
func keyDigest(id asn1.ObjectIdentifier) func() hash.Hash {
	switch id.String() {
	case "", "1.2.840.113549.2.7":
		return sha1.New
	case "1.2.840.113549.2.9":
		return sha256.New
	case "1.2.840.113549.2.10":
		return sha512.New384
	case "1.2.840.113549.2.11":
		return sha512.New
	}
	return nil
}

// keyCipher is a block cipher for CBC, with the size of its key.
func keyCipher(id asn1.ObjectIdentifier) (func([]byte) (cipher.Block, error), int) {
	switch id.String() {
	case "2.16.840.1.101.3.4.1.2":
		return aes.NewCipher, 16
	case "2.16.840.1.101.3.4.1.22":
		return aes.NewCipher, 24
	case "2.16.840.1.101.3.4.1.42":
		return aes.NewCipher, 32
	case "1.2.840.113549.3.7":
		return des.NewTripleDESCipher, 24
	}
	return nil, 0
}
