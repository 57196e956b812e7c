//go:build unix

package cmd_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestIgnoredSignals/R10.1b: what nohup ignores stays ignored.
func TestIgnoredSignals(t *testing.T) {
	bide := buildBide(t)
	script := `trap '' HUP INT; (sleep 0.2; kill -HUP $$; kill -INT $$) & exec "$0" -sS --attempts 1 -w '%{exitcode}' -d @- http://127.0.0.1:1/`
	c := exec.Command("sh", "-c", script, bide)
	in, err := c.StdinPipe() // open until both signals have come
	if err != nil {
		t.Fatal(err)
	}
	out := new(strings.Builder)
	c.Stdout = out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond)
	in.Close()
	err = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 7 || out.String() != "7" {
		t.Errorf("exit code %d, want 7 (connection refused): %v; %s", code, err, out)
	}
}
