package render

import "strings"

// table lays rows of cells out in columns: the first to the left, the others
// to the right. The first row is the head.
type table struct {
	rows [][]string
	left int // how many columns stand to the left; 0 is 1
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// lines are the rows, columns two blanks apart.
func (t *table) lines() []string {
	var widths []int
	for _, r := range t.rows {
		for i, cell := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], columns(cell))
		}
	}
	var lines []string
	for _, r := range t.rows {
		var b strings.Builder
		for i, cell := range r {
			if i > 0 {
				b.WriteString("  ")
			}
			gap := strings.Repeat(" ", widths[i]-columns(cell))
			if i < max(t.left, 1) {
				b.WriteString(cell + gap)
			} else {
				b.WriteString(gap + cell)
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// board writes lines of a width, for documents that are no timelines.
type board struct {
	o Options
	p painter
	b strings.Builder
}

func newBoard(o Options) *board {
	if o.Width <= 0 {
		o.Width = 80
	}
	o.Width = max(o.Width, 40)
	return &board{o: o, p: painter{o.Color, o.ASCII}}
}

func (s *board) line(r row) { s.p.line(&s.b, r.clip(s.o.Width, s.o.ASCII)) }

func (s *board) text(text string, st style) { s.line(row{{text, st}}) }

func (s *board) gap() { s.b.WriteByte('\n') }

// wrapped writes text after a head, on as many lines as it needs.
func (s *board) wrapped(head, text string, st style) {
	indent := strings.Repeat(" ", columns(head))
	for i, l := range wrap(text, s.o.Width-len(indent), "", s.o.ASCII) {
		if i == 0 {
			s.line(row{{head, st}, {l, plain}})
			continue
		}
		s.line(row{{indent, plain}, {l, plain}})
	}
}

// table writes t with its head dimmed, indented by two.
func (s *board) table(t *table) {
	for i, l := range t.lines() {
		st := plain
		if i == 0 {
			st = dim
		}
		s.text("  "+l, st)
	}
}
