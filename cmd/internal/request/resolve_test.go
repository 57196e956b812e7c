package request_test

import (
	"errors"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/retry"
)

const resolveBase = "http://u:p@h:81/base/d/e?q=1#frag"

var resolveCases = []struct {
	ref, want string
	unlike    string // why the installed curl is not followed
}{
	{"x", "http://u:p@h:81/base/d/x", ""},
	{"/x", "http://u:p@h:81/x", ""},
	{"?y", "http://u:p@h:81/base/d/e?y", ""},
	{"//other/z", "http://other/z", ""},
	{"//other", "http://other/", ""},
	{"///other/x", "http://other/x", ""},
	{"a b?c d#e", "http://u:p@h:81/base/d/a%20b?c+d#e", ""},
	{"/ä?ü", "http://u:p@h:81/%c3%a4?%c3%bc", ""},
	{"/\xffx", "http://u:p@h:81/%ffx", ""},
	{"/+ ?+ +", "http://u:p@h:81/+%20?+++", ""},
	{"../../../x", "http://u:p@h:81/x", ""},
	{"./x/../y", "http://u:p@h:81/base/d/y", ""},
	{"/a/../b", "http://u:p@h:81/b", ""},
	{"..", "http://u:p@h:81/base/", "curl 7.88 gives the root; RFC 3986 §5.4.1 says /base/"},
	{".", "http://u:p@h:81/base/d/", ""},
	{"x/..?a/../b", "http://u:p@h:81/base/d/?a/../b", ""},
	{"x#g", "http://u:p@h:81/base/d/x#g", ""},
	{"#f", "http://u:p@h:81/base/d/e?q=1#f", "curl 7.88 drops the last path segment; RFC 3986 §5.4.1 keeps it"},
	{"", "http://u:p@h:81/base/d/e?q=1", "curl takes no Location from an empty one"},
	{"http://o/p/../q", "http://o/q", ""},
	{"HTTP://o", "http://o/", ""},
	{"http:/o/w", "http://o/w", ""},
	{"https://o:1/x", "https://o:1/x", ""},
	{"http://v:w@o/au", "http://v:w@o/au", ""},
	{"http://o?x=1 2", "http://o/?x=1+2", "curl sends this, but its %{redirect_url} shows an absolute URL as received"},
	{"http://o/x#h", "http://o/x#h", ""},
	{"/x:y//z", "http://u:p@h:81/x:y//z", ""},
	{"/a%20b%zz", "http://u:p@h:81/a%20b%zz", ""},
	{"\\x", "http://u:p@h:81/base/d/\\x", ""},
	{"/x?", "http://u:p@h:81/x?", "curl 7.88 loses an empty query; text is kept as written"},
}

func TestResolve(t *testing.T) {
	base, err := request.ParseURL(resolveBase, "", false)
	if err != nil {
		t.Fatal(err)
	}
	before := base.String()
	for _, c := range resolveCases {
		got, err := base.Resolve(c.ref)
		if err != nil || got.String() != c.want {
			t.Errorf("Resolve(%q) = %v, %v, want %s", c.ref, got, err, c.want)
		}
	}
	if base.String() != before {
		t.Errorf("Resolve changed its base to %s", base)
	}
	if got, err := base.Resolve("  /x \t"); err != nil || got.String() != "http://u:p@h:81/x" {
		t.Errorf("blanks around: %v, %v", got, err)
	}
}

func TestResolvePathAsIs(t *testing.T) {
	base, err := request.ParseURL("h/a/../b", "", true)
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{"./c": "http://h/c", "../../c": "http://h/c", "/x/../y": "http://h/x/../y", "http://o/x/../y": "http://o/x/../y"} {
		if got, err := base.Resolve(ref); err != nil || got.String() != want {
			t.Errorf("Resolve(%q) = %v, %v, want %s", ref, got, err, want)
		}
	}
}

func TestResolveLikeCurl(t *testing.T) {
	r := newRecorder(t)
	for _, c := range resolveCases {
		if c.unlike != "" {
			continue
		}
		r.mu.Lock()
		r.location = c.ref
		r.mu.Unlock()
		_, _, out, code := r.curl("-o", "/dev/null", "-w", "%{redirect_url}", resolveBase)
		if code != 0 || out != c.want {
			t.Errorf("curl with Location %q: %q (exit %d), want %q", c.ref, out, code, c.want)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	base, _ := request.ParseURL(resolveBase, "", false)
	for _, c := range []struct {
		ref  string
		code exitcode.Code
	}{
		{"foo:bar", exitcode.BadProtocol}, {"htps://x/", exitcode.BadProtocol}, {"mailto:x@y", exitcode.BadProtocol},
		{"file:///etc/passwd", exitcode.BadProtocol}, {"h:18998/x", exitcode.BadProtocol},
		{"http:x", exitcode.BadURL}, {"http://a b/", exitcode.BadURL}, {"/a\tb", exitcode.BadURL},
		{"/a\r\nX: y", exitcode.BadURL}, {"//", exitcode.BadURL}, {"http://h:99999/", exitcode.BadURL},
	} {
		_, err := base.Resolve(c.ref)
		var e *request.Error
		if !errors.As(err, &e) || e.Code != c.code || e.RetryClass() != retry.ClassRedirect {
			t.Errorf("Resolve(%q): %#v, want redirect, exit %d", c.ref, err, c.code)
		}
	}
}

func TestWithUploadName(t *testing.T) {
	for _, c := range []struct{ url, file, want string }{
		{"h/up/", "dir/t.sh", "/up/t.sh"}, {"h", "t.sh", "/t.sh"}, {"h?x", "t.sh", "/?x"},
		{"h/up/?q", "t.sh", "/up/?q"}, {"h/up", "t.sh", "/up"}, {"h/", "sp é.sh", "/sp%20%c3%a9.sh"},
		{"h/", `a\b`, "/b"}, {"h/", "", "/"},
	} {
		u, _ := request.ParseURL(c.url, "", false)
		if got := u.WithUploadName(c.file).RequestTarget(); got != c.want {
			t.Errorf("%s with %s: %s, want %s", c.url, c.file, got, c.want)
		}
	}
}

func TestWithQuery(t *testing.T) {
	for _, c := range []struct{ url, text, want string }{
		{"h/?z#f", "x=1&y", "http://h/?z&x=1&y#f"}, {"h/a?", "x", "http://h/a?x"}, {"h", "x", "http://h/?x"},
		{"h#f", "x#y?", "http://h/?x#y?"},
	} {
		u, _ := request.ParseURL(c.url, "", false)
		if got, err := u.WithQuery(c.text); err != nil || got.String() != c.want {
			t.Errorf("%s with %s: %v, %v, want %s", c.url, c.text, got, err, c.want)
		}
	}
	u, _ := request.ParseURL("h", "", false)
	if _, err := u.WithQuery("a b"); err == nil {
		t.Error("a space in the query went through")
	}
}

func FuzzResolve(f *testing.F) {
	for _, c := range resolveCases {
		f.Add(c.ref)
	}
	base, err := request.ParseURL(resolveBase, "", false)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		u, err := base.Resolve(ref)
		if err != nil {
			return
		}
		line := u.Absolute()
		for i := 0; i < len(line); i++ {
			if line[i] <= ' ' || line[i] == 0x7f {
				t.Fatalf("%q gives %q", ref, line)
			}
		}
		if u.Host != base.Host && u.HasUser && u.User == base.User && ref[0] == '/' {
			t.Fatalf("%q took the userinfo along", ref)
		}
	})
}
