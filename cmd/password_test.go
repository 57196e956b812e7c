//go:build unix

package cmd_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/bidehttp/bide/retry/retrytest"
)

// typed runs the binary on a terminal, and types text when it was asked.
func typed(t *testing.T, bide, question, text string, args ...string) (sent string, cmd *exec.Cmd) {
	t.Helper()
	cmd = exec.Command(bide, args...)
	tty, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	var out bytes.Buffer
	buf := make([]byte, 4096)
	for !strings.Contains(out.String(), question) {
		n, err := tty.Read(buf)
		if err != nil {
			t.Fatalf("not asked: %q", out.String())
		}
		out.Write(buf[:n])
	}
	awaitReader(t, tty)
	if _, err := io.WriteString(tty, text); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(&out, tty) // ends with EIO when the process has ended
	_ = cmd.Wait()            // callers look at its state
	return out.String(), cmd
}

// awaitReader waits until tty shows no longer what is typed, or is otherwise not
// as it was made.
func awaitReader(t *testing.T, tty *os.File) {
	t.Helper()
	fresh, line, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	defer line.Close()
	made, err := term.GetState(int(fresh.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	for patient := time.Now().Add(30 * time.Second); time.Now().Before(patient); time.Sleep(5 * time.Millisecond) {
		if now, err := term.GetState(int(tty.Fd())); err == nil && *now != *made {
			return
		}
	}
	t.Error("what is typed would be shown")
}

// TestPassword: -u and -U without a password ask for it, and show nothing of it.
func TestPassword(t *testing.T) {
	bide := buildBide(t)
	t.Run("host", func(t *testing.T) {
		server := retrytest.Serve(t, "200 body=done")
		sent, _ := typed(t, bide, "Enter host password for user 'ann': ", "plan ted\n", "-q", "-v", "-u", "ann", server.URL)
		if !strings.Contains(sent, "done") || strings.Contains(sent, "plan ted") {
			t.Errorf("the terminal was sent %q", sent)
		}
		if got := server.Log().Records[0].Get("Authorization"); got != "Basic YW5uOnBsYW4gdGVk" {
			t.Errorf("sent %q", got)
		}
	})
	t.Run("proxy", func(t *testing.T) {
		server := retrytest.Serve(t, "200 body=done")
		typed(t, bide, "Enter proxy password for user 'ann': ", "plan ted\n", "-q", "-U", "ann", "-x", server.URL, "http://known.invalid/")
		if got := server.Log().Records[0].Get("Proxy-Authorization"); got != "Basic YW5uOnBsYW4gdGVk" {
			t.Errorf("sent %q", got)
		}
	})
	t.Run("R10.1_interrupted", func(t *testing.T) {
		server := retrytest.Serve(t, "200")
		_, cmd := typed(t, bide, "password", "\x03", "-q", "-u", "ann", server.URL)
		if code := cmd.ProcessState.ExitCode(); code != 130 {
			t.Errorf("exit code %d, want 130", code)
		}
		if n := len(server.Log().Records); n != 0 {
			t.Errorf("%d requests after an interrupt", n)
		}
	})
	t.Run("nobody_to_ask", func(t *testing.T) {
		server := retrytest.Serve(t, "200")
		cmd := exec.Command(bide, "-q", "-s", "-u", "ann", server.URL)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without a controlling terminal
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		if got := server.Log().Records[0].Get("Authorization"); got != "Basic YW5uOg==" {
			t.Errorf("sent %q", got)
		}
	})
}
