package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// PlanHuman writes p for a person: the waits as a table and as a chart of
// windows on one time axis, how it ends, what bounds it, and the rules.
func PlanHuman(w io.Writer, p *Plan, o Options) error {
	s := &planSheet{newBoard(o), p}
	s.head()
	if len(p.Waits) > 0 {
		s.waits()
		s.chart()
	}
	s.ends()
	s.rules("Rules of the contract:", p.Rules, dim)
	if len(p.Warnings) > 0 {
		s.rules("Look again:", p.Warnings, warn)
	}
	_, err := io.WriteString(w, s.b.String())
	return err
}

type planSheet struct {
	*board
	d *Plan
}

func (s *planSheet) dur(m MS) string { return Duration(time.Duration(m), s.o.ASCII) }

func (s *planSheet) head() {
	given := strings.Join(s.d.Given, ", ")
	if s.d.Assumed != nil {
		given = *s.d.Assumed + " each time"
	}
	text := ": the attempts come to " + given
	if s.d.AttemptTimeMS > 0 {
		text += ", each after " + s.dur(s.d.AttemptTimeMS)
	}
	s.line(row{{Text(s.d.Method), bold}, {Text(text), plain}})
}

// shown are the waits that are drawn: with many, the first and the last few.
func (s *planSheet) shown() (first, last []PlanWait, between int) {
	w := s.d.Waits
	if len(w)+s.d.Omitted <= maxShown {
		return w, nil, 0
	}
	if s.d.Omitted > 0 {
		return w[:maxShown-1], nil, len(w) + s.d.Omitted - maxShown + 1
	}
	return w[:edge], w[len(w)-edge:], len(w) - 2*edge
}

func (s *planSheet) waits() {
	t := &table{left: 3}
	t.add("wait", "after", "decided by", "earliest", "latest", "mean", "next attempt at", "mean")
	first, last, between := s.shown()
	for i := range first {
		s.wait(t, &first[i])
	}
	if between > 0 {
		t.add("...", s.more(between))
	}
	for i := range last {
		s.wait(t, &last[i])
	}
	s.gap()
	s.table(t)
	for i := range s.d.Waits {
		if !s.d.Waits[i].Sure {
			s.text("  * only if the waits before it were short enough", dim)
			break
		}
	}
}

// more is how many waits are not shown; those that a plan did not follow to
// their end are not counted.
func (s *planSheet) more(between int) string {
	if s.d.Omitted > 0 && s.d.StopEarliest == nil {
		return "more"
	}
	return "+" + strconv.Itoa(between)
}

func (s *planSheet) wait(t *table, w *PlanWait) {
	number, mean := strconv.Itoa(w.Number), "-"
	if !w.Sure {
		number += "*"
	}
	if w.NextMeanMS != nil {
		mean = s.dur(*w.NextMeanMS)
	}
	t.add(number, Text(w.After), w.Source, s.dur(w.FloorMS), s.dur(w.CeilingMS), s.dur(w.MeanMS),
		s.dur(w.EarliestMS)+".."+s.dur(w.LatestMS), mean)
}

// chart draws when each attempt may begin.
func (s *planSheet) chart() {
	first, last, between := s.shown()
	all := append(append([]PlanWait{}, first...), last...)
	end := all[len(all)-1].LatestMS
	if end <= 0 {
		return
	}
	digits := len(strconv.Itoa(all[len(all)-1].Number + 1))
	indent := len("  attempt ") + digits + 2
	x := axis{total: time.Duration(end), cols: s.o.Width - indent - 1, ascii: s.o.ASCII}
	s.gap()
	s.window(x, digits, 1, row{{x.glyphs().attempt, good}})
	before := MS(0)
	for i := range all {
		if i == len(first) && between > 0 {
			s.text(fmt.Sprintf("  %*s", indent-2, "..."), dim)
		}
		w := &all[i]
		window := piece{time.Duration(w.EarliestMS), time.Duration(w.LatestMS), good}
		if !w.Sure {
			window.style = warn
		}
		s.window(x, digits, w.Number+1, x.bar([]piece{window}, []piece{{from: time.Duration(before), to: time.Duration(w.EarliestMS)}}, nil))
		before = w.EarliestMS
	}
	line, labels := x.ruler()
	s.line(row{{strings.Repeat(" ", indent), plain}, {line, dim}})
	s.line(row{{strings.Repeat(" ", indent), plain}, {labels, dim}})
	g := x.glyphs()
	s.text("  "+g.attempt+" the attempt may begin, "+g.wait+" it never does", dim)
}

