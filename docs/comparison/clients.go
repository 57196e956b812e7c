package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// job is what a client is asked to do: three attempts in all.
type job int

const (
	get   job = iota // GET to a file
	post             // POST amount=5
	keyed            // the same with an Idempotency-Key
)

// client is one column of the table.
type client struct {
	name string
	// shown is how it is told to retry.
	shown string
	// prepare installs what is needed into w.dir and gives the version.
	prepare func(ctx context.Context, w *work) (version string, err error)
	// command is a shell script that does the job; $OUT is a file of its own.
	command func(w *work, j job) string
}

const bideName = "bide"

// clients are the columns.
func clients() []client {
	return []client{
		program(bideName, "bide --attempts 3", "bide", "version", `bide -q -s --attempts 3 -o "$OUT"`, [...]string{"", "-d amount=5", "-d amount=5 --idempotency-key k-1"}),
		curl("curl", "--fail --retry 2"),
		curl("curl, all errors", "--fail --retry 2 --retry-all-errors --retry-max-time 60"),
		wget("wget", "--tries=3 --waitretry=10"),
		wget("wget, statuses", "--tries=3 --waitretry=10 --retry-connrefused --retry-on-http-error=429,500,502,503,504"),
		{"urllib3", "Retry(total=2, backoff_factor=0.5, status_forcelist=[...])", prepareUrllib3, library(func(w *work) string {
			return w.python + " " + quoted(filepath.Join(w.root, "docs/comparison/python/client.py"))
		})},
		{"undici", "RetryAgent({ maxRetries: 2, minTimeout: 1000 })", prepareUndici, library(func(w *work) string {
			return "node " + quoted(filepath.Join(w.dir, "node", "client.mjs"))
		})},
		{"go-retryablehttp", "Client{RetryMax: 2}", prepareRetryable, library(func(w *work) string {
			return quoted(filepath.Join(w.dir, "retryablehttp"))
		})},
	}
}

func curl(name, how string) client {
	return program(name, "curl "+how, "curl", "--version", `curl -q -sS `+how+` -o "$OUT"`, [...]string{"", "-d amount=5", "-d amount=5 -H 'Idempotency-Key: k-1'"})
}

func wget(name, how string) client {
	return program(name, "wget "+how, "wget", "--version", `wget --no-config -q `+how+` -O "$OUT"`,
		[...]string{"", "--post-data=amount=5", "--post-data=amount=5 --header='Idempotency-Key: k-1'"})
}

// program is a client with a command line.
func program(name, shown, binary, versionFlag, line string, jobs [3]string) client {
	return client{
		name, shown,
		func(ctx context.Context, w *work) (string, error) {
			if binary == bideName {
				binary = w.bide()
			}
			if _, err := exec.LookPath(binary); err != nil {
				return "", errors.New("not installed")
			}
			return version(ctx, binary, versionFlag)
		},
		func(_ *work, j job) string { return "exec " + line + " " + jobs[j] + ` "$MOCK_URL"` },
	}
}

// library is a client whose program reads METHOD and KEY.
func library(program func(w *work) string) func(*work, job) string {
	return func(w *work, j job) string {
		return [...]string{"METHOD=GET ", "METHOD=POST ", "METHOD=POST KEY=k-1 "}[j] + "exec " + program(w)
	}
}

// version is the first number with a point that a program says of itself.
func version(ctx context.Context, program string, arg ...string) (string, error) {
	out, err := exec.CommandContext(ctx, program, arg...).Output()
	if err != nil {
		return "", fmt.Errorf("version: %w", err)
	}
	found := regexp.MustCompile(`[0-9]+\.[0-9.]*[0-9]`).FindString(string(out))
	if found == "" {
		return "", errors.New("says no version")
	}
	return found, nil
}

// prepareUrllib3 finds a Python that has the module.
func prepareUrllib3(ctx context.Context, w *work) (string, error) {
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if v, err := version(ctx, python, filepath.Join(w.root, "docs/comparison/python/client.py"), "--version"); err == nil {
			w.python = python
			return v, nil
		}
	}
	return "", errors.New("not installed (Debian: python3-urllib3)")
}

// prepareUndici installs the newest release that this Node runs.
func prepareUndici(ctx context.Context, w *work) (string, error) {
	node, err := version(ctx, "node", "--version")
	if err != nil {
		return "", errors.New("node is not installed (Debian: nodejs, npm)")
	}
	release := "7.30.2" // needs Node 20.18
	var major, minor int
	if _, err := fmt.Sscanf(node, "%d.%d", &major, &minor); err != nil || major < 20 || major == 20 && minor < 18 {
		release = "6.29.1"
	}
	dir := filepath.Join(w.dir, "node")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := w.output(ctx, dir, "npm", "install", "--no-audit", "--no-fund", "--no-save", "--prefix", dir, "undici@"+release); err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(w.root, "docs/comparison/node/client.mjs"))
	if err != nil {
		return "", err
	}
	return release, os.WriteFile(filepath.Join(dir, "client.mjs"), text, 0o644)
}

// prepareRetryable builds the client from its own module.
func prepareRetryable(ctx context.Context, w *work) (string, error) {
	dir := filepath.Join(w.root, "docs/comparison/retryablehttp")
	if err := w.output(ctx, dir, "go", "build", "-o", filepath.Join(w.dir, "retryablehttp"), "."); err != nil {
		return "", err
	}
	c := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", "github.com/hashicorp/go-retryablehttp")
	c.Dir = dir
	out, err := c.Output()
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), err
}

// quoted is a word of a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
