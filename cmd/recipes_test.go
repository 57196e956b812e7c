//go:build unix

package cmd_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry/retrytest"
)

// recipeTest is what a code block of docs/recipes.md runs against.
type recipeTest struct {
	title string
	// servers are scripted ones, by the text of the block that stands for them:
	// an origin, or HOST:PORT.
	servers map[string]string
	delay   time.Duration       // that the servers take to listen
	files   map[string]string   // in the folder where it runs; those with "#!" are made executable
	checks  map[string][]string // of the servers' logs
	stdout  string              // a regular expression
	wrote   map[string]string   // files that it left
	needs   []string            // programs beside bide
	exit    int
}

// TestRecipes runs each code block of docs/recipes.md, and no other.
func TestRecipes(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "recipes.md"))
	if err != nil {
		t.Fatal(err)
	}
	bide := buildBide(t)
	rows := make(map[string]recipeTest)
	for _, row := range append(recipeTests(), downloadRecipes()...) {
		rows[row.title] = row
	}
	for _, section := range strings.Split(string(page), "\n## ")[1:] {
		title, rest, _ := strings.Cut(section, "\n")
		_, rest, ok := strings.Cut(rest, "```sh\n")
		block, _, ok2 := strings.Cut(rest, "\n```\n")
		row, known := rows[title]
		if !ok || !ok2 || !known {
			t.Errorf("%s: no code block, or no row of the test", title)
			continue
		}
		delete(rows, title)
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			row.run(t, bide, block)
		})
	}
	for title := range rows {
		t.Errorf("docs/recipes.md has no section %q", title)
	}
}

func (row recipeTest) run(t *testing.T, bide, block string) {
	for _, name := range row.needs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	dir := t.TempDir()
	for name, text := range row.files {
		mode := os.FileMode(0o600)
		if strings.HasPrefix(text, "#!") {
			mode = 0o700
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	logs := make(map[string]*retrytest.Server)
	for name, script := range row.servers {
		s := retrytest.Serve(t, script, retrytest.WithListenDelay(row.delay), retrytest.WithDir(dir))
		address := s.URL
		if !strings.Contains(name, "://") {
			address = strings.TrimPrefix(address, "http://") // HOST:PORT
		}
		if !strings.Contains(block, name) {
			t.Errorf("the recipe does not name %s", name)
		}
		block, logs[name] = strings.ReplaceAll(block, name, address), s
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-eu", "-c", block)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(bide)+":"+os.Getenv("PATH"), "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, _ := cmd.Output() // the exit code is looked at
	if code := cmd.ProcessState.ExitCode(); code != row.exit {
		t.Errorf("exit code %d, want %d", code, row.exit)
	}
	if !regexp.MustCompile(row.stdout).Match(out) {
		t.Errorf("it wrote %q, not %s", out, row.stdout)
	}
	for name, want := range row.wrote {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q (%v), not %q", name, got, err, want)
		}
	}
	for name, checks := range row.checks {
		for _, r := range logs[name].Log().Verify(checks...) {
			if !r.OK {
				t.Errorf("%s: %s: %s", name, r.Check, r.Detail)
			}
		}
	}
	if t.Failed() {
		t.Logf("%s\n%s", block, stderr.String())
	}
}

func recipeTests() []recipeTest {
	return []recipeTest{
		{
			title:   "Wait for services that are starting",
			servers: map[string]string{"http://localhost:8080": "503, 200", "localhost:5432": "200"},
			delay:   500 * time.Millisecond,
			files:   map[string]string{"run-tests": "#!/bin/sh\necho tested\n"},
			checks:  map[string][]string{"http://localhost:8080": {"requests=2"}, "localhost:5432": {"requests=0"}},
			stdout:  "^tested\n$",
		},
		{
			title:   "Wait until an answer says so",
			needs:   []string{"jq"},
			servers: map[string]string{"https://api.example.com": `200 body='{"status":"creating"}' x2, 200 body='{"status":"ready"}'`},
			checks:  map[string][]string{"https://api.example.com": {"requests=3"}},
			stdout:  "^$",
		},
		{
			title: "Start a job and wait for its result",
			servers: map[string]string{"https://api.example.com": `POST /jobs: reset, 202 location=/jobs/7, 500
				GET /jobs/7: 202 retry-after=1, 303 location=/results/7
				GET /results/7: 200 body='{"ok":true}'`},
			files:  map[string]string{"job.json": `{"size":3}`},
			checks: map[string][]string{"https://api.example.com": {"group-by=all", "requests=5"}},
			stdout: "^$",
			wrote:  map[string]string{"result.json": `{"ok":true}`},
		},
	}
}
