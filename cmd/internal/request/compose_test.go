package request_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/header"
	"github.com/bidehttp/bide/cmd/internal/request"
)

// composeCase is one command line in curl's words and in ours.
type composeCase struct {
	args string // "|" separates; F is a file of 7 bytes
	set  func(t *request.Template, hop *request.HopState)
	hs   []string // -H
}

func composeCases() []composeCase {
	body := func(b string) func(*request.Template, *request.HopState) {
		return func(t *request.Template, hop *request.HopState) {
			t.Body, t.ContentType = request.Bytes(b), "application/x-www-form-urlencoded"
			hop.IncludeBody, hop.BodyLength = true, int64(len(b))
		}
	}
	upload := func(t *request.Template, hop *request.HopState) {
		t.Body = request.Bytes("1234567")
		hop.IncludeBody, hop.BodyLength = true, 7
	}
	none := func(*request.Template, *request.HopState) {}
	return []composeCase{
		{"", none, nil},
		{"-A|", func(t *request.Template, _ *request.HopState) { t.UserAgent = "" }, nil},
		{"-A|me", func(t *request.Template, _ *request.HopState) { t.UserAgent = "me" }, nil},
		{"", none, []string{"Host: foo", "X: 1"}},
		{"", none, []string{"Host:"}},
		{"", none, []string{"User-Agent: me", "B: c", "Accept: z"}},
		{"", none, []string{"Accept:", "user-agent:"}},
		{"", none, []string{"A:  b  ", "a: c", "A:"}},
		{"", none, []string{"Accept:", "Accept: x"}},
		{"-u|a:b", basic("a", "b"), nil},
		{"-u|a:b", basic("a", "b"), []string{"authorization: x"}},
		{"-b|a=b", func(t *request.Template, _ *request.HopState) { t.Cookies = "a=b" }, nil},
		{"-b|a=b", func(t *request.Template, _ *request.HopState) { t.Cookies = "a=b" }, []string{"Cookie: c=d"}},
		{"-d|x", body("x"), nil},
		{"-d|", body(""), nil},
		{"-d|x", body("x"), []string{"Content-Type: t/x", "Z: z"}},
		{"-d|x", body("x"), []string{"Content-Type:"}},
		{"-d|x", body("x"), []string{"Transfer-Encoding: chunked"}},
		{"-d|x", body("x"), []string{"Transfer-Encoding:"}},
		{"-d|x", body("x"), []string{"Expect: 100-continue"}},
		{"-X|POST", none, nil},
		{"-T|F", upload, []string{"Expect:"}},
		{"-T|F", upload, []string{"Expect:", "Content-Type: a/b"}},
		{"-r|1-2|-T|F", both(upload, func(t *request.Template, _ *request.HopState) { t.Range = "1-2" }), []string{"Expect:"}},
		{"-r|1-2|-d|x", both(body("x"), func(t *request.Template, _ *request.HopState) { t.Range = "1-2" }), nil},
		{"-r|3-4", func(t *request.Template, _ *request.HopState) { t.Range = "3-4" }, []string{"Range: bytes=1-2"}},
		{"-d|@F", body(strings.Repeat("x", 1<<20+1)), nil},
		{"--json|x", func(t *request.Template, hop *request.HopState) {
			body("x")(t, hop)
			t.Headers = request.JSONHeaders(t.Headers)
		}, []string{"X: y"}},
		{"--json|x", func(t *request.Template, hop *request.HopState) {
			body("x")(t, hop)
			t.Headers = request.JSONHeaders(t.Headers)
		}, []string{"accept: q"}},
		{"-r|0-5|-e|ref|--compressed|--tr-encoding|-b|q=r|-z|Sun, 06 Nov 1994 08:49:37 GMT|-u|x:y|-A|ag",
			both(basic("x", "y"), func(t *request.Template, _ *request.HopState) {
				t.Range, t.Referer, t.Compressed, t.TE, t.Cookies, t.UserAgent = "0-5", "ref", true, true, "q=r", "ag"
				t.Conditions = []header.Line{{Name: "If-Modified-Since", Value: "Sun, 06 Nov 1994 08:49:37 GMT"}}
			}), []string{"Q: r"}},
		{"--tr-encoding", func(t *request.Template, _ *request.HopState) { t.TE = true }, []string{"Connection: close"}},
		{"-x|PROXY|-u|a:b|-U|c:d|--proxy-header|P: q", both(basic("a", "b"), func(_ *request.Template, hop *request.HopState) {
			hop.ViaProxy, hop.ProxyAuthorization = true, "Basic Yzpk"
			hop.ProxyHeaders = []request.HeaderLine{{Name: "P", Value: "q"}}
		}), []string{"A: b"}},
		{"-x|PROXY", func(_ *request.Template, hop *request.HopState) { hop.ViaProxy = true }, []string{"Proxy-Connection:"}},
		{"-x|PROXY", func(_ *request.Template, hop *request.HopState) { hop.ViaProxy = true }, []string{"Host: foo"}},
	}
}

func basic(user, password string) func(*request.Template, *request.HopState) {
	return func(_ *request.Template, hop *request.HopState) {
		hop.Authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	}
}

