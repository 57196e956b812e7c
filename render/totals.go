package render

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Totals are the figures of a run of several operations. Durations of
// operations side by side are added up; Elapsed is the run's own.
type Totals struct {
	Operations, Failed int
	Attempts, Requests int
	Received           int64 // body bytes
	Waited, Elapsed    time.Duration
}

// Amplification is attempts ÷ operations: how much more work the servers got
// than was asked for; 0 without an operation.
func (t Totals) Amplification() float64 {
	if t.Operations == 0 {
		return 0
	}
	return float64(t.Attempts) / float64(t.Operations)
}

// Line is the totals for a person, in one line.
func (t Totals) Line(ascii bool) string {
	parts := []string{plural(t.Operations, "operation") + ": " + fmt.Sprintf("%d succeeded", t.Operations-t.Failed)}
	if t.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", t.Failed))
	}
	parts = append(parts, fmt.Sprintf("%s (amplification %.2f)", plural(t.Attempts, "attempt"), t.Amplification()))
	if t.Requests != t.Attempts {
		parts = append(parts, plural(t.Requests, "request"))
	}
	parts = append(parts, Bytes(t.Received)+" received", Duration(t.Elapsed, ascii))
	if t.Waited >= time.Millisecond {
		parts = append(parts, "waits "+Duration(t.Waited, ascii)+" in all")
	}
	return strings.Join(parts, ", ")
}

// Running is a run of parallel operations while it lasts.
type Running struct {
	Total            int64 // operations, -1 while unknown
	Done, Failed     int64
	Running, Waiting int64
	Received         int64
	Elapsed          time.Duration
}

// Line is what a terminal shows of it.
func (p Running) Line() string {
	text := fmt.Sprintf("%d done", p.Done)
	if p.Total >= 0 {
		text = fmt.Sprintf("%d of %d done", p.Done, p.Total)
	}
	if p.Failed > 0 {
		text += fmt.Sprintf(", %d failed", p.Failed)
	}
	text += fmt.Sprintf(", %d running", p.Running)
	if p.Waiting > 0 {
		text += fmt.Sprintf(" (%d waiting)", p.Waiting)
	}
	text += ", " + Bytes(p.Received)
	if seconds := p.Elapsed.Seconds(); seconds >= 1 {
		text += ", " + Bytes(int64(float64(p.Received)/seconds)) + "/s"
	}
	return text
}

// Status shows text on a terminal's last line and draws it anew four times a
// second, after the first second, until done is called; elsewhere nothing.
func (l *Live) Status(text func() string) (done func()) {
	if !l.o.Terminal {
		return func() {}
	}
	return l.start(&liveItem{delay: quiet, draw: func(columns int) (string, time.Duration) {
		return clip(text(), columns, l.o.ASCII), tick
	}})
}

// most is how many lines Board shows: a terminal is not endlessly high.
const most = 12

// Board shows lines at the terminal's end and draws them anew each second and
// when refresh is called, until done is called; elsewhere nothing. Where there
// are too many, the last line says how many more. lines must not call l.
func (l *Live) Board(lines func() []string) (refresh, done func()) {
	if !l.o.Terminal {
		return func() {}, func() {}
	}
	it := &liveItem{draw: func(columns int) (string, time.Duration) {
		list := lines()
		if len(list) > most {
			list = append(list[:most-1:most-1], "and "+strconv.Itoa(len(list)-most+1)+" more")
		}
		for i := range list {
			list[i] = clip(list[i], columns, l.o.ASCII)
		}
		return strings.Join(list, "\n"), time.Second
	}}
	done = l.start(it)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		it.text, _ = it.draw(l.width())
		l.redraw()
	}, done
}
