package testscripts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestPages runs the examples of the documentation's pages: each block marked sh
// is a whole script that must succeed. A block without a mark right after it is
// what it prints, but for the figures.
func TestPages(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh")
	}
	dir := t.TempDir()
	for _, page := range []string{"mock.md"} {
		text, err := os.ReadFile(filepath.Join("..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range examples(string(text)) {
			e.write(t, filepath.Join(dir, fmt.Sprintf("%s_%02d.txtar", strings.TrimSuffix(page, ".md"), i+1)))
		}
	}
	testscript.Run(t, testscript.Params{Dir: dir, RequireExplicitExec: true, Setup: setup, Cmds: pageCommands()})
}

// example is one script of a page.
type example struct {
	script  string
	printed string // "" not shown
}

// examples are the sh blocks of a page, with the unmarked block that follows.
func examples(page string) []example {
	var all []example
	blocks := regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$").FindAllStringSubmatch(page, -1)
	for i, b := range blocks {
		if b[1] != "sh" {
			continue
		}
		e := example{script: b[2]}
		if i+1 < len(blocks) && blocks[i+1][1] == "" {
			e.printed = blocks[i+1][2]
		}
		all = append(all, e)
	}
	return all
}

// write makes a testscript of it.
func (e example) write(t *testing.T, file string) {
	t.Helper()
	script := "exec sh -e example.sh\n"
	if strings.Contains(e.script, "curl ") {
		script = "[!exec:curl] skip 'no curl'\n" + script
	}
	if e.printed != "" {
		script += "printed\n-- printed.txt --\n" + e.printed
	}
	if err := os.WriteFile(file, []byte(script+"-- example.sh --\n"+e.script), 0o600); err != nil {
		t.Fatal(err)
	}
}

// pageCommands adds "printed": standard error, or standard output, has each line
// of printed.txt, whatever its figures are.
func pageCommands() map[string]func(*testscript.TestScript, bool, []string) {
	all := commands()
	all["printed"] = func(ts *testscript.TestScript, _ bool, _ []string) {
		got := withoutFigures(ts.ReadFile("stderr") + ts.ReadFile("stdout"))
		for line := range strings.Lines(withoutFigures(ts.ReadFile("printed.txt"))) {
			if !strings.Contains(got, line) {
				ts.Fatalf("the page has a line that is not printed: %q in\n%s", line, got)
			}
		}
	}
	return all
}

// withoutFigures puts # for durations and sizes, and one blank for several.
func withoutFigures(text string) string {
	text = regexp.MustCompile(`[0-9]+\.[0-9]+(µs|ms|s)?`).ReplaceAllString(text, "#")
	return regexp.MustCompile(`[ \t]+`).ReplaceAllString(text, " ")
}

// TestMockPage: each step, option and check in the tables of docs/mock.md stands
// in one of its scripts.
func TestMockPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "mock.md"))
	if err != nil {
		t.Fatal(err)
	}
	var scripts strings.Builder
	for _, e := range examples(string(text)) {
		scripts.WriteString(e.script)
	}
	word := regexp.MustCompile("^(gap|gaps|[a-z-]+)[0-9]?(=date|=rfc850|=asctime|=raw|=inf|=@|<=|>=retry-after|>=|=|:|$)")
	found := 0
	tables, _, _ := strings.Cut(string(text), "\n## In CI\n")
	for _, row := range regexp.MustCompile("(?m)^\\| `(.*?) \\| ").FindAllStringSubmatch(tables, -1) {
		cell := row[1]
		for _, code := range strings.Split(cell, "`, `") {
			code = strings.Trim(code, "`[]")
			part := word.FindString(code)
			if part == "" {
				continue
			}
			found++
			if !strings.Contains(scripts.String(), part) {
				t.Errorf("%s (%q) stands in no script", code, part)
			}
		}
	}
	if found < 60 {
		t.Errorf("only %d steps and checks found in the tables", found)
	}
}
