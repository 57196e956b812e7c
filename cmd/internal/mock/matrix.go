package mock

import (
	"fmt"
	"io"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/render"
)

// publishMatrix prints the table, writes the JUnit file and gives the exit code.
func (m *program) publishMatrix(found []finding) exitcode.Code {
	var err error
	if m.JSON {
		err = render.MockJSON(m.Stdout, m.matrix(found))
	} else {
		err = m.table(m.words(), found)
	}
	code := exitcode.OK
	if err != nil {
		code = m.fail(exitcode.Output, err)
	}
	s := &suite{name: "bide mock conformance", took: m.Now().Sub(m.started)}
	for i := range found {
		s.add(found[i].name, found[i].ok, found[i].detail)
	}
	code = max(code, m.save("--junit", m.JUnitFile, s.write))
	if held(found) < len(found) {
		return exitFailed
	}
	return code
}

// held counts the rows that hold.
func held(found []finding) int {
	n := 0
	for i := range found {
		if found[i].ok {
			n++
		}
	}
	return n
}

// table is the matrix for people; what the command printed last stands under
// each row that does not hold.
func (m *program) table(w io.Writer, found []finding) error {
	var b strings.Builder
	for i := range found {
		f := &found[i]
		fmt.Fprintf(&b, "%s  %-17s %s\n", verdict(f.ok), f.name, render.Text(f.detail))
		if f.ok {
			continue
		}
		fmt.Fprintf(&b, "      %-17s wanted: %s\n", "", f.wants)
		fmt.Fprintf(&b, "      %-17s script: %s\n", "", f.script)
		for line := range strings.Lines(lastLines(f.output, 3)) {
			fmt.Fprintf(&b, "      %-17s | %s\n", "", render.Text(strings.TrimRight(line, "\r\n")))
		}
	}
	fmt.Fprintf(&b, "bide mock: %d of %d rows hold for %s\n", held(found), len(found), render.Text(m.Command[0]))
	_, err := io.WriteString(w, b.String())
	return err
}

// lastLines are the last n lines of a text.
func lastLines(text string, n int) string {
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "")
}

// matrix is the table for machines.
func (m *program) matrix(found []finding) *render.MockConformance {
	d := &render.MockConformance{
		Version: render.MockVersion, Bide: m.Version, Kind: "conformance", Command: m.Command[0],
		Rows: make([]render.MockRow, 0, len(found)), OK: held(found) == len(found),
	}
	for i := range found {
		f := &found[i]
		r := render.MockRow{
			Row: f.name, Wants: f.wants, OK: f.ok, Detail: f.detail, Script: f.script, Runs: f.runs,
			Exit: f.end.code, TimedOut: f.end.timedOut, GapsMS: []render.MS{}, Checks: checks(f.results),
		}
		if f.log != nil {
			r.Requests = len(f.log.Records)
			for _, gap := range f.log.Gaps() {
				r.GapsMS = append(r.GapsMS, render.MS(gap))
			}
		}
		d.Rows = append(d.Rows, r)
	}
	return d
}
