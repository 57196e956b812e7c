package render

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bidehttp/bide/retry/retrytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// screen is a terminal of one line and the lines that scrolled away.
type screen struct {
	mu    sync.Mutex
	lines []string
	now   string
	drawn []string
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := string(p)
	for text != "" {
		switch {
		case strings.HasPrefix(text, "\r"):
			s.now, text = "", text[1:]
			if i := strings.Index(text, "\x1b[K"); i >= 0 {
				s.now, text = text[:i], text[i+3:]
				s.drawn = append(s.drawn, s.now)
			}
		case strings.Contains(text, "\n"):
			line, rest, _ := strings.Cut(text, "\n")
			s.lines, s.now, text = append(s.lines, s.now+line), "", rest
		default:
			s.now, text = s.now+text, ""
		}
	}
	return len(p), nil
}

func (s *screen) state() (lines, now string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "|"), s.now
}

func expect(t *testing.T, s *screen, lines, now string) {
	t.Helper()
	gotLines, gotNow := s.state()
	if gotLines != lines || gotNow != now {
		t.Errorf("screen %q, %q, want %q, %q", gotLines, gotNow, lines, now)
	}
}

// step moves the clock once the drawing goroutines sleep, and waits for them again.
func step(c *retrytest.FakeClock, d time.Duration, sleepers int) {
	c.AwaitSleepers(sleepers)
	c.Advance(d)
	c.AwaitSleepers(sleepers)
}

func left(d time.Duration) string { return fmt.Sprintf("%s left", d) }

func TestLiveWait(t *testing.T) {
	c, s := retrytest.NewFakeClock(epoch()), &screen{}
	l := NewLive(s, LiveOptions{Terminal: true, Clock: c})
	l.Println("before")
	done := l.Wait("plain", c.Mono()+2500*time.Millisecond, left)
	expect(t, s, "before", "2.5s left")
	step(c, 500*time.Millisecond, 1)
	expect(t, s, "before", "2s left")
	l.Println("between")
	expect(t, s, "before|between", "2s left")
	if _, err := l.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	expect(t, s, "before|between", "half")
	step(c, time.Second, 1)
	expect(t, s, "before|between", "half")
	l.Println("")
	expect(t, s, "before|between|half", "1s left")
	l.Clear()
	expect(t, s, "before|between|half", "")
	done()
	done()
	expect(t, s, "before|between|half", "")
}

func TestLiveSeveral(t *testing.T) {
	c, s := retrytest.NewFakeClock(epoch()), &screen{}
	l := NewLive(s, LiveOptions{Terminal: true, Clock: c, Width: func() int { return 40 }})
	one := l.Wait("", c.Mono()+time.Minute, func(time.Duration) string { return "one" })
	two := l.Wait("", c.Mono()+time.Minute, func(time.Duration) string { return "two" + strings.Repeat("-", 60) })
	_, now := s.state()
	if columns(now) > 39 || !strings.HasSuffix(now, "… (and 1 other)") {
		t.Errorf("%q", now)
	}
	two()
	expect(t, s, "", "one")
	one()
	expect(t, s, "", "")
}

func TestLiveWithoutTerminal(t *testing.T) {
	var b bytes.Buffer
	l := NewLive(&b, LiveOptions{})
	l.Wait("plain line", time.Hour, left)()
	l.Progress(Progress{Received: func() int64 { return 1 }})()
	l.Progress(Progress{Received: func() int64 { return 5 }, Total: func() int64 { return 10 }, Bar: true})()
	l.Clear()
	if got := b.String(); !strings.HasPrefix(got, "plain line\n\r####") || !strings.HasSuffix(got, "-  50.0%\n") || strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
}

func TestLiveProgress(t *testing.T) {
	c, s := retrytest.NewFakeClock(epoch()), &screen{}
	l := NewLive(s, LiveOptions{Terminal: true, Clock: c, ASCII: true})
	var mu sync.Mutex
	var got int64
	done := l.Progress(Progress{Received: func() int64 { mu.Lock(); defer mu.Unlock(); return got }, Total: func() int64 { return 4 << 20 }})
	expect(t, s, "", "")
	mu.Lock()
	got = 1 << 20
	mu.Unlock()
	step(c, time.Second, 1)
	expect(t, s, "", "1.0 MiB of 4.0 MiB  ########-------------------------   25%  1.0 MiB/s  3s left")
	done()
	expect(t, s, "", "")
}

func TestLiveBar(t *testing.T) {
	c, s := retrytest.NewFakeClock(epoch()), &screen{}
	l := NewLive(s, LiveOptions{Terminal: true, Clock: c, ASCII: true, Width: func() int { return 30 }})
	done := l.Progress(Progress{Received: func() int64 { return 5 }, Total: func() int64 { return 10 }, Bar: true})
	expect(t, s, "", "###########----------  50.0%")
	done()
	expect(t, s, "###########----------  50.0%", "")
}

func TestMeterFits(t *testing.T) {
	for w := 20; w < 120; w++ {
		for _, total := range []int64{-1, 0, 1 << 40} {
			m := &meter{p: Progress{Name: "file", Received: func() int64 { return 123456789 }, Total: func() int64 { return total }}}
			m.start(0)
			if line := m.line(w, time.Second); columns(line) > w {
				t.Errorf("width %d: %q", w, line)
			}
		}
	}
}

func TestLiveKeepsError(t *testing.T) {
	l := NewLive(brokenWriter{}, LiveOptions{})
	l.Println("x")
	if l.Err() == nil {
		t.Error("no error")
	}
}

// TestLiveBoard reads the escape sequences themselves: each drawing takes the
// lines of the one before it away.
func TestLiveBoard(t *testing.T) {
	c := retrytest.NewFakeClock(epoch())
	var b syncBuffer
	l := NewLive(&b, LiveOptions{Terminal: true, Clock: c, Width: func() int { return 12 }})
	var lines atomic.Pointer[[]string]
	lines.Store(&[]string{"one", "two is too long"})
	refresh, done := l.Board(func() []string { return append([]string(nil), *lines.Load()...) })
	b.expect(t, "\rone\x1b[K\r\ntwo is too…\x1b[K")
	l.Println("said")
	b.expect(t, "\r\x1b[1A\x1b[J\r\x1b[Ksaid\n\rone\x1b[K\r\ntwo is too…\x1b[K")
	lines.Store(&[]string{"two"})
	step(c, time.Second, 1)
	b.expect(t, "\r\x1b[1A\x1b[J\rtwo\x1b[K")
	lines.Store(new([]string))
	refresh()
	b.expect(t, "\r\x1b[K")
	many := strings.Split(strings.Repeat("x ", 20), " ")[:20]
	lines.Store(&many)
	step(c, time.Second, 1)
	if got := b.take(); strings.Count(got, "x") != 11 || !strings.HasSuffix(got, "and 9 more\x1b[K") {
		t.Errorf("twenty lines: %q", got)
	}
	done()
	b.expect(t, "\r\x1b[11A\x1b[J\r\x1b[K")
	refresh, done = NewLive(&b, LiveOptions{}).Board(func() []string { t.Error("drawn"); return nil })
	refresh()
	done()
	b.expect(t, "")
}

// syncBuffer gives what was written since it was asked last.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.b.Reset()
	return s.b.String()
}

func (s *syncBuffer) expect(t *testing.T, want string) {
	t.Helper()
	if got := s.take(); got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}
