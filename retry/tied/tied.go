// Package tied has a context that costs little to make and to drop: for many
// short pieces of work, one within the other, most of which end before anybody
// had to be told to stop.
//
// It is for programs that run many operations with package retry: below a Context,
// Do makes the contexts of its attempts of this kind, too. Where that cost does not
// matter, the standard library's contexts do the same.
package tied

import (
	"context"
	"sync"
	"sync/atomic"
)

// Context is a context.Context that ends with the one to which it is tied, or by
// Cancel or End. It may be untied, and tied to another one: its values stay those
// of the first.
//
// A tie between two Contexts, or types that embed one, is a place in a list. To
// any other context it is a context.AfterFunc, whose call may still come just
// after Untie; Err does not wait for it.
//
// Start comes before all else, and beside Tie there must be no other Tie, no Untie
// and no End; else it is safe for concurrent use. A Context must not be copied, nor
// tied to one that is tied to it.
type Context struct {
	mu      sync.Mutex      // a parent's is taken before that of its child
	parent  context.Context // the last one to which it was tied
	stop    func() bool     // ends a tie to a foreign one; nil none
	ask     atomic.Bool     // Err has to look: there was an end, or the tie is to a foreign one
	tied    bool            // to parent, still
	late    bool            // a deadline of a foreign one was the end
	cause   error           // of the end; nil before
	watcher Watcher         // nil none
	done    chan struct{}   // closed by the end; made when it is asked for
	more    *more           // nil: nothing of it was wanted yet
	child   *Context        // the first of those that are tied to it

	prev, next *Context // among the children of the parent, whose mu guards them
}

// more is what few contexts need.
type more struct {
	values context.Context // the first parent, where it is not the last one; nil
	after  []*func()       // to be called at the end
	ended  context.Context // of the standard library: knows the cause in the way context.Cause asks
}

// New is a Context that is tied to parent.
func New(parent context.Context) *Context {
	c := new(Context)
	c.Start(parent)
	return c
}

// Start makes c, which is zero, a Context that is tied to parent and has its values.
func (c *Context) Start(parent context.Context) {
	c.parent, c.tied = parent, true
	c.bind()
}

// Tie makes c end with parent, and no longer with what it was tied to before.
func (c *Context) Tie(parent context.Context) {
	if c.tied && c.parent == parent {
		return
	}
	c.Untie()
	c.mu.Lock()
	if c.parent != parent && c.rest().values == nil {
		c.more.values = c.parent
	}
	c.parent, c.tied = parent, true
	c.mu.Unlock()
	c.bind()
}

// bind makes the tie to the parent.
func (c *Context) bind() {
	parent := c.parent
	switch own := ours(parent); {
	case own != nil:
		own.add(c)
	case parent.Err() != nil:
		c.endWith(parent)
	case parent.Done() != nil:
		stop := context.AfterFunc(parent, func() { c.endWith(parent) })
		c.mu.Lock()
		c.stop = stop
		c.ask.Store(true)
		c.mu.Unlock()
	}
}

// Untie lets c go on when its parent ends.
func (c *Context) Untie() {
	c.mu.Lock()
	parent, tied, stop := c.parent, c.tied, c.stop
	c.tied, c.stop = false, nil
	c.mu.Unlock()
	switch {
	case !tied:
	case stop != nil:
		stop()
	default:
		if own := ours(parent); own != nil {
			own.remove(c)
		}
	}
}

// Cancel ends c with context.Canceled and this cause; nil is context.Canceled,
// too. The first end counts.
func (c *Context) Cancel(cause error) {
	if cause == nil {
		cause = context.Canceled
	}
	c.end(false, cause)
}

// End unties and cancels c: it is not needed any more.
func (c *Context) End() {
	c.Untie()
	c.Cancel(nil)
}

// Possible reports whether a tie to ctx is the cheap one: ctx is a Context, or
// embeds one.
func Possible(ctx context.Context) bool { return ours(ctx) != nil }

// ours is the Context that ctx is, or embeds; nil when there is none.
func ours(ctx context.Context) *Context {
	switch ctx := ctx.(type) {
	case *Context:
		return ctx
	case interface{ itself() *Context }:
		return ctx.itself()
	}
	return nil
}

func (c *Context) itself() *Context { return c }

func (c *Context) add(child *Context) {
	c.mu.Lock()
	if c.cause != nil {
		child.end(c.late, c.cause)
	} else {
		if child.next = c.child; child.next != nil {
			child.next.prev = child
		}
		c.child = child
	}
	c.mu.Unlock()
}

func (c *Context) remove(child *Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case child.prev != nil:
		child.prev.next = child.next
	case c.child == child:
		c.child = child.next
	default: // the end has taken it out
		return
	}
	if child.next != nil {
		child.next.prev = child.prev
	}
	child.prev, child.next = nil, nil
}

// endWith ends c as parent has ended.
func (c *Context) endWith(parent context.Context) {
	c.end(parent.Err() == context.DeadlineExceeded, context.Cause(parent))
}

// end ends c and all that is tied to it.
func (c *Context) end(late bool, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return
	}
	c.late, c.cause = late, cause
	c.ask.Store(true)
	if c.done != nil {
		close(c.done)
	}
	for child := c.child; child != nil; child = c.child {
		c.child = child.next
		child.prev, child.next = nil, nil
		child.end(late, cause)
	}
	if c.watcher != nil {
		go c.watcher.ContextEnded()
		c.watcher = nil
	}
	if c.more != nil {
		for _, f := range c.more.after {
			go (*f)()
		}
		c.more.after = nil
	}
}
