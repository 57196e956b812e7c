package flags

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestMain lets the test binary stand in for bide where a test needs a process.
func TestMain(m *testing.M) {
	switch os.Getenv("BIDE_FLAGS_TEST") {
	case "complete":
		if err := Complete(os.Stdout, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "scrub":
		os.Exit(scrubChild())
	}
	os.Exit(m.Run())
}

func complete(t *testing.T, args ...string) (words []string, directive string) {
	t.Helper()
	var b strings.Builder
	if err := Complete(&b, append([]string{"__completeNoDesc"}, args...)); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

func TestComplete(t *testing.T) {
	const files, noFiles, dirs = ":0", ":4", ":16"
	for _, c := range []struct {
		args      []string
		has       []string // among the words
		lacks     []string
		directive string
	}{
		{[]string{"--timeline", ""}, []string{"human", "json", "jsonl", "none"}, nil, ":36"},
		{[]string{"--timeline=j"}, []string{"json", "jsonl"}, []string{"human"}, ":36"},
		{[]string{"--jitter-mode", ""}, []string{"spread", "full"}, nil, ":36"},
		{[]string{"--color", "a"}, []string{"auto", "always"}, []string{"never"}, ":36"},
		{[]string{"--backoff", ""}, []string{"exponential", "fixed"}, nil, ":36"},
		{[]string{"--retry-after-mode", ""}, []string{"minimum", "replace"}, nil, ":36"},
		{[]string{"--retry-on", "429,5"}, []string{"429,500", "429,5xx"}, []string{"429,429"}, ":36"},
		{[]string{"--retry-on", "+time"}, []string{"+timeout"}, nil, ":36"},
		{[]string{"--idempotency-key", ""}, []string{"auto"}, nil, ":36"},
		{[]string{"-o", ""}, nil, nil, files},
		{[]string{"-sSo", ""}, nil, nil, files},
		{[]string{"-K", ""}, nil, nil, files},
		{[]string{"-T", ""}, nil, nil, files},
		{[]string{"--cacert", ""}, nil, nil, files},
		{[]string{"--capath", ""}, nil, nil, dirs},
		{[]string{"--output-dir", ""}, nil, nil, dirs},
		{[]string{"-u", ""}, nil, nil, ":36"},
		{[]string{"--time"}, []string{"--timeline", "--timeline-file"}, []string{"--no-timeline"}, noFiles},
		{[]string{"--no-"}, []string{"--no-redact", "--no-fail"}, []string{"--no-silent"}, noFiles},
		{[]string{"-H", "a", "--head"}, []string{"--header"}, nil, noFiles},
		{[]string{""}, []string{"demo", "version", "completion", "help"}, []string{"__complete"}, noFiles},
		{[]string{"completion", ""}, shells(), nil, noFiles},
		{[]string{"timeline", ""}, nil, nil, files},
		{[]string{"plan", ""}, nil, nil, noFiles},
		{[]string{"plan", "--given", "429:"}, []string{"429:3"}, nil, ":36"},
		{[]string{"plan", "--dead"}, []string{"--deadline"}, nil, noFiles},
		{[]string{"plan", "--out"}, nil, []string{"--output"}, noFiles},
		{[]string{"simulate", "--format", "j"}, []string{"json"}, nil, ":36"},
		{[]string{"help", "ret"}, []string{"retry"}, nil, noFiles},
		{[]string{"http://x/", "--attem"}, []string{"--attempts"}, nil, noFiles},
		{[]string{"--attempts", "nonsense", "--dead"}, []string{"--deadline"}, nil, noFiles},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			words, directive := complete(t, c.args...)
			for _, w := range c.has {
				if !slices.Contains(words, w) {
					t.Errorf("%q lacks %s", words, w)
				}
			}
			for _, w := range c.lacks {
				if slices.Contains(words, w) {
					t.Errorf("%q has %s", words, w)
				}
			}
			if directive != c.directive {
				t.Errorf("directive %s, want %s", directive, c.directive)
			}
		})
	}
	if !IsCompletionRequest([]string{"__complete", ""}) || IsCompletionRequest([]string{"complete"}) || IsCompletionRequest(nil) {
		t.Error("IsCompletionRequest")
	}
	if err := WriteCompletion(&strings.Builder{}, "tcsh"); err == nil || !strings.Contains(err.Error(), "tcsh") {
		t.Errorf("an unknown shell: %v", err)
	}
}

// shellScript writes shell's script to a file, and a program "bide" on PATH.
func shellScript(t *testing.T, shell string) (script string, env []string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a Unix shell")
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "bide")); err != nil {
		t.Fatal(err)
	}
	script = filepath.Join(dir, "script")
	f, err := os.Create(script)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteCompletion(f, shell); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return script, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "BIDE_FLAGS_TEST=complete", "HOME="+dir)
}

