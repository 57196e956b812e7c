package flags

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bidehttp/bide/retry"
)

// TestSublineRows: the own rows of sub-commands keep the rules of the table.
func TestSublineRows(t *testing.T) {
	all := Table()
	for _, s := range Subcommands() {
		names := map[string]bool{}
		for i := range s.Flags {
			f := &s.Flags[i]
			if names[f.Name] || f.Help == "" || strings.HasSuffix(f.Help, ".") || f.Long != "" && !strings.HasSuffix(f.Long, ".") || (f.Arg != "") != (f.Kind == Value) {
				t.Errorf("bide %s --%s", s.Name, f.Name)
			}
			names[f.Name] = true
			if !strings.Contains(help(t, s.Name), "--"+f.Name) || !strings.Contains(help(t, "--"+f.Name), "--"+f.Name) {
				t.Errorf("help lacks --%s of bide %s", f.Name, s.Name)
			}
			if words, _ := complete(t, s.Name, "--"+f.Name); !slices.Contains(words, "--"+f.Name) {
				t.Errorf("completion lacks --%s of bide %s", f.Name, s.Name)
			}
		}
		for _, name := range s.Borrowed {
			if !slices.ContainsFunc(all, func(f Flag) bool { return f.Name == name }) || names[name] {
				t.Errorf("bide %s borrows --%s", s.Name, name)
			}
		}
	}
}

func planEnv(vars map[string]string, config string) Env {
	return Env{
		Getenv: func(name string) string { return vars[name] },
		Open:   func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(config)), nil },
	}
}

func TestParsePlan(t *testing.T) {
	o, err := ParsePlan(strings.Fields("--attempts 5 --given 429:3,503 --given=connect --attempt-time 200ms -X POST --idempotency-key k --format json --seed 7"), planEnv(nil, ""))
	if err != nil {
		t.Fatal(err)
	}
	want := []Given{{Status: 429, Named: true, Minimum: 3 * time.Second}, {Status: 503}, {Class: retry.ClassConnect}}
	if diff := cmp.Diff(want, o.Given); diff != "" {
		t.Error(diff)
	}
	g := &o.Groups[0]
	if g.Policy.Attempts != 5 || g.Method != "POST" || g.IdempotencyKey != "k" || o.AttemptTime != 200*time.Millisecond || o.Format != FormatJSON || *o.Global.Seed != 7 {
		t.Errorf("%+v", o)
	}
}

// TestPlanSources: variables and config files count as for requests; what they
// say of a request itself has no effect.
func TestPlanSources(t *testing.T) {
	vars := map[string]string{"BIDE_ATTEMPTS": "6", "BIDE_CAP": "9", "HOME": "/home"}
	o, err := ParsePlan([]string{"--cap", "8"}, planEnv(vars, "attempts = 4\nbase = 2\nuser-agent = x\nurl = http://x/\noutput = f\n"))
	if err != nil {
		t.Fatal(err)
	}
	p := o.Groups[0].Policy
	if p.Attempts != 6 || p.Cap != 8*time.Second || p.Base != 2*time.Second {
		t.Errorf("%+v", p)
	}
	if o, err = ParsePlan([]string{"-q"}, planEnv(vars, "base = 2\n")); err != nil || o.Groups[0].Policy.Base != time.Second {
		t.Errorf("-q: %v", err)
	}
	if o, err = ParsePlan([]string{"-K", "f"}, planEnv(nil, "base = 3\nheader = \"Idempotency-Key: x\"\n")); err != nil || o.Groups[0].Policy.Base != 3*time.Second || o.Groups[0].IdempotencyKey != "x" {
		t.Errorf("-K: %v", err)
	}
}

func TestPlanRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"http://x/":                      "takes no",
		"-o f":                           "-o: is not for bide plan",
		"--output f":                     "--output: is not for bide plan",
		"-sS":                            "-s: is not for bide plan",
		"--gven 503":                     "did you mean --given",
		"--given 99":                     "neither a status",
		"--given 1000":                   "neither a status",
		"--given ''":                     "neither a status",
		"--given 503,,":                  "neither a status",
		"--given status":                 "neither a status",
		"--given conect":                 "connect",
		"--given connect:3":              "only an answer",
		"--given 429:":                   "empty",
		"--given 429:x":                  "not a duration",
		"--given 429:-1":                 "negative",
		"--format xml":                   "not one of human, json",
		"--attempts 0":                   "0 attempts",
		"--attempts 2 --retry 3":         "set the same thing",
		"--attempts unlimited":           "needs a time bound",
		"-m 1 --attempt-time 2":          "longer than --max-time",
		"--given":                        "requires parameter",
		"--format=json extra":            "takes no",
		"--next":                         "is not for bide plan",
		"-V":                             "is not for bide plan",
		"--retry-on nonsense --given 50": "unknown word",
	} {
		_, err := ParsePlan(strings.Fields(strings.ReplaceAll(line, "''", "")), planEnv(nil, ""))
		if line == "--given ''" {
			_, err = ParsePlan([]string{"--given", ""}, planEnv(nil, ""))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	if _, err := ParsePlan([]string{"-K", "f"}, planEnv(nil, "url = http://x/\nnext\nurl = http://y/\n")); err == nil || !strings.Contains(err.Error(), "--next") {
		t.Errorf("a config file of two groups: %v", err)
	}
	if o, err := ParsePlan([]string{"--attempts", "0x1", "-h"}, planEnv(nil, "")); err != nil || !o.Global.Help {
		t.Errorf("-h: %v", err)
	}
}

// FuzzGiven: what is accepted is written back the same.
func FuzzGiven(f *testing.F) {
	for _, s := range []string{"503", "429:3,connect", "503:1m30s", "200:0.5", "429:", ",", "timeout:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, v string) {
		list, err := parseGiven(v)
		if err != nil {
			return
		}
		var words []string
		for _, g := range list {
			words = append(words, g.String())
		}
		again, err := parseGiven(strings.Join(words, ","))
		if err != nil || !slices.Equal(list, again) {
			t.Errorf("%q is %v, then %v (%v)", v, list, again, err)
		}
	})
}

