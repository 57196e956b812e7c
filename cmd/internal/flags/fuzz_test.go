package flags

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzParse gives any command line, variable and config file to Parse. The
// arguments are the lines of args; "-K f" reads conf.
func FuzzParse(f *testing.F) {
	for _, r := range rows() {
		f.Add(strings.ReplaceAll(r.args, " ", "\n"), "retry = 2\n-sL\n", "4")
	}
	for _, args := range []string{
		"-d=foo\nu", "-test.v", "--=x", "---", "-", "--", "-K\nf", "-sSfLo\nout\nu", "-h\nretry", "--no-\nu", "-u\na:b\nhttp://c:d@e/",
		"--retry\n3\n--attempts\n4\nu", "--timeline\njson\n-i\nu", "-\xff\nu", "--attempts\nunlimited\n--deadline\n9223372036\nu",
		"-o\nx\nu\n--next\n-Ho: p\nv\n-:\n-K\nf\nw", "--variable\na=1\n--expand-url\n{{a}}", "--variable\na@-\n--expand-header\n{{a:json,url}}\nu{b,c}",
		"--idempotency-key\nk\nu[1-2]\n--next\nv", "-Z\n--rate\n3/5m\n--parallel-max\n301\nu",
	} {
		f.Add(args, "config = f\n", "")
	}
	f.Fuzz(func(t *testing.T, args, conf, attempts string) {
		list := strings.Split(args, "\n")
		parse := func() (*Options, error) {
			return Parse(list, world(map[string]string{"BIDE_ATTEMPTS": attempts, "BIDE_RETRY_DELAY": attempts}, map[string]string{"f": conf, "-": conf}))
		}
		o, err := parse()
		again, err2 := parse()
		if !reflect.DeepEqual(o, again) || (err == nil) != (err2 == nil) {
			t.Fatal("two runs differ")
		}
		if err != nil {
			checkMessage(t, err)
			return
		}
		if o.Global.Help || o.Global.Version {
			return
		}
		checkOptions(t, o, list)
	})
}

func checkMessage(t *testing.T, err error) {
	t.Helper()
	var u *UsageError
	if !errors.As(err, &u) || u.Code == 0 {
		t.Fatalf("%T: %v", err, err)
	}
	for _, r := range u.Message {
		if r < ' ' || r == 0x7f {
			t.Fatalf("a control character in %q", u.Message)
		}
	}
	if u.Message == "" || !utf8.ValidString(u.Message) {
		t.Fatalf("message %q", u.Message)
	}
}

func checkOptions(t *testing.T, o *Options, args []string) {
	t.Helper()
	for i := range o.Groups {
		checkGroup(t, o, &o.Groups[i])
	}
	for _, s := range o.Secrets {
		if s.Index >= len(args) || s.Start >= s.End || s.End > len(args[s.Index]) {
			t.Fatalf("span %+v", s)
		}
	}
	for _, n := range o.Global.Notes {
		if strings.ContainsAny(n, "\n\r\x1b\x00") {
			t.Fatalf("note %q", n)
		}
	}
}

// FuzzDuration: what is accepted is never negative, and zero only for zero.
func FuzzDuration(f *testing.F) {
	for _, s := range []string{"0", "5", "0.5", "500ms", "1m30s", "0.0000000001", "9223372036", "-1", "1e3", "0x1", "1_0", "NaN", ".", "9223372036854775807ns"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseDuration(text)
		if err != nil {
			return
		}
		if d < 0 || (d == 0) == strings.ContainsAny(text, "123456789") || strings.ContainsAny(text, "-+eExX_") {
			t.Fatalf("%q gives %v", text, d)
		}
	})
}

func checkGroup(t *testing.T, o *Options, g *Group) {
	t.Helper()
	if len(g.URLs) == 0 {
		t.Fatal("no URL")
	}
	for _, u := range g.URLs {
		if u.URL == "" || u.HasOutput && (u.Output == "" || u.RemoteName) {
			t.Fatalf("URL %+v", u)
		}
	}
	if err := g.Policy.Check(); err != nil {
		t.Fatalf("the policy is not checked: %v", err)
	}
	byHand := g.IdempotencyKey != "" && g.IdempotencyKey != "auto"
	if byHand && g.operations() > 1 {
		t.Fatal("a shared key (R7.2)")
	}
	for i := range o.Groups {
		if byHand && g != &o.Groups[i] && (o.Groups[i].IdempotencyKey == "" || o.Groups[i].IdempotencyKey == g.IdempotencyKey) {
			t.Fatal("a key that two groups share (R7.2)")
		}
	}
}
