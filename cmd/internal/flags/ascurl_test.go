package flags

import (
	"slices"
	"strings"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
)

// TestCurlrc: --as-curl reads the config file that curl would, after bide's own.
func TestCurlrc(t *testing.T) {
	all := map[string]string{
		"/c/.curlrc": "--next\nuser-agent = CURL_HOME", "/x/curlrc": "user-agent = XDG", "/h/.curlrc": "user-agent = HOME",
		"/c/.config/curlrc": "user-agent = CURL_HOME-config", "/h/.config/curlrc": "user-agent = HOME-config",
		"/h/.config/bide/config": "user-agent = bide\nreferer = bide",
	}
	without := func(names ...string) map[string]string {
		files := make(map[string]string)
		for name, text := range all {
			if !slices.Contains(names, name) {
				files[name] = text
			}
		}
		return files
	}
	for _, c := range []struct {
		name  string
		env   map[string]string
		files map[string]string
		args  string
		want  string
	}{
		{"CURL_HOME first", vars("HOME", "/h", "CURL_HOME", "/c", "XDG_CONFIG_HOME", "/x"), all, "--as-curl u", "CURL_HOME"},
		{"then XDG_CONFIG_HOME", vars("HOME", "/h", "CURL_HOME", "/none", "XDG_CONFIG_HOME", "/x"), all, "--as-curl u", "XDG"},
		{"then HOME", vars("HOME", "/h"), all, "--as-curl u", "HOME"},
		{"then .config in CURL_HOME", vars("HOME", "/h", "CURL_HOME", "/c"), without("/c/.curlrc", "/h/.curlrc"), "--as-curl u", "CURL_HOME-config"},
		{"then .config in HOME", vars("HOME", "/h"), without("/h/.curlrc"), "--as-curl u", "HOME-config"},
		{"not without --as-curl", vars("HOME", "/h"), all, "u", "bide"},
		{"the command line wins", vars("HOME", "/h"), all, "--as-curl -A me u", "me"},
		{"none", vars("HOME", "/h"), without("/h/.curlrc", "/h/.config/curlrc"), "--as-curl u", "bide"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := mustParse(t, world(c.env, c.files), strings.Fields(c.args)...).Groups[0]
			if g.UserAgent == nil || *g.UserAgent != c.want {
				t.Errorf("user agent %v, want %s", g.UserAgent, c.want)
			}
		})
	}
	for _, args := range []string{"-q --as-curl u", "--as-curl -q u", "--as-curl -qs u", "--as-curl --disable u"} {
		if g := mustParse(t, world(vars("HOME", "/h"), all), strings.Fields(args)...).Groups[0]; g.UserAgent != nil {
			t.Errorf("%s reads %s", args, *g.UserAgent)
		}
	}
}

