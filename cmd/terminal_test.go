//go:build unix

package cmd_test

import (
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/bidehttp/bide/retry/retrytest"
)

// onTerminal runs the binary with its output on a terminal of 100 columns and
// gives everything that the terminal was sent.
func onTerminal(t *testing.T, bide string, args ...string) string {
	t.Helper()
	cmd := exec.Command(bide, args...)
	cmd.Env = append(cmd.Environ(), "TERM=xterm", "LC_ALL=C.UTF-8", "NO_COLOR=1")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	out, _ := io.ReadAll(tty) // ends with EIO when the process has ended
	_ = cmd.Wait()            // exit codes are not what is looked at
	return string(out)
}

// TestTerminal holds what a person at a terminal sees.
func TestTerminal(t *testing.T) {
	bide := buildBide(t)
	t.Run("F5_countdown_then_timeline", func(t *testing.T) {
		server := retrytest.Serve(t, "429 retry-after=1, 200 body=done")
		got := onTerminal(t, bide, "-q", server.URL)
		for _, want := range []string{
			`\rbide: [12]s left until \d\d:\d\d:\d\d \(attempt 2 of 3\): server asks for 1s, 429 from http://127\.0\.0\.1:\d+`, // live
			`\r\x1b\[Kdone\r\nGET `,          // the line is cleared before the body, the timeline has its own
			`█┄+┃┄*`,                         // the attempt, the wait and the server's minimum
			`success: 200 OK, 2 attempts in`, // the end
		} {
			if !regexp.MustCompile(want).MatchString(got) {
				t.Errorf("the terminal was not sent %s in\n%q", want, got)
			}
		}
	})
	t.Run("R11.2_F2_escape_sequences_are_escaped", func(t *testing.T) {
		server := retrytest.Serve(t, "503 reason='\x1b[31mred' header='X-Request-Id: \x1b]0;title\x07' body='\x1b[2J' xinf")
		got := onTerminal(t, bide, "-q", "-v", "-o", t.TempDir()+"/f", "--base", "1ms", server.URL)
		for _, raw := range []string{"\x1b[31m", "\x1b]0;", "\x1b[2J", "\x07"} {
			if strings.Contains(got, raw) {
				t.Errorf("the terminal was sent %q raw: %q", raw, got)
			}
		}
	})
	t.Run("wait_has_a_line_for_each_url", func(t *testing.T) {
		up, late := retrytest.Serve(t, "503, 200"), retrytest.Serve(t, "404 x2, 200")
		got := onTerminal(t, bide, "wait", "--base", "400ms", up.URL, late.URL)
		for _, want := range []string{
			`\rbide: ` + up.URL + `: \d+s of 5m, attempt 1: 503 Service Unavailable\x1b\[K\r\r?\nbide: ` + late.URL + `: \d+s of 5m, attempt 1: 404 Not Found\x1b\[K`,
			`bide: ` + up.URL + ` answered 200 OK after \S+ \(2 attempts\)\r\n\rbide: ` + late.URL + `: \d+s of 5m, attempt \d: 404 Not Found`,
			`bide: ` + late.URL + ` answered 200 OK after \S+ \(3 attempts\)\r\n$`,
		} {
			if !regexp.MustCompile(want).MatchString(got) {
				t.Errorf("the terminal was not sent %s in\n%q", want, got)
			}
		}
	})
	t.Run("binary_body_is_refused", func(t *testing.T) {
		server := retrytest.Serve(t, "200 body='a\x00b' xinf")
		if got := onTerminal(t, bide, "-q", server.URL); !strings.Contains(got, "binary") || strings.Contains(got, "\x00") {
			t.Errorf("the terminal was sent %q", got)
		}
		if got := onTerminal(t, bide, "-q", "-o", "-", server.URL); !strings.Contains(got, "a\x00b") {
			t.Errorf("-o - does not print the body: %q", got)
		}
	})
	t.Run("R2.3_binary_error_body_does_not_hide_the_status", func(t *testing.T) {
		server := retrytest.Serve(t, "404 body='a\x00b'")
		got := onTerminal(t, bide, "-q", server.URL)
		if !strings.Contains(got, "404 Not Found") || !strings.Contains(got, "binary") || strings.Contains(got, "\x00") {
			t.Errorf("the terminal was sent %q", got)
		}
	})
	t.Run("quiet_after_success_without_retry", func(t *testing.T) {
		server := retrytest.Serve(t, "200 body=only")
		if got := onTerminal(t, bide, "-q", server.URL); got != "only" {
			t.Errorf("the terminal was sent %q", got)
		}
	})
}
