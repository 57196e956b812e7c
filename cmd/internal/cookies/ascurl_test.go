package cookies_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/cookies"
)

// TestAsCurl: what a jar does under --as-curl alone.
func TestAsCurl(t *testing.T) {
	const dump = "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2; domain=h.example\r\n"
	for _, c := range []struct {
		asCurl              bool
		here, there, holder string
	}{
		{false, "b=2", "", "by bide!"},
		{true, "b=2; a=1", "a=1", "by libcurl!"},
	} {
		j := cookies.Jar{AsCurl: c.asCurl}
		if err := j.Load(strings.NewReader(dump), false, now); err != nil {
			t.Fatal(err)
		}
		if got := j.Header(parse(t, "http://h.example/"), now); got != c.here {
			t.Errorf("AsCurl %t: %q, want %q", c.asCurl, got, c.here)
		}
		if got := j.Header(parse(t, "http://other.example/"), now); got != c.there {
			t.Errorf("AsCurl %t, another host: %q, want %q", c.asCurl, got, c.there)
		}
		var file bytes.Buffer
		if _, err := j.WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(file.String(), c.holder) || c.asCurl != strings.Contains(file.String(), "unknown\tFALSE\t/\t") {
			t.Errorf("AsCurl %t: %s", c.asCurl, file.String())
		}
	}
}