// TestBash drives the script as bash does on a tab, without the
// bash-completion package.
func TestBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	script, env := shellScript(t, "bash")
	folder := t.TempDir()
	for _, name := range []string{"out file", "outer"} {
		if err := os.MkdirAll(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const drive = `
source "$1"; shift
declare -F _init_completion _get_comp_words_by_ref _filedir && echo "PACKAGE"
COMP_LINE=$1; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9; COLUMNS=200; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
compopt() { :; }
__start_bide
printf '%s\n' "${COMPREPLY[@]}"`
	for _, c := range []struct {
		line  string
		words []string // as bash splits it
		want  string   // the first word of each reply, joined
	}{
		{"bide --timel", []string{"bide", "--timel"}, "--timeline --timeline-file --timeline-headers"},
		{"bide --attempt-r", []string{"bide", "--attempt-r"}, "--attempt-reserve"},
		{"bide --jitter-mode ", []string{"bide", "--jitter-mode", ""}, "spread full"},
		{"bide --timeline=j", []string{"bide", "--timeline", "=", "j"}, "json jsonl"},
		{"bide --timeline=", []string{"bide", "--timeline", "="}, "human json jsonl none"},
		{"bide http://h:80/ --color n", []string{"bide", "http", ":", "//h", ":", "80/", "--color", "n"}, "never"},
		{"bide -H 'A: b' --retry-on 429,50", []string{"bide", "-H", "'A: b'", "--retry-on", "429,50"}, "429,500 429,502 429,503 429,504"},
		{"bide comp", []string{"bide", "comp"}, "completion"},
		{"bide completion z", []string{"bide", "completion", "z"}, "zsh"},
		{"bide --output-dir out", []string{"bide", "--output-dir", "out"}, "out outer"},
		{"bide -d \"$(touch ran)\" -H 'a b' `touch ran` --color n", []string{"bide", "-d", "\"$(touch ran)\"", "-H", "'a b'", "`touch ran`", "--color", "n"}, "never"},
		{"bide --deadline=1 --backoff ", []string{"bide", "--deadline", "=", "1", "--backoff", ""}, "exponential fixed"},
	} {
		t.Run(c.line, func(t *testing.T) {
			cmd := exec.Command(bash, append([]string{"--norc", "--noprofile", "-c", drive, "bash", script, c.line}, c.words...)...)
			cmd.Env, cmd.Dir = env, folder
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if _, err := os.Stat(filepath.Join(folder, "ran")); err == nil {
				t.Fatal("the tab ran a command of the line")
			}
			var got []string
			for line := range strings.Lines(string(out)) {
				if fields := strings.Fields(line); len(fields) > 0 {
					got = append(got, fields[0])
				}
			}
			slices.Sort(got)
			want := strings.Fields(c.want)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestZsh(t *testing.T) {
	zsh, err := exec.LookPath("zsh")
	if err != nil {
		t.Skip("zsh is not installed")
	}
	script, env := shellScript(t, "zsh")
	// compadd and _describe need the line editor: _describe only shows its words here.
	const drive = `autoload -Uz compinit; compinit -u -d "$HOME/dump"; source "$1"; shift
_describe() { local a; for a in "$@"; do [[ $a == completions ]] && print -rl -- $completions; done; return 0 }
words=("$@"); CURRENT=$#; _bide`
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"bide", "--timel"}, "--timeline-file:"},
		{[]string{"bide", "--jitter-mode", ""}, "spread\nfull\n"},
		{[]string{"bide", "--timeline=j"}, "json\njsonl\n"},
		{[]string{"bide", "-d", `"$(touch ran) b"`, "-H", "'a b'", "`touch ran`", "--color", "n"}, "never\n"},
		{[]string{"~/no/such/bide", "--color", "n"}, "never\n"},
	} {
		cmd := exec.Command(zsh, append([]string{"-f", "-c", drive, "zsh", script}, c.words...)...)
		cmd.Env, cmd.Dir = env, t.TempDir()
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%q: %v: %s", c.words, err, out)
		}
		if _, err := os.Stat(filepath.Join(cmd.Dir, "ran")); err == nil {
			t.Errorf("%q: the tab ran a command of the line", c.words)
		}
	}
}

func TestFish(t *testing.T) {
	fish, err := exec.LookPath("fish")
	if err != nil {
		t.Skip("fish is not installed")
	}
	script, env := shellScript(t, "fish")
	for _, line := range []string{"bide --timeline ", "bide --timeline=j", `bide -d "a b" -d "(touch ran)" --timeline `, "bide -d (touch ran) --timeline j"} {
		cmd := exec.Command(fish, "--no-config", "-c", `source $argv[1]; complete -C $argv[2]`, script, line)
		cmd.Env, cmd.Dir = env, t.TempDir()
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "jsonl") {
			t.Errorf("%s: %v: %s", line, err, out)
		}
		if _, err := os.Stat(filepath.Join(cmd.Dir, "ran")); err == nil {
			t.Errorf("%s: the tab ran a command of the line", line)
		}
	}
}

func TestPowerShell(t *testing.T) {
	pwsh, err := exec.LookPath("pwsh")
	if err != nil {
		t.Skip("PowerShell is not installed")
	}
	script, env := shellScript(t, "powershell")
	cmd := exec.Command(pwsh, "-NoProfile", "-Command",
		`. ([scriptblock]::Create((Get-Content -Raw $args[0]))); (TabExpansion2 'bide --timeline j' 17).CompletionMatches.CompletionText`, script)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "jsonl") {
		t.Errorf("%v: %s", err, out)
	}
}
