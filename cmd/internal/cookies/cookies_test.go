package cookies_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/cookies"
	"github.com/bidehttp/bide/cmd/internal/request"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func parse(t *testing.T, raw string) *request.URL {
	t.Helper()
	u, err := request.ParseURL(raw, "", false)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// lines are the cookies of a jar as its file shows them, newest first.
func lines(t *testing.T, j *cookies.Jar) []string {
	t.Helper()
	var b bytes.Buffer
	if _, err := j.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	var out []string
	for l := range strings.Lines(b.String()) {
		if l != "\n" && (!strings.HasPrefix(l, "#") || strings.HasPrefix(l, "#HttpOnly_")) {
			out = append(out, strings.TrimSuffix(l, "\n"))
		}
	}
	return out
}

func TestSetFrom(t *testing.T) {
	// 400 days from now, to the nearest minute.
	longest := fmt.Sprintf("h.example|FALSE|/|FALSE|%d|n|v", (now.Unix()+400*24*3600+30)/60*60)
	for _, c := range []struct{ name, url, value, want string }{
		{"default path", "http://h.example/a/b", "n=v", "h.example|FALSE|/a/|FALSE|0|n|v"},
		{"default path of the root", "http://h.example/a", "n=v", "h.example|FALSE|/|FALSE|0|n|v"},
		{"path", "http://h.example/", "n=v; Path=/p", "h.example|FALSE|/p|FALSE|0|n|v"},
		{"path that is none", "http://h.example/a/b", "n=v; path=p", "h.example|FALSE|/a/|FALSE|0|n|v"},
		{"the last attribute counts", "http://h.example/", "n=v; path=/a; path=/b", "h.example|FALSE|/b|FALSE|0|n|v"},
		{"domain", "http://h.example.com/", "n=v; Domain=Example.COM", ".Example.COM|TRUE|/|FALSE|0|n|v"},
		{"domain with a dot", "http://h.example.com/", "n=v; domain=.example.com", ".example.com|TRUE|/|FALSE|0|n|v"},
		{"foreign domain", "http://h.example.com/", "n=v; domain=other.com", ""},
		{"domain below", "http://example.com/", "n=v; domain=h.example.com", ""},
		{"name that ends alike", "http://badexample.com/", "n=v; domain=example.com", ""},
		{"public suffix", "http://h.example.com/", "n=v; domain=com", ""},
		{"public suffix of two labels", "http://h.example.co.uk/", "n=v; domain=co.uk", ""},
		{"public suffix in mixed case", "http://H.Example.cO.Uk/", "n=v; domain=cO.Uk", ""},
		{"public suffix with a last dot", "http://h.example.co.uk/", "n=v; domain=co.uk.", ""},
		{"all hosts", "http://h.example.com/", "n=v; domain=.", "h.example.com|FALSE|/|FALSE|0|n|v"},
		{"private public suffix", "http://me.github.io/", "n=v; domain=github.io", ""},
		{"a public suffix itself is host-only", "http://github.io/", "n=v; domain=github.io", "github.io|FALSE|/|FALSE|0|n|v"},
		{"address", "http://10.0.0.1/", "n=v; domain=10.0.0.1", "10.0.0.1|FALSE|/|FALSE|0|n|v"},
		{"part of an address", "http://10.0.0.1/", "n=v; domain=0.0.1", ""},
		{"secure from http", "http://h.example/", "n=v; Secure", ""},
		{"secure from https", "https://h.example/", "n=v; Secure", "h.example|FALSE|/|TRUE|0|n|v"},
		{"secure from the machine itself", "http://localhost/", "n=v; Secure", "localhost|FALSE|/|TRUE|0|n|v"},
		{"HttpOnly", "http://h.example/", "n=v; httponly", "#HttpOnly_h.example|FALSE|/|FALSE|0|n|v"},
		{"__Secure- without Secure", "https://h.example/", "__Secure-n=v", ""},
		{"__Secure-", "https://h.example/", "__Secure-n=v; secure", "h.example|FALSE|/|TRUE|0|__Secure-n|v"},
		{"__Host- without Path", "https://h.example/", "__Host-n=v; secure", ""},
		{"__Host- with Domain", "https://h.example.com/", "__Host-n=v; secure; path=/; domain=h.example.com", ""},
		{"__host- is the same", "https://h.example/", "__host-n=v", ""},
		{"__Host-", "https://h.example/x/y", "__Host-n=v; secure; path=/", "h.example|FALSE|/|TRUE|0|__Host-n|v"},
		{"Max-Age", "http://h.example/", "n=v; max-age=60", fmt.Sprintf("h.example|FALSE|/|FALSE|%d|n|v", now.Unix()+60)},
		{"Max-Age beats Expires", "http://h.example/", "n=v; max-age=60; expires=Sun, 06 Nov 1994 08:49:37 GMT", fmt.Sprintf("h.example|FALSE|/|FALSE|%d|n|v", now.Unix()+60)},
		{"Max-Age in quotes", "http://h.example/", `n=v; max-age="60"`, fmt.Sprintf("h.example|FALSE|/|FALSE|%d|n|v", now.Unix()+60)},
		{"Max-Age 0", "http://h.example/", "n=v; max-age=0", ""},
		{"Max-Age negative", "http://h.example/", "n=v; max-age=-5", ""},
		{"Max-Age absurd", "http://h.example/", "n=v; max-age=99999999999999999999", longest},
		{"Max-Age over 400 days", "http://h.example/", "n=v; max-age=34560031", longest},
		{"Max-Age of 400 days", "http://h.example/", "n=v; max-age=34560000", fmt.Sprintf("h.example|FALSE|/|FALSE|%d|n|v", now.Unix()+400*24*3600)},
		{"Max-Age no number", "http://h.example/", "n=v; max-age=1x", "h.example|FALSE|/|FALSE|0|n|v"},
		{"Expires", "http://h.example/", "n=v; expires=Wed, 09-Jun-2099 10:18:14 GMT", longest},
		{"Expires of 80 characters", "http://h.example/", "n=v; expires=Wed, 09-Jun-2099 10:18:14 GMT" + strings.Repeat(".", 51), "h.example|FALSE|/|FALSE|0|n|v"},
		{"rooted public suffix", "http://h.me./", "n=v; domain=.me.", ""},
		{"Expires in the past", "http://h.example/", "n=v; expires=Sun, 06 Nov 1994 08:49:37 GMT", ""},
		{"Expires no date", "http://h.example/", "n=v; expires=tomorrow", "h.example|FALSE|/|FALSE|0|n|v"},
		{"blanks", "http://h.example/", "  n  =  a b  ; path=/", "h.example|FALSE|/|FALSE|0|n|a b"},
		{"quotes stay", "http://h.example/", `n="q;v"`, `h.example|FALSE|/|FALSE|0|n|"q`},
		{"empty value", "http://h.example/", "n=", "h.example|FALSE|/|FALSE|0|n|"},
		{"no name", "http://h.example/", "=v", ""},
		{"no equals sign", "http://h.example/", "n", ""},
		{"control character", "http://h.example/", "n=a\x01b", ""},
		{"line break", "http://h.example/", "n=a\nb", ""},
		{"tab in the value", "http://h.example/", "n=a\tb", ""},
		{"4096 bytes", "http://h.example/", "n=" + strings.Repeat("v", 4095), "h.example|FALSE|/|FALSE|0|n|" + strings.Repeat("v", 4095)},
		{"4097 bytes", "http://h.example/", "n=" + strings.Repeat("v", 4096), ""},
		{"an attribute of 4095 bytes", "http://h.example/", "n=v; " + strings.Repeat("x", 4095), ""},
		{"an attribute of 4094 bytes", "http://h.example/", "n=v; " + strings.Repeat("x", 4094), "h.example|FALSE|/|FALSE|0|n|v"},
		{"a line over 5000 bytes", "http://h.example/", "n=v; x=" + strings.Repeat("v", 5000), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var j cookies.Jar
			j.SetFrom(parse(t, c.url), c.value, now)
			got := strings.ReplaceAll(strings.Join(lines(t, &j), " "), "\t", "|")
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestHeader(t *testing.T) {
	var j cookies.Jar
	set := func(url, value string) { j.SetFrom(parse(t, url), value, now) }
	set("http://h.example.com/", "root=1")
	set("http://h.example.com/", "deep=2; path=/a/b")
	set("http://h.example.com/", "wide=3; domain=example.com")
	set("https://h.example.com/", "safe=4; secure")
	set("http://h.example.com/", "soon=5; max-age=10")
	for _, c := range []struct {
		name, url, want string
		later           time.Duration
	}{
		{"longest path, then domain, then name, then the newest", "http://h.example.com/a/b", "deep=2; soon=5; root=1; wide=3", 0},
		{"path below", "http://h.example.com/a/b/c?q", "deep=2; soon=5; root=1; wide=3", 0},
		{"path that begins alike", "http://h.example.com/a/bc", "soon=5; root=1; wide=3", 0},
		{"secure", "https://h.example.com/", "soon=5; safe=4; root=1; wide=3", 0},
		{"case of the host", "http://H.EXAMPLE.com/", "soon=5; root=1; wide=3", 0},
		{"another host of the domain", "http://other.example.com/", "wide=3", 0},
		{"the domain itself", "http://example.com/", "wide=3", 0},
		{"another site", "http://example.org/", "", 0},
		{"name that ends alike", "http://badexample.com/", "", 0},
		{"port does not matter", "http://h.example.com:81/", "soon=5; root=1; wide=3", 0},
		{"expired", "http://h.example.com/", "root=1; wide=3", 10 * time.Second},
	} {
		if got := j.Header(parse(t, c.url), true, now.Add(c.later)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestReplace(t *testing.T) {
	var j cookies.Jar
	u, secure := parse(t, "http://h.example/a/b"), parse(t, "https://h.example/a/b")
	j.SetFrom(u, "x=1", now)
	j.SetFrom(u, "y=1", now)
	j.SetFrom(u, "x=2", now)
	if got := j.Header(u, true, now); got != "y=1; x=2" {
		t.Errorf("replaced: %q", got)
	}
	j.SetFrom(u, "y=; max-age=0", now)
	if got := j.Header(u, true, now); got != "x=2" {
		t.Errorf("deleted: %q", got)
	}
	j.SetFrom(secure, "s=1; secure; path=/", now)
	j.SetFrom(u, "s=evil", now)
	j.SetFrom(u, "s=evil; max-age=0", now)
	if got := j.Header(secure, true, now); got != "x=2; s=1" {
		t.Errorf("a secure cookie was overlaid from http: %q", got)
	}
	j.SetFrom(secure, "s=2; secure; path=/", now)
	if got := j.Header(secure, true, now); got != "x=2; s=2" {
		t.Errorf("https may replace it: %q", got)
	}
}

func TestLimits(t *testing.T) {
	var j cookies.Jar
	u := parse(t, "http://h.example/")
	var values []string
	for i := range 60 {
		values = append(values, fmt.Sprintf("c%02d=v", i), "bad")
	}
	j.SetAll(u, values, now)
	if n := len(lines(t, &j)); n != 50 {
		t.Errorf("%d cookies taken from one response, want 50", n)
	}
	for i := range 200 {
		j.SetFrom(u, fmt.Sprintf("d%03d=v", i), now)
	}
	if n := strings.Count(j.Header(u, true, now), "="); n != 150 {
		t.Errorf("%d cookies sent, want 150", n)
	}
	if strings.Contains(j.Header(u, true, now), "d100=") { // 50 and d000 to d099 are older
		t.Error("of too many cookies the oldest are sent")
	}
	var big cookies.Jar
	for i := range 5 {
		big.SetFrom(u, fmt.Sprintf("big%d=%s", i, strings.Repeat("v", 4000)), now)
	}
	if n := len(big.Header(u, true, now)); n > 8190 || n < 4000 {
		t.Errorf("a Cookie value of %d bytes", n)
	}
}

func FuzzSetCookie(f *testing.F) {
	for _, s := range []string{"n=v", "n=v; path=/a; domain=example.com; secure; httponly", "n=v; max-age=5; expires=Wed, 09-Jun-2099 10:18:14 GMT",
		"__Host-n=v; secure; path=/", "=", ";", "n=\"q\"; path=\"/x/\"", "n=v; domain=.", "n=v;expires=31 feb 2020 1:2:3"} {
		f.Add("http://h.example.com/a/b", s)
	}
	f.Fuzz(func(t *testing.T, url, value string) {
		u, err := request.ParseURL(url, "", false)
		if err != nil {
			return
		}
		var j, again cookies.Jar
		j.SetFrom(u, value, now)
		var file bytes.Buffer
		j.WriteTo(&file)
		text := file.String()
		if err := again.Load(&file, false, now); err != nil {
			t.Fatal(err)
		}
		for _, at := range []*request.URL{u, {Authority: &request.Authority{Scheme: "https", Host: "h.example.com"}, Path: "/a/b/c"}} {
			if a, b := j.Header(at, true, now), again.Header(at, true, now); a != b || strings.ContainsAny(a, "\r\n\x00") {
				t.Fatalf("%q from %s: %q, after a file %q\n%s", value, url, a, b, text)
			}
		}
	})
}
