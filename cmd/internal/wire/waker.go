package wire

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/bidehttp/bide/retry/tied"
)

// waker ends what blocks on a connection when a context ends, by deadlines in
// the past. It guards them: once fired, no other deadline takes their place.
type waker struct {
	conn net.Conn
	ctx  *tied.Context // nil once released
	// own: ctx was made for this.
	own bool
	// clean: released before it fired.
	clean bool

	mu    sync.Mutex
	fired bool
	dirty bool // a deadline is set
}

// past is a deadline that is over on any clock.
func past() time.Time { return time.Unix(1, 0) }

func (w *waker) start(ctx context.Context, conn net.Conn) {
	given, ok := ctx.(*tied.Context)
	if !ok {
		given = tied.New(ctx)
	}
	w.conn, w.ctx, w.own = conn, given, !ok
	w.ctx.Watch(w)
}

// ContextEnded implements tied.Watcher.
func (w *waker) ContextEnded() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fired = true
	_ = w.conn.SetDeadline(past())
}

// readBy sets the read deadline; the zero time takes it away.
func (w *waker) readBy(t time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.fired {
		w.dirty = true
		_ = w.conn.SetReadDeadline(t)
	}
}

// stopWrites ends a write that blocks, until release.
func (w *waker) stopWrites() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dirty = true
	_ = w.conn.SetWriteDeadline(past())
}

// allowWrites takes stopWrites back.
func (w *waker) allowWrites() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.fired {
		_ = w.conn.SetWriteDeadline(time.Time{})
	}
}

// release ends the watch. It reports whether the connection is without a
// deadline, so that it may be used again. It may be called more than once.
func (w *waker) release() bool {
	if w.ctx != nil {
		w.clean = w.ctx.Unwatch()
		if w.own {
			w.ctx.End()
		}
		w.ctx = nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.clean && w.dirty {
		w.dirty = false
		_ = w.conn.SetDeadline(time.Time{})
	}
	return w.clean
}
