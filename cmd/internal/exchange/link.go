package exchange

import (
	"context"
	"sync"
	"time"
)

// link ties a hop to one context after the other: a body outlives the context
// in which its head was read. It is the context that the connection knows, and
// made by hand because there is one for each request and most of them end
// without having told anybody.
type link struct {
	ctx    context.Context // the link itself
	values context.Context // of the first parent, without its end
	parent context.Context // to which it is tied; nil when to none
	unhook func() bool

	mu    sync.Mutex
	cause error         // of its end; nil before
	done  chan struct{} // closed by its end; made when it is asked for
	first func()        // to be called at its end; nil when there is none any more
	asked bool          // there was a first: mostly it is the only one
	after []*func()     // the others
}

func newLink(parent context.Context) *link {
	l := &link{values: context.WithoutCancel(parent)}
	l.ctx = l
	l.hook(parent)
	return l
}

func (l *link) hook(parent context.Context) {
	l.parent = parent
	l.unhook = context.AfterFunc(parent, func() { l.cancel(context.Cause(parent)) })
}

func (l *link) rehook(parent context.Context) {
	if l.parent == parent {
		return
	}
	l.unhook()
	l.hook(parent)
}

func (l *link) end() {
	l.unhook()
	l.cancel(context.Canceled)
}

// cancel ends the link; the first cause counts.
func (l *link) cancel(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause != nil {
		return
	}
	if l.cause = cause; cause == nil {
		l.cause = context.Canceled
	}
	if l.done != nil {
		close(l.done)
	}
	if l.first != nil {
		go l.first()
		l.first = nil
	}
	for _, f := range l.after {
		if *f != nil {
			go (*f)()
			*f = nil
		}
	}
	l.after = nil
}

// AfterFunc is context.AfterFunc for this context, which asks for it.
func (l *link) AfterFunc(f func()) (stop func() bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause != nil {
		go f()
		return func() bool { return false }
	}
	if !l.asked {
		l.asked, l.first = true, f
		return l.forgetFirst
	}
	kept := &f
	l.after = append(l.after, kept)
	return func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		waiting := *kept != nil
		*kept = nil
		return waiting
	}
}

// forgetFirst reports whether it was not called yet.
func (l *link) forgetFirst() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := l.first != nil
	l.first = nil
	return waiting
}

// Deadline implements context.Context: it ends when its parent does.
func (l *link) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done implements context.Context.
func (l *link) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done == nil {
		l.done = make(chan struct{})
		if l.cause != nil {
			close(l.done)
		}
	}
	return l.done
}

// Err is the cause of the link's end, so that context.Cause gives it, too.
func (l *link) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// Value implements context.Context.
func (l *link) Value(key any) any { return l.values.Value(key) }
