// Command comparison runs several HTTP clients through bide mock's matrix and
// some scripts beside it, and writes docs/comparison.md: who keeps which row.
//
//	go run ./docs/comparison           write the page
//	go run ./docs/comparison -check    hold bide, and each client of the page's version, to the page
//
// With -all a client that is not installed is an error; otherwise it is left out
// of a check, and the page cannot be written.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
)

// Files, from the module's root.
const (
	page    = "docs/comparison.md"
	results = "docs/comparison/results.json"
)

func main() {
	check := flag.Bool("check", false, "compare with the page instead of writing it")
	all := flag.Bool("all", false, "fail when a client is not installed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *check, *all); err != nil {
		fmt.Fprintln(os.Stderr, "comparison:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, check, all bool) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bide-comparison-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	w := &work{root: root, dir: dir}
	if err := w.output(ctx, root, "go", "build", "-o", w.bide(), "."); err != nil {
		return fmt.Errorf("bide: %w", err)
	}
	found, missing := w.measure(ctx, clients())
	for _, err := range missing {
		fmt.Fprintln(os.Stderr, "comparison: left out:", err)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(missing) > 0 && (all || !check):
		return errors.New("not every client could be run")
	case !check:
		return write(root, found)
	}
	return w.hold(ctx, found)
}

// hold compares what was found with the page. On a busy machine a client may be
// late: the ones that differ get a second try, alone.
func (w *work) hold(ctx context.Context, found []measured) error {
	known, err := read(w.root)
	if err != nil {
		return err
	}
	var faults []error
	for _, f := range found {
		err := compare(known, f)
		if err != nil {
			fmt.Printf("%s: once more, since %v\n", f.Name, err)
			again, missing := w.measure(ctx, named(f.Name))
			if len(missing) > 0 {
				return missing[0]
			}
			err = compare(known, again[0])
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// named is the client of that name alone.
func named(name string) []client {
	return slices.DeleteFunc(clients(), func(c client) bool { return c.name != name })
}

// measure runs the clients, four at a time, and keeps their order.
func (w *work) measure(ctx context.Context, list []client) (found []measured, missing []error) {
	out, errs := make([]measured, len(list)), make([]error, len(list))
	slots := make(chan struct{}, 4)
	var wg sync.WaitGroup
	for i, c := range list {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if out[i], errs[i] = w.client(ctx, c); errs[i] != nil {
				errs[i] = fmt.Errorf("%s: %w", c.name, errs[i])
			}
		})
	}
	wg.Wait()
	for i := range list {
		if errs[i] != nil {
			missing = append(missing, errs[i])
		} else {
			found = append(found, out[i])
		}
	}
	return found, missing
}

// moduleRoot is the folder of bide's go.mod.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/bidehttp/bide").Output()
	if err != nil {
		return "", fmt.Errorf("the module's folder: %w", err)
	}
	return string(out[:len(out)-1]), nil
}

// write writes the page and what it is made of.
func write(root string, found []measured) error {
	b, err := json.MarshalIndent(found, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, results), append(b, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, page), []byte(markdown(found)), 0o644)
}

// read is what the page was made of.
func read(root string) ([]measured, error) {
	b, err := os.ReadFile(filepath.Join(root, results))
	if err != nil {
		return nil, err
	}
	var known []measured
	return known, json.Unmarshal(b, &known)
}

// compare holds a client to what is known of it: one of the same version must do
// the same. bide is always compared.
func compare(known []measured, f measured) error {
	at := slices.IndexFunc(known, func(k measured) bool { return k.Name == f.Name })
	if at < 0 {
		return fmt.Errorf("%s is not on the page", f.Name)
	}
	k := known[at]
	if k.Version != f.Version && f.Name != bideName {
		fmt.Printf("%s: version %s, the page has %s: not compared\n", f.Name, f.Version, k.Version)
		return nil
	}
	var faults []error
	for row, cell := range f.Rows {
		if cell.OK != k.Rows[row].OK {
			faults = append(faults, fmt.Errorf("%s, %s: %s; the page says %s", f.Name, row, cell, k.Rows[row]))
		}
	}
	if len(faults) == 0 {
		fmt.Printf("%s %s: %d rows as on the page\n", f.Name, f.Version, len(f.Rows))
	}
	return errors.Join(faults...)
}
