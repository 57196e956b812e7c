package retry

import (
	"context"

	"github.com/bidehttp/bide/retry/tied"
)

// attemptContext is an attempt's: it has the engine as a value.
type attemptContext interface {
	context.Context
	Cancel(cause error)
	End() // when the attempt, and whatever outlived it, is over
}

// newContext makes that of attempt n. One that is tied to the caller's is the
// cheaper one where that can be tied to; any other caller's gets a child of the
// standard library's, between which and further ones no goroutine is needed.
func (e *engine) newContext(n int) attemptContext {
	if !tied.Possible(e.ctx) {
		ctx, cancel := context.WithCancelCause(context.WithValue(e.ctx, engineKey{}, e))
		return &plainContext{ctx, cancel}
	}
	c := &e.first
	if n > 1 {
		c = new(tiedContext)
	}
	c.e = e
	c.Start(e.ctx)
	return c
}

// engineKey asks an attempt's context for its engine.
type engineKey struct{}

// engineOf is that of the attempt to which ctx belongs; nil when to none.
func engineOf(ctx context.Context) *engine {
	e, _ := ctx.Value(engineKey{}).(*engine)
	return e
}

type tiedContext struct {
	tied.Context
	e *engine
}

func (c *tiedContext) Value(key any) any {
	if key == (engineKey{}) {
		return c.e
	}
	return c.Context.Value(key)
}

type plainContext struct {
	context.Context
	cancel context.CancelCauseFunc
}

func (c *plainContext) Cancel(cause error) { c.cancel(cause) }
func (c *plainContext) End()               { c.cancel(nil) }
