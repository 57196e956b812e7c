//go:build unix

package mock

import (
	"os"
	"os/exec"
	"syscall"
)

// detach gives the command a process group of its own.
func detach(cmd *exec.Cmd, own bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: own}
}

// deliver passes a signal on: to the command's own group, or to the command
// alone, but for those that a terminal has sent to both of us.
func deliver(cmd *exec.Cmd, s os.Signal, own bool) {
	number, ok := s.(syscall.Signal)
	switch {
	case !ok:
	case own:
		_ = syscall.Kill(-cmd.Process.Pid, number) // it may have ended
	case number != syscall.SIGINT && number != syscall.SIGHUP:
		_ = cmd.Process.Signal(number)
	}
}

// terminate asks the command to end.
func terminate(cmd *exec.Cmd, own bool) { deliver(cmd, syscall.SIGTERM, own) }

// kill ends the command, and all in its group where that is its own.
func kill(cmd *exec.Cmd) {
	if cmd.SysProcAttr.Setpgid {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // nothing may be left
		return
	}
	_ = cmd.Process.Kill()
}

// exitCode is the command's, 128 plus the number of the signal that ended it.
func exitCode(state *os.ProcessState) int {
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return state.ExitCode()
}
