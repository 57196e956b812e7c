package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/bidehttp/bide/render"
)

// limit is how long one run of a client may take; none that gives up takes more.
const limit = "20s"

// work is where clients are prepared and run.
type work struct {
	root, dir string
	python    string
}

func (w *work) bide() string { return filepath.Join(w.dir, "bin", "bide") }

// measured is one client's column.
type measured struct {
	Name    string          `json:"name"`
	Version string          `json:"version"`
	Shown   string          `json:"command"`
	Rows    map[string]cell `json:"rows"`
}

// cell is whether a client keeps a row, and if not, what it does.
type cell struct {
	OK  bool   `json:"ok"`
	Why string `json:"why,omitempty"`
}

func (c cell) String() string {
	if c.OK {
		return "kept"
	}
	return "not kept (" + c.Why + ")"
}

// row is a script beside the matrix.
type row struct {
	name, wants, script string
	job                 job
	succeeds            bool
	expect              []string
}

func rows() []row {
	return []row{
		{"retry-after-0", "a Retry-After of 0 does not make it hammer the server", "503 retry-after=0 x2, 200", get, true, []string{"attempts=3", "gaps>=500ms"}},
		{"one-connection", "the attempts share one connection", "503 x2, 200", get, true, []string{"attempts=3", "connections=1"}},
		{"resume", "a download that was cut off goes on where it was", `200 size=2MB truncate=1MB etag='"a"' ranges, 200 size=2MB etag='"a"' ranges`, get, true, []string{"statuses=200,206"}},
		{"post-cut", "a POST without a key that may have been acted on is not sent again", "close, 201", post, false, []string{"attempts=1"}},
		{"post-key-cut", "a POST with an Idempotency-Key is, with the same key and body", "close, 201", keyed, true, []string{"attempts=2", "same-key", "same-body"}},
	}
}

// output runs a program and keeps quiet unless it fails.
func (w *work) output(ctx context.Context, dir, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// client prepares a client and runs it through the matrix and the rows.
func (w *work) client(ctx context.Context, c client) (measured, error) {
	version, err := c.prepare(ctx, w)
	if err != nil {
		return measured{}, err
	}
	m := measured{Name: c.name, Version: version, Shown: c.shown, Rows: map[string]cell{}}
	list := rows()
	cells, errs := make([]cell, len(list)), make([]error, len(list)+1)
	var wg sync.WaitGroup
	for i, r := range list {
		wg.Go(func() { cells[i], errs[i] = w.row(ctx, c, r) })
	}
	errs[len(list)] = w.matrix(ctx, c, m.Rows)
	wg.Wait()
	for i, r := range list {
		m.Rows[r.name] = cells[i]
	}
	return m, errors.Join(errs...)
}

// matrix fills in the rows of bide mock's own matrix.
func (w *work) matrix(ctx context.Context, c client, to map[string]cell) error {
	var matrix render.MockConformance
	err := w.mock(ctx, &matrix, c.command(w, get), "--conformance", "--jobs", "4")
	for _, r := range matrix.Rows {
		to[r.Row] = cell{OK: r.OK}
		if !r.OK {
			to[r.Row] = cell{Why: why(r.TimedOut, r.Requests, r.Exit, r.Checks)}
		}
	}
	return err
}

// row is what a client does with a script beside the matrix.
func (w *work) row(ctx context.Context, c client, r row) (cell, error) {
	args := []string{"--script", r.script}
	for _, e := range r.expect {
		args = append(args, "--expect", e)
	}
	var log render.MockLog
	if err := w.mock(ctx, &log, c.command(w, r.job), args...); err != nil {
		return cell{}, err
	}
	end := log.Command
	if end == nil {
		return cell{}, fmt.Errorf("%s: no end of the command in the report", r.name)
	}
	if log.OK && !end.TimedOut && (end.Exit == 0) == r.succeeds {
		return cell{OK: true}, nil
	}
	return cell{Why: why(end.TimedOut, log.Requests, end.Exit, log.Checks)}, nil
}

// mock runs bide mock around a client's shell script, and reads its report.
func (w *work) mock(ctx context.Context, report any, script string, args ...string) error {
	line := append(append([]string{"mock", "--format", "json", "--timeout", limit}, args...), "--", "sh", "-c", `OUT=$(mktemp "$SCRATCH/out.XXXXXX"); `+script)
	c := exec.CommandContext(ctx, w.bide(), line...)
	c.Env = append(os.Environ(), "SCRATCH="+w.dir, "HOME="+w.dir, "PATH="+filepath.Dir(w.bide())+string(os.PathListSeparator)+os.Getenv("PATH"))
	var errText strings.Builder
	c.Stderr = &errText
	out, _ := c.Output() // its exit code is in the report
	if err := json.Unmarshal(out, report); err != nil {
		return fmt.Errorf("no report: %w\n%s", err, errText.String())
	}
	return nil
}

// why says in words without figures of time what a client does instead.
func why(timedOut bool, requests, exit int, checks []render.MockCheck) string {
	if timedOut {
		return "still waiting after " + limit
	}
	for _, c := range checks {
		switch {
		case c.OK:
		case c.Check == "gaps>=retry-after" && requests > 1:
			return "comes back earlier than it was told"
		case strings.HasPrefix(c.Check, "gaps>=") && requests > 1:
			return "comes back at once"
		case strings.HasPrefix(c.Check, "connections"):
			return "a new connection for each attempt"
		case strings.HasPrefix(c.Check, "statuses=200,206") && requests > 1:
			return "starts from the beginning"
		}
	}
	plural := "s"
	if requests == 1 {
		plural = ""
	}
	return fmt.Sprintf("%d request%s, exit %d", requests, plural, exit)
}
