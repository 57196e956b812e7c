package mock

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry/retrytest"
)

// finding is what became of a row.
type finding struct {
	row
	ok      bool
	detail  string
	runs    int
	end     ending
	log     *retrytest.Log
	results []retrytest.Result
	output  string // the end of what the command printed
	err     error  // the row could not be run
}

// conformance runs the command for each row of the matrix and prints the table.
func (m *program) conformance(ctx context.Context) exitcode.Code {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	interrupted := m.cancelOnSignal(ctx, cancel)
	all := rows()
	found := make([]finding, len(all))
	m.atOnce(len(all), func(i int) {
		if all[i].name != growthRow {
			found[i] = m.try(ctx, all[i])
		}
	})
	for i := range all {
		if all[i].name == growthRow {
			found[i] = m.growth(ctx, all[i], found)
		}
	}
	cancel()
	if number := <-interrupted; number != 0 {
		return exitcode.Code(128 + number)
	}
	for _, f := range found {
		if f.err != nil {
			return m.fail(exitcode.Code(max(f.end.code, int(exitcode.Usage))), f.err)
		}
	}
	return m.publishMatrix(found)
}

// cancelOnSignal cancels at the first signal; the channel gives its number, or 0
// once ctx has ended without one.
func (m *program) cancelOnSignal(ctx context.Context, cancel func()) <-chan int {
	number := make(chan int, 1)
	go func() {
		defer close(number)
		select {
		case s := <-m.Signals:
			cancel()
			number <- signalNumber(s)
		case <-ctx.Done():
		}
	}()
	return number
}

// atOnce calls f for 0 to n-1, as many at the same time as there are jobs.
func (m *program) atOnce(n int, f func(i int)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, max(1, m.Jobs))
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			f(i)
			<-slots
		})
	}
	wg.Wait()
}

// try runs the command once against a row's script and judges it.
func (m *program) try(ctx context.Context, r row) finding {
	f := finding{row: r, runs: 1}
	s, err := m.server(r.script)
	if err != nil {
		return finding{row: r, err: err}
	}
	defer s.Close()
	env, remove, err := m.clientEnv(s)
	if err != nil {
		return finding{row: r, err: err}
	}
	defer remove()
	out, err := os.CreateTemp("", "bide-mock-*.txt") // a file: a pipe would outlive the command
	if err != nil {
		return finding{row: r, err: fmt.Errorf("the command's output: %w", err)}
	}
	defer func() { _ = out.Close(); _ = os.Remove(out.Name()) }()
	c := command{args: m.Command, env: env, stdout: out, stderr: out, timeout: m.Timeout}
	if f.end, f.err = c.run(ctx, s.MarkExit); f.err != nil {
		return f
	}
	select {
	case <-time.After(m.Linger):
	case <-ctx.Done():
	}
	f.end.sweep() // it would go on asking, on a port that another row may get
	f.log = s.Log()
	f.results = f.log.Verify(r.checks...)
	f.output = lastOutput(out)
	f.judge()
	return f
}

// lastOutput is the end of what a command printed.
func lastOutput(f *os.File) string {
	const most = 2000
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	b := make([]byte, min(size, most))
	n, _ := f.ReadAt(b, size-int64(len(b))) // what there is
	return strings.TrimSpace(string(b[:n]))
}

// judge says whether the row holds, and why not: how the command ended first,
// then the checks.
func (f *finding) judge() {
	switch {
	case f.end.timedOut:
		f.detail = fmt.Sprintf("still running after %v, with %s", f.end.took.Round(time.Second), requests(f.log))
	case f.succeeds && f.end.code != 0:
		f.detail = fmt.Sprintf("the command exited %d after %s", f.end.code, requests(f.log))
	case !f.succeeds && f.end.code == 0:
		f.detail = fmt.Sprintf("the command exited 0 after %s", requests(f.log))
	default:
		f.ok = true
	}
	for _, c := range f.results {
		if !c.OK && f.ok {
			f.ok, f.detail = false, fmt.Sprintf("%s does not hold: %s", c.Check, c.Detail)
		}
	}
	if f.ok {
		f.detail = requests(f.log)
	}
}

// requests is the number of requests with the gaps between them.
func requests(l *retrytest.Log) string {
	text := fmt.Sprintf("%d requests", len(l.Records))
	if len(l.Records) == 1 {
		text = "1 request"
	}
	for i, gap := range l.Gaps() {
		if i == 3 {
			return text + ", ..."
		}
		text += fmt.Sprintf(", gap%d %.2fs", i+1, gap.Seconds())
	}
	return text
}

// growth judges the row of growing waits from the rows of 5xx answers, and runs
// the command again until growth shows or the samples are enough.
func (m *program) growth(ctx context.Context, r row, found []finding) finding {
	var samples []waits
	for i := range found {
		if w, ok := found[i].waits(); ok && found[i].growth {
			samples, r.script = append(samples, w), found[i].script
		}
	}
	f := finding{row: r}
	for ctx.Err() == nil && !grown(samples, false) && f.runs < growthRuns {
		more := make([]finding, min(max(1, m.Jobs), growthRuns-f.runs))
		m.atOnce(len(more), func(i int) { more[i] = m.try(ctx, r) })
		f.runs += len(more)
		before := len(samples)
		for i := range more {
			f.end, f.log, f.output = more[i].end, more[i].log, more[i].output
			if more[i].err != nil {
				f.err = more[i].err
				return f
			}
			if w, ok := more[i].waits(); ok {
				samples = append(samples, w)
			}
		}
		if len(samples) == before {
			break // it does not come back a second time
		}
	}
	f.ok, f.detail = grown(samples, true), sampleText(samples)
	return f
}

// waits are a run's first two gaps.
func (f *finding) waits() (waits, bool) {
	if f.log == nil {
		return waits{}, false
	}
	gaps := f.log.Gaps()
	if len(gaps) < 2 {
		return waits{}, false
	}
	return waits{gaps[0], gaps[1]}, true
}

// sampleText shows the first gaps that were judged.
func sampleText(samples []waits) string {
	if len(samples) == 0 {
		return "cannot be evaluated: no run had a second gap"
	}
	const most = 3
	var all []string
	for _, w := range samples[:min(most, len(samples))] {
		all = append(all, fmt.Sprintf("%.2fs then %.2fs", w[0].Seconds(), w[1].Seconds()))
	}
	if more := len(samples) - most; more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, ", ")
}
