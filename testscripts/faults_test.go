package testscripts

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryFaultIsNamed: testdata/faults.md lists the faults that are seen in
// the wild, and what is right then. Each row is held by a script or a test that
// names it: "fault E5" or "faults C8, F3" in a script's comment or a test file.
func TestEveryFaultIsNamed(t *testing.T) {
	list, err := os.ReadFile(filepath.Join("testdata", "faults.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| ([A-F][0-9]+) \|`).FindAllStringSubmatch(string(list), -1)
	if len(rows) < 77 {
		t.Fatalf("only %d rows found", len(rows))
	}
	known, named := map[string]bool{}, namedFaults(t)
	for _, row := range rows {
		known[row[1]] = true
		if named[row[1]] == "" {
			t.Errorf("no script or test names fault %s", row[1])
		}
	}
	for number, file := range named {
		if !known[number] {
			t.Errorf("%s names fault %s, which is not in the list", file, number)
		}
	}
}

// namedFaults gives a file for each row that one names. A script counts only
// by its comments, and not for what it skips.
func namedFaults(t *testing.T) map[string]string {
	t.Helper()
	mention := regexp.MustCompile(`\bfaults? ([A-F][0-9]+(?:, [A-F][0-9]+)*)`)
	number := regexp.MustCompile(`[A-F][0-9]+`)
	named := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		script := strings.HasSuffix(path, ".txtar")
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != "..":
			return fs.SkipDir
		case d.IsDir() || !script && !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if script && !strings.HasPrefix(line, "#") {
				continue
			}
			for _, m := range mention.FindAllString(line, -1) {
				for _, n := range number.FindAllString(m, -1) {
					named[n] = path
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return named
}
