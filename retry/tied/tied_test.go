package tied_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bidehttp/bide/retry/tied"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type key struct{}

var errWhy = errors.New("why")

// embeds is a context of another package that has a Context in it.
type embeds struct{ tied.Context }

// parents are contexts of each kind, and what ends them.
func parents() map[string]func() (context.Context, context.CancelCauseFunc) {
	return map[string]func() (context.Context, context.CancelCauseFunc){
		"its_own_kind": func() (context.Context, context.CancelCauseFunc) {
			c := tied.New(context.Background())
			return c, c.Cancel
		},
		"embedded": func() (context.Context, context.CancelCauseFunc) {
			c := &embeds{}
			c.Start(context.Background())
			return c, c.Cancel
		},
		"the_standard_library's": func() (context.Context, context.CancelCauseFunc) {
			return context.WithCancelCause(context.Background())
		},
		"one_around_its_own_kind": func() (context.Context, context.CancelCauseFunc) {
			c := tied.New(context.Background())
			return context.WithValue(c, key{}, 1), c.Cancel
		},
	}
}

// TestEnd: the end of a parent reaches everyone, with its cause.
func TestEnd(t *testing.T) {
	for name, begin := range parents() {
		t.Run(name, func(t *testing.T) {
			parent, cancel := begin()
			c := tied.New(parent)
			grandchild := tied.New(c)
			child, stop := context.WithCancel(c)
			defer stop()
			timed, stop := context.WithTimeout(context.WithValue(c, key{}, 2), time.Hour)
			defer stop()
			var called sync.WaitGroup
			for range 3 {
				called.Add(2)
				c.AfterFunc(called.Done)
				context.AfterFunc(c, called.Done)
			}
			all := []context.Context{c, grandchild, child, timed}
			for _, ctx := range all {
				if ctx.Err() != nil || context.Cause(ctx) != nil {
					t.Errorf("%v has ended: %v", ctx, ctx.Err())
				}
			}
			cancel(errWhy)
			cancel(errors.New("later"))
			for _, ctx := range append(all, tied.New(c), tied.New(grandchild)) {
				<-ctx.Done()
				if ctx.Err() != context.Canceled || context.Cause(ctx) != errWhy {
					t.Errorf("%v, cause %v", ctx.Err(), context.Cause(ctx))
				}
			}
			called.Wait()
			c.End()
			if context.Cause(c) != errWhy {
				t.Errorf("a second end: %v", context.Cause(c))
			}
			late, stop := context.WithCancel(c)
			defer stop()
			if context.Cause(late) != errWhy {
				t.Errorf("a late child's cause: %v", context.Cause(late))
			}
		})
	}
}

// TestEndIsSeenAtOnce: nobody has to wait until a Context has been told.
func TestEndIsSeenAtOnce(t *testing.T) {
	for name, begin := range parents() {
		t.Run(name, func(t *testing.T) {
			parent, cancel := begin()
			c := tied.New(parent)
			if want := name == "its_own_kind" || name == "embedded"; tied.Possible(parent) != want {
				t.Errorf("a tie is possible: %v", !want)
			}
			cancel(errWhy)
			late := tied.New(parent)
			if context.Cause(c) != errWhy || context.Cause(late) != errWhy {
				t.Errorf("causes %v, %v", context.Cause(c), context.Cause(late))
			}
		})
	}
}

// TestCancel: it does not reach the parent, nor does the parent's cause count
// afterwards.
func TestCancel(t *testing.T) {
	for name, begin := range parents() {
		t.Run(name, func(t *testing.T) {
			parent, cancel := begin()
			c, other, ended := tied.New(parent), tied.New(parent), tied.New(parent)
			c.Cancel(errWhy)
			ended.End()
			ended.Cancel(errors.New("later"))
			if parent.Err() != nil || other.Err() != nil {
				t.Errorf("the parent ended: %v, another one: %v", parent.Err(), other.Err())
			}
			cancel(errors.New("the parent's"))
			if c.Err() != context.Canceled || context.Cause(c) != errWhy {
				t.Errorf("%v, cause %v", c.Err(), context.Cause(c))
			}
			if ended.Err() != context.Canceled || context.Cause(ended) != context.Canceled {
				t.Errorf("%v, cause %v", ended.Err(), context.Cause(ended))
			}
			<-other.Done()
		})
	}
}

// TestTie: a Context ends with the one to which it is tied, and no other.
func TestTie(t *testing.T) {
	for name, begin := range parents() {
		for nextName, beginNext := range parents() {
			t.Run(name+"_to_"+nextName, func(t *testing.T) {
				first, cancel := begin()
				next, cancelNext := beginNext()
				c, free, again := tied.New(first), tied.New(first), tied.New(first)
				again.Tie(first)
				c.Tie(next)
				free.Untie()
				free.Untie()
				cancel(errors.New("the first's"))
				<-again.Done()
				if c.Err() != nil || free.Err() != nil {
					t.Errorf("%v, %v", c.Err(), free.Err())
				}
				cancelNext(errWhy)
				<-c.Done()
				if context.Cause(c) != errWhy {
					t.Errorf("%v", context.Cause(c))
				}
				free.Tie(next)
				<-free.Done()
				if context.Cause(free) != errWhy {
					t.Errorf("%v", context.Cause(free))
				}
			})
		}
	}
}

