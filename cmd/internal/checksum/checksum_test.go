package checksum

import (
	"bytes"
	"strings"
	"testing"
)

const (
	hexA   = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	hexB   = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"
	hex512 = "ee26b0dd4af7e749aa1a8ee3c10ae9923f618980772e473f8819a5d4940e0db27ac185f8a0e1d5f84f88bc887fd67b143732c304cc5fa9ad8e6f57f50028a8ff"
	hexMD5 = "098f6bcd4621d373cade4e832627b4f6"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want, err string }{
		{text: "sha256:" + hexA, want: hexA},
		{text: "sha256:" + strings.ToUpper(hexA), want: hexA},
		{text: "SHA512:" + hex512, want: hex512},
		{text: "sha256:" + hexA[1:], err: "64 hex digits, not 63"},
		{text: "sha256:" + hexA + "00", err: "64 hex digits, not 66"},
		{text: "sha512:" + hexA, err: "128 hex digits, not 64"},
		{text: "sha256:" + hexA[1:] + "g", err: "is not hexadecimal"},
		{text: "sha256:", err: "64 hex digits, not 0"},
		{text: "md5:" + hexMD5, err: `"md5" is not one of sha256, sha512`},
		{text: hexA, err: "the algorithm is missing: sha256:" + hexA},
		{text: "", err: "is not sha256:HEX"},
	} {
		d, err := Parse(c.text)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("Parse(%q): %v, want %q", c.text, err, c.err)
			}
			continue
		}
		if err != nil || d.Hex != c.want {
			t.Errorf("Parse(%q) = %v, %v", c.text, d, err)
		}
	}
}

func TestSums(t *testing.T) {
	for _, c := range []struct{ name, file, output, path, want, err string }{
		{"two spaces", hexA + "  a\n" + hexB + "  b\n", "b", "/x", hexB, ""},
		{"binary", hexA + " *a\n", "a", "", hexA, ""},
		{"one space", hexA + " a\n", "a", "", hexA, ""},
		{"upper case and CRLF", strings.ToUpper(hexA) + "  a\r\n", "a", "", hexA, ""},
		{"mark of byte order", "\ufeff" + hexA + "  a\n", "a", "", hexA, ""},
		{"tag", "SHA256 (a (1)) = " + hexA + "\n", "a (1)", "", hexA, ""},
		{"escaped name", `\` + hexA + "  a\\\\b\\nc\n", "a\\b\nc", "", hexA, ""},
		{"the output before the URL", hexA + "  a\n" + hexB + "  b\n", "a", "/b", hexA, ""},
		{"the URL's name", hexA + "  a\n" + hexB + "  b\n", "other", "/dir/b", hexB, ""},
		{"stdout", hexA + "  a\n", "", "/dir/a", hexA, ""},
		{"folders of the output", hexA + "  a\n", "down/a", "", hexA, ""},
		{"dot slash", hexA + "  ./a\n", "./a", "", hexA, ""},
		{"a whole path", hexA + "  arm/a\n" + hexB + "  amd/a\n", "amd/a", "", hexB, ""},
		{"the URL's path decides", hexA + "  arm/a\n" + hexB + "  amd/a\n", "a", "/v1/amd/a", hexB, ""},
		{"the longer path decides", hexA + "  a\n" + hexB + "  amd/a\n", "", "/v1/amd/a", hexB, ""},
		{"the same twice", hexA + "  a\n" + hexA + "  a\n", "a", "", hexA, ""},
		{"the stronger of two", hexA + "  a\n" + hex512 + "  a\n", "a", "", hex512, ""},
		{"bare", "\n" + hexA + " \n", "a", "/b", hexA, ""},
		{"bare 512", hex512, "", "/", hex512, ""},
		{"signed", "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n" + hexA + "  a\n-----BEGIN PGP SIGNATURE-----\n\niQIz\n", "a", "", hexA, ""},
		{"ambiguous", hexA + "  arm/a\n" + hexB + "  amd/a\n", "a", "/a", "", `several lines for "a" with different digests`},
		{"missing", hexA + "  a\n", "b", "/c", "", `"SUMS" has no line for "b" or "c"`},
		{"missing, one name", hexA + "  a\n", "b", "/b", "", "\"SUMS\" has no line for \"b\"\n"},
		{"blanks", " \t" + hexA + "\ta\n", "a", "", hexA, ""},
		{"no name", hexA + "  a\n", "", "/dir/", "", "neither the output nor the URL has a name"},
		{"MD5", hexMD5 + "  a\n", "a", "", "", "neither SHA-256 nor SHA-512"},
		{"MD5 beside", hexMD5 + "  a\n" + hexA + "  a\n", "a", "", hexA, ""},
		{"two digests without names", hexA + "\n" + hexB + "\n", "a", "", "", "holds no checksums"},
		{"text", "hello\n", "a", "", "", "holds no checksums"},
		{"empty", "", "a", "", "", "holds no checksums"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d Digest
			s, err := ReadSums("SUMS", strings.NewReader(c.file))
			if err == nil {
				d, err = FromSums(s).For(c.output, c.path)
			}
			switch {
			case c.err == "" && err != nil:
				t.Fatal(err)
			case c.err != "" && (err == nil || !strings.Contains(err.Error()+"\n", c.err)):
				t.Fatalf("%v, want %q", err, c.err)
			case d.Hex != c.want:
				t.Fatalf("%v, want %s", d, c.want)
			}
		})
	}
}

func TestTooLargeSums(t *testing.T) {
	if _, err := ReadSums("SUMS", bytes.NewReader(make([]byte, maxSums+1))); err == nil {
		t.Fatal("accepted")
	}
}

// FuzzSums: whatever the file, a digest that is found is one that stands in it.
func FuzzSums(f *testing.F) {
	f.Add(hexA+"  a\n"+hexB+" *dir/b\n", "a", "/dir/b")
	f.Add("SHA512 (a) = "+hex512+"\n", "a", "")
	f.Add(`\`+hexA+`  a\\b`, `a\b`, "/")
	f.Add(hexA, "", "")
	f.Fuzz(func(t *testing.T, text, output, path string) {
		s, err := ReadSums("SUMS", strings.NewReader(text))
		if err != nil {
			return
		}
		d, err := FromSums(s).For(output, path)
		if err != nil {
			return
		}
		if len(d.Hex) != d.Algorithm.digits() || !strings.Contains(strings.ToLower(text), d.Hex) {
			t.Fatalf("%v is not in %q", d, text)
		}
		if _, err := Parse(d.Algorithm.String() + ":" + d.Hex); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("sha256:" + hexA)
	f.Add("SHA512:" + hex512)
	f.Add(hexA)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse(text)
		if err == nil && !strings.EqualFold(d.Algorithm.String()+":"+d.Hex, text) {
			t.Fatalf("%q is read as %v", text, d)
		}
	})
}