func both(a, b func(*request.Template, *request.HopState)) func(*request.Template, *request.HopState) {
	return func(t *request.Template, hop *request.HopState) { a(t, hop); b(t, hop) }
}

// TestComposeLikeCurl holds every head against the installed curl's, byte for byte.
func TestComposeLikeCurl(t *testing.T) {
	r := newRecorder(t)
	dir := t.TempDir()
	for _, c := range composeCases() {
		tm, hop := template(t, "http://h.example:81/p", c)
		file := filepath.Join(dir, "F")
		if b, ok := tm.Body.(request.Bytes); ok {
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		args := strings.NewReplacer("PROXY", r.addr()).Replace(c.args)
		var argv []string
		if args != "" {
			for a := range strings.SplitSeq(args, "|") {
				if a == "F" || a == "@F" {
					a = strings.TrimSuffix(a, "F") + file
				}
				argv = append(argv, a)
			}
		}
		if !strings.Contains(c.args, "-A") {
			argv = append(argv, "-A", "bide")
		}
		for _, h := range c.hs {
			argv = append(argv, "-H", h)
		}
		heads, _, _, code := r.curl(append(argv, "http://h.example:81/p")...)
		if code != 0 || len(heads) != 1 {
			t.Errorf("curl %s %q: exit %d, %d requests", c.args, c.hs, code, len(heads))
			continue
		}
		_, want, _ := strings.Cut(heads[0], "\r\n")
		if got := render(lines(tm, hop)); got != want {
			t.Errorf("%s %q:\n%s\ncurl:\n%s", c.args, c.hs, got, want)
		}
	}
}

func template(t *testing.T, url string, c composeCase) (*request.Template, request.HopState) {
	t.Helper()
	u, err := request.ParseURL(url, "", false)
	if err != nil {
		t.Fatal(err)
	}
	tm := &request.Template{URL: u, Options: &request.Options{Method: "GET", UserAgent: "bide", Accept: "*/*"}}
	if tm.Headers, err = request.ParseHeaders(c.hs, nil); err != nil {
		t.Fatal(err)
	}
	hop := request.HopState{URL: u, HTTP: "1.1", Credentials: true, Key: true}
	if c.set != nil {
		c.set(tm, &hop)
	}
	return tm, hop
}

func lines(tm *request.Template, hop request.HopState) []header.Line {
	_, all := request.Compose(tm, &hop, nil)
	return all
}

func render(lines []header.Line) string {
	var out []string
	for _, l := range lines {
		out = append(out, l.Name+": "+l.Value)
	}
	return strings.Join(out, "\r\n")
}

func names(lines []header.Line) string {
	var out []string
	for _, f := range lines {
		out = append(out, f.Name)
	}
	return strings.Join(out, " ")
}

type unknown struct{ request.Bytes }

func (unknown) SendChunked() bool { return true }

func TestCompose(t *testing.T) {
	full := func(tm *request.Template, hop *request.HopState) {
		tm.Body, tm.ContentType, tm.Cookies = request.Bytes("x"), "t/x", "c=1"
		tm.KeyName, tm.KeyValue = "Idempotency-Key", "k"
		hop.IncludeBody, hop.BodyLength, hop.Authorization = true, 1, "Basic x"
	}
	hs := []string{"Authorization: secret", "Cookie: secret", "X: y", "idempotency-key: k", "Expect: 100-continue", "Content-Length: 1"}
	for _, c := range []struct {
		name, want            string
		hs                    []string
		set                   func(*request.Template, *request.HopState)
		chunked, expect, keyd bool
	}{
		{"R7.1 the key stands first among -H", "Host Authorization User-Agent Accept Cookie Idempotency-Key X Content-Length Content-Type",
			[]string{"X: y"}, full, false, false, true},
		{"R7.1 a key given by -H is sent once", "Host User-Agent Accept Idempotency-Key Authorization Cookie X Expect Content-Length Content-Type",
			hs, full, false, true, true},
		{"R7.6 nothing secret crosses origins", "Host User-Agent Accept X Expect Content-Length Content-Type",
			hs, both(full, func(_ *request.Template, hop *request.HopState) { hop.Credentials, hop.Key = false, false }), false, true, false},
		{"R7.6b a header that names a secret stays at home", "Host User-Agent Accept X-Request-Id",
			[]string{"X-Api-Key: k", "x-auth-token: t", "X-Request-Id: r", "Proxy-Authorization: p"}, func(_ *request.Template, hop *request.HopState) { hop.Credentials = false }, false, false, false},
		{"R7.6b what is for the proxy goes to the proxy", "Host User-Agent Accept Proxy-Connection Proxy-Authorization",
			[]string{"X-Api-Key: k", "Proxy-Authorization: p"}, func(_ *request.Template, hop *request.HopState) { hop.Credentials, hop.ViaProxy = false, true }, false, false, false},
		{"R7.6 the key goes with the body", "Host User-Agent Accept Authorization Cookie X",
			hs, both(full, func(_ *request.Template, hop *request.HopState) { hop.IncludeBody, hop.Key = false, false }), false, false, false},
		{"the jar's cookies come first and cross as the jar decides", "Host User-Agent Accept Cookie",
			nil, func(tm *request.Template, hop *request.HopState) {
				tm.Cookies, hop.Cookie, hop.Credentials = "t=1", "j=1", false
			}, false, false, false},
		{"unknown length", "Host User-Agent Accept Transfer-Encoding Expect",
			nil, func(tm *request.Template, hop *request.HopState) {
				hop.IncludeBody, hop.BodyLength = true, -1
			}, true, true, false},
		{"a stream with a known length is chunked all the same", "Host User-Agent Accept Transfer-Encoding Expect",
			nil, func(tm *request.Template, hop *request.HopState) {
				tm.Body, hop.IncludeBody, hop.BodyLength = unknown{}, true, 5
			}, true, true, false},
		{"HTTP/1.0 sends its length instead", "Host User-Agent Accept Content-Length",
			nil, func(tm *request.Template, hop *request.HopState) {
				tm.Body, hop.IncludeBody, hop.BodyLength, hop.HTTP = unknown{}, true, 5, "1.0"
			}, false, false, false},
		{"HTTP/2 has no chunks, Connection, Expect", "Host User-Agent Accept",
			[]string{"Connection: close", "Transfer-Encoding: chunked", "keep-alive: 5", "Upgrade: h2c"}, func(tm *request.Template, hop *request.HopState) {
				tm.Body, hop.IncludeBody, hop.BodyLength, hop.HTTP = unknown{}, true, -1, "2"
			}, false, false, false},
		{"asks for HTTP/2", "Host User-Agent Accept Connection Upgrade HTTP2-Settings Cookie X",
			[]string{"X: y"}, func(tm *request.Template, hop *request.HopState) { hop.Upgrade, hop.Cookie = true, "j=1" }, false, false, false},
		{"asks for nothing beside a Connection of the user", "Host User-Agent Accept Connection",
			[]string{"Connection: close"}, func(tm *request.Template, hop *request.HopState) { hop.Upgrade = true }, false, false, false},
		{"repeated after 417", "Host User-Agent Accept Content-Length",
			[]string{"Expect: 100-continue"}, func(tm *request.Template, hop *request.HopState) {
				hop.IncludeBody, hop.BodyLength, hop.NoExpect = true, 2<<20, true
			}, false, false, false},
		{"D4 an empty body", "Host User-Agent Accept Content-Length",
			nil, func(tm *request.Template, hop *request.HopState) { hop.IncludeBody = true }, false, false, false},
		{"the length of a body cannot be taken away", "Host User-Agent Accept Content-Length",
			[]string{"Content-Length:"}, func(tm *request.Template, hop *request.HopState) { hop.IncludeBody = true }, false, false, false},
		{"continuation", "Host Range If-Range User-Agent Accept",
			nil, func(tm *request.Template, hop *request.HopState) { hop.Range, hop.IfRange = "5-", `"e"` }, false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tm, hop := template(t, "http://h/", composeCase{hs: c.hs, set: c.set})
			before := fmt.Sprint(*tm)
			h, lines := request.Compose(tm, &hop, nil)
			if got := names(lines); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if h.Chunked != c.chunked || h.Expect != c.expect || h.Keyed != c.keyd {
				t.Errorf("chunked %t, expect %t, keyed %t", h.Chunked, h.Expect, h.Keyed)
			}
			if fmt.Sprint(*tm) != before {
				t.Error("the template changed")
			}
		})
	}
}