func (s *planSheet) window(x axis, digits, number int, bar row) {
	s.line(append(row{{fmt.Sprintf("  attempt %*d  ", digits, number), plain}}, bar...))
}

func (s *planSheet) ends() {
	s.gap()
	early, late := s.d.StopEarliest, s.d.StopLatest
	switch {
	case early == nil && late == nil && len(s.d.Given) > 0:
		s.wrapped("Ends: ", fmt.Sprintf("attempt %d decides; what it comes to is not given.", len(s.d.Waits)+s.d.Omitted+1), bold)
	case early == nil:
		s.wrapped("Ends: ", "beyond what is listed here.", bold)
	case late == nil || *early == *late:
		s.wrapped("Ends: ", s.stop(early)+".", bold)
	default:
		s.wrapped("Ends: ", "with the longest waits "+s.stop(late)+"; with the shortest "+s.stop(early)+".", bold)
	}
	s.wrapped("Longest: ", s.longest(), bold)
}

func (s *planSheet) stop(e *PlanStop) string {
	return fmt.Sprintf("after %s, %s, exit %d", plural(e.Attempts, "attempt"), e.Reason, e.ExitCode)
}

func (s *planSheet) longest() string {
	b := &s.d.Longest
	var parts []string
	switch {
	case b.OperationMS == nil:
		parts = append(parts, "without bound, since an attempt has none")
	case *b.OperationMS == *b.QuietMS:
		parts = append(parts, s.dur(*b.OperationMS)+" in all (--"+strings.ReplaceAll(*b.BoundedBy, "_", "-")+")")
	default:
		parts = append(parts, s.dur(*b.QuietMS)+" in all while the server names no minimum, "+s.dur(*b.OperationMS)+" whatever it asks for")
	}
	switch {
	case b.WaitsMS == nil || b.OperationMS != nil && *b.WaitsMS > *b.OperationMS || s.d.Longest.still():
	case b.WaitsAtCap != nil && *b.WaitsAtCap == *b.WaitsMS:
		parts = append(parts, "waits alone "+s.dur(*b.WaitsMS))
	case b.WaitsAtCap == nil:
		parts = append(parts, "waits "+s.dur(*b.WaitsMS)+" without a minimum, without bound where the server asks for more")
	default:
		parts = append(parts, "waits alone "+s.dur(*b.WaitsMS)+", up to "+s.dur(*b.WaitsAtCap)+" where the server asks for more")
	}
	if b.Uncounted > 0 && b.OperationMS != nil {
		parts = append(parts, fmt.Sprintf("continuations of a broken body (up to %d) on top", b.Uncounted))
	}
	return strings.Join(parts, "; ") + "."
}

// still: there is no wait, whatever the server says.
func (b *PlanBound) still() bool {
	return b.WaitsMS != nil && *b.WaitsMS == 0 && b.WaitsAtCap != nil && *b.WaitsAtCap == 0
}

func (s *planSheet) rules(title string, list []PlanRule, st style) {
	s.gap()
	s.text(title, bold)
	widest := 0
	for _, r := range list {
		widest = max(widest, columns(r.Rule))
	}
	for _, r := range list {
		s.wrapped("  "+pad(r.Rule, widest)+"  ", Text(r.Text), st)
	}
}
