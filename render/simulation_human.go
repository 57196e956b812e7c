package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// SimulationHuman writes s for a person: what was played, the policies side by
// side, and for each its arrivals with the line of the capacity.
func SimulationHuman(w io.Writer, d *Simulation, o Options) error {
	s := &fleetSheet{newBoard(o), d}
	s.head()
	s.figures()
	for i := range d.Runs {
		s.arrivals(&d.Runs[i])
	}
	_, err := io.WriteString(w, s.b.String())
	return err
}

type fleetSheet struct {
	*board
	d *Simulation
}

func (s *fleetSheet) ms(m MS) string { return Duration(time.Duration(m), s.o.ASCII) }

func (s *fleetSheet) head() {
	v := &s.d.Server
	spread := "all at once"
	if s.d.SpreadMS > 0 {
		spread = "within " + s.ms(s.d.SpreadMS)
	}
	down := "answers " + v.DownAnswer + " for " + s.ms(v.DownMS)
	if v.DownAnswer == "refused" {
		down = "refuses connections for " + s.ms(v.DownMS)
	}
	if v.RetryAfterMS != nil {
		down += ", telling all to come back at " + s.ms(*v.RetryAfterMS)
	}
	if down += ", then "; v.DownMS == 0 {
		down = "" // it is up from the start
	}
	busy := fmt.Sprintf("answers %d", v.BusyAnswer)
	if v.BusyRetryAfter {
		busy += " with Retry-After"
	}
	text := fmt.Sprintf("%s, %s. The server %stakes one request each %s (burst %d) and %s to the rest. Seed %d.",
		plural(s.d.Clients, "client"), spread, down, Duration(time.Duration(v.TokenMS*1e6), s.o.ASCII), v.Burst, busy, s.d.Seed)
	for _, l := range wrap(Text(s.d.Method)+": "+text, s.o.Width, "", s.o.ASCII) {
		s.text(l, plain)
	}
}

// figures are the policies side by side.
func (s *fleetSheet) figures() {
	t := &table{}
	row := func(name string, cell func(r *SimulationRun) string) {
		cells := []string{name}
		for i := range s.d.Runs {
			cells = append(cells, cell(&s.d.Runs[i]))
		}
		t.add(cells...)
	}
	at := func(m func(r *SimulationRun) *MS) func(r *SimulationRun) string {
		return func(r *SimulationRun) string { return s.dur(m(r)) }
	}
	row("", func(r *SimulationRun) string { return clip(Text(r.Label), 24, s.o.ASCII) })
	row("succeeded", func(r *SimulationRun) string { return strconv.Itoa(r.Succeeded) })
	row("gave up", func(r *SimulationRun) string { return strconv.Itoa(s.d.Clients - r.Succeeded) })
	for _, reason := range s.reasons() {
		row("  "+reason, func(r *SimulationRun) string { return strconv.Itoa(countOf(r.GaveUp, reason)) })
	}
	row("requests", func(r *SimulationRun) string { return strconv.FormatInt(r.Requests, 10) })
	row("  while down", func(r *SimulationRun) string { return strconv.FormatInt(r.Down, 10) })
	row("  turned away", func(r *SimulationRun) string { return strconv.FormatInt(r.Busy, 10) })
	row("requests per success", func(r *SimulationRun) string { return ratioText(r.PerSuccess) })
	row("amplification", func(r *SimulationRun) string { return ratioText(&r.Amplification) })
	row("peak after return, in "+s.ms(s.d.BinMS), func(r *SimulationRun) string { return strconv.FormatInt(r.Peak, 10) })
	row("  peak "+s.over()+" capacity", func(r *SimulationRun) string { return ratioText(r.PeakPer) })
	row("half succeeded at", at(func(r *SimulationRun) *MS { return r.P50MS }))
	row("90 % at", at(func(r *SimulationRun) *MS { return r.P90MS }))
	row("99 % at", at(func(r *SimulationRun) *MS { return r.P99MS }))
	row("the last at", at(func(r *SimulationRun) *MS { return r.LastMS }))
	row("drained in ("+s.ms(s.d.Server.IdealMS)+" at best)", at(func(r *SimulationRun) *MS { return r.DrainMS }))
	s.gap()
	s.table(t)
}

func (s *fleetSheet) over() string {
	if s.o.ASCII {
		return "/"
	}
	return "÷"
}

// reasons are those for which clients gave up, in the order of the first run
// that has them.
func (s *fleetSheet) reasons() []string {
	var names []string
	seen := map[string]bool{}
	for i := range s.d.Runs {
		for _, c := range s.d.Runs[i].GaveUp {
			if !seen[c.Name] {
				seen[c.Name] = true
				names = append(names, c.Name)
			}
		}
	}
	return names
}

