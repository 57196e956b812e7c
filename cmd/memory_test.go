package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// measuring names the file that measure leaves its result in.
const measuring = "BIDE_TEST_MEASURE"

// withPeak puts a small process between this one and cmd: to the kernel the
// memory of whoever starts a process is the process's own until it begins. peak
// is known once cmd has ended, in bytes; 0 where the system does not tell.
func withPeak(t *testing.T, cmd *exec.Cmd) (peak func() int64) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Error(err)
	}
	result := filepath.Join(t.TempDir(), "peak")
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, measuring+"="+result)
	cmd.Args = append([]string{self, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = self
	return func() int64 {
		text, _ := os.ReadFile(result)
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			t.Errorf("nothing was measured: %v", err)
		}
		return n
	}
}

// measure is the process between; it returns the exit code of the other.
func measure(result string, args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, measuring+"=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	_ = cmd.Run() // its exit code tells
	if cmd.ProcessState == nil {
		return -1
	}
	if os.WriteFile(result, strconv.AppendInt(nil, peakMemory(cmd.ProcessState), 10), 0o600) != nil {
		return -1
	}
	return cmd.ProcessState.ExitCode()
}
