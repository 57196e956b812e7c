package flags

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
	"github.com/google/go-cmp/cmp"
)

const configPath = "/home/me/.config/bide/config"

func vars(pairs ...string) map[string]string {
	m := map[string]string{"HOME": "/home/me"}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

// TestPrecedence: flag beats variable beats config file, whatever the order.
func TestPrecedence(t *testing.T) {
	conf := map[string]string{configPath: "attempts = 2\n", "f": "attempts = 3\n", "curl": "retry = 6\n", "delay": "retry-delay = 7\n"}
	for _, c := range []struct {
		name     string
		env      map[string]string
		args     string
		attempts int
	}{
		{"nothing", map[string]string{}, "u", 3},
		{"default file", vars(), "u", 2},
		{"-K beats the default file", vars(), "-K f u", 3},
		{"variable beats files", vars("BIDE_ATTEMPTS", "4"), "-K f u", 4},
		{"flag beats all", vars("BIDE_ATTEMPTS", "4"), "--attempts 5 -K f u", 5},
		{"flag after -K", vars("BIDE_ATTEMPTS", "4"), "-K f --attempts 5 u", 5},
		{"an empty variable is unset", vars("BIDE_ATTEMPTS", ""), "u", 2},
		{"the last flag", vars(), "--attempts 5 --attempts 9 u", 9},
		{"counterpart: the flag wins over the variable", vars("BIDE_ATTEMPTS", "4"), "--retry 8 u", 9},
		{"counterpart: the variable wins over the file", vars("BIDE_RETRY", "1"), "-K f u", 2},
		{"counterpart: own flag over curl's variable", vars("BIDE_RETRY", "1"), "--attempts 7 u", 7},
		{"counterpart: -K over the default file", vars(), "-K curl u", 7},
		{"-q skips the default file", vars(), "-q u", 3},
		{"-q leading a cluster", vars(), "-qs u", 3},
		{"--disable", vars(), "--disable u", 3},
		{"-q later does nothing", vars(), "u -q", 2},
		{"-q leaves variables", vars("BIDE_ATTEMPTS", "4"), "-q u", 4},
		{"--as-curl beats variable and default file", vars("BIDE_ATTEMPTS", "4"), "--as-curl u", 1},
		{"--as-curl leaves --retry", vars(), "--as-curl --retry 3 u", 4},
		{"--as-curl leaves -K", vars(), "--as-curl -K curl u", 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := mustParse(t, world(c.env, conf), strings.Fields(c.args)...)
			if got := o.Groups[0].Policy.Attempts; got != c.attempts {
				t.Errorf("attempts %d, want %d", got, c.attempts)
			}
		})
	}
	o := mustParse(t, world(vars("BIDE_RETRY_DELAY", "7"), nil), "--base", "2", "u")
	if p := o.Groups[0].Policy; p.Base != 2*time.Second || p.Backoff != retry.Fixed {
		t.Errorf("a stronger --base leaves the rest of a variable's retry-delay: %v %v", p.Base, p.Backoff)
	}
	o = mustParse(t, world(vars("BIDE_BASE", "7", "BIDE_BACKOFF", "exponential"), nil), "--retry-delay", "2", "u")
	if p := o.Groups[0].Policy; p.Base != 2*time.Second || p.Backoff != retry.Fixed {
		t.Errorf("a stronger --retry-delay: %v %v", p.Base, p.Backoff)
	}
}

