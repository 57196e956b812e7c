package render

import (
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/bidehttp/bide/retry"
)

// Options of the human timeline.
type Options struct {
	Width    int            // columns; 0 is 80, under 40 is 40
	Color    bool           // decided by the caller alone
	ASCII    bool           // nothing beyond ASCII is written
	Location *time.Location // of instants; nil is UTC
	Dated    bool           // tell when the operation started: for timelines of another day
}

// Beyond maxShown attempts, those after the first edge and before the last
// edge are drawn as one.
const (
	maxShown = 12
	edge     = 5
)

// leastHold is the shortest hold that is worth a word: asking costs time, too.
const leastHold = MS(time.Millisecond)

// Human writes the timelines of docs for a person: per document its request,
// each attempt with its bar on one time axis, each wait with who decided it,
// and how it ended. Everything comes from the documents, and is escaped.
func Human(w io.Writer, docs []*Document, o Options) error {
	if o.Width <= 0 {
		o.Width = 80
	}
	o.Width = max(o.Width, 40)
	var b strings.Builder
	for i, d := range docs {
		if i > 0 {
			b.WriteByte('\n')
		}
		newSheet(d, o).write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sheet lays one document out.
type sheet struct {
	d      *Document
	o      Options
	p      painter
	axis   axis
	indent int  // where bars start
	inline bool // bars stand beside their attempts, not under them
	heads  []row
	b      *strings.Builder
	marked bool
}

func newSheet(d *Document, o Options) *sheet {
	s := &sheet{d: d, o: o, p: painter{o.Color, o.ASCII}}
	s.heads = s.attemptHeads()
	widest := 0
	for _, h := range s.heads {
		widest = max(widest, h.columns())
	}
	const leastInline = 40
	s.indent = s.digits() + 3
	if o.Width-widest-3 >= leastInline {
		s.inline, s.indent = true, widest+2
	}
	s.axis = axis{total: s.total(), cols: o.Width - s.indent - 1, ascii: o.ASCII}
	return s
}

// total is the axis' length: to the end, even of an unfinished document.
func (s *sheet) total() time.Duration {
	var end time.Duration
	if s.d.Outcome != nil {
		end = time.Duration(s.d.Outcome.ElapsedMS)
	}
	for i := range s.d.Attempts {
		end = max(end, attemptEnd(&s.d.Attempts[i]))
	}
	return end
}

func attemptEnd(a *Attempt) time.Duration { return time.Duration(a.OffsetMS + a.DurationMS) }

func (s *sheet) digits() int { return len(strconv.Itoa(len(s.d.Attempts))) }

func (s *sheet) write(b *strings.Builder) {
	s.b = b
	op := &s.d.Operation
	head := row{{Text(op.URL), plain}}
	if op.Method != "" { // of a connection alone there is none
		head = row{{Text(op.Method), bold}, {" " + Text(op.URL), plain}}
	}
	if op.Label != nil {
		head = append(head, span{"  [" + Text(*op.Label) + "]", dim})
	}
	s.line(head)
	if op.IdempotencyKey != nil {
		s.line(row{{"Idempotency-Key: " + Text(*op.IdempotencyKey), dim}})
	}
	if s.o.Dated && !op.StartedAt.IsZero() {
		s.line(row{{"started " + Instant(op.StartedAt.Time, time.Time{}, s.o.Location), dim}})
	}
	if op.InitialWaitMS >= leastHold {
		s.detail("held "+s.dur(time.Duration(op.InitialWaitMS))+" before the first attempt: another request was told to wait", plain)
	}
	for i := 0; i < len(s.d.Attempts); i++ {
		if n := len(s.d.Attempts); n > maxShown && i == edge {
			s.elided(i, n-edge)
			i = n - edge
		}
		s.attempt(i)
	}
	if len(s.d.Attempts) > 0 && s.axis.total > 0 {
		line, labels := s.axis.ruler()
		s.line(row{{strings.Repeat(" ", s.indent), plain}, {line, dim}})
		s.line(row{{strings.Repeat(" ", s.indent), plain}, {labels, dim}})
	}
	if s.marked {
		g := s.axis.glyphs()
		s.detail(g.attempt+" attempt, "+g.wait+" wait, "+g.mark+" server minimum", dim)
	}
	s.ending()
}

func (s *sheet) line(r row) { s.p.line(s.b, r.clip(s.o.Width, s.o.ASCII)) }

func (s *sheet) dur(d time.Duration) string { return Duration(d, s.o.ASCII) }

// attemptHeads are the lines "1  429 Too Many Requests  12.2ms  192.0.2.7:443 HTTP/2".
func (s *sheet) attemptHeads() []row {
	widest, longest := 0, 0
	for i := range s.d.Attempts {
		a := &s.d.Attempts[i]
		widest = max(widest, columns(title(a)))
		longest = max(longest, columns(s.dur(time.Duration(a.DurationMS))))
	}
	widest = min(widest, s.o.Width-s.digits()-longest-6)
	heads := make([]row, len(s.d.Attempts))
	for i := range s.d.Attempts {
		a := &s.d.Attempts[i]
		t := clip(title(a), widest, s.o.ASCII)
		d := s.dur(time.Duration(a.DurationMS))
		heads[i] = row{
			{fmt.Sprintf(" %*d  ", s.digits(), a.Number), plain},
			{t, a.style()},
			{strings.Repeat(" ", widest-columns(t)+2+longest-columns(d)) + d, plain},
		}
		if at := peer(a); at != "" {
			heads[i] = append(heads[i], span{"  " + at, dim})
		}
	}
	return heads
}

// title is the status, or the class of an error, or both.
func title(a *Attempt) string {
	class := classOf(a)
	switch {
	case a.Status != nil && *a.Status > 0 && (class == "" || class == string(retry.ClassStatus)):
		if unmet(a) {
			return StatusText(*a.Status) + ", " + notMet
		}
		return StatusText(*a.Status)
	case a.Status != nil && *a.Status > 0:
		return strconv.Itoa(*a.Status) + ", " + Text(class)
	case class == "":
		return connected
	}
	return Text(class) + " error"
}

func (a *Attempt) style() style {
	switch {
	case a.Class == nil:
		return good
	case a.Decision.Action == ActionRetry:
		return warn
	}
	return bad
}

// peer is where the attempt ended up: address and protocol of its last hop.
func peer(a *Attempt) string {
	for i := len(a.Hops) - 1; i >= 0; i-- {
		h := &a.Hops[i]
		if h.RemoteAddress == nil {
			continue
		}
		text := Text(*h.RemoteAddress)
		if h.Protocol != nil {
			text += " " + Text(*h.Protocol)
		}
		return text
	}
	if n := len(a.Connections); n > 0 {
		return Text(a.Connections[n-1].Address)
	}
	return ""
}

func (s *sheet) attempt(i int) {
	a := &s.d.Attempts[i]
	bar := s.bar(i, i+1)
	h := s.heads[i]
	switch {
	case s.inline:
		gap := strings.Repeat(" ", s.indent-h.columns())
		s.line(append(append(h, span{gap, plain}), bar...))
	case h.columns() > s.o.Width && len(h) == 4:
		s.line(h[:3])
		s.detail(strings.TrimSpace(h[3].text), dim)
		s.barLine(bar)
	default:
		s.line(h)
		s.barLine(bar)
	}
	s.details(a)
	s.wait(i)
}

func (s *sheet) barLine(bar row) {
	s.line(append(row{{strings.Repeat(" ", s.indent), plain}}, bar...))
}

// bar draws the attempts from..to on the axis, with their waits.
func (s *sheet) bar(from, to int) row {
	var attempts, waits []piece
	var marks []time.Duration
	if from == 0 && s.d.Operation.InitialWaitMS >= leastHold {
		waits = append(waits, piece{from: 0, to: time.Duration(s.d.Attempts[0].OffsetMS)})
	}
	for i := from; i < to; i++ {
		a := &s.d.Attempts[i]
		end := attemptEnd(a)
		attempts = append(attempts, piece{time.Duration(a.OffsetMS), end, a.style()})
		next := end + a.Decision.WaitedMS.Duration()
		if i+1 < len(s.d.Attempts) {
			next = time.Duration(s.d.Attempts[i+1].OffsetMS)
		}
		if a.Decision.WaitedMS != nil && next > end {
			waits = append(waits, piece{from: end, to: next})
		}
		if m := a.Server.MinimumMS; m != nil && *m > 0 && a.Decision.Action == ActionRetry {
			marks = append(marks, end+m.Duration())
			s.marked = true
		}
	}
	return s.axis.bar(attempts, waits, marks)
}

// details: where a body went on, an error's text, the addresses that failed, the hops when there are several.
func (s *sheet) details(a *Attempt) {
	if a.ResumedFromBytes != nil {
		text := "continued from " + Bytes(*a.ResumedFromBytes)
		if !a.Counted {
			text += ", not counted"
		}
		s.detail(text, plain)
	}
	if a.Error != nil && (unmet(a) || classOf(a) != string(retry.ClassStatus)) {
		s.detail(Text(*a.Error), plain)
	}
	for _, c := range a.Connections {
		if c.Error != nil {
			s.detail("tried "+Text(c.Address)+": "+Text(*c.Error), dim)
		}
	}
	if len(a.Hops) < 2 {
		return
	}
	for i := range a.Hops {
		h := &a.Hops[i]
		status := "---"
		if h.Status != nil {
			status = strconv.Itoa(*h.Status)
		}
		s.line(row{{fmt.Sprintf("%*s%s  %s %s  %s", s.digits()+3, "", status, Text(h.Method), Text(h.URL), s.dur(time.Duration(h.TotalMS))), dim}})
		if h.WaitMS != nil && *h.WaitMS > 0 {
			s.detail("  waited "+s.dur(h.WaitMS.Duration())+" before the next hop, as the server asked", dim)
		}
	}
}

// detail writes text under an attempt, on as many lines as it needs.
func (s *sheet) detail(text string, st style) {
	indent := strings.Repeat(" ", s.digits()+3)
	for _, l := range wrap(text, s.o.Width-len(indent), "  ", s.o.ASCII) {
		s.line(row{{indent, plain}, {l, st}})
	}
}

// wait says who decided the wait after attempt i, how long it was and until when.
func (s *sheet) wait(i int) {
	a := &s.d.Attempts[i]
	d := &a.Decision
	if d.WaitedMS == nil || d.Source == nil {
		return
	}
	waited := d.WaitedMS.Duration()
	until := s.d.Operation.StartedAt.Add(attemptEnd(a) + waited)
	text := "waited " + s.dur(waited)
	planned := max(*orZero(d.WaitMS), *orZero(d.WouldWaitMS))
	if last := i == len(s.d.Attempts)-1; last && *d.WaitedMS+slack < planned {
		text += " of " + s.dur(time.Duration(planned))
	}
	text += " until " + Instant(until, s.d.Operation.StartedAt.Time, s.o.Location) + ": " + s.who(a)
	s.detail(text, plain)
}

func (s *sheet) who(a *Attempt) string {
	says := ""
	if a.Server.Header != nil && a.Server.Raw != nil {
		says = Text(*a.Server.Header) + ": " + short(Text(*a.Server.Raw))
	}
	switch {
	case *a.Decision.Source == string(retry.SourceServer) && a.Server.MinimumMS != nil:
		return "server asked for " + s.dur(a.Server.MinimumMS.Duration()) + " (" + says + ")"
	case *a.Decision.Source == string(retry.SourceShared):
		return "shared hold on this origin"
	case a.Server.Kind == "invalid":
		return "backoff (not valid: " + says + ")"
	case a.Server.MinimumMS != nil && *a.Server.MinimumMS > 0:
		return "backoff, which is longer than the server asked for (" + says + ")"
	case says != "":
		return "backoff (" + says + " names no minimum)"
	}
	return Text(*a.Decision.Source)
}

// elided draws the attempts from..to as one.
func (s *sheet) elided(from, to int) {
	counts := map[string]int{}
	var waited time.Duration
	for i := from; i < to; i++ {
		a := &s.d.Attempts[i]
		counts[title(a)]++
		waited += a.Decision.WaitedMS.Duration()
	}
	kinds := make([]string, 0, len(counts))
	for k := range counts {
		kinds = append(kinds, k)
	}
	sort.Slice(kinds, func(i, j int) bool {
		if counts[kinds[i]] != counts[kinds[j]] {
			return counts[kinds[i]] > counts[kinds[j]]
		}
		return kinds[i] < kinds[j]
	})
	for i, k := range kinds {
		kinds[i] = strconv.Itoa(counts[k]) + " x " + k
	}
	head := fmt.Sprintf(" %d to %d: %s; waited %s", from+1, to, strings.Join(kinds, ", "), s.dur(waited))
	bar := s.bar(from, to)
	if s.inline && columns(head) < s.indent {
		s.line(append(row{{pad(head, s.indent), dim}}, bar...))
		return
	}
	for _, l := range wrap(head, s.o.Width-1, "  ", s.o.ASCII) {
		s.line(row{{" " + l, dim}})
	}
	s.barLine(bar)
}

// ending is how the operation ended: reason, counts, times, exit code, next try.
func (s *sheet) ending() {
	o := s.d.Outcome
	if o == nil {
		s.line(row{{"not finished", warn}})
		return
	}
	st := bad
	if o.Reason == string(retry.Success) {
		st = good
	}
	text := ": "
	if o.Status != nil && *o.Status > 0 {
		text += StatusText(*o.Status) + ", "
	}
	text += fmt.Sprintf("%s in %s", plural(o.Attempts, "attempt"), s.dur(time.Duration(o.ElapsedMS)))
	if o.WaitedMS >= leastHold {
		text += " (waited " + s.dur(time.Duration(o.WaitedMS)) + ")"
	}
	if o.Requests != o.Attempts {
		text += ", " + plural(o.Requests, "request")
	}
	text += ", exit " + strconv.Itoa(o.ExitCode)
	if next := nextText(s.d, s.o.Location); next != "" {
		text += "; " + next
	}
	reason := Text(o.Reason)
	for i, l := range wrap(reason+text, s.o.Width, "  ", s.o.ASCII) {
		if i == 0 && strings.HasPrefix(l, reason) {
			s.line(row{{reason, st}, {l[len(reason):], plain}})
			continue
		}
		s.line(row{{l, plain}})
	}
}