func countOf(list []Counted, name string) int {
	for _, c := range list {
		if c.Name == name {
			return c.Count
		}
	}
	return 0
}

func ratioText(f *float64) string {
	if f == nil {
		return "-"
	}
	return strconv.FormatFloat(*f, 'f', 2, 64)
}

// The most rows of a histogram: alone, and beside others.
const (
	rowsAlone  = 24
	rowsBeside = 12
)

// stack is a row of the histogram.
type stack struct {
	from               time.Duration
	down, busy, served int64
}

func (b *stack) count() int64 { return b.down + b.busy + b.served }

// arrivals draws the requests of a run over time. The scale is that of what comes
// from the server's return on; longer bars are cut.
func (s *fleetSheet) arrivals(r *SimulationRun) {
	most := rowsAlone
	if len(s.d.Runs) > 1 {
		most = rowsBeside
	}
	bars, width := r.Histogram.bars(most)
	if len(bars) == 0 {
		return
	}
	capacity := s.d.Server.CapacityPerBin * float64(width) / float64(s.d.BinMS)
	scale := capacity * 1.25
	labels, counts := 0, 0
	for i := range bars {
		b := &bars[i]
		scale = max(scale, float64(b.busy+b.served))
		labels = max(labels, columns(s.ms(MS(b.from))))
		counts = max(counts, len(strconv.FormatInt(b.count(), 10)))
	}
	cols := s.o.Width - labels - counts - 8
	s.gap()
	s.line(row{{Text(r.Label), bold}, {": requests per " + Duration(width, s.o.ASCII), plain}})
	for i := range bars {
		b := &bars[i]
		head := fmt.Sprintf("  %s  %*d  ", strings.Repeat(" ", labels-columns(s.ms(MS(b.from))))+s.ms(MS(b.from)), counts, b.count())
		s.line(append(row{{head, plain}}, s.bar(b, capacity/scale, scale, cols)...))
	}
	g := s.glyphs()
	s.text("  "+g.served+" served, "+g.busy+" turned away, "+g.down+" while down, "+g.line+" capacity, "+g.more+" more", dim)
	if r.Succeeded == 0 && r.LastRequestMS < s.d.Server.DownMS {
		s.wrapped("  ", "All gave up by "+s.ms(r.LastRequestMS)+", before the server was back at "+s.ms(s.d.Server.DownMS)+
			": it takes more attempts, or longer waits.", warn)
	}
}

type fleetGlyphs struct{ served, busy, down, line, more string }

func (s *fleetSheet) glyphs() fleetGlyphs {
	if s.o.ASCII {
		return fleetGlyphs{"#", "=", ".", "|", ">"}
	}
	return fleetGlyphs{"█", "▒", "┄", "┃", "»"}
}

// bar is one row's: what was served, turned away, and asked in vain, with the
// capacity's mark at that part of the columns.
func (s *fleetSheet) bar(b *stack, mark, scale float64, cols int) row {
	g := s.glyphs()
	text, kind := make([]string, cols+1), make([]style, cols+1)
	cell := func(n int64) int { return int(min(float64(n)/scale*float64(cols)+0.5, float64(cols))) }
	for i := range text {
		text[i] = " "
	}
	from := 0
	for _, part := range [...]struct {
		until int64
		glyph string
		style style
	}{{b.served, g.served, good}, {b.served + b.busy, g.busy, warn}, {b.count(), g.down, dim}} {
		for ; from < cell(part.until); from++ {
			text[from], kind[from] = part.glyph, part.style
		}
	}
	if at := int(mark * float64(cols)); at < cols {
		text[at], kind[at] = g.line, accent
	}
	if float64(b.count()) > scale {
		text[cols], kind[cols] = g.more, bad
	}
	return join(text, kind)
}

// roundUp is n, or the next number that is round.
func roundUp(n int) int {
	for unit := 1; ; unit *= 10 {
		for _, m := range [...]int{1, 2, 3, 4, 5, 6, 8} {
			if m*unit >= n {
				return m * unit
			}
		}
	}
}

// bars are the histogram's bins, put together to at most most of a round width.
func (h *Histogram) bars(most int) (list []stack, width time.Duration) {
	n := len(h.Served)
	bin := time.Duration(h.BinMS)
	if n == 0 || bin <= 0 {
		return nil, 0
	}
	per := roundUp((n + most - 1) / most)
	for i := 0; i < n; i += per {
		b := stack{from: time.Duration(i) * bin}
		for j := i; j < min(i+per, n); j++ {
			b.down, b.busy, b.served = b.down+h.Down[j], b.busy+h.Busy[j], b.served+h.Served[j]
		}
		list = append(list, b)
	}
	return list, time.Duration(per) * bin
}
