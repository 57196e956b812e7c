package request_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/retry"
)

// urlCases are readings of one URL; want is "origin-form|Host", or "!code".
var urlCases = []struct{ raw, want string }{
	{"h/a", "/a|h"},
	{"h", "/|h"},
	{"h:8080/x", "/x|h:8080"},
	{"http:/h/a", "/a|h"},
	{"http:///h/a", "/a|h"},
	{"http:////h/a", "!3"},
	{"HTTP://h/", "/|h"},
	{"h/a/../b", "/b|h"},
	{"h/a/./b/.", "/a/b/|h"},
	{"h/../../a/./..", "/|h"},
	{"h//../a", "/a|h"},
	{"h/a//../b", "/a/b|h"},
	{"h/a/..?x", "/?x|h"},
	{"h/..a/...", "/..a/...|h"},
	{"h/a/%2e%2E/b", "/a/%2e%2E/b|h"},
	{"h/a%2f../b", "/a%2f../b|h"},
	{"h/?a=b/../c", "/?a=b/../c|h"},
	{"h?x/../y", "/?x/../y|h"},
	{"h#f", "/|h"},
	{"h/x#f?y", "/x|h"},
	{"h/?a#b?c", "/?a|h"},
	{"h/a\\b", "/a\\b|h"},
	{"h/%zz", "/%zz|h"},
	{"http://h/ä?ö=ü", "/%c3%a4?ö=ü|h"},
	{"http://faß.example:1/", "/|xn--fa-hia.example:1"},
	{"http://BÜCHER.example/", "/|xn--bcher-kva.example"},
	{"http://HOST.example/", "/|HOST.example"},
	{"http://h.:1/", "/|h.:1"},
	{"http://h:/", "/|h"},
	{"http://h:80/", "/|h"},
	{"http://h:0080/", "/|h"},
	{"http://h:443/", "/|h:443"},
	{"http://h:018999/", "/|h:18999"},
	{"http://127.1/", "/|127.0.0.1"},
	{"http://0x7f000001/", "/|127.0.0.1"},
	{"http://2130706433/", "/|127.0.0.1"},
	{"http://0177.0.0.1/", "/|127.0.0.1"},
	{"http://0/", "/|0.0.0.0"},
	{"http://127.0.0.256/", "/|127.0.0.256"},
	{"http://1.2.3.4.5/", "/|1.2.3.4.5"},
	{"http://127.0.0%2e1/", "/|127.0.0.1"},
	{"http://[::1]:8080/", "/|[::1]:8080"},
	{"http://[0:0:0::1]:8080/", "/|[::1]:8080"},
	{"http://[fe80::1%25lo]/", "/|[fe80::1]"},
	{"http://[fe80::1%lo]/", "/|[fe80::1]"},
	{"user:pw@h/", "/|h"},
	{"http://u%20x:p%40@h/", "/|h"},
	{"http://@h/", "/|h"},
	{"http://a_b/", "/|a_b"},
	{"h/a b", "!3"},
	{"h/?a b", "!3"},
	{"h/a\tb", "!3"},
	{"h/a\rb", "!3"},
	{"h/a\x01b", "!3"},
	{"http://h:99999/", "!3"},
	{"http://h:65536/", "!3"},
	{"http://h:1x/", "!3"},
	{"http://h:+80/", "!3"},
	{"http://h:-1/", "!3"},
	{"http://h:1:2/", "!3"},
	{"http://:80/", "!3"},
	{"http://h:80@/", "!3"},
	{"http://x@y@h/", "!3"},
	{"http://a b/", "!3"},
	{"http://a%20b/", "!3"},
	{"http://a%00b/", "!3"},
	{"http://exa<mple/", "!3"},
	{"http://{x}/", "!3"},
	{"http://a[b/", "!3"},
	{"http://[fe80::zz]/", "!3"},
	{"http://[::1/", "!3"},
	{"http://u%00:p@h/", "!3"},
	{"http:x", "!3"},
	{"http:", "!3"},
	{"h:", "!3"},
	{"h:/x", "!1"},
	{"?x", "!3"},
	{"/x", "!3"},
	{"#x", "!3"},
	{"://x", "!3"},
	{"ht tp://x", "!3"},
	{"htps://x", "!1"},
	{"foo://x", "!1"},
	{"1http://x", "!1"},
	{"http+x://a", "!1"},
	{"httpx:/h/", "!1"},
}

func read(raw string) string {
	u, err := request.ParseURL(raw, "", false)
	if err != nil {
		var e *request.Error
		if !errors.As(err, &e) {
			return "not a *request.Error"
		}
		return "!" + string('0'+rune(e.Code))
	}
	return u.RequestTarget() + "|" + u.HostHeader()
}

func TestParseURL(t *testing.T) {
	for _, c := range urlCases {
		if got := read(c.raw); got != c.want {
			t.Errorf("ParseURL(%q) = %s, want %s", c.raw, got, c.want)
		}
	}
}

// TestParser: what a Parser remembers of one URL changes no other.
func TestParser(t *testing.T) {
	for _, before := range urlCases {
		var p request.Parser
		for _, c := range urlCases {
			_, _ = p.Parse(before.raw)
			got, err := p.Parse(c.raw)
			want, werr := request.ParseURL(c.raw, "", false)
			if !reflect.DeepEqual(got, want) || fmt.Sprint(err) != fmt.Sprint(werr) {
				t.Errorf("%q after %q: %+v, %v, want %+v, %v", c.raw, before.raw, got, err, want, werr)
			}
		}
	}
}