func TestVariables(t *testing.T) {
	for _, f := range Table() {
		name := f.EnvName()
		want := f.Category == CatRetry && !f.OneLine
		if (name != "") != want {
			t.Errorf("--%s: variable %q", f.Name, name)
		}
		if name == "" || f.Name == "idempotency-header" {
			continue
		}
		u := usage(t, world(map[string]string{name: "?"}, nil), "u")
		if !strings.HasPrefix(u.Message, name+": ") {
			t.Errorf("%s=?: %q", name, u.Message)
		}
	}
	for text, want := range map[string]bool{"1": true, "true": true, "0": false, "false": false, "": false} {
		o := mustParse(t, world(map[string]string{"BIDE_RETRY_ALL_ERRORS": text}, nil), "u")
		if o.Groups[0].Policy.AllErrors != want {
			t.Errorf("BIDE_RETRY_ALL_ERRORS=%q", text)
		}
	}
	o := mustParse(t, world(map[string]string{"BIDE_RATE_LIMIT_HEADERS": "1"}, nil), "--no-rate-limit-headers", "u")
	if o.Groups[0].RateLimitHeaders {
		t.Error("a negated flag beats the variable")
	}
	for _, name := range []string{"BIDE_IDEMPOTENCY_KEY", "BIDE_IDEMPOTENT", "BIDE_SAFE_ON", "BIDE_SEED", "BIDE_STATE", "BIDE_SILENT", "BIDE_USER"} {
		got := mustParse(t, world(map[string]string{name: "429"}, nil), "u")
		if d := cmp.Diff(base(), got, cmp.AllowUnexported(retry.Set{})); d != "" {
			t.Errorf("%s has an effect: %s", name, d)
		}
	}
}

func TestConfig(t *testing.T) {
	get := func(text string, args ...string) *Options {
		return mustParse(t, world(nil, map[string]string{"f": text}), args...)
	}
	t.Run("in its place among the flags", func(t *testing.T) {
		text := "data = b\nrequest = PUT\nurl = two\noutput = 2\n"
		o := get(text, "-X", "GET", "-d", "a", "one", "-o", "1", "-K", "f", "-d", "c", "three")
		g := o.Groups[0]
		if g.Method != "PUT" || len(g.Data) != 3 || g.Data[1].Value != "b" || len(g.URLs) != 3 || g.URLs[1] != (URLArg{URL: "two", Output: "2", HasOutput: true}) {
			t.Errorf("%+v", g)
		}
	})
	t.Run("letters and dashes", func(t *testing.T) {
		o := get("-sSf\n-L\n--no-silent\n-X PUT\n-ofile\n--data=x\nno-show-error\n", "-K", "f", "u")
		g := o.Groups[0]
		if o.Global.Silent || o.Global.ShowError || g.Fail != "fail" || !g.Follow || g.Method != "PUT" || g.URLs[0].Output != "file" {
			t.Errorf("%+v", o)
		}
	})
	t.Run("standard input", func(t *testing.T) {
		o := mustParse(t, world(nil, map[string]string{"-": "url = stdin\n"}), "-K", "-")
		isURL("stdin")(t, o)
	})
	t.Run("nested", func(t *testing.T) {
		o := mustParse(t, world(nil, map[string]string{"a": "config = b\n", "b": "url = deep\n"}), "-K", "a")
		isURL("deep")(t, o)
		usage(t, world(nil, map[string]string{"a": "config = a\n"}), "-K", "a")
	})
	t.Run("one-line flags in a -K file of its own", func(t *testing.T) {
		o := get("idempotent\nidempotency-key = k\nsafe-on = 429\nseed = 3\n", "-K", "f", "u")
		if g := o.Groups[0]; !g.Policy.Idempotent || g.IdempotencyKey != "k" || *o.Global.Seed != 3 {
			t.Errorf("%+v", o)
		}
	})
	for _, c := range []struct {
		text, says string
		code       exitcode.Code
	}{
		{"\nntlm\n", "f:2: bide has no --ntlm", exitcode.Usage},
		{"-B\n", "f:1: bide has no -B (--use-ascii)", exitcode.Usage},
		{"attempts = 0\n", "f:1: attempts: ", exitcode.Usage},
		{"request\n", "f:1: request requires parameter", exitcode.Input},
		{"silent = yes\n", "f:1: silent had unsupported trailing garbage", exitcode.Input},
		{"help\n", "f:1: help belongs on the command line", exitcode.Usage},
		{"config = missing\n", "f:1: config: error encountered when reading a file; cannot read \"missing\"", exitcode.Input},
		{"retry = 1\nattempts = 2\n", "f:1: retry and f:2: attempts set the same thing", exitcode.Usage},
		{"user = \"a:secret\n", "f:1", exitcode.Usage},
	} {
		u := usage(t, world(nil, map[string]string{"f": c.text}), "-K", "f", "u")
		if !strings.Contains(u.Message, c.says) || u.Code != c.code || strings.Contains(u.Message, "secret") {
			t.Errorf("%q: %d %q, want %q", c.text, u.Code, u.Message, c.says)
		}
	}
}