func TestComposeValues(t *testing.T) {
	tm, hop := template(t, "http://h/", composeCase{hs: []string{"Host: mine"}})
	tm.Cookies, hop.Cookie, tm.Referer, hop.Referer = "t=1", "j=1", "first", "last"
	for name, want := range map[string]string{"Cookie": "j=1; t=1", "Referer": "last", "Host": "mine"} {
		if got := header.Value(lines(tm, hop), name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	tm.Headers = append(tm.Headers, request.HeaderLine{Name: "X", Value: " y "})
	if got := header.Value(lines(tm, hop), "X"); got != " y " {
		t.Errorf("HTTP/1 keeps the text: %q", got)
	}
	hop.HTTP = "2"
	if got := header.Value(lines(tm, hop), "X"); got != "y" {
		t.Errorf("HTTP/2 allows no blanks around a value: %q", got)
	}
	hop.URL, _ = request.ParseURL("http://other:8/", "", false)
	if got := header.Value(lines(tm, hop), "Host"); got != "other:8" {
		t.Errorf("the user's Host went to another host: %q", got)
	}
}

// TestComposeAllocates holds that a plain head costs no memory: neither the hop nor the lines escape.
func TestComposeAllocates(t *testing.T) {
	tm, of := template(t, "http://h/", composeCase{})
	n := testing.AllocsPerRun(100, func() {
		var room [8]header.Line
		hop := of
		if _, lines := request.Compose(tm, &hop, room[:0]); len(lines) != 3 {
			t.Errorf("%d lines", len(lines))
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}
