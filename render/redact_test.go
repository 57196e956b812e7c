package render

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestURL(t *testing.T) {
	for _, c := range []struct{ raw, want, path string }{
		{"https://api.example.com/a/b?token=x&n=1#frag", "https://api.example.com/a/b?token=***&n=***#***", "https://api.example.com/***?token=***&n=***#***"},
		{"https://user:pw@h:8443/", "https://***@h:8443/", "https://***@h:8443/"},
		{"https://user:p@w@h/", "https://***@h/", "https://***@h/"},
		{"http://user:pa/ss@h/x", "http://***@h/x", "http://***@h/***"},
		{"http://user:pa?ss@h/x", "http://***@h/x", "http://***@h/***"},
		{"user:pw@h/x", "***@h/x", "***@h/***"},
		{"//user@h/x?y=z", "//***@h/x?y=***", "//***@h/***?y=***"},
		{"/relative?sig=abc", "/relative?sig=***", "/***?sig=***"},
		{"next?sig=abc", "next?sig=***", "***?sig=***"},
		{"?sig=abc", "?sig=***", "?sig=***"},
		{"http://h?acl", "http://h?acl", "http://h?acl"},
		{"http://h/?9f8a7c01", "http://h/?***", "http://h/?***"},
		{"http://h/?a=&b", "http://h/?a=&b", "http://h/?a=&b"},
		{"http://[2001:db8::1]:80/@scope/pkg", "http://[2001:db8::1]:80/@scope/pkg", "http://[2001:db8::1]:80/***"},
		{"http://h:80/@scope/pkg", "http://h:80/@scope/pkg", "http://h:80/***"},
		{`http:\\u:p@h\x`, `http:\\***@h\x`, `http:\\***@h\***`},
		{"data:text/plain,secret", "data:***", "data:***"},
		{"", "", ""},
		{"http://h/\xff?\xff=\xfe", "http://h/\xff?\xff=***", "http://h/***?\xff=***"},
	} {
		if got := (&Redactor{}).URL(c.raw); got != c.want {
			t.Errorf("R11.1 URL(%q) = %q, want %q", c.raw, got, c.want)
		}
		if got := (&Redactor{RedactPath: true}).URL(c.raw); got != c.path {
			t.Errorf("R11.1 --redact-path URL(%q) = %q, want %q", c.raw, got, c.path)
		}
		if got := (&Redactor{NoRedact: true}).URL(c.raw); got != c.raw {
			t.Errorf("--no-redact URL(%q) = %q", c.raw, got)
		}
	}
}

func TestOrigin(t *testing.T) {
	for raw, want := range map[string]string{
		"HTTPS://u:p@h:443/x?y": "https://h", "http://h:80": "http://h", "http://h:8080/": "http://h:8080", "https://[::1]:443/": "https://[::1]", "u:p@h/x": "h", "": "",
	} {
		if got := Origin(raw); got != want {
			t.Errorf("Origin(%q) = %q, want %q", raw, got, want)
		}
	}
}

func TestHeaderValue(t *testing.T) {
	r := &Redactor{KeyHeader: "X-Request-Key", Secrets: []string{"hunter22", "a b/c"}}
	for _, c := range []struct{ name, value, want string }{
		{"Authorization", "Bearer x", "***"}, {"proxy-authorization", "Basic x", "***"}, {"COOKIE", "a=b", "***"}, {"Set-Cookie", "a=b", "***"},
		{"X-Auth", "x", "***"}, {"X-Token-Id", "x", "***"}, {"Client-Secret", "x", "***"}, {"X-Api-Key", "x", "***"}, {"X-Session", "x", "***"},
		{"X-Amz-Credential", "x", "***"}, {"X-Signature", "x", "***"}, {"X-JWT-Assertion", "x", "***"}, {"X-Password", "x", "***"},
		{"Idempotency-Key", "k", "k"}, {"x-request-key", "k", "k"}, {"Content-Type", "text/plain", "text/plain"}, {"Authorization", "", ""},
		{"Location", "https://u:p@h/?t=x", "https://***@h/?t=***"}, {"Location", "/r?t=x", "/r?t=***"}, {"Referer", "http://h/?t=x", "http://h/?t=***"},
		{"Link", `</p?cursor=x>; rel="next", <https://h/?c=y>; rel="last"`, `</p?cursor=***>; rel="next", <https://h/?c=***>; rel="last"`},
		{"Refresh", "5; url=/x?t=y", "5; url=/x?t=***"}, {"X-Echo", "see http://h/?t=y, and hunter22", "see http://h/?t=***, and ***"},
		{"X-Echo", "a+b%2Fc", "***"},
	} {
		if got := r.HeaderValue(c.name, c.value); got != c.want {
			t.Errorf("R11.1 %s: %q became %q, want %q", c.name, c.value, got, c.want)
		}
		if got := (&Redactor{NoRedact: true}).HeaderValue(c.name, c.value); got != c.value {
			t.Errorf("--no-redact %s: %q became %q", c.name, c.value, got)
		}
	}
}

