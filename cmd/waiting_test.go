package cmd_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bidehttp/bide/render/rendertest"
	"github.com/bidehttp/bide/retry/retrytest"
)

// TestWaitingDocuments holds the timelines of bide wait, --until and --poll to
// the schema and to what it cannot say (R1.1: requests are hops).
func TestWaitingDocuments(t *testing.T) {
	bide := buildBide(t)
	for name, c := range map[string]struct {
		script   string
		args     string // URL and TCP stand for the server
		exit     int
		requests int
	}{
		"wait":                     {"503, 404, 200 body=up", "wait --base 1ms URL TCP", 0, 3},
		"wait_that_gives_up":       {"503", "wait --base 1ms --attempts 2 URL", 75, 2},
		"until":                    {"200 body=no, 500, 200 body=yes", "--base 1ms --until .text==\"yes\" URL", 0, 3},
		"until_that_fails":         {"200 body=x", "--base 1ms --until .text|keys URL", 75, 3},
		"until_of_an_error":        {"200, 404", "--base 1ms --until .status==404 URL", 0, 2},
		"until_within_a_post":      {"200", "-d x --until .status==201 URL", 22, 1},
		"until_beyond_the_time":    {"200 xinf", "-m 200ms --attempts 1 --until last(repeat(.)) URL", 28, 1},
		"until_of_a_broken_body":   {"200 size=10kB truncate=1kB, 200 size=10kB", "--base 1ms --until .text|length==10000 URL", 0, 2},
		"poll":                     {"202 location=/s, 202, 303 location=/r, 200 body=done", "--base 1ms -d x --poll URL", 0, 4},
		"poll_with_until":          {"202 location=/s, 200 body=run, 503, 200 body=run, 200 body=done", "--base 1ms -d x --poll --until .text==\"done\" URL", 0, 5},
		"poll_without_a_way":       {"202", "-d x --poll URL", 22, 1},
		"poll_to_a_refused_scheme": {"202 location=ftp://h/", "-d x --poll URL", 1, 1},
		"poll_beyond_the_deadline": {"202 location=/s, 202 retry-after=9", "-d x --base 1ms --poll --deadline 5s URL", 75, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := retrytest.Serve(t, c.script)
			file := filepath.Join(t.TempDir(), "t.json")
			args := strings.Fields(strings.NewReplacer("URL", s.URL, "TCP", "tcp://127.0.0.1:"+s.Port).Replace(c.args))
			if args[0] == "wait" {
				args = append([]string{"wait", "-q", "-s", "--timeline-file", file}, args[1:]...)
			} else {
				args = append([]string{"-q", "-s", "--timeline-file", file}, args...)
			}
			cmd := exec.Command(bide, args...)
			err := cmd.Run()
			var failed *exec.ExitError
			if err != nil && !errors.As(err, &failed) {
				t.Fatal(err)
			}
			if code := cmd.ProcessState.ExitCode(); code != c.exit {
				t.Errorf("exit code %d, want %d", code, c.exit)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			requests := 0
			for _, d := range rendertest.Valid(t, data) {
				requests += d.Outcome.Requests
			}
			if got := len(s.Log().Records); requests != c.requests || got != c.requests {
				t.Errorf("%d requests in the timelines, %d on the wire, want %d", requests, got, c.requests)
			}
		})
	}
}
