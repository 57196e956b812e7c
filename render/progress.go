package render

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Progress describes a transfer to be shown. The functions are polled from
// another goroutine; no byte passes through here.
type Progress struct {
	// Name stands before the figures; "" none. It must have passed Text.
	Name string
	// Received is the number of bytes so far.
	Received func() int64
	// Total is the full number, -1 while unknown; nil is unknown.
	Total func() int64
	// Bar is curl's -#: one bar, shown at once, whose end stays on the screen.
	Bar bool
}

// quiet is how long a transfer stays without a meter, and tick how often a
// meter moves.
const (
	quiet = time.Second
	tick  = 250 * time.Millisecond
)

// curlsWidth makes the bar 72 characters long, as curl's is where there is no terminal.
const curlsWidth = 80

// Progress shows a transfer's meter: after a second, or at once with Bar. The
// caller must call done when the transfer has ended; it returns when the line
// is free again. Nothing is shown where Live is no terminal, except that a
// finished Bar prints its line.
func (l *Live) Progress(p Progress) (done func()) {
	if !l.o.Terminal {
		if !p.Bar {
			return func() {}
		}
		return func() {
			l.Println("\r" + p.barLine(curlsWidth))
		}
	}
	m := &meter{p: p, ascii: l.o.ASCII}
	it := &liveItem{delay: quiet}
	it.draw = func(columns int) (string, time.Duration) {
		if p.Bar {
			return p.barLine(columns), tick
		}
		return m.line(columns, l.o.Clock.Mono()), tick
	}
	if p.Bar {
		it.delay = 0
	}
	m.start(l.o.Clock.Mono())
	end := l.start(it)
	return func() {
		end()
		if p.Bar {
			l.Println(p.barLine(l.width()))
			p.Bar = false
		}
	}
}

func (p *Progress) total() int64 {
	if p.Total == nil {
		return -1
	}
	return p.Total()
}

// part is how much of the whole is there, 0..1; ok is false while unknown.
func (p *Progress) part() (part float64, ok bool) {
	got, total := p.Received(), p.total()
	if total <= 0 {
		return 0, false
	}
	return min(float64(got)/float64(total), 1), true
}

// barLine is in ASCII: the characters are curl's.
func (p *Progress) barLine(columns int) string {
	part, ok := p.part()
	if !ok {
		return clip(pad(Bytes(p.Received()), 12), columns, true)
	}
	return bar(max(columns-8, 1), part, true) + fmt.Sprintf(" %5.1f%%", part*100)
}

// meter smooths the rate: an exponential average over about three seconds.
type meter struct {
	p     Progress
	ascii bool
	began time.Duration
	last  time.Duration
	bytes int64
	rate  float64 // bytes per second
	warm  bool
}

func (m *meter) start(now time.Duration) {
	m.began, m.last, m.bytes = now, now, m.p.Received()
}

func (m *meter) sample(now time.Duration) {
	got := m.p.Received()
	dt := (now - m.last).Seconds()
	if dt <= 0 {
		return
	}
	r := float64(max(got-m.bytes, 0)) / dt
	if m.warm {
		keep := math.Exp(-dt / 3)
		r = keep*m.rate + (1-keep)*r
	}
	m.rate, m.warm, m.last, m.bytes = r, true, now, got
}

func (m *meter) line(columns int, now time.Duration) string {
	m.sample(now)
	got, total := m.p.Received(), m.p.total()
	head := strings.TrimSpace(m.p.Name)
	if head != "" {
		head += "  "
	}
	head += Bytes(got)
	tail := Bytes(int64(m.rate)) + "/s"
	part, ok := m.p.part()
	if !ok {
		return clip(head+"  "+tail+"  "+Duration((now-m.began).Truncate(time.Second), m.ascii), columns, m.ascii)
	}
	head += " of " + Bytes(total)
	if eta := m.eta(total - got); eta != "" {
		tail += "  " + eta + " left"
	}
	tail = fmt.Sprintf("%3.0f%%  ", math.Floor(part*100)) + tail
	if room := columns - len(head) - len(tail) - 4; room >= 10 {
		return head + "  " + bar(min(room, 40), part, m.ascii) + "  " + tail
	}
	return clip(head+"  "+tail, columns, m.ascii)
}

func (m *meter) eta(left int64) string {
	if m.rate < 1 || left < 0 {
		return ""
	}
	secs := math.Ceil(float64(left) / m.rate)
	if secs > 99*3600 {
		return ""
	}
	return Duration(time.Duration(secs)*time.Second, m.ascii)
}
