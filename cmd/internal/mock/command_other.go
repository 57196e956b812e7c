//go:build !unix

package mock

import (
	"os"
	"os/exec"
)

// detach does nothing: the console sends Ctrl-C to all that share it.
func detach(*exec.Cmd, bool) {}

// deliver does nothing, for the same reason.
func deliver(*exec.Cmd, os.Signal, bool) {}

// terminate ends the command: there is no way to ask.
func terminate(cmd *exec.Cmd, _ bool) { kill(cmd) }

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func exitCode(state *os.ProcessState) int { return state.ExitCode() }
