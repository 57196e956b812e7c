package render

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bidehttp/bide/retry"
)

// Reason is what an attempt came to, without its origin: "503 Service
// Unavailable", or what went wrong, where curl's words for it say less than bide's
// own after them the latter.
func (n Notices) Reason(o retry.Outcome) string {
	switch {
	case o.Unmet:
		return StatusText(o.Status) + ", " + n.unmet(o)
	case o.Class == retry.ClassStatus && o.Status > 0:
		return StatusText(o.Status)
	case o.Err != nil:
		text, _, _ := strings.Cut(n.text(rootText(o.Err)), "; the ") // where it was is news, not whose limit ended it
		return short(text[strings.LastIndex("; "+text, "; "):])
	}
	return string(o.Class) + " error"
}

// NotYet is the line of bide wait about one URL that does not answer yet.
type NotYet struct {
	Name     string // of what is waited for: its origin and path
	Reason   string // of the last attempt; "" while the first one runs
	Attempts int
	Elapsed  time.Duration
	Deadline time.Duration // 0 none
}

// Line is what is told once of each reason; until is the end of the wait, "" none.
func (y NotYet) Line(until string) string {
	text := Prefix + "waiting for " + y.Name + ": " + y.Reason
	if until != "" {
		text += " (until " + until + ")"
	}
	return text
}

// Live is what a terminal shows while it waits; what may be cut at the line's
// end comes last.
func (y NotYet) Live(ascii bool) string {
	text := Prefix + y.Name + ": " + Duration(y.Elapsed.Truncate(time.Second), ascii)
	if y.Deadline > 0 {
		text += " of " + Duration(y.Deadline, ascii)
	}
	if y.Reason == "" {
		return text + ", asked"
	}
	return text + ", attempt " + strconv.Itoa(y.Attempts) + ": " + y.Reason
}

// Answered is the line when what was waited for is there.
func Answered(name string, status, attempts int, elapsed time.Duration, ascii bool) string {
	what := "accepts connections"
	if status > 0 {
		what = "answered " + StatusText(status)
	}
	return fmt.Sprintf("%s %s after %s (%s)", name, what, Duration(elapsed, ascii), plural(attempts, "attempt"))
}
