package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bidehttp/bide/retry/retrytest"
)

// planted are the secrets that the runs below carry, each in its own place.
var planted = []string{
	"hunter2-userinfo", "hunter2-user", "hunter2-bearer", "hunter2-cookie", "hunter2-header",
	"hunter2-query", "hunter2-setcookie", "hunter2-location", "hunter2-proxy",
}

// TestSecretsStayHidden holds R11.1: no output of any failure path shows a secret.
func TestSecretsStayHidden(t *testing.T) {
	const secretive = " header='Set-Cookie: sid=hunter2-setcookie' header='X-Api-Token: hunter2-setcookie'"
	for name, tt := range map[string]struct {
		script string
		args   []string
	}{
		"success":            {script: "200" + secretive},
		"http_error":         {script: "404" + secretive},
		"attempts_exhausted": {script: "503" + secretive + " xinf"},
		"cap":                {script: "429 retry-after=9999" + secretive},
		"reset":              {script: "reset xinf"},
		"closed":             {script: "close xinf"},
		"garbage":            {script: "garbage xinf"},
		"truncated":          {script: "200 size=20 truncate=5B" + secretive + " xinf"},
		"timeout":            {script: "stall=5s xinf", args: []string{"-m", "0.1"}},
		"deadline":           {script: "503" + secretive + " xinf", args: []string{"--deadline", "5ms", "--base", "1s"}},
		"unsafe":             {script: "503" + secretive, args: []string{"-d", "x"}},
		"redirect_loop":      {script: "302 location=/again?token=hunter2-location" + secretive + " xinf", args: []string{"-L", "--max-redirs", "2"}},
		"redirect_scheme":    {script: "302 location=ftp://u:hunter2-location@x/?t=hunter2-location", args: []string{"-L"}},
		"redirect_not_taken": {script: "302 location=/x?token=hunter2-location" + secretive},
		"refused_port":       {script: "", args: []string{"--connect-to", "::127.0.0.1:1"}},
		"unresolvable":       {script: "", args: []string{"--connect-to", "::no-such-host.invalid:80", "--dns-servers", "127.0.0.1:1"}},
		"proxy":              {script: "", args: []string{"-x", "http://u:hunter2-proxy@127.0.0.1:1"}},
		"output":             {script: "200 body=x" + secretive, args: []string{"-o", "/nonexistent/dir/file"}},
	} {
		t.Run("R11.1_"+name, func(t *testing.T) {
			url := "http://u:hunter2-userinfo@127.0.0.1:2"
			if tt.script != "" {
				url = strings.Replace(retrytest.Serve(t, tt.script).URL, "://", "://u:hunter2-userinfo@", 1)
			}
			dir := t.TempDir()
			file := filepath.Join(dir, "timeline")
			for _, form := range []string{"json", "jsonl", "human"} {
				args := append([]string{"-q", "-v", "--noproxy", "", "--base", "1ms", "--timeline", form, "--timeline-file", file}, tt.args...)
				args = append(args,
					"-H", "X-Secret-Header: hunter2-header", "-H", "Authorization: Bearer hunter2-bearer",
					"-b", "sid=hunter2-cookie", url+"/path?key=hunter2-query")
				got := runMain(t, args...)
				timeline, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				all := got.stdout + got.stderr + string(timeline)
				if len(timeline) == 0 {
					t.Errorf("%s timeline is empty; stderr: %s", form, got.stderr)
				}
				for _, secret := range planted {
					if at := strings.Index(all, secret); at >= 0 {
						t.Errorf("%s: %s is shown: ...%s...", form, secret, all[max(0, at-60):min(len(all), at+40)])
					}
				}
			}
		})
	}
}

// TestSecretsOfUserFlag: -u's password stays hidden, and --no-redact shows what it is asked to.
func TestSecretsOfUserFlag(t *testing.T) {
	server := retrytest.Serve(t, "404 xinf")
	got := runMain(t, "-q", "-v", "-u", "me:hunter2-user", server.URL)
	if strings.Contains(got.stderr, "hunter2") || strings.Contains(got.stderr, "bWU6aHVudGVyMi11c2Vy") {
		t.Errorf("R11.1: stderr shows the password: %s", got.stderr)
	}
	got = runMain(t, "-q", "-v", "--no-redact", "-u", "me:hunter2-user", server.URL)
	if !strings.Contains(got.stderr, "bWU6aHVudGVyMi11c2Vy") {
		t.Errorf("--no-redact hides the credentials: %s", got.stderr)
	}
}

// TestSecretsInUsage/R11.1: a URL that a flag took for its value is hidden like any other.
func TestSecretsInUsage(t *testing.T) {
	for _, args := range [][]string{
		{"--attempts", "http://u:hunter2-userinfo@h/?token=hunter2-query"},
		{"--deadline", "https://u:hunter2-userinfo@h/"},
		{"-r", "http://u:hunter2-userinfo@h/"},
		{"--resolve", "http://u:hunter2-userinfo@h/"},
		{"--tls-max", "http://u:hunter2-userinfo@h/"},
		{"--retry-on", "http://u:hunter2-userinfo@h/"},
	} {
		got := runMain(t, append(args, "http://127.0.0.1:1/")...)
		if got.code == 0 || got.stderr == "" || strings.Contains(got.stdout+got.stderr, "hunter2") {
			t.Errorf("%s: exit code %d, %s", args[0], got.code, got.stderr)
		}
	}
}
