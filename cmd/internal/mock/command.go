package mock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// killGrace is what a command has between SIGTERM and SIGKILL when its time is up.
const killGrace = 5 * time.Second

// timedOutCode is the exit code of a command whose time was up, as of timeout(1).
const timedOutCode = 124

// command is the client under test.
type command struct {
	args           []string
	env            []string
	stdin          io.Reader
	stdout, stderr io.Writer
	timeout        time.Duration // 0 none
	signals        <-chan os.Signal
	terminal       bool // it shares the terminal's process group with us
}

// ending is how a command ended.
type ending struct {
	code     int // 128 plus the signal that ended it; 124 timed out; 126, 127 not started
	took     time.Duration
	timedOut bool
	// sweep ends what the command has left running in its process group.
	sweep func()
}

// run starts the command, passes signals on to its process group and waits for
// its end, at which it calls exited. The error says why it was not started.
func (c command) run(ctx context.Context, exited func()) (ending, error) {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.env, c.stdin, c.stdout, c.stderr
	cmd.WaitDelay = time.Second // for output that is no file and that a grandchild keeps open
	detach(cmd, !c.terminal)
	start := time.Now()
	if err := cmd.Start(); err != nil {
		code := 126
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			code = 127
		}
		if strings.ContainsAny(c.args[0], " \t\n") {
			err = fmt.Errorf("%w (it is one word; a line for the shell goes after -- sh -c)", err)
		}
		return ending{code: code}, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait() // ProcessState tells
		exited()
	}()
	timedOut := c.attend(ctx, cmd, done)
	end := ending{code: exitCode(cmd.ProcessState), took: time.Since(start), timedOut: timedOut, sweep: func() { kill(cmd) }}
	if timedOut {
		end.code = timedOutCode
		end.sweep() // what does not heed SIGTERM outlives the command
	}
	return end, nil
}

// attend passes signals on until the command has ended, and ends it when its
// time is up.
func (c command) attend(ctx context.Context, cmd *exec.Cmd, done <-chan struct{}) (timedOut bool) {
	var limit, grace <-chan time.Time
	if c.timeout > 0 {
		t := time.NewTimer(c.timeout)
		defer t.Stop()
		limit = t.C
	}
	canceled := ctx.Done()
	for {
		select {
		case <-done:
			return timedOut
		case <-canceled:
			canceled = nil
			terminate(cmd, !c.terminal)
			grace = time.After(killGrace)
		case s := <-c.signals:
			deliver(cmd, s, !c.terminal)
		case <-limit:
			timedOut = true
			terminate(cmd, !c.terminal)
			grace = time.After(killGrace)
		case <-grace:
			kill(cmd)
		}
	}
}

// signalNumber is the number of a signal.
func signalNumber(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return int(n)
	}
	return int(syscall.SIGINT)
}