func TestParseSimulate(t *testing.T) {
	args := []string{"--clients", "500", "--capacity", "100/10s", "--server-retry-after", "60", "--attempts", "4", "-K", "-", "--compare", "jitter=0", "--compare", "--attempts=5 idempotency-key=auto  cap=9"}
	env := planEnv(nil, "")
	env.Stdin = strings.NewReader("base = 3\n")
	o, err := ParseSimulate(args, env)
	if err != nil {
		t.Fatal(err)
	}
	if o.Clients != 500 || o.Capacity != 100 || o.CapacityIn != 10*time.Second || o.Burst != 100 || o.DownAnswer != "503" || o.RetryAfter != time.Minute {
		t.Errorf("%+v", o)
	}
	p := o.Groups[0].Policy
	if p.Attempts != 4 || p.Base != 3*time.Second || len(o.Compare) != 2 {
		t.Fatalf("%+v", p)
	}
	// Standard input counts for each policy, though it is read once.
	if c := o.Compare[0]; c.Label != "jitter=0" || c.Policy.Jitter != 0 || c.Policy.Attempts != 4 || c.Policy.Base != 3*time.Second || c.Keyed {
		t.Errorf("%+v", c)
	}
	if c := o.Compare[1]; c.Policy.Attempts != 5 || c.Policy.Cap != 9*time.Second || c.Policy.Jitter != 0.2 || !c.Keyed {
		t.Errorf("%+v", c)
	}
	if o, err = ParseSimulate(nil, planEnv(nil, "")); err != nil || o.DownAnswer != DownRefused || o.Burst != 100 || o.Clients != 1000 || o.Down != 30*time.Second {
		t.Errorf("%v %+v", err, o)
	}
}

func TestSimulateRefuses(t *testing.T) {
	for _, c := range [][2]string{
		{"--clients 0", "not within 1 and 10000000"},
		{"--clients 10000001", "not within"},
		{"--clients x", "not a whole number"},
		{"--capacity 5", "not a rate"},
		{"--capacity 0/s", "not a rate"},
		{"--capacity 2000000000/s", "not a rate"},
		{"--burst 0", "not within"},
		{"--bin 0", "a peak needs a time"},
		{"--busy-answer 500", "not one of 429, 503"},
		{"--down-answer 404", "not one of refused"},
		{"--down-answer refused --server-retry-after 5", "says nothing"},
		{"--down 1000000h", "100 years"},
		{"--capacity 1/366d --clients 1000", "100 years"},
		{"-m 1 --attempt-time 2", "longer than --max-time"},
		{"--attempt-time 2 --compare max-time=1", "longer than --max-time"},
		{"--compare jiter=0", `--compare "jiter=0": "jiter" is not a retry flag`},
		{"--compare output=f", "not a retry flag"},
		{"--compare clients=4", "not a retry flag"},
		{"--compare seed=4", "the seed is one for all"},
		{"--compare jitter=2", "not a ratio"},
		{"--compare attempts=unlimited", "needs a time bound"},
		{"--retry 3 --compare attempts=2", "set the same thing"},
		{"http://x/", "takes no"},
	} {
		if _, err := ParseSimulate(strings.Fields(c[0]), planEnv(nil, "")); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v, want %q", c[0], err, c[1])
		}
	}
	if _, err := ParseSimulate([]string{"--compare", " "}, planEnv(nil, "")); err == nil || !strings.Contains(err.Error(), "no retry flag") {
		t.Errorf("an empty --compare: %v", err)
	}
}

// FuzzCompare: whatever stands in --compare, it is a policy that was checked or a
// usage error.
func FuzzCompare(f *testing.F) {
	for _, s := range []string{"jitter=0", "attempts=5 cap=10", "idempotent", "no-idempotent", "retry-on=+404,-500", "--base=1", "=", "h", "attempts"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, label string) {
		o, err := ParseSimulate([]string{"--compare", label}, Env{})
		if err != nil {
			return
		}
		if len(o.Compare) != 1 || o.Compare[0].Policy.Check() != nil {
			t.Errorf("%q: %+v", label, o.Compare)
		}
	})
}