func TestDefaultConfig(t *testing.T) {
	conf := map[string]string{configPath: "location\n", "/x/bide/config": "request = XDG\n"}
	if o := mustParse(t, world(vars(), conf), "u"); !o.Groups[0].Follow {
		t.Error("~/.config/bide/config is not read")
	}
	if o := mustParse(t, world(vars("XDG_CONFIG_HOME", "/x"), conf), "u"); o.Groups[0].Method != "XDG" || o.Groups[0].Follow {
		t.Error("XDG_CONFIG_HOME")
	}
	mustParse(t, world(vars("XDG_CONFIG_HOME", "/none"), conf), "u")
	for _, text := range []string{"idempotency-key = k\n", "idempotent\n", "safe-on = 429\n", "seed = 1\n", "config = c\n"} {
		conf := map[string]string{configPath: text, "c": "idempotent\n"}
		u := usage(t, world(vars(), conf), "u")
		if !strings.Contains(u.Message, "belongs to one command line") {
			t.Errorf("%q: %q", text, u.Message)
		}
	}
	usage(t, world(vars(), map[string]string{configPath: "header = \"Idempotency-Key: k\"\n"}), "u") // R7.2
	env := world(vars(), nil)
	env.Open = func(string) (io.ReadCloser, error) { return nil, errors.New("permission denied") }
	if o := mustParse(t, env, "u"); len(o.Global.Notes) != 1 {
		t.Errorf("an unreadable default file is worth a notice: %q", o.Global.Notes)
	}
}

func TestUnreadable(t *testing.T) {
	for _, args := range []string{"-K missing u", "-H @missing u", "--proxy-header @missing u"} {
		for _, env := range []Env{world(nil, nil), {}} {
			if u := usage(t, env, strings.Fields(args)...); u.Code != exitcode.Input || !strings.Contains(u.Message, "missing") {
				t.Errorf("%s: %d %q", args, u.Code, u.Message)
			}
		}
	}
}

func TestHeaderFile(t *testing.T) {
	env := world(nil, map[string]string{"h": "A: 1\r\n\nB;\n", "-": "C: 3"})
	o := mustParse(t, env, "-H", "@h", "-H", "@-", "-H", "D: 4", "u")
	if d := cmp.Diff([]string{"A: 1", "B;", "C: 3", "D: 4"}, o.Groups[0].Headers); d != "" {
		t.Error(d)
	}
	usage(t, world(nil, map[string]string{"h": "@other\n"}), "-H", "@h", "u")
}

