package flags

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
)

func TestNext(t *testing.T) {
	config := "url = c\noutput = 3\nnext\nurl = d\nuser-agent = four\nretry = 5\n"
	o := mustParse(t, world(map[string]string{"BIDE_BASE": "2"}, map[string]string{"f": config}),
		"-H", "A: 1", "-X", "PUT", "--attempts", "7", "-o", "1", "a", "-O", "b", "--next",
		"-o", "2", "-K", "f", "c2", "-Z", "-:", "e", "-T", "up")
	var got []string
	for i := range o.Groups {
		g := &o.Groups[i]
		if g.Policy.Base != 2*time.Second || g.MaxRedirects != 50 || g.ConnectTimeout != 30*time.Second {
			t.Errorf("group %d: base %v, %+v", i, g.Policy.Base, g)
		}
		for _, u := range g.URLs {
			got = append(got, strings.Join([]string{
				g.Method, strings.Join(g.Headers, ","), u.URL, u.Output, u.Upload, string(rune('0' + g.Policy.Attempts)),
			}, "|"))
		}
	}
	want := []string{"PUT|A: 1|a|1||7", "PUT|A: 1|b|||7", "||c|2||3", "||d|||6", "||c2|||6", "||e||up|3"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if !o.Global.Parallel || !o.Groups[0].URLs[1].RemoteName || *o.Groups[2].UserAgent != "four" {
		t.Errorf("%+v", o)
	}
}

// TestNextKeeps: the alias of curl's users holds for every group; a default
// config file's flags are the first group's, but for its word on retries.
func TestNextKeeps(t *testing.T) {
	o := mustParse(t, world(vars(), map[string]string{configPath: "attempts = 5\nlocation\n"}), "--as-curl", "a", "--next", "b")
	for i, g := range o.Groups {
		if !g.AsCurl || g.Fail != "none" || g.Policy.Attempts != 1 {
			t.Errorf("group %d: %+v", i, g)
		}
	}
	o = mustParse(t, world(vars(), map[string]string{configPath: "attempts = 5\nlocation\n"}), "a", "--next", "b")
	if a, b := o.Groups[0], o.Groups[1]; !a.Follow || b.Follow || a.Policy.Attempts != 5 || b.Policy.Attempts != 5 {
		t.Errorf("%+v\n%+v", a, b)
	}
}

func TestKeys(t *testing.T) {
	for args, says := range map[string]string{
		"--idempotency-key k a":                                  "",
		"--idempotency-key k a b":                                "for 2 URLs",
		"--idempotency-key k a{1,2,3}":                           "for 3 URLs",
		"--idempotency-key k -g a{1,2,3}":                        "",
		"--idempotency-key k a{":                                 "",
		"--idempotency-key k -T {x,y} a":                         "for 2 URLs",
		"--idempotency-key auto a[1-9] b":                        "",
		"--idempotency-key k a --next b":                         "without its own",
		"a --next --idempotency-key k b":                         "without its own",
		"-H Idempotency-Key:k a --next b":                        "without its own",
		"--idempotency-key k a --next --idempotency-key k b":     "the same idempotency key",
		"--idempotency-key k a --next --idempotency-key l b":     "",
		"--idempotency-key k a -: --idempotency-key auto b c":    "",
		"--idempotency-key auto a --next b":                      "",
		"--idempotency-key auto a -: --idempotency-key auto b c": "",
	} {
		t.Run("R7.2_"+args, func(t *testing.T) {
			_, err := Parse(strings.Fields(args), Env{})
			if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
				t.Errorf("%v, want %q", err, says)
			}
		})
	}
}

func TestManyErrors(t *testing.T) {
	for args, says := range map[string]string{
		"--rate 0/s u": "not a rate", "--rate x u": "not a rate", "--rate 1/y u": "not a rate", "--rate 1/0s u": "not a rate",
		"--rate 1/ u": "not a rate", "--rate 1/ss u": "not a rate", "--rate 1/99999999d u": "not a rate", "--rate -1/s u": "not a rate",
		"--parallel-max x u": "not a whole number", "--variable a u": "has no content", "--variable %NONE u": "not set",
		"--variable a=1 --expand-header {{a:up}} u":   "--expand-header: variable a",
		"--variable a=1 --expand-max-redirs {{a}}x u": "max-redirs",
		"-o x -Z --timeline json -i u --next v":       "-i",
		"u --next --timeline json -i v":               "-i",
	} {
		if u := usage(t, Env{}, strings.Fields(args)...); !strings.Contains(u.Message, says) || u.Code != exitcode.Usage {
			t.Errorf("%s: %d %s, want %s", args, u.Code, u.Message, says)
		}
	}
	if u := usage(t, world(nil, nil), "--variable", "a@missing", "u"); u.Code != exitcode.Input {
		t.Errorf("%d %s, want exit 26", u.Code, u.Message)
	}
	if o := mustParse(t, Env{}, "--rate", "1/s", "-Z", "u"); len(o.Global.Notes) != 1 {
		t.Errorf("%+v", o.Global)
	}
	o := mustParse(t, Env{}, "--parallel-max", "999", "-Z", "u")
	if o.Global.ParallelMax != 300 || len(o.Global.Notes) != 1 {
		t.Errorf("%+v", o.Global)
	}
}

func TestExpand(t *testing.T) {
	env := world(map[string]string{"TOKEN": "t0k"}, map[string]string{"f": "\n body \n", "conf": "variable = late=9\nexpand-header = \"X: {{late}}{{one}}\"\n"})
	o := mustParse(t, env, "--variable", "%TOKEN", "--variable", "one=1", "--variable", "b@f", "--variable", "%NONE=none",
		"--expand-variable", "two={{one}}{{one}}", "-K", "conf",
		"--expand-url=http://h/{{two}}/{{NONE}}", "--expand-oauth2-bearer", "{{TOKEN}}", "--expand-json", `{"a":"{{b:trim:json}}"}`, "-H", "{{one}}: kept", "--expand-output", "{{ x }}")
	g := o.Groups[0]
	if g.URLs[0].URL != "http://h/11/none" || g.Bearer != "t0k" || g.Data[0].Value != `{"a":"body"}` || strings.Join(g.Headers, ",") != "X: 91,{{one}}: kept" || g.URLs[0].Output != "{{ x }}" {
		t.Errorf("%+v", g)
	}
	if len(o.Global.Notes) != 1 || !strings.Contains(o.Global.Notes[0], "--expand-output") {
		t.Errorf("%q", o.Global.Notes)
	}
	env.Stdin = strings.NewReader("in")
	if o := mustParse(t, env, "--variable", "i@-", "--expand-data", "{{i}}", "u"); o.Groups[0].Data[0].Value != "in" {
		t.Errorf("%+v", o.Groups[0].Data)
	}
	env.Open = func(string) (io.ReadCloser, error) { return io.NopCloser(brokenReader{}), nil }
	if u := usage(t, env, "-q", "--variable", "i@x", "u"); u.Code != exitcode.Input {
		t.Errorf("%d %s", u.Code, u.Message)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
