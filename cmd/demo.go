package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry/retrytest"
)

// demoScript is what the embedded server answers, one step per request.
const demoScript = `429 retry-after=1, 503, 200 header='Content-Type: application/json' body='{"ok":true}
'`

// runDemo shows the main job: a request that is told to wait, fails once more,
// and succeeds. It sends to a server of its own on loopback.
func runDemo(ctx context.Context, env Env, args []string) exitcode.Code {
	if len(args) > 0 {
		complain(env, "demo takes no arguments")
		return exitcode.Usage
	}
	server, err := retrytest.New(demoScript)
	if err != nil {
		complain(env, "demo: "+err.Error())
		return exitcode.Connect
	}
	defer server.Close()
	fmt.Fprintf(env.Stderr, "A server on loopback will answer 429 with Retry-After: 1, then 503, then 200.\n\n$ bide --base 500ms %s/jobs\n", server.URL)
	env.Args = []string{"-q", "--base", "500ms", "--timeline", "human", "--noproxy", "*", server.URL + "/jobs"}
	getenv := env.Getenv
	env.Getenv = func(name string) string {
		if strings.HasPrefix(name, "BIDE_") {
			return ""
		}
		return getenv(name)
	}
	return runRequests(ctx, env)
}
