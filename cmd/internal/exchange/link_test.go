package exchange

import (
	"context"
	"errors"
	"testing"

	"go.uber.org/goleak"
)

type linkKey struct{}

// TestLink: it is a context as the context package means it.
func TestLink(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	why := errors.New("why")
	t.Run("ends_with_its_parent", func(t *testing.T) {
		parent, cancel := context.WithCancelCause(context.WithValue(t.Context(), linkKey{}, 1))
		l := newLink(parent)
		child, stop := context.WithCancel(l)
		defer stop()
		called := make(chan struct{})
		context.AfterFunc(l, func() { close(called) })
		direct := make(chan struct{})
		l.AfterFunc(func() { close(direct) })
		if l.Err() != nil || context.Cause(l) != nil || l.Value(linkKey{}) != 1 {
			t.Errorf("before its end: %v, %v", l.Err(), l.Value(linkKey{}))
		}
		cancel(why)
		<-l.Done()
		<-child.Done()
		<-called
		<-direct
		if context.Cause(l) != why || context.Cause(child) != why {
			t.Errorf("causes %v, %v", context.Cause(l), context.Cause(child))
		}
		l.end()
		if context.Cause(l) != why {
			t.Errorf("a second end: %v", context.Cause(l))
		}
	})
	t.Run("outlives_a_parent", func(t *testing.T) {
		parent, cancel := context.WithCancel(t.Context())
		next, cancelNext := context.WithCancelCause(t.Context())
		l := newLink(parent)
		l.rehook(next)
		cancel()
		if l.Err() != nil {
			t.Errorf("%v", l.Err())
		}
		cancelNext(why)
		<-l.Done()
		if context.Cause(l) != why {
			t.Errorf("%v", context.Cause(l))
		}
	})
	t.Run("what_is_stopped_is_not_called", func(t *testing.T) {
		l := newLink(t.Context())
		stop := l.AfterFunc(func() { t.Error("called") })
		outer := context.AfterFunc(l, func() { t.Error("called") })
		if !stop() || stop() || !outer() || outer() {
			t.Error("a stop counts once")
		}
		l.end()
		if !errors.Is(l.Err(), context.Canceled) {
			t.Errorf("%v", l.Err())
		}
		<-l.Done()
		late := make(chan struct{})
		if l.AfterFunc(func() { close(late) })() {
			t.Error("stopped after the end")
		}
		<-late
	})
}
