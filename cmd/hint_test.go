package cmd

import (
	"context"
	"strings"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/retry"
)

func TestHint(t *testing.T) {
	for _, c := range []struct {
		given    string
		class    retry.Class
		attempts int
		want     string
	}{
		{"demoo", retry.ClassNXDomain, 3, "did you mean the command bide demo?"},
		{"demoo", retry.ClassNXDomain, 1, ""},  // the line is curl's
		{"demoo/", retry.ClassNXDomain, 3, ""}, // a name that is none is none with any scheme
		{"example.test", retry.ClassConnect, 3, "the URL has no scheme, so http:// was taken"},
		{"example.test", retry.ClassClosed, 3, "the URL has no scheme, so http:// was taken"},
		{"example.test", retry.ClassStatus, 3, ""},
		{"http://example.test", retry.ClassConnect, 3, ""},
	} {
		group := &prepared{Group: &flags.Group{Policy: retry.Policy{Attempts: c.attempts}}}
		op := &operation{group: group, given: c.given, template: request.Template{URL: &request.URL{Authority: &request.Authority{Scheme: "http"}}}}
		if got := op.hint(&retry.Outcome{Class: c.class}); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.given, c.class, got, c.want)
		}
	}
}

// The shell's background job is told from what the process and its terminal are.
func TestHintAtShell(t *testing.T) {
	const words = "this runs in the background"
	for _, c := range []struct {
		url                  string
		terminal, background bool
		want                 bool
	}{
		{"http://127.0.0.1:1/?a=1", true, true, true},
		{"http://127.0.0.1:1/", true, true, false},
		{"http://127.0.0.1:1/?a=1", true, false, false},
		{"http://127.0.0.1:1/?a=1", false, true, false},
	} {
		env, _, stderr := testEnv("--attempts", "1", c.url)
		env.Terminal = func(f any) (int, bool) { return 80, c.terminal && f == env.Stderr }
		env.Background = func() bool { return c.background }
		if code := Main(context.Background(), env); code != 7 {
			t.Errorf("exit %d", code)
		}
		if got := strings.Contains(stderr.String(), words); got != c.want {
			t.Errorf("%+v: %q", c, stderr)
		}
	}
}
