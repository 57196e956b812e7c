package cmd

import (
	"context"
	"flag"
	"os"
	"strings"
	"testing"
)

var updateDocs = flag.Bool("update-docs", false, "write what the examples in docs print")

// TestDocExamples runs each command of these pages that is followed by what it
// prints, and holds the two together. The pages' files are in testdata/docs.
func TestDocExamples(t *testing.T) {
	for _, page := range []string{"plan.md", "simulate.md", "timeline.md"} {
		t.Run(page, func(t *testing.T) {
			path := "../docs/" + page
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := runExamples(t, strings.ReplaceAll(string(text), "\r\n", "\n"))
			if *updateDocs {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// runExamples is the page with what its examples print now.
func runExamples(t *testing.T, page string) string {
	const begin, middle, end = "```sh\n", "\n```\n\n```text\n", "```\n"
	var out strings.Builder
	ran := 0
	for {
		before, rest, ok := strings.Cut(page, begin)
		out.WriteString(before)
		if !ok {
			break
		}
		out.WriteString(begin)
		block, _, _ := strings.Cut(rest, "\n```\n")
		page = rest
		if !strings.HasPrefix(rest[len(block):], middle) {
			continue
		}
		want, after, _ := strings.Cut(rest[len(block)+len(middle):], end)
		got := runExample(t, block)
		if got != want && !*updateDocs {
			t.Errorf("$ %s\nprints\n%s\nthe page says\n%s", block, got, want)
		}
		out.WriteString(block + middle + got + end)
		page = after
		ran++
	}
	if ran == 0 {
		t.Error("no example")
	}
	return out.String()
}

// runExample is what a command line prints on both streams.
func runExample(t *testing.T, line string) string {
	words := shellWords(strings.ReplaceAll(line, "\\\n", ""))
	if words[0] != "bide" {
		t.Fatalf("%s is no example of bide", line)
	}
	env, stdout, stderr := testEnv(words[1:]...)
	env.Getenv = func(name string) string { return map[string]string{"LANG": "C.UTF-8"}[name] }
	back, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chdir("testdata/docs"); err != nil {
		t.Fatal(err)
	}
	defer os.Chdir(back) //nolint:errcheck // it was there
	Main(context.Background(), env)
	return stderr.String() + stdout.String()
}

// shellWords splits at blanks outside of single quotes.
func shellWords(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}
