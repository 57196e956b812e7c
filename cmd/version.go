package cmd

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
)

// version and commit are set by the linker in releases.
var (
	version = "0.1.0"
	commit  = ""
)

// runVersion prints version, commit, Go and features, in the shape of curl -V.
func runVersion(_ context.Context, env Env, args []string) exitcode.Code {
	if len(args) > 0 {
		complain(env, "version takes no arguments")
		return exitcode.Usage
	}
	return printVersion(env)
}

func printVersion(env Env) exitcode.Code {
	line := "bide " + version
	if c := buildCommit(); c != "" {
		line += " (" + c + ")"
	}
	return printed(env, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s %s/%s %s\nProtocols: http https\nFeatures: brotli deflate gzip HTTP2 HTTP3 IPv6 jitter Retry-After timeline TLS UnixSockets zstd\n",
			line, runtime.GOOS, runtime.GOARCH, runtime.Version())
		return err
	})
}

// buildCommit is the commit that the binary was built from, "" unknown.
func buildCommit() string {
	if commit != "" {
		return commit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return ""
}
