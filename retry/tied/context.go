package tied

import (
	"context"
	"slices"
	"time"
)

// Watcher hears of a context's end.
type Watcher interface{ ContextEnded() }

// Watch has w told, in a goroutine of its own, when c has ended or if it has
// already: AfterFunc for the one who watches most contexts, so that nothing has to be
// made for each. A Context has one Watcher at a time.
func (c *Context) Watch(w Watcher) {
	c.mu.Lock()
	if c.cause != nil {
		go w.ContextEnded()
	} else {
		c.watcher = w
	}
	c.mu.Unlock()
}

// Unwatch lets the Watcher go, and reports whether there was one that has not
// been, and will not be, told.
func (c *Context) Unwatch() bool {
	c.mu.Lock()
	waiting := c.watcher != nil
	c.watcher = nil
	c.mu.Unlock()
	return waiting
}

// AfterFunc is context.AfterFunc for c, which asks for it.
func (c *Context) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		go f()
		return func() bool { return false }
	}
	m, kept := c.rest(), new(f)
	m.after = append(m.after, kept)
	return func() bool { return c.forget(kept) }
}

// forget takes f away, and reports whether it was still to be called.
func (c *Context) forget(f *func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.more.after, f)
	if i < 0 {
		return false
	}
	c.more.after = slices.Delete(c.more.after, i, i+1)
	return true
}

func (c *Context) rest() *more {
	if c.more == nil {
		c.more = new(more)
	}
	return c.more
}

// Deadline implements context.Context: it is that of the parent.
func (c *Context) Deadline() (at time.Time, bounded bool) {
	c.mu.Lock()
	parent, tied := c.parent, c.tied
	c.mu.Unlock()
	if !tied {
		return time.Time{}, false
	}
	return parent.Deadline()
}

// Done implements context.Context.
func (c *Context) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.cause != nil {
			close(c.done)
		}
	}
	return c.done
}

// Err implements context.Context. context.Cause tells the cause.
func (c *Context) Err() error {
	if !c.ask.Load() {
		return nil
	}
	c.mu.Lock()
	ended, late, parent, foreign := c.cause != nil, c.late, c.parent, c.stop != nil
	c.mu.Unlock()
	switch {
	case !ended && foreign && parent.Err() != nil:
		c.endWith(parent)
		return c.Err()
	case !ended:
		return nil
	case late:
		return context.DeadlineExceeded
	}
	return context.Canceled
}

// Value implements context.Context.
func (c *Context) Value(key any) any { return c.source().Value(key) }

// source has the values. What it says of the cause is c's own once c has ended,
// not the parent's: context.Cause looks for that among the values.
func (c *Context) source() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	values := c.parent
	if c.more != nil && c.more.values != nil {
		values = c.more.values
	}
	if c.cause == nil {
		return values
	}
	m := c.rest()
	if m.ended == nil {
		ended, cancel := context.WithCancelCause(context.WithoutCancel(values))
		cancel(c.cause)
		m.ended = ended
	}
	return m.ended
}
