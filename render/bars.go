package render

import (
	"strings"
	"time"
)

// axis maps the operation's time onto columns.
type axis struct {
	total time.Duration
	cols  int
	ascii bool
}

// glyphs: attempt, wait, server minimum, and the ruler's parts.
type glyphs struct{ attempt, wait, mark, left, tick, right, line string }

func (x axis) glyphs() glyphs {
	if x.ascii {
		return glyphs{"#", ".", "|", "+", "+", "+", "-"}
	}
	return glyphs{"█", "┄", "┃", "├", "┬", "┤", "─"}
}

// cell is the column in which instant t lies.
func (x axis) cell(t time.Duration) int {
	if x.total <= 0 {
		return 0
	}
	n := int(float64(t) / float64(x.total) * float64(x.cols))
	return min(max(n, 0), x.cols-1)
}

// piece is a stretch of a bar.
type piece struct {
	from, to time.Duration
	style    style
}

// bar draws attempts as solid cells, never fewer than one each, and waits as
// dotted ones where no attempt is; marks stand within waits only.
func (x axis) bar(attempts, waits []piece, marks []time.Duration) row {
	g := x.glyphs()
	text := make([]string, x.cols)
	kind := make([]style, x.cols)
	for i := range text {
		text[i] = " "
	}
	for _, w := range waits {
		for i := x.cell(w.from); i <= x.cell(w.to-1) && w.to > w.from; i++ {
			text[i], kind[i] = g.wait, dim
		}
	}
	for _, m := range marks {
		if i := x.cell(m); m <= x.total && text[i] == g.wait {
			text[i], kind[i] = g.mark, accent
		}
	}
	for _, a := range attempts {
		for i := x.cell(a.from); i <= max(x.cell(a.to-1), x.cell(a.from)); i++ {
			text[i], kind[i] = g.attempt, a.style
		}
	}
	return join(text, kind)
}

// join puts cells of one style into one span.
func join(text []string, kind []style) row {
	var r row
	for i := 0; i < len(text); {
		j := i
		for j < len(text) && kind[j] == kind[i] {
			j++
		}
		r = append(r, span{strings.Join(text[i:j], ""), kind[i]})
		i = j
	}
	return r
}

// ruler is the axis itself and its labels: two lines.
func (x axis) ruler() (line, labels string) {
	g := x.glyphs()
	cells := make([]string, x.cols)
	for i := range cells {
		cells[i] = g.line
	}
	last := Duration(x.total, x.ascii)
	text := "0s"
	step := niceStep(x.total, max(x.cols/12, 1))
	for t := step; t > 0 && t < x.total; t += step { // t > 0: the sum may wrap
		at, label := x.cell(t), Duration(t, x.ascii)
		if at+columns(label) > x.cols-columns(last)-2 || at <= columns(text)+1 {
			continue
		}
		cells[at] = g.tick
		text = pad(text, at) + label
	}
	cells[0], cells[x.cols-1] = g.left, g.right
	return strings.Join(cells, ""), pad(text, x.cols-columns(last)) + last
}

// niceStep is the smallest round step that divides total into at most most parts.
func niceStep(total time.Duration, most int) time.Duration {
	least := total / time.Duration(most)
	for unit := time.Microsecond; unit < time.Minute; unit *= 10 {
		for _, n := range [...]time.Duration{1, 2, 5} {
			if s := n * unit; s >= least && s < time.Minute {
				return s
			}
		}
	}
	for _, s := range [...]time.Duration{
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	} {
		if s >= least {
			return s
		}
	}
	const day = 24 * time.Hour
	return (least + day - 1) / day * day
}
