package render

import (
	"fmt"
	"io"
	"strconv"
)

// mostOrigins is how many origins a person is shown.
const mostOrigins = 20

// SummaryHuman writes s for a person.
func SummaryHuman(w io.Writer, sum *Summary, o Options) error {
	s := newBoard(o)
	head := fmt.Sprintf(": %d succeeded, %d failed", sum.Succeeded, sum.Failed)
	if sum.Unfinished > 0 {
		head += fmt.Sprintf(", %d without an end", sum.Unfinished)
	}
	s.line(row{{plural(sum.Operations, "operation"), bold}, {head, plain}})
	if sum.Operations > 0 {
		s.text(fmt.Sprintf("%s, %s, amplification %.2f", plural(sum.Attempts, "attempt"), plural(sum.Requests, "request"), *sum.Amplification), plain)
		s.counts("outcome", "operations", sum.Reasons)
		s.counts("result", "attempts", sum.Results)
		s.times(sum)
		s.origins(sum.Origins)
	}
	_, err := io.WriteString(w, s.b.String())
	return err
}

// counts is a table of words and how often each came.
func (s *board) counts(what, of string, list []Counted) {
	if len(list) == 0 {
		return
	}
	t := &table{}
	t.add(what, of)
	for _, c := range list {
		name := Text(c.Name)
		if n, err := strconv.Atoi(name); err == nil {
			name = StatusText(n)
		}
		t.add(clip(name, s.o.Width/2, s.o.ASCII), strconv.Itoa(c.Count))
	}
	s.gap()
	s.table(t)
}

func (s *board) times(sum *Summary) {
	t := &table{}
	t.add("time", "count", "total", "p50", "p90", "p99", "max")
	add := func(name string, d *Distribution) {
		if d.Count > 0 {
			t.add(append([]string{name, strconv.Itoa(d.Count), s.dur(&d.TotalMS)}, s.percentiles(d)...)...)
		}
	}
	add("operations", &sum.Duration)
	add("waits", &sum.Wait)
	for i := range sum.WaitSources {
		add("  by "+sum.WaitSources[i].Source, &sum.WaitSources[i].Wait)
	}
	s.gap()
	s.table(t)
}

func (s *board) percentiles(d *Distribution) []string {
	return []string{s.dur(d.P50MS), s.dur(d.P90MS), s.dur(d.P99MS), s.dur(d.MaxMS)}
}

func (s *board) dur(m *MS) string {
	if m == nil {
		return "-"
	}
	return Duration(m.Duration(), s.o.ASCII)
}

func (s *board) origins(list []OriginSum) {
	t := &table{}
	t.add("origin", "operations", "failed", "attempts", "ampl.", "p50", "p90", "max")
	for i := range list[:min(len(list), mostOrigins)] {
		o := &list[i]
		name := clip(Text(o.Origin), max(s.o.Width-60, 20), s.o.ASCII)
		t.add(name, strconv.Itoa(o.Operations), strconv.Itoa(o.Failed), strconv.Itoa(o.Attempts), fmt.Sprintf("%.2f", *o.Amplification),
			s.dur(o.Duration.P50MS), s.dur(o.Duration.P90MS), s.dur(o.Duration.MaxMS))
	}
	s.gap()
	s.table(t)
	if more := len(list) - mostOrigins; more > 0 {
		s.text("  and "+plural(more, "more origin"), dim)
	}
}
