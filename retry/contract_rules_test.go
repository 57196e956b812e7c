package retry_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryRuleIsNamed: the contract promises at least one test that names
// each rule. A rule counts as named where a test file or a script has its
// number in the name of a test, in a case's name, or in a script's heading.
func TestEveryRuleIsNamed(t *testing.T) {
	number := regexp.MustCompile(`R[0-9]+[._][0-9]+(?:[a-z]\b|[a-z]_)?`)
	named := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != "..":
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, ".txtar"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, n := range number.FindAllString(string(text), -1) {
			named[strings.Replace(strings.TrimSuffix(n, "_"), "_", ".", 1)] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rules := regexp.MustCompile(`\*\*(R[0-9]+\.[0-9]+[a-z]?)\*\*`).FindAllStringSubmatch(contract(t), -1)
	if len(rules) < 70 {
		t.Fatalf("only %d rules found in the contract", len(rules))
	}
	for _, r := range rules {
		if !named[r[1]] {
			t.Errorf("no test names %s", r[1])
		}
	}
}
