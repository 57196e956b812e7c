package flags

import (
	"strings"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
	"github.com/google/go-cmp/cmp"
)

// TestTraps has the traps of pflag, each with what must happen instead.
func TestTraps(t *testing.T) {
	data := func(values ...string) func(*testing.T, *Options) {
		return func(t *testing.T, o *Options) {
			var got []string
			for _, d := range o.Groups[0].Data {
				got = append(got, d.Value)
			}
			if d := cmp.Diff(values, got); d != "" {
				t.Error(d)
			}
		}
	}
	for _, c := range []struct {
		name string
		args []string
		ok   func(*testing.T, *Options)
	}{
		{"attached value keeps its =", []string{"-d=foo", "u"}, data("=foo")},
		{"attached value of = alone", []string{"-d=", "u"}, data("=")},
		{"attached after a cluster", []string{"-sSd=a=b", "u"}, data("=a=b")},
		{"value of a long flag is split once", []string{"--data=a=b", "u"}, data("a=b")},
		{"value that looks like a flag", []string{"-d", "-s", "-d", "--", "u"}, data("-s", "--")},
		{"empty value", []string{"-d", "", "--data=", "u"}, data("", "")},
		{"commas are not separators", []string{"-d", "a,b", "u"}, data("a,b")},
		{"cluster with an attached value", []string{"-sSfLo", "out", "u"}, func(t *testing.T, o *Options) {
			g := o.Groups[0]
			if !o.Global.Silent || !o.Global.ShowError || g.Fail != "fail" || !g.Follow || g.URLs[0].Output != "out" {
				t.Errorf("%+v", o)
			}
		}},
		{"-XPOST", []string{"-XPOST", "u"}, func(t *testing.T, o *Options) {
			if o.Groups[0].Method != "POST" {
				t.Error(o.Groups[0].Method)
			}
		}},
		{"-s run is a request", []string{"-s", "mock"}, isURL("mock")},
		{"-sLo run URL", []string{"-sLo", "run", "u"}, isURL("u")},
		{"-- demo", []string{"--", "demo"}, isURL("demo")},
		{"http://demo", []string{"http://demo"}, isURL("http://demo")},
		{"demo/", []string{"demo/"}, isURL("demo/")},
		{"URL after -- that looks like a flag", []string{"-s", "--", "-L"}, isURL("-L")},
		{"flags after URLs", []string{"u", "-L", "-s"}, func(t *testing.T, o *Options) {
			if !o.Groups[0].Follow || !o.Global.Silent {
				t.Errorf("%+v", o)
			}
		}},
		{"percent signs", []string{"-w", "%{json}%%\n", "u"}, func(t *testing.T, o *Options) {
			if o.Groups[0].WriteOut != "%{json}%%\n" {
				t.Errorf("%q", o.Groups[0].WriteOut)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) { c.ok(t, mustParse(t, Env{}, c.args...)) })
	}
}

func isURL(url string) func(*testing.T, *Options) {
	return func(t *testing.T, o *Options) {
		if got := o.Groups[0].URLs; len(got) != 1 || got[0].URL != url {
			t.Errorf("URLs %+v, want %q", got, url)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		args string
		says string
	}{
		{"-test.v u", "-t (--telnet-option)"},
		{"-test.run=x u", "-t (--telnet-option)"},
		{"-stest.v u", "-t (--telnet-option)"},
		{"-s=foo u", "-s takes no value"},
		{"-s= u", "-s takes no value"},
		{"-Ls=true u", "-s takes no value"},
		{"--silent=false u", "--no-silent turns it off"},
		{"--silent= u", "--silent takes no value"},
		{"--no-silent=true u", "--no-silent takes no value"},
		{"--http2=true u", "--http2 takes no value"},
		{"--next=false u", "--next takes no value"},
		{"-: u", "option --next: is badly used here; missing URL before --next"},
		{"u --next", "no URL"},
		{"u -: -: v", "option --next: is badly used here; missing URL before --next"},
		{"--ntlm u", "bide has no --ntlm"},
		{"--no-ntlm u", "bide has no --no-ntlm"},
		{"-C - -o f -r 1-2 u", "-C is for plain downloads"},
		{"-C 5 -d x u", "-C is for plain downloads"},
		{"-C x u", "is no offset"},
		{"-C +5 u", "is no offset"},
		{"--etag-save f u v", "option --url: is badly used here; The etag options only work on a single URL"},
		{"u v --etag-compare f", "option --etag-compare: is badly used here; The etag options only work on a single URL"},
		{"-C 1 --no-clobber -o f u", "option --no-clobber: is badly used here; --continue-at is mutually exclusive with --no-clobber"},
		{"--remove-on-error -C - -o f u", "option -C: is badly used here; --continue-at is mutually exclusive with --remove-on-error"},
		{"-m 22222222222222222 u", "option -m: expected a proper numerical parameter"},
		{"--proto + u", "names no protocol"},
		{"--expand-silent u", "takes no value"},
		{"--expand-ntlm u", "bide has no --expand-ntlm"},
		{"--expand-qwert u", "there is no flag --qwert"},
		{"u --expand-url", "option --expand-url: requires parameter"},
		{"--sil u", "did you mean --silent?"},
		{"--attemps 3 u", "did you mean --attempts?"},
		{"--atempts=3 u", "did you mean --attempts?"},
		{"--hedaer a:b u", "did you mean --header?"},
		{"--no-slient u", "did you mean --no-silent?"},
		{"--o f u", "did you mean -o?"},
		{"-timeline json u", "did you mean --timeline?"},
		{"--qwertyuiop u", "option --qwertyuiop: is unknown"},
		{"--no-request u", "isn't a boolean"},
		{"--no-http2 u", "used '--no-' for option that isn't a boolean"},
		{"--=x u", "option --: is unknown"},
		{"---x u", "option ---x: is unknown"},
		{"-ü u", "option -ü: is unknown"},
		{"- u", "- is not a URL"},
		{"u -X", "option -X: requires parameter"},
		{"u --request", "option --request: requires parameter"},
		{"u -sX", "option -sX: requires parameter"},
		{"", "no URL"},
		{"-s", "no URL"},
		{"-o f", "no URL"},
		{"--", "no URL"},
	} {
		t.Run(c.args, func(t *testing.T) {
			u := usage(t, Env{}, strings.Fields(c.args)...)
			if !strings.Contains(u.Message, c.says) || u.Code != exitcode.Usage {
				t.Errorf("%d %q, want %q", u.Code, u.Message, c.says)
			}
		})
	}
	if u := usage(t, Env{}, ""); u.Code != exitcode.BadURL {
		t.Errorf("an empty URL exits %d, curl 3", u.Code)
	}
	if u := usage(t, Env{}, "--x\x1b[31m\n", "u"); !strings.Contains(u.Message, `\x1b`) {
		t.Errorf("%q", u.Message)
	}
}

// TestNegations: every boolean has its opposite, which undoes it, and every
// name in the table is there once.
func TestNegations(t *testing.T) {
	p := newParser(Env{})
	for _, f := range Table() {
		neg := f.Negation()
		if (neg != "") != (f.Kind == Boolean && f.Name != "fail" && f.Name != "no-fail") {
			t.Errorf("--%s: negation %q", f.Name, neg)
		}
		if neg == "" || f.Repeats { // --no-remote-name is for the next URL: TestOrder
			continue
		}
		if of, is := p.lookup(neg); of == nil || of.Name != f.Name || !is {
			t.Errorf("--%s is not found", neg)
		}
		got, want := mustParse(t, Env{}, "--"+f.Name, "--"+neg, "u"), base()
		switch f.Name {
		case "tcp-nodelay": // on is the default
			want.Groups[0].NoTCPNoDelay = true
		case "no-clobber": // its opposite says more than nothing
			want.Groups[0].Clobber = ClobberAlways
		}
		if d := cmp.Diff(want, got, cmp.AllowUnexported(retry.Set{})); d != "" {
			t.Errorf("--%s --%s leaves something: %s", f.Name, neg, d)
		}
	}
}

func TestPairs(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"--timeline json -i u", "-i"},
		{"--timeline json -D - u", "-D -"},
		{"--timeline jsonl -w x u", "-w"},
		{"--timeline json -o - u", "-o -"},
		{"--timeline json -c - u", "-c -"},
		{"--timeline json --stderr - u", "--stderr -"},
		{"--timeline json --trace - u", "--trace -"},
		{"--timeline json --trace-ascii - u", "--trace-ascii -"},
		{"--timeline-file - -i u", "--timeline json"},
		{"--timeline json -o /dev/stdout u", "-o /dev/stdout"},
		{"--timeline jsonl -o /dev/fd/1 u", "-o /dev/fd/1"},
		{"--timeline json u -o /proc/self//fd/1", "-o /proc/self//fd/1"},
		{"--timeline json -D /dev/stdout u", "-D /dev/stdout"},
		{"--timeline-file /dev/stdout -i u", "-i"},
		{"--timeline none --timeline-file f u", "--timeline-file"},
		{"-I -d x u", "-I"},
		{"-T f -d x u", "-d"},
		{"-T f -I u", "-I"},
		{"-T f -T g u", "-T"},
		{"--tlsv1.3 --tls-max 1.2 u", "--tls-max"},
		{"--attempts unlimited u", "--deadline"},
		{"--attempts unlimited -m 5 u", "--deadline"},
		{"--attempts unlimited --deadline 0 u", "--deadline"},
		{"--base 10m u", "--cap"},
		{"--retry-delay 10 --cap 5 u", "--retry-delay"},
		{"--cap 500ms u", "--base"},
		{"--retry 3 --attempts 4 u", "set the same thing"},
		{"--retry-delay 1 --base 1 u", "set the same thing"},
		{"--retry-delay 1 --backoff fixed u", "set the same thing"},
	} {
		t.Run(c.args, func(t *testing.T) {
			if u := usage(t, Env{}, strings.Fields(c.args)...); !strings.Contains(u.Message, c.says) {
				t.Errorf("%q does not say %q", u.Message, c.says)
			}
		})
	}
	for _, args := range []string{
		"--timeline json --timeline-file f -i u", "--timeline human -i u", "--timeline json -D h u", "--timeline-file % -i u",
		"--timeline json -w %{stderr}x u", "-I -G -d x u", "--timeline json -o f u", "--attempts unlimited --retry-max-time 9 u", "--base 1 --cap 1 u",
		"--base 9m --cap 0 u",
	} {
		mustParse(t, Env{}, strings.Fields(args)...)
	}
}