// TestParseURLLikeCurl sends every case with the installed curl as well.
func TestParseURLLikeCurl(t *testing.T) {
	r := newRecorder(t)
	for _, c := range urlCases {
		heads, _, _, code := r.curl("-o", "/dev/null", c.raw)
		got := "!" + string('0'+rune(code))
		if len(heads) == 1 && code == 0 {
			lines := strings.Split(heads[0], "\r\n")
			got = strings.Split(lines[0], " ")[1] + "|" + strings.TrimPrefix(lines[1], "Host: ")
		}
		if got != c.want {
			t.Errorf("curl %q: %s, want %s", c.raw, got, c.want)
		}
	}
}

func TestParseURLErrors(t *testing.T) {
	t.Run("class is request, so there is no wait", func(t *testing.T) {
		_, err := request.ParseURL("htps://x", "", false)
		var c retry.Classified
		if !errors.As(err, &c) || c.RetryClass() != retry.ClassRequest {
			t.Errorf("class of %v", err)
		}
	})
	t.Run("R11.1 no secret in the text", func(t *testing.T) {
		for _, raw := range []string{
			"http://user:s3cret@h:99999/", "http://u:s3cret@a b/?token=s3cret", "htps://u:s3cret@x/?k=s3cret",
			"http://u:s3cret%00@h/", "http:s3cret", "http://s3cret:s3cret@/", "http://u@s3cret@h/",
		} {
			_, err := request.ParseURL(raw, "", false)
			if err == nil || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("ParseURL(%q): %v", raw, err)
			}
		}
	})
	t.Run("default scheme", func(t *testing.T) {
		u, err := request.ParseURL("h/x", "https", false)
		if err != nil || u.String() != "https://h/x" || u.EffectivePort() != "443" {
			t.Errorf("%v, %v", u, err)
		}
		var e *request.Error
		if _, err = request.ParseURL("h/x", "ftp", false); !errors.As(err, &e) || e.Code != exitcode.BadProtocol {
			t.Errorf("ftp: %v", err)
		}
	})
	t.Run("path as is", func(t *testing.T) {
		u, err := request.ParseURL("h/a/../b", "", true)
		if err != nil || u.RequestTarget() != "/a/../b" {
			t.Errorf("%v, %v", u, err)
		}
	})
}

func TestURLText(t *testing.T) {
	u, err := request.ParseURL("HTTP://U%20x:p%40w@Exa.Mple:0080/a;b?tok=1&x&y=2#frag", "", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, got, want string }{
		{"user", u.User, "U x"},
		{"password", u.Password, "p@w"},
		{"String", u.String(), "http://U%20x:p%40w@Exa.Mple:80/a;b?tok=1&x&y=2#frag"},
		{"Origin", u.Origin(), "http://exa.mple:80"},
		{"HostHeader", u.HostHeader(), "Exa.Mple"},
		{"Absolute", u.Absolute(), "http://Exa.Mple/a;b?tok=1&x&y=2"},
		{"R11.1 Redacted", u.Redacted(false), "http://Exa.Mple:80/a;b?tok=***&***&y=***"},
		{"R11.1 Redacted path", u.Redacted(true), "http://Exa.Mple:80/***"},
	} {
		if c.got != c.want {
			t.Errorf("%s = %q, want %q", c.name, c.got, c.want)
		}
	}
	v, _ := request.ParseURL("http://[FE80::1%25eth0]/", "", false)
	if v.Host != "FE80::1%eth0" || v.String() != "http://[FE80::1%eth0]/" || v.HostHeader() != "[FE80::1]" {
		t.Errorf("zone: %q %q %q", v.Host, v.String(), v.HostHeader())
	}
	w := &request.URL{Authority: &request.Authority{Scheme: "https", Host: "bücher.example", User: "a b", HasUser: true}, Path: "/"}
	if w.ASCIIHost() != "xn--bcher-kva.example" || w.String() != "https://a%20b:@bücher.example/" {
		t.Errorf("made by hand: %q %q", w.ASCIIHost(), w.String())
	}
}

func FuzzParseURL(f *testing.F) {
	for _, c := range urlCases {
		f.Add(c.raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := request.ParseURL(raw, "", false)
		if err != nil {
			return
		}
		line := u.RequestTarget() + u.HostHeader() + u.Absolute()
		for i := 0; i < len(line); i++ {
			if line[i] <= ' ' || line[i] == 0x7f {
				t.Fatalf("%q gives %q, which breaks the request line", raw, line)
			}
		}
		if u.Path == "" || u.Path[0] != '/' || u.Host == "" {
			t.Fatalf("%q gives path %q, host %q", raw, u.Path, u.Host)
		}
		again, err := request.ParseURL(u.String(), "", false)
		if err != nil {
			t.Fatalf("%q gives %q, which is refused: %v", raw, u.String(), err)
		}
		if again.String() != u.String() || again.Origin() != u.Origin() {
			t.Fatalf("%q gives %q, read again as %q", raw, u.String(), again.String())
		}
		if u.HasUser && u.Password != "" && strings.Contains(u.Redacted(true), "@") {
			t.Fatalf("userinfo in %q", u.Redacted(true))
		}
	})
}

func TestWithUserinfoOf(t *testing.T) {
	for _, c := range []struct {
		from string
		has  bool
	}{
		{"http://u:p@a/", true},
		{"http://u:@a/", true},
		{"http://u@a/", false},
		{"http://a/", false},
	} {
		from, err := request.ParseURL(c.from, "", false)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range []string{"http://b/c", "http://v:w@b/c"} {
			u, err := request.ParseURL(to, "", false)
			if err != nil {
				t.Fatal(err)
			}
			if u = u.WithUserinfoOf(from); u.HasPassword() != c.has || u.User != from.User || u.Password != from.Password || u.Host != "b" {
				t.Errorf("%s with the user of %s: %s, password %v", to, c.from, u, u.HasPassword())
			}
		}
	}
}
