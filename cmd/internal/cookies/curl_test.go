package cookies_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/cookies"
)

// visits are answers and requests that the installed curl makes as well: the first
// URL's answer sets the cookies.
var visits = []struct {
	name string
	set  []string
	urls []string
}{
	{"address", []string{
		"a=1", "bb=2", "c=3; path=/a/", "d=4; path=/", `e="q v"; HttpOnly`, "f=5; max-age=1000000000", "g=6; secure", "h", "=i",
		`j=; path="/a"`, "k=7; domain=127.0.0.1", "a=9", "l=8; expires=Wed, 09-Jun-2099 10:18:14 GMT", "m=8; path=/nope",
		"o=a\tb", "p=1; max-age=0", "q = 1 2 ; path=/a/b//", "r=1; domain=example.com", "__Secure-s=1", "__Host-t=1; secure; path=/",
		"v=1; Expires=Thu Jan  1 00:00:00 2099",
	}, []string{"http://127.0.0.1/a/set/x", "http://127.0.0.1/a/set/y", "http://127.0.0.1/a/b/c", "http://127.0.0.1/", "http://127.0.0.1/nope"}},
	{"name", []string{
		"host=1", "domain=1; domain=example.com", "dot=1; Domain=.example.com", "self=1; domain=h.example.com", "below=1; domain=x.h.example.com",
		"other=1; domain=other.com", "alike=1; domain=ample.com", "suffix=1; domain=com", "secure=1; secure", "path=1; domain=example.com; path=/p",
	}, []string{"http://h.example.com/", "http://h.example.com/p/q", "http://example.com/", "http://x.h.example.com/", "http://EXAMPLE.com/p",
		"http://badexample.com/", "http://example.org/"}},
	{"public suffix of two labels", []string{"a=1; domain=co.uk", "b=1; domain=example.co.uk", "c=1; domain=uk"},
		[]string{"http://h.example.co.uk/", "http://example.co.uk/", "http://co.uk/", "http://other.co.uk/"}},
}

// visitor is a loopback server that stands for every host, and a curl that visits it.
type visitor struct {
	t      *testing.T
	path   string
	server *httptest.Server

	mu    sync.Mutex
	set   []string // to be set by the next answer
	lines []string // Cookie lines received
}

func newVisitor(t *testing.T) *visitor {
	path, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	v := &visitor{t: t, path: path}
	v.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.lines = append(v.lines, strings.Join(r.Header.Values("Cookie"), "\n"))
		if v.set != nil {
			w.Header()["Set-Cookie"] = v.set
			v.set = nil
		}
	}))
	t.Cleanup(v.server.Close)
	return v
}

// curl visits urls; the first answer sets cookies. It gives the Cookie lines sent.
func (v *visitor) curl(set, urls []string, args ...string) []string {
	v.t.Helper()
	v.mu.Lock()
	v.set, v.lines = set, nil
	v.mu.Unlock()
	args = append([]string{"-q", "-sS", "-m", "10", "--noproxy", "*", "--connect-to", "::" + v.server.Listener.Addr().String()}, args...)
	if out, err := exec.Command(v.path, append(args, urls...)...).CombinedOutput(); err != nil {
		v.t.Fatalf("curl: %v %s", err, out)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.lines
}

// TestLikeCurl holds jar files and Cookie lines against the installed curl's.
func TestLikeCurl(t *testing.T) {
	v := newVisitor(t)
	for _, c := range visits {
		t.Run(c.name, func(t *testing.T) {
			jarName := filepath.Join(t.TempDir(), "jar")
			at := time.Now()
			sent := v.curl(c.set, c.urls, "-c", jarName)
			var j cookies.Jar
			for i, raw := range c.urls {
				if got := j.Header(parse(t, raw), true, at); got != sent[i] {
					t.Errorf("%s: %q, curl %q", raw, got, sent[i])
				}
				if i == 0 {
					j.SetAll(parse(t, raw), c.set, at)
				}
			}
			theirs, err := os.ReadFile(jarName)
			if err != nil {
				t.Fatal(err)
			}
			sameFile(t, &j, string(theirs))

			sent = v.curl(nil, c.urls[1:], "-b", jarName)
			var k cookies.Jar
			if err := k.Load(bytes.NewReader(theirs), false, at); err != nil {
				t.Fatal(err)
			}
			for i, raw := range c.urls[1:] {
				if got := k.Header(parse(t, raw), true, at); got != sent[i] {
					t.Errorf("from curl's file, %s: %q, curl %q", raw, got, sent[i])
				}
			}
		})
	}
}

func sameFile(t *testing.T, j *cookies.Jar, theirs string) {
	t.Helper()
	var ours bytes.Buffer
	if _, err := j.WriteTo(&ours); err != nil {
		t.Fatal(err)
	}
	// The clock may tick between the two: Max-Age's expiry is not compared to the second.
	expiry := regexp.MustCompile(`(\t\d{8})\d\d(\tf\t)`)
	// 7.88 does not bound how long a cookie lives.
	year := regexp.MustCompile(`\t[1-9]\d{9}\t`)
	plain := func(s string) string {
		s = year.ReplaceAllStringFunc(s, func(field string) string {
			if at, err := strconv.ParseInt(strings.Trim(field, "\t"), 10, 64); err == nil && at > time.Now().Unix()+399*24*3600 {
				return "\tlong\t"
			}
			return field
		})
		return strings.ReplaceAll(expiry.ReplaceAllString(s, "${1}xx$2"), "by libcurl!", "by bide!")
	}
	if plain(ours.String()) != plain(theirs) {
		t.Errorf("jar file:\n%s\ncurl's:\n%s", ours.String(), theirs)
	}
}
