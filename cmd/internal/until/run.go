package until

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// What one evaluation may take. gojq looks at its context between two steps, so
// that a single step, such as the repetition of a string, may take more.
const (
	timeLimit   = 10 * time.Second
	memoryLimit = 256 << 20 // of the process, garbage included
	watchEvery  = 20 * time.Millisecond
)

// The limits of an evaluation.
var (
	errTooLong = errors.New("the expression took longer than 10 seconds")
	errTooMuch = errors.New("the expression took the process beyond 256 MiB of memory")
)

// Limited reports whether err is that of an evaluation that took too long or too
// much memory.
func Limited(err error) bool { return errors.Is(err, errTooLong) || errors.Is(err, errTooMuch) }

// run gives the truth of the expression's last value. It returns when ctx ends
// even if gojq does not look at it: what still runs then ends at its next step.
func (e *Expr) run(ctx context.Context, input any) (bool, error) {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(context.Canceled)
	limit := time.AfterFunc(timeLimit, func() { cancel(errTooLong) })
	defer limit.Stop()
	defer watchMemory(inner, cancel)()
	type result struct {
		holds bool
		err   error
	}
	done := make(chan result, 1)
	go func() {
		holds, err := e.last(inner, input)
		done <- result{holds, err}
	}()
	select {
	case r := <-done:
		if r.err != nil && inner.Err() != nil {
			return false, context.Cause(inner)
		}
		return r.holds, r.err
	case <-inner.Done():
		return false, context.Cause(inner)
	}
}

func (e *Expr) last(ctx context.Context, input any) (holds bool, err error) {
	defer func() {
		if p := recover(); p != nil { // an input that gojq does not expect must not end the process
			holds, err = false, fmt.Errorf("gojq failed: %v", p)
		}
	}()
	for iter := e.code.RunWithContext(ctx, input); ; {
		v, ok := iter.Next()
		if !ok {
			return holds, nil
		}
		if err, failed := v.(error); failed {
			return false, err
		}
		holds = isTrue(v)
	}
}

// watchMemory ends an evaluation that takes too much. A short one it never sees.
func watchMemory(ctx context.Context, cancel context.CancelCauseFunc) (stop func() bool) {
	var watch *time.Timer
	ready := make(chan struct{})
	defer close(ready)
	watch = time.AfterFunc(watchEvery, func() {
		<-ready // watch is set
		if ctx.Err() != nil {
			return
		}
		var m runtime.MemStats // runtime/metrics would cost every start of the process
		if runtime.ReadMemStats(&m); m.HeapAlloc > memoryLimit {
			cancel(errTooMuch)
			return
		}
		watch.Reset(watchEvery)
	})
	return watch.Stop
}
