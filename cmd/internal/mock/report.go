package mock

import (
	"fmt"
	"io"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/savefile"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry/retrytest"
)

// report is a log with what became of the checks.
type report struct {
	m       *program
	log     *retrytest.Log
	url     string
	script  string
	results []retrytest.Result
	end     *ending // nil: without a command
}

// report judges what the server has seen so far.
func (m *program) report(s *retrytest.Server, end *ending) *report {
	l := s.Log()
	if grouped, err := l.GroupBy(m.GroupBy); err == nil { // checked with the flags
		l = grouped
	}
	r := &report{m: m, log: l, url: s.URL, script: s.Script(), results: l.Verify(m.Expect...), end: end}
	if late := l.RanOut(); len(late) > 0 {
		r.results = append(r.results, retrytest.Result{
			Check: "then=fail", Detail: fmt.Sprintf("request %d came after the end of its script", late[0].Number),
		})
	}
	return r
}

// failed counts the checks that do not hold.
func (r *report) failed() int {
	n := 0
	for _, c := range r.results {
		if !c.OK {
			n++
		}
	}
	return n
}

// publish prints the report, writes its files and gives the exit code: OK where
// the command's own counts.
func (m *program) publish(r *report) exitcode.Code {
	print, to := r.human, m.Stderr
	if m.JSON {
		print, to = r.json, m.Stdout
	}
	code := exitcode.OK
	if err := print(to); err != nil {
		code = m.fail(exitcode.Output, err)
	}
	code = max(code, m.save("--log", m.LogFile, r.lines), m.save("--junit", m.JUnitFile, r.junit))
	if r.failed() > 0 {
		return exitFailed
	}
	return code
}

// stdoutName is standard output in the place of a file.
const stdoutName = "-"

// Documents is how many of the documents that were asked for go to standard
// output; there is room for one.
func (o *Options) Documents() int {
	n := 0
	for _, to := range []bool{o.JSON, o.LogFile == stdoutName, o.JUnitFile == stdoutName} {
		if to {
			n++
		}
	}
	return n
}

// words is where the command's output and the URL go: to standard output, unless
// a document does.
func (m *program) words() io.Writer {
	if m.Documents() > 0 {
		return m.Stderr
	}
	return m.Stdout
}

// save writes the file of a flag, if it was given.
func (m *program) save(flag, name string, write func(io.Writer) error) exitcode.Code {
	var err error
	switch name {
	case "":
	case stdoutName:
		err = write(m.Stdout)
	default:
		err = savefile.Write(name, write)
	}
	if err != nil {
		return m.fail(exitcode.Output, fmt.Errorf("%s %s: %w", flag, name, err))
	}
	return exitcode.OK
}

// exitFailed says that a check, or a row of the matrix, did not hold.
const exitFailed exitcode.Code = 1

// human prints the log and each check.
func (r *report) human(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "bide mock: %s", shorten(r.log.String()))
	width := 0
	for _, c := range r.results {
		width = max(width, len(c.Check))
	}
	for _, c := range r.results {
		line := fmt.Sprintf("%s  %-*s  %s", verdict(c.OK), min(width, 40), render.Text(c.Check), render.Text(c.Detail))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	var parts []string
	if n := len(r.results); n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d checks hold", n-r.failed(), n))
	}
	if r.end != nil {
		parts = append(parts, r.end.words(r.m.Command[0]))
	}
	if len(parts) > 0 {
		fmt.Fprintf(&b, "bide mock: %s\n", strings.Join(parts, "; "))
	}
	if r.end != nil && len(r.log.Records) == 0 {
		b.WriteString("bide mock: nothing arrived. MOCK_URL is in the command's environment only: -- sh -c 'curl \"$MOCK_URL\"', in single quotes\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func verdict(ok bool) string {
	if ok {
		return "pass"
	}
	return "FAIL"
}

// words say how the command named so ended.
func (e *ending) words(name string) string {
	if e.timedOut {
		return fmt.Sprintf("%s was ended after %v", render.Text(name), e.took.Round(1e7))
	}
	return fmt.Sprintf("%s exited %d", render.Text(name), e.code)
}

// shorten leaves the middle of a long log out: a file has it all.
func shorten(log string) string {
	const head, tail = 60, 20
	lines := strings.SplitAfter(strings.TrimSuffix(log, "\n"), "\n")
	if left := len(lines) - head - tail; left > 0 {
		lines = append(append(lines[:head:head], fmt.Sprintf("... %d more (--log FILE has all)\n", left)), lines[len(lines)-tail:]...)
	}
	return strings.Join(lines, "") + "\n"
}

func (r *report) json(w io.Writer) error { return render.MockJSON(w, r.document()) }

// lines is the log as JSONL.
func (r *report) lines(w io.Writer) error {
	for i := range r.log.Records {
		line := render.MockLine{Version: render.MockVersion, Kind: "request", MockRequest: r.request(&r.log.Records[i])}
		if err := render.MockJSON(w, line); err != nil {
			return err
		}
	}
	return nil
}
