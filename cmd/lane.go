package cmd

import (
	"context"
	"sync/atomic"
)

// lane is where operations run one after the other: a worker of -Z, or the run
// itself. When its context ends, the output of the one that runs is given up.
// It watches once for all of them, since there may be many thousands.
type lane struct {
	output atomic.Pointer[output] // of the operation that runs, until it is finished
	turn   stdoutTurn
	open   string // the origin to which the last operation found its way free
}

// watch begins the lane; stop ends it.
func (l *lane) watch(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		if out := l.output.Load(); out != nil {
			out.abandon()
		}
	})
}

// enter is the gate's, which is asked once for operations to the same origin.
func (l *lane) enter(ctx context.Context, g *gate, origin string) (passed func()) {
	if origin == l.open {
		return nil
	}
	if passed = g.enter(ctx, origin); passed == nil {
		l.open = origin
	}
	return passed
}

// guard gives out up when ctx, the lane's, ends or has ended before.
func (l *lane) guard(ctx context.Context, out *output) {
	l.output.Store(out)
	if ctx.Err() != nil {
		out.abandon()
	}
}

// release ends the guard.
func (l *lane) release() { l.output.Store(nil) }