// TestMaxTimeAlone is R6.4.
func TestMaxTimeAlone(t *testing.T) {
	alone := []string{"-m 5 u", "-m 5 --idempotent u", "-m 5 --connect-timeout 2 u", "-m 5 --idempotency-key k u", "-m 5 --retry-connrefused u", "-m 9 -m 5 u", "--as-curl -m 5 u"}
	for _, args := range alone {
		if p := mustParse(t, Env{}, strings.Fields(args)...).Groups[0].Policy; p.MaxTime != 5*time.Second || p.Deadline != 5*time.Second {
			t.Errorf("R6.4 %s: max-time %v, deadline %v", args, p.MaxTime, p.Deadline)
		}
	}
	together := []string{"--attempts 3", "--retry 2", "--retry-max-time 9", "--retry-all-errors", "--retry-on +404", "--base 1", "--cap 9m",
		"--jitter 0.1", "--backoff fixed", "--retry-delay 1", "--deadline 0", "--attempt-reserve 1", "--max-resumes 1"}
	for _, other := range together {
		if p := mustParse(t, Env{}, append(strings.Fields(other), "-m", "5", "u")...).Groups[0].Policy; p.Deadline != 0 {
			t.Errorf("R6.4 -m 5 %s: deadline %v", other, p.Deadline)
		}
	}
	if p := mustParse(t, world(map[string]string{"BIDE_ATTEMPTS": "3"}, nil), "-m", "5", "u").Groups[0].Policy; p.Deadline != 0 {
		t.Error("R6.4 a variable counts as given")
	}
	if p := mustParse(t, world(vars(), map[string]string{configPath: "retry = 3"}), "-m", "5", "u").Groups[0].Policy; p.Deadline != 0 {
		t.Error("R6.4 a file counts as given")
	}
	if p := mustParse(t, world(map[string]string{"BIDE_MAX_TIME": "5"}, nil), "u").Groups[0].Policy; p.Deadline != 5*time.Second {
		t.Error("R6.4 -m from a variable")
	}
}

func TestIdempotencyKey(t *testing.T) {
	key := func(args ...string) (string, string, int) {
		g := mustParse(t, world(nil, map[string]string{"h": "X: 1\nIdempotency-Key: filed\n"}), args...).Groups[0]
		return g.IdempotencyKey, g.IdempotencyHeader, len(g.Headers)
	}
	for _, c := range []struct {
		args      []string
		key, name string
		headers   int
	}{
		{[]string{"-H", "Idempotency-Key: x y", "u"}, "x y", "Idempotency-Key", 0},
		{[]string{"-H", "idempotency-KEY:x", "-H", "A: b", "u"}, "x", "idempotency-KEY", 1},
		{[]string{"-H", "X-Key: x", "--idempotency-header", "x-key", "u"}, "x", "X-Key", 0},
		{[]string{"-H", "Idempotency-Key: auto", "u", "v"}, "auto", "Idempotency-Key", 0},
		{[]string{"-H", "Idempotency-Key:", "u"}, "", "Idempotency-Key", 1},
		{[]string{"-H", "Idempotency-Key;", "u"}, "", "Idempotency-Key", 1},
		{[]string{"-H", "@h", "u"}, "filed", "Idempotency-Key", 1},
		{[]string{"--idempotency-key", "auto", "u", "v"}, "auto", "Idempotency-Key", 0},
		{[]string{"--idempotency-key", "a\u00e9\"", "u"}, "a\u00e9\"", "Idempotency-Key", 0},
	} {
		k, n, h := key(c.args...)
		if k != c.key || n != c.name || h != c.headers {
			t.Errorf("R7.1 %q: %q %q, %d headers", c.args, k, n, h)
		}
	}
	for _, args := range [][]string{
		{"--idempotency-key", "x", "-H", "Idempotency-Key: x", "u"},         // R7.1
		{"-H", "idempotency-key: x", "--idempotency-key", "auto", "u"},      // R7.1
		{"-H", "Idempotency-Key: x", "-H", "Idempotency-Key: y", "u"},       // R7.1
		{"--idempotency-key", "x", "u", "v"},                                // R7.2
		{"-H", "Idempotency-Key: x", "u", "v"},                              // R7.2
		{"--idempotency-key", "x", "--url", "u", "v"},                       // R7.2
		{"-H", "Idempotency-Key: a\x01b", "u"},                              // R7.1
		{"--idempotency-key", "x", "--idempotency-header", "Bad Name", "u"}, // a token
	} {
		if u := usage(t, Env{}, args...); strings.Contains(u.Message, "\x01") {
			t.Errorf("%q", u.Message)
		}
	}
}