// TestUsageLines: what curl has words for is said in as many lines as there.
func TestUsageLines(t *testing.T) {
	files := map[string]string{
		"bad": "no-such-flag", "own": "attempts = 0", "help": "-h", "spaced": "data = a b", "wide": "max-time = 5 m", "next": "--next\ndata = a\nurl = u",
		"var": "variable = %MISSING", "bare": "data", "more": "silent = x", "number": "max-redirs = x", "expand": "expand-data = {{a:nonsense}}",
	}
	const both = "You must select either --fail or --fail-with-body, not both."
	const inFile = "|option -K: error encountered when reading a file"
	for _, c := range []struct {
		args        string
		code        exitcode.Code
		lines, hint string
	}{
		{"--as-curl -f --fail-with-body u", exitcode.Usage, both + "|option --fail-with-body: is badly used here", ""},
		{"-K bad u", exitcode.Input, "bad:1: 'no-such-flag' is unknown" + inFile, ""},
		{"-K none u", exitcode.Input, "cannot read config from 'none'" + inFile, ""},
		{"-K own u", exitcode.Usage, "", ""},
		{"-K wide u", exitcode.Usage, "", ""},
		{"-K bare u", exitcode.Input, "bare:1: 'data' requires parameter" + inFile, ""},
		{"-K more u", exitcode.Input, "more:1: 'silent' had unsupported trailing garbage" + inFile, ""},
		{"-K number u", exitcode.Input, "number:1: 'max-redirs' expected a proper numerical parameter" + inFile, ""},
		{"-K var u", exitcode.Input, "var:1: 'variable' is badly used here" + inFile, "variable MISSING: it is not set in the environment; %MISSING=TEXT gives a default"},
		{"-K expand u", exitcode.Usage, "", ""},
		{"--as-curl -K help", exitcode.Usage, "(2) no URL specified", ""},
		{"-I --next u", exitcode.Usage, "missing URL before --next|option --next: is badly used here", ""},
		{"-m soon u", exitcode.Usage, "option -m: expected a proper numerical parameter", ""},
		{"--max-time soon u", exitcode.Usage, "option --max-time: expected a proper numerical parameter", ""},
		{"u --no-such-flag", exitcode.Usage, "option --no-such-flag: is unknown", ""},
		{"u --hedaer x", exitcode.Usage, "option --hedaer: is unknown", "did you mean --header?"},
		{"u -o", exitcode.Usage, "option -o: requires parameter", ""},
		{"--no-data u", exitcode.Usage, "option --no-data: used '--no-' for option that isn't a boolean", ""},
		{"-C 4 --no-clobber -o f u", exitcode.Usage, "--continue-at is mutually exclusive with --no-clobber|option --no-clobber: is badly used here", ""},
		{"--attempts 0 u", exitcode.Usage, "", ""},
		{"-T f -d x u", exitcode.Usage, "", ""},
	} {
		u := usage(t, world(nil, files), strings.Fields(c.args)...)
		if lines := strings.Join(u.Lines, "|"); u.Code != c.code || lines != c.lines || u.Hint != c.hint {
			t.Errorf("%s: %d %q %q", c.args, u.Code, lines, u.Hint)
		}
	}
}

// TestUnquotedBlanks: a value ends there with a warning, unless -s stands before it.
func TestUnquotedBlanks(t *testing.T) {
	files := map[string]string{"spaced": "data = a b", "next": "--next\ndata = a\nurl = u"}
	o := mustParse(t, world(nil, files), "-K", "spaced", "-s", "u")
	if got := o.Groups[0].Data[0].Value; got != "a" || len(o.Global.Notes) != 2 {
		t.Errorf("data %q, notes %q", got, o.Global.Notes)
	}
	o = mustParse(t, world(nil, files), "-s", "-K", "spaced", "u")
	if len(o.Global.Notes) != 0 {
		t.Errorf("-s stands before them: %q", o.Global.Notes)
	}
	if o = mustParse(t, world(nil, files), "-K", "next", "-K", "next"); len(o.Groups) != 2 || o.Groups[1].Data[0].Value != "a" {
		t.Errorf("%+v", o.Groups)
	}
}

// TestURLFile: --url @FILE is a URL a line, each saved under its own name.
func TestURLFile(t *testing.T) {
	files := map[string]string{"list": "http://a/[1]\r\n\nhttp://b/{x}\n"}
	urls := mustParse(t, world(nil, files), "-o", "first", "--url", "@list", "http://c/").Groups[0].URLs
	if len(urls) != 3 || urls[0].URL != "http://a/[1]" || urls[0].RemoteName || urls[0].Output != "first" || !urls[0].NoGlob ||
		!urls[1].RemoteName || urls[1].URL != "http://b/{x}" || urls[2].RemoteName || urls[2].NoGlob {
		t.Errorf("%+v", urls)
	}
	if u := usage(t, world(nil, files), "--url", "@none"); u.Code != exitcode.Input {
		t.Errorf("%d %s", u.Code, u.Message)
	}
}
