package render_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/itchyny/gojq"

	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/render/rendertest"
)

// now is what $(date +%s) gives in the recipes: the samples' day.
const now = 1784109600

// recipe is one code block of docs/jq.md, and the block after it.
type recipe struct {
	title, program, file, want string
	raw, compact, slurp, exit  bool
	usesNow                    bool
}

func recipes(t *testing.T) []recipe {
	t.Helper()
	root, err := rendertest.Root()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "jq.md"))
	if err != nil {
		t.Fatal(err)
	}
	var list []recipe
	for _, section := range strings.Split(string(page), "\n## ")[1:] {
		title, rest, _ := strings.Cut(section, "\n")
		_, rest, ok := strings.Cut(rest, "```sh\n")
		command, rest, ok2 := strings.Cut(rest, "\n```\n\n```text\n")
		want, _, ok3 := strings.Cut(rest, "```\n")
		if !ok || !ok2 || !ok3 {
			t.Fatalf("%s: no code blocks", title)
		}
		head, rest, _ := strings.Cut(command, "'")
		program, file, _ := strings.Cut(rest, "'")
		list = append(list, recipe{
			title: title, program: program, file: strings.TrimSpace(file), want: want, raw: strings.Contains(head, " -r "), compact: strings.Contains(head, " -c "),
			slurp: strings.Contains(head, " -s "), exit: strings.Contains(head, " -e "), usesNow: strings.Contains(head, "$(date +%s)"),
		})
	}
	return list
}

func TestJQRecipes(t *testing.T) {
	list := recipes(t)
	if len(list) != 10 {
		t.Errorf("%d recipes, want the ten of timeline.md", len(list))
	}
	for _, r := range list {
		t.Run(strings.ReplaceAll(r.title, " ", "_"), func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", "jq", r.file))
			if err != nil {
				t.Fatal(err)
			}
			rendertest.Valid(t, data)
			if diff := cmp.Diff(sorted(t, r, r.want), withGojq(t, r, data)); diff != "" {
				t.Errorf("gojq (-page +got):\n%s", diff)
			}
			t.Run("jq", func(t *testing.T) {
				got, _ := withJQ(t, r, data)
				if diff := cmp.Diff(sorted(t, r, r.want), got); diff != "" {
					t.Errorf("jq (-page +got):\n%s", diff)
				}
			})
		})
	}
}

// A run without outcomes, or without operations, must not pass for a good one.
func TestJQAmplificationFailsOnNull(t *testing.T) {
	for _, r := range recipes(t) {
		if !r.exit {
			continue
		}
		for name, c := range map[string]struct {
			data string
			fail bool
		}{
			"null": {`{"outcome":null}`, true}, "empty": {``, true}, "three": {`{"outcome":{"attempts":3}}`, true},
			"some null": {`{"outcome":{"attempts":1}}{"outcome":null}`, true}, "two": {`{"outcome":{"attempts":2}}`, false},
		} {
			got := strings.TrimSpace(withGojq(t, r, []byte(c.data)))
			if (got != "true") != c.fail {
				t.Errorf("gojq, %s: %s", name, got)
			}
			t.Run(name, func(t *testing.T) {
				if got, code := withJQ(t, r, []byte(c.data)); (code != 0) != c.fail {
					t.Errorf("jq, %s: %s, exit %d", name, got, code)
				}
			})
		}
		return
	}
	t.Error("no recipe with -e")
}

func withGojq(t *testing.T, r recipe, data []byte) string {
	t.Helper()
	q, err := gojq.Parse(r.program)
	if err != nil {
		t.Fatal(err)
	}
	code, err := gojq.Compile(q, gojq.WithVariables([]string{"$now"}))
	if err != nil {
		t.Fatal(err)
	}
	inputs := []any{}
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var v any
		if err := dec.Decode(&v); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, v)
	}
	if r.slurp {
		inputs = []any{inputs}
	}
	var out strings.Builder
	for _, in := range inputs {
		for it := code.Run(in, now); ; {
			v, ok := it.Next()
			if !ok {
				break
			}
			if err, failed := v.(error); failed {
				t.Fatal(err)
			}
			if s, isText := v.(string); isText && r.raw {
				out.WriteString(s + "\n")
				continue
			}
			b, err := gojq.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(append(b, '\n'))
		}
	}
	return sorted(t, r, out.String())
}

// sorted gives JSON lines the key order of gojq, which sorts.
func sorted(t *testing.T, r recipe, lines string) string {
	t.Helper()
	if !r.compact {
		return lines
	}
	var out strings.Builder
	for dec := json.NewDecoder(strings.NewReader(lines)); dec.More(); {
		var v any
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		b, _ := json.Marshal(v)
		out.Write(append(b, '\n'))
	}
	return out.String()
}

func withJQ(t *testing.T, r recipe, data []byte) (string, int) {
	t.Helper()
	program, err := exec.LookPath("jq")
	if err != nil {
		t.Skip("jq is not installed")
	}
	args := []string{"--argjson", "now", strconv.Itoa(now)}
	for flag, on := range map[string]bool{"-r": r.raw, "-c": r.compact, "-s": r.slurp, "-e": r.exit} {
		if on {
			args = append(args, flag)
		}
	}
	cmd := exec.Command(program, append(args, r.program)...)
	cmd.Stdin = bytes.NewReader(data)
	out, err := cmd.Output()
	var failed *exec.ExitError
	if err != nil && (!errors.As(err, &failed) || failed.ExitCode() != 1) {
		t.Fatalf("%v\n%s", err, out)
	}
	return sorted(t, r, string(out)), cmd.ProcessState.ExitCode()
}

// The committed documents of the recipes are the samples.
func TestJQSamples(t *testing.T) {
	all := render.Samples()
	run := []*render.Document{all["retried"], all["connect"], all["success"]}
	labels := []string{"POST /jobs", "POST /jobs", "GET /"}
	for i, d := range run {
		d.Operation.Index, d.Operation.Label = i+1, &labels[i]
	}
	files := map[string][]*render.Document{"run.jsonl": run, "retried.json": {render.Samples()["retried"]}, "cap.json": {all["cap"]}, "connect.json": {render.Samples()["connect"]}}
	for name, docs := range files {
		var b bytes.Buffer
		for _, d := range docs {
			b.Write(line(t, d))
		}
		file := filepath.Join("testdata", "jq", name)
		if render.Update() {
			if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b.String(), string(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
