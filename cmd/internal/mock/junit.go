package mock

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bidehttp/bide/render"
)

// suite is the JUnit XML that CI systems read: one suite, one case for each check
// or row. It is written as text: package encoding/xml has work to do at every start.
type suite struct {
	name     string
	took     time.Duration
	cases    strings.Builder
	tests    int
	failures int
	out      string // of the element system-out
}

// add adds a case.
func (s *suite) add(name string, ok bool, detail string) {
	s.tests++
	fmt.Fprintf(&s.cases, "    <testcase classname=\"%s\" name=\"%s\"", xmlText(s.name), xmlText(name))
	if ok {
		s.cases.WriteString("/>\n")
		return
	}
	s.failures++
	fmt.Fprintf(&s.cases, ">\n      <failure message=\"%s\"/>\n    </testcase>\n", xmlText(detail))
}

// write writes the file.
func (s *suite) write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" time=\"%.3f\">\n",
		xmlText(s.name), s.tests, s.failures, s.took.Seconds())
	b.WriteString(s.cases.String())
	if s.out != "" {
		b.WriteString("    <system-out>")
		for line := range strings.Lines(s.out) {
			b.WriteString(xmlText(strings.TrimSuffix(line, "\n")) + "\n")
		}
		b.WriteString("    </system-out>\n")
	}
	b.WriteString("  </testsuite>\n</testsuites>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// xmlText is one line of text without characters that XML does not allow.
func xmlText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(render.Text(s))
}

func (r *report) junit(w io.Writer) error {
	s := &suite{name: "bide mock", out: shorten(r.log.String())}
	if r.end != nil {
		s.took = r.end.took
	}
	for _, c := range r.results {
		s.add(c.Check, c.OK, c.Detail)
	}
	return s.write(w)
}