func TestHeaderBlock(t *testing.T) {
	block := "GET /x?t=y HTTP/1.1\r\nHost: h:80\r\nAuthorization: Basic x\r\n\tfolded\r\nCookie:a=b\r\nX-A: b\r\n folded http://h/?t=y\r\n:path: /x?t=y\r\n:authority: u:p@h\r\nIdempotency-Key: k\r\n\r\n"
	want := "GET /x?t=*** HTTP/1.1|Host: h:80|Authorization: ***|\t***|Cookie:***|X-A: b| folded http://h/?t=***|:path: /x?t=***|:authority: h|Idempotency-Key: k"
	if got := strings.Join((&Redactor{}).HeaderBlock([]byte(block)), "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for line, want := range map[string]string{
		"GET http://u:p@h/?t=y HTTP/1.1": "GET http://***@h/?t=*** HTTP/1.1", "HTTP/1.1 200 OK: fine": "HTTP/1.1 200 OK: fine", "CONNECT h:443 HTTP/1.1": "CONNECT h:443 HTTP/1.1", "": "",
	} {
		if got := (&Redactor{}).HeaderLine(line); got != want {
			t.Errorf("HeaderLine(%q) = %q, want %q", line, got, want)
		}
	}
}

func TestScrub(t *testing.T) {
	r := &Redactor{Secrets: []string{"abc", "s3cr3t", "s3cr3t-longer", ""}}
	for s, want := range map[string]string{
		`Get "https://u:p@h/p?q=1": dial: abc`: `Get "https://***@h/p?q=***": dial: abc`,
		"with s3cr3t-longer and s3cr3t.":       "with *** and ***.",
		"(http://h/?a=b).":                     "(http://h/?a=***).",
		"://u:p@h":                             "://***@h",
		"two http://h/?a=b http://h/?c=d":      "two http://h/?a=*** http://h/?c=***",
	} {
		if got := r.Scrub(s); got != want {
			t.Errorf("Scrub(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestText(t *testing.T) {
	for s, want := range map[string]string{
		"plain": "plain", "é 例": "é 例", "a\x1b[31m\x07": `a\x1b[31m\x07`, "\u009b31m": `\u009b31m`, "x\u202ey\u2066": `x\u202ey\u2066`,
		"a\r\n\tb": `a\r\n\tb`, "\xff\xc3": `\xff\xc3`, "\x7f": `\x7f`, "\u2028": `\u2028`, "\U000e0041": `\U000e0041`, "\u00a0": `\u00a0`, "\ufffd": "\ufffd",
	} {
		if got := Text(s); got != want {
			t.Errorf("R11.2 Text(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("é", 200)
	for body, want := range map[string]string{
		"{\"error\": \"no\"}\n": `{"error": "no"}`, "a\nb": `a\nb`, "\x00bin": "", "\xff": "", "": "", long: strings.Repeat("é", 150) + "...",
	} {
		if got := Excerpt([]byte(body)); got != want {
			t.Errorf("Excerpt(%.20q) = %q, want %q", body, got, want)
		}
	}
}

func TestAllowedHeader(t *testing.T) {
	for name, want := range map[string]bool{
		"Date": true, "via": true, "Age": true, "X-Request-Id": true, "x-amzn-RequestId": true, "x-correlation-id": true, "traceparent": true, "CF-Ray": true,
		"Server-Timing": true, "RateLimit-Reset": true, "X-RateLimit-Remaining": true, "Retry-After": true, "X-Mine": true, "Set-Cookie": false, "Content-Type": false, "Server": false,
	} {
		if got := AllowedHeader(name, []string{" x-mine"}); got != want {
			t.Errorf("AllowedHeader(%s) = %v", name, got)
		}
	}
}

// Whatever stands where a secret stands does not come out again.
func FuzzRedact(f *testing.F) {
	for _, s := range []string{"s3cr3tvalue", "p@ss/word?x", "a b&c=d", "\x1b[31m", "%2F%40"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, secret string) {
		secret = strings.Map(func(r rune) rune {
			if strings.ContainsRune("&#/?\\@ \t\r\n\"'<>`=*", r) || r == utf8.RuneError {
				return -1
			}
			return r
		}, secret)
		r := &Redactor{}
		if len(secret) < 4 || strings.Contains("https://h/p?q=***@host", secret) || plainWord(secret) {
			return // too short or too common to be told from what may be shown
		}
		for _, raw := range []string{"https://u:" + secret + "@host/p?q=1", "https://" + secret + "@host/", "//" + secret + "@host", "/p?q=" + secret, "https://host/p?q=1&" + secret + "#" + secret} {
			if got := r.Location(raw); strings.Contains(got, secret) {
				t.Errorf("URL(%q) = %q", raw, got)
			}
		}
		if got := (&Redactor{Secrets: []string{secret}}).Text("error: " + secret + "!"); strings.Contains(got, secret) && strings.Trim(secret, ".!:ero *") != "" {
			t.Errorf("Text: %q", got)
		}
		for _, got := range []string{Text(secret), r.Text(secret), r.HeaderLine("Authorization: " + secret)} {
			if got != Text(got) {
				continue
			}
			if !utf8.ValidString(got) {
				t.Errorf("not UTF-8: %q", got)
			}
		}
		if again := r.Scrub(r.Scrub(secret)); again != r.Scrub(secret) {
			t.Errorf("Scrub is not idempotent on %q", secret)
		}
	})
}