// TestUntieAnywhere takes each of three children out of a list.
func TestUntieAnywhere(t *testing.T) {
	for out := range 3 {
		parent := tied.New(context.Background())
		var children [3]*tied.Context
		for i := range children {
			children[i] = tied.New(parent)
		}
		children[out].Untie()
		parent.Cancel(errWhy)
		for i, c := range children {
			if ended := c.Err() != nil; ended == (i == out) {
				t.Errorf("without %d: child %d ended: %v", out, i, ended)
			}
		}
		children[out].End()
	}
}

// TestValues: they are those of the first parent, before and after the end.
func TestValues(t *testing.T) {
	c := tied.New(context.WithValue(context.Background(), key{}, 1))
	c.Tie(context.WithValue(context.Background(), key{}, 2))
	if got := c.Value(key{}); got != 1 {
		t.Errorf("value %v", got)
	}
	c.End()
	if got := c.Value(key{}); got != 1 {
		t.Errorf("value %v after the end", got)
	}
}

// TestDeadline: it is the parent's, as is an end that comes with it.
func TestDeadline(t *testing.T) {
	parent, cancel := context.WithDeadline(context.Background(), time.Unix(1, 0))
	defer cancel()
	c := tied.New(parent)
	if at, bounded := c.Deadline(); !bounded || !at.Equal(time.Unix(1, 0)) {
		t.Errorf("deadline %v, %v", at, bounded)
	}
	child := tied.New(c)
	<-child.Done()
	for _, ctx := range []context.Context{c, child} {
		if ctx.Err() != context.DeadlineExceeded || context.Cause(ctx) != context.DeadlineExceeded {
			t.Errorf("%v, cause %v", ctx.Err(), context.Cause(ctx))
		}
	}
	c.Untie()
	if _, bounded := c.Deadline(); bounded {
		t.Error("a deadline of nobody's")
	}
}

// TestAfterFunc: what is stopped is not called, and a stop counts once.
func TestAfterFunc(t *testing.T) {
	c := tied.New(context.Background())
	var stops []func() bool
	for range 4 {
		stops = append(stops, c.AfterFunc(func() { t.Error("called") }))
		stops = append(stops, context.AfterFunc(c, func() { t.Error("called") }))
	}
	for _, stop := range stops {
		if !stop() || stop() {
			t.Error("a stop counts once")
		}
	}
	called := make(chan struct{})
	stop := c.AfterFunc(func() { close(called) })
	c.End()
	<-called
	if stop() {
		t.Error("stopped after the call")
	}
	late := make(chan struct{})
	if c.AfterFunc(func() { close(late) })() {
		t.Error("stopped after the end")
	}
	<-late
}

// watcher tells of its calls.
type watcher chan struct{}

func (w watcher) ContextEnded() { close(w) }

func TestWatch(t *testing.T) {
	c, w := tied.New(context.Background()), make(watcher)
	if c.Unwatch() {
		t.Error("nobody watched")
	}
	c.Watch(make(watcher))
	if !c.Unwatch() || c.Unwatch() {
		t.Error("Unwatch counts once")
	}
	c.Watch(w)
	c.End()
	<-w
	if c.Unwatch() {
		t.Error("Unwatch after the end")
	}
	late := make(watcher)
	c.Watch(late)
	<-late
	if c.Unwatch() {
		t.Error("Unwatch of one that came after the end")
	}
}

// TestRaces ends parents while children come, go and change over.
func TestRaces(t *testing.T) {
	for name, begin := range parents() {
		t.Run(name, func(t *testing.T) {
			for range 50 {
				parent, cancel := begin()
				other := tied.New(context.Background())
				var wg sync.WaitGroup
				for range 4 {
					wg.Go(func() {
						for range 10 {
							c := tied.New(parent)
							child := tied.New(c)
							foreign, stop := context.WithCancel(c)
							forget := c.AfterFunc(func() {})
							w := make(watcher)
							child.Watch(w)
							wg.Go(func() { <-child.Done() })
							_, _ = context.Cause(c), child.Value(key{})
							c.Tie(other)
							forget()
							if !child.Unwatch() {
								<-w
							}
							c.Untie()
							c.Tie(parent)
							wg.Go(c.End)
							c.End()
							<-foreign.Done()
							stop()
						}
					})
				}
				wg.Go(func() { cancel(errWhy) })
				wg.Go(func() { other.Cancel(errWhy) })
				wg.Wait()
			}
		})
	}
}

// TestMakingIsCheap: a tie between two of the kind is no object of its own, nor
// is a watch.
func TestMakingIsCheap(t *testing.T) {
	parent, w := tied.New(context.Background()), make(watcher)
	var c *tied.Context
	got := testing.AllocsPerRun(100, func() {
		c = tied.New(parent)
		c.Watch(w)
		c.Unwatch()
		c.End()
	})
	if got != 1 {
		t.Errorf("%v objects, want the context alone", got)
	}
}

func BenchmarkContext(b *testing.B) {
	parent, w := tied.New(b.Context()), make(watcher)
	defer parent.End()
	b.ReportAllocs()
	for b.Loop() {
		c := tied.New(parent)
		child := tied.New(c)
		child.Watch(w)
		child.Unwatch()
		child.End()
		c.End()
	}
}
