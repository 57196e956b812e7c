package flags

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

var update = flag.Bool("update", false, "write the generated files")

// TestGenerated: the committed files are what the table gives.
func TestGenerated(t *testing.T) {
	for _, a := range Artifacts() {
		t.Run(a.Path, func(t *testing.T) {
			var want, again bytes.Buffer
			if err := errors.Join(a.Write(&want), a.Write(&again)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(want.Bytes(), again.Bytes()) {
				t.Error("two runs differ")
			}
			path := filepath.Join("..", "..", "..", filepath.FromSlash(a.Path))
			if *update {
				if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), want.Bytes()) {
				t.Errorf("%s is not current: go generate ./cmd/internal/flags", a.Path)
			}
		})
	}
}

func help(t *testing.T, topic string) string {
	t.Helper()
	var b strings.Builder
	if err := WriteHelp(&b, topic); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := len(strings.TrimSuffix(line, "\n")); n > helpWidth || strings.HasSuffix(line, " \n") {
			t.Errorf("-h %s: %d wide or blanks at the end: %q", topic, n, line)
		}
	}
	return b.String()
}

func TestHelp(t *testing.T) {
	screen := help(t, "")
	if n := strings.Count(screen, "\n"); n > 24 {
		t.Errorf("plain -h has %d lines, more than a screen", n)
	}
	all := help(t, "all")
	for _, f := range Table() {
		if !strings.Contains(all, " --"+f.Name) {
			t.Errorf("-h all lacks --%s", f.Name)
		}
		if !strings.Contains(help(t, string(f.Category)), " --"+f.Name) {
			t.Errorf("-h %s lacks --%s", f.Category, f.Name)
		}
		if text := help(t, "--"+f.Name); !strings.HasPrefix(text, strings.TrimSpace(f.names())+"\n") {
			t.Errorf("-h --%s: %q", f.Name, text)
		}
		if f.Short != "" && help(t, "-"+f.Short) != help(t, "--"+f.Name) {
			t.Errorf("-h -%s differs from -h --%s", f.Short, f.Name)
		}
	}
	for _, e := range exitcode.Table() {
		if !strings.Contains(strings.Join(strings.Fields(all), " "), e.Meaning) {
			t.Errorf("-h all lacks exit code %d", e.Code)
		}
	}
	for _, r := range retry.Reasons() {
		if !strings.Contains(help(t, "retry"), "\n  "+string(r)+" ") || reasonMeaning(r) == "" {
			t.Errorf("-h retry lacks %s", r)
		}
	}
	for _, topic := range topics() {
		help(t, topic)
	}
	for _, s := range Subcommands() {
		if !strings.Contains(help(t, s.Name), s.Short) {
			t.Errorf("-h %s", s.Name)
		}
	}
	var u *UsageError
	if err := WriteHelp(&strings.Builder{}, "nonsense\x1b"); !errors.As(err, &u) || strings.Contains(u.Message, "\x1b") {
		t.Errorf("an unknown topic: %v", err)
	}
	if err := WriteHelp(brokenWriter{}, ""); err == nil {
		t.Error("a write error is lost")
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// TestTable holds the rules that the rows keep by hand.
func TestTable(t *testing.T) {
	names, letters := map[string]bool{}, map[string]bool{}
	total := 0
	for _, part := range tables() {
		total += len(part)
	}
	if n := len(Table()); n != total {
		t.Errorf("%d rows in the parts, %d in Table: a category is missing", total, n)
	}
	for _, f := range Table() {
		if names[f.Name] || f.Short != "" && letters[f.Short] {
			t.Errorf("--%s is there twice", f.Name)
		}
		names[f.Name], letters[f.Short] = true, true
		if f.Help == "" || strings.HasSuffix(f.Help, ".") || len(f.Help) > 90 {
			t.Errorf("--%s: help %q", f.Name, f.Help)
		}
		if f.Long != "" && !strings.HasSuffix(f.Long, ".") {
			t.Errorf("--%s: long help without its point", f.Name)
		}
		if (f.Arg != "") != (f.Kind == Value) {
			t.Errorf("--%s: kind and argument name differ", f.Name)
		}
		setters := 0
		for _, there := range []bool{f.on != nil, f.flag != nil, f.set != nil, f.str != nil, f.dur != nil, f.check != nil} {
			if there {
				setters++
			}
		}
		if setters != 1 || f.Kind == Value && (f.on != nil || f.flag != nil) || f.Kind != Value && (f.set != nil || f.str != nil || f.dur != nil) {
			t.Errorf("--%s has no setter that fits", f.Name)
		}
	}
}

// TestRetryOnWords: completion and the engine know the same words.
func TestRetryOnWords(t *testing.T) {
	offered := map[string]bool{}
	for _, w := range retryOnWords {
		offered[w] = true
		if _, err := retry.ParseRetryOn(w, retry.Set{}); err != nil {
			t.Errorf("%s is offered and refused: %v", w, err)
		}
	}
	for _, w := range retryClasses() {
		if !offered[w] {
			t.Errorf("%s is not offered", w)
		}
	}
}
