package cmd

import (
	"strings"

	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/retry"
)

// hint is what a person may have meant, where a failure looks like a slip of
// the command line; "" where it does not, and where one attempt is all that was
// asked for: then the error line is curl's alone.
func (op *operation) hint(last *retry.Outcome) string {
	if last.Class == retry.ClassChecksum && last.Status/100 == 3 && !op.group.Follow {
		return "the answer is a redirect, -L follows it"
	}
	if op.group.Policy.Attempts == 1 || strings.Contains(op.given, "://") {
		return ""
	}
	switch last.Class {
	case retry.ClassNXDomain, retry.ClassResolve:
		if !strings.ContainsAny(op.given, "./:?#@") {
			if command := flags.NearestCommand(op.given); command != "" {
				return "did you mean the command bide " + command + "?"
			}
		}
	case retry.ClassConnect, retry.ClassClosed:
		return "the URL has no scheme, so " + op.template.URL.Scheme + ":// was taken"
	}
	return ""
}

// hintAtShell tells of the one slip that leaves no trace in the arguments: an
// unquoted & ends the command for the shell, which runs it in the background.
func (r *run) hintAtShell() {
	if r.env.Background == nil || !r.console.live.Terminal() {
		return
	}
	for i := range r.options.Groups {
		for _, arg := range r.options.Groups[i].URLs {
			if strings.Contains(arg.URL, "?") && r.env.Background() {
				r.console.notice("this runs in the background; if the URL was to go on after an &, put it in quotes")
				return
			}
		}
	}
}
