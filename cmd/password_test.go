package cmd

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bidehttp/bide/retry/retrytest"
)

// TestPassword: what -u and -U leave out is asked for once for each group.
func TestPassword(t *testing.T) {
	s := retrytest.Serve(t, "200")
	ask := func(args ...string) (code int, asked []string, stderr string) {
		env, _, errs := testEnv(append([]string{"-q", "-sS"}, args...)...)
		env.Password = func(_ context.Context, prompt string) (string, bool, error) {
			asked = append(asked, prompt)
			return "sesame", true, nil
		}
		return Main(context.Background(), env), asked, errs.String()
	}
	authorization := func(name string) string {
		records := s.Log().Records
		for _, f := range records[len(records)-1].Header {
			if f.Name == name {
				return f.Value
			}
		}
		return ""
	}
	if code, asked, _ := ask("-u", "me", s.URL, s.URL); code != 0 || len(asked) != 1 || asked[0] != "Enter host password for user 'me':" {
		t.Errorf("exit %d, asked %q", code, asked)
	}
	if got := authorization("Authorization"); got != "Basic bWU6c2VzYW1l" {
		t.Errorf("sent %q", got)
	}
	if code, asked, _ := ask("-U", "me\x1b", "-x", s.URL, "http://h.test/"); code != 0 || len(asked) != 1 || asked[0] != "Enter proxy password for user 'me?':" {
		t.Errorf("exit %d, asked %q", code, asked)
	}
	for _, args := range [][]string{{"-u", "me:", s.URL}, {"-u", "me:x", s.URL}, {"-u", "me", "--oauth2-bearer", "t", s.URL}, {s.URL}} {
		if code, asked, stderr := ask(args...); code != 0 || len(asked) != 0 {
			t.Errorf("%q: exit %d, asked %q: %s", args, code, asked, stderr)
		}
	}
	before := len(s.Log().Records)
	if r := runMain(t, "-q", "-u", "me", s.URL); r.code != 2 || !strings.Contains(r.stderr, "no password") {
		t.Errorf("without a terminal: %+v", r)
	}
	env, _, _ := testEnv("-q", "-s", "-u", "me", s.URL)
	ctx, cancel := context.WithCancel(context.Background())
	env.Password = func(ctx context.Context, _ string) (string, bool, error) {
		cancel()
		<-ctx.Done()
		return "", true, errors.New("woken")
	}
	if code := Main(ctx, env); code != 130 {
		t.Errorf("R10.1: canceled while asking: exit %d", code)
	}
	if got := len(s.Log().Records); got != before {
		t.Errorf("%d requests went out", got-before)
	}
}
