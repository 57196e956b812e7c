package flags

import (
	"fmt"
	"io"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// exitCodesIntro is the rule behind the tables: contract R10.3.
const exitCodesIntro = "A number that curl has means what it means there. Codes of bide's own: 22 also without `-f`, 75, 130 and 143.\n\n" +
	"- Each failure has its own code. A final HTTP status of 400 or above exits 22, with the body still on standard output; `-f` drops the body.\n" +
	"- **75** (EX_TEMPFAIL) takes the place of 22 when the last complete answer was a status that is worth another attempt, and attempts, cap, retry time, deadline or budget ended the operation: a later run may succeed. " +
	"`next_attempt_at` in the timeline names the time, when the server did.\n" +
	"- 28 when the deadline cut an attempt.\n" +
	"- `bide wait` exits 75 whenever a limit ended it, whatever the last failure was.\n" +
	"- `--no-fail` makes every complete response 0, as in curl.\n" +
	"- With several URLs the code is that of the last one that failed; `--fail-early` stops at the first.\n\n" +
	"In a script:\n\n```sh\nbide -sS \"$url\" > body.json\ncase $? in\n  0)  ;;                            # a complete, successful answer\n  75) echo 'try again later' ;;     # the server is there, and was busy to the end\n  22) echo 'not worth repeating' ;; # 404, 401, ...\n  *)  echo 'no complete answer' ;;  # name, connection, TLS, time\nesac\n```\n"

// WriteExitCodes writes docs/exit-codes.md: the codes, the reasons for
// stopping, and the classes of failures with the codes that are usual for them.
func WriteExitCodes(w io.Writer) error {
	var b strings.Builder
	b.WriteString("<!-- Generated from the tables (go generate ./cmd/internal/flags). Do not edit. -->\n\n# Exit codes and reasons\n\n" + exitCodesIntro)
	b.WriteString("\n## Codes\n")
	markdownExitCodes(&b)
	b.WriteString("\n## Reasons for stopping\n\n`outcome.reason` in the timeline, `%{stop_reason}` of `-w`. The words are stable.\n")
	markdownReasons(&b)
	b.WriteString("\n## Classes of failures\n\n`class` of an attempt in the timeline; the words are stable. *again*: worth another attempt by default. *acted on*: whether the server may have acted on the request; " +
		"where it may have, only what is safe to repeat is sent again. *--retry-on*: the class can be named there. *code*: the usual one, where the failure has none that is more exact.\n\n" +
		"| class | examples | again | acted on | --retry-on | final reason | code |\n|---|---|---|---|---|---|---|\n")
	for _, c := range retry.Classes() {
		again := yesNo(c.Transient)
		code := fmt.Sprint(int(exitcode.ForClass(c.Class)))
		switch c.Class {
		case retry.ClassStatus:
			again, code = "by status", fmt.Sprintf("%d, %d", exitcode.HTTPError, exitcode.Temporary)
		case retry.ClassCanceled:
			code = fmt.Sprintf("%d, %d", exitcode.Interrupted, exitcode.Terminated)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | `%s` | %s |\n",
			c.Class, markdownCell(c.Examples), again, actedOn(c), yesNo(c.Selectable), c.Final, code)
	}
	b.WriteString("\nStatuses that are worth another attempt: " + transientStatuses() + "; 413 with a valid Retry-After, 409 when an idempotency key was sent, 421 once. `--retry-on` edits the list.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func actedOn(c retry.ClassInfo) string {
	if c.NotActedOn {
		return "no"
	}
	return "maybe"
}

// transientStatuses are those of the default --retry-on that need no condition.
func transientStatuses() string {
	var list []string
	on := retry.DefaultRetryOn()
	for status := 100; status < 1000; status++ {
		if on.HasStatus(status) {
			list = append(list, fmt.Sprint(status))
		}
	}
	return strings.Join(list, ", ")
}

func markdownExitCodes(b *strings.Builder) {
	b.WriteString("\n| code | meaning |\n|---|---|\n")
	for _, e := range exitcode.Table() {
		fmt.Fprintf(b, "| %d | %s |\n", e.Code, markdownCell(e.Meaning))
	}
}

func markdownReasons(b *strings.Builder) {
	b.WriteString("\n| reason | meaning |\n|---|---|\n")
	for _, r := range retry.Reasons() {
		fmt.Fprintf(b, "| `%s` | %s |\n", r, markdownCell(reasonMeaning(r)))
	}
}
