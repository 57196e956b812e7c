package render

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/bidehttp/bide/retry"
)

// LiveOptions say what stderr is. Clock is required when Terminal is set.
type LiveOptions struct {
	// Terminal: the stream is a terminal that knows carriage return and
	// ESC [ K. Otherwise nothing is ever redrawn.
	Terminal bool
	// Width gives the columns at the time of drawing; nil or 0 is 80.
	Width func() int
	ASCII bool
	Clock retry.Clock
}

// Live owns the last line of stderr, or the last few. All that goes to stderr goes through it,
// so that a countdown or meter and other lines never mix. Safe for concurrent
// use. When several waits or transfers are under way the newest is shown.
type Live struct {
	mu    sync.Mutex
	w     io.Writer
	o     LiveOptions
	items []*liveItem
	shown int  // lines of the drawing that stands there, 0 none
	open  bool // the last Write did not end its line
	err   error
}

// liveItem is something that redraws itself; draw gives the text and the time
// until the next one.
type liveItem struct {
	draw  func(width int) (text string, next time.Duration)
	delay time.Duration
	text  string
	stop  context.CancelFunc
	ended chan struct{}
}

// NewLive writes to w.
func NewLive(w io.Writer, o LiveOptions) *Live { return &Live{w: w, o: o} }

// Terminal reports whether lines are redrawn.
func (l *Live) Terminal() bool { return l.o.Terminal }

// Println writes a whole line above the drawing.
func (l *Live) Println(line string) {
	_, _ = l.Write([]byte(line + "\n")) // the error is kept for Err
}

// Write writes text above the drawing; a drawing comes back only after a line's end.
func (l *Live) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(p) == 0 {
		return 0, l.err
	}
	l.clear()
	n, err := l.w.Write(p)
	l.note(err)
	l.open = p[len(p)-1] != '\n'
	l.redraw()
	return n, err
}

// Clear takes the drawing away until its next tick.
func (l *Live) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
}

// Err is the first error of the stream.
func (l *Live) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Wait shows a wait until the clock's monotonic instant until: on a terminal
// text(left), redrawn as each second passes; elsewhere the one line plain. The
// caller must call done when the wait is over or given up; it returns when the
// line is clear. done may be called again.
func (l *Live) Wait(plain string, until time.Duration, text func(left time.Duration) string) (done func()) {
	if !l.o.Terminal {
		l.Println(plain)
		return func() {}
	}
	return l.start(&liveItem{draw: func(columns int) (string, time.Duration) {
		left := max(until-l.o.Clock.Mono(), 0)
		next := left % time.Second
		if next == 0 {
			next = time.Second
		}
		return clip(text(left), columns, l.o.ASCII), next
	}})
}

// start draws it until the returned function is called.
func (l *Live) start(it *liveItem) (done func()) {
	ctx, cancel := context.WithCancel(context.Background())
	it.stop, it.ended = cancel, make(chan struct{})
	l.mu.Lock()
	l.items = append(l.items, it)
	if it.delay == 0 {
		it.text, it.delay = it.draw(l.width())
		l.redraw()
	}
	l.mu.Unlock()
	go l.run(ctx, it)
	return sync.OnceFunc(func() {
		it.stop()
		<-it.ended
		l.mu.Lock()
		defer l.mu.Unlock()
		l.remove(it)
	})
}

func (l *Live) run(ctx context.Context, it *liveItem) {
	defer close(it.ended)
	next := it.delay
	for l.o.Clock.Sleep(ctx, next) == nil && ctx.Err() == nil {
		l.mu.Lock()
		it.text, next = it.draw(l.width())
		l.redraw()
		l.mu.Unlock()
	}
}

func (l *Live) remove(it *liveItem) {
	for i, x := range l.items {
		if x == it {
			l.items = append(l.items[:i], l.items[i+1:]...)
			break
		}
	}
	l.clear()
	l.redraw()
}

// clear and redraw want the lock.
func (l *Live) clear() {
	if l.shown == 0 {
		return
	}
	_, err := io.WriteString(l.w, l.home()+"\r\x1b[K")
	l.note(err)
	l.shown = 0
}

func (l *Live) redraw() {
	if !l.o.Terminal || l.open {
		return
	}
	for i := len(l.items) - 1; i >= 0; i-- {
		text := l.items[i].text
		if text == "" {
			continue
		}
		if n := len(l.items) - 1; n > 0 {
			more := " (and " + plural(n, "other") + ")"
			text = clip(text, max(l.width()-len(more), 0), l.o.ASCII) + more
		}
		_, err := io.WriteString(l.w, l.home()+"\r"+strings.ReplaceAll(text, "\n", "\x1b[K\r\n")+"\x1b[K")
		l.note(err)
		l.shown = strings.Count(text, "\n") + 1
		return
	}
	l.clear()
}

// home goes back to the first line of a drawing that has several, and takes
// them away.
func (l *Live) home() string {
	if l.shown < 2 {
		return ""
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", l.shown-1)
}

func (l *Live) note(err error) {
	if l.err == nil {
		l.err = err
	}
}

// width leaves the last column free: some terminals wrap when it is used.
func (l *Live) width() int {
	n := 0
	if l.o.Width != nil {
		n = l.o.Width()
	}
	if n <= 0 {
		n = 80
	}
	return n - 1
}

// bar is a meter of n columns, filled to part (0..1).
func bar(n int, part float64, ascii bool) string {
	full, empty := "█", "░"
	if ascii {
		full, empty = "#", "-"
	}
	k := int(part*float64(n) + 0.5)
	k = min(max(k, 0), n)
	return strings.Repeat(full, k) + strings.Repeat(empty, n-k)
}
