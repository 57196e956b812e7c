package cmd

import (
	"context"
	"io"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/outfile"
)

// TestLane: the end of the context gives up the output of the operation that
// runs, that of one that begins too late, and no other.
func TestLane(t *testing.T) {
	held := func(turn outfile.Turn) *output {
		out := &output{sink: outfile.Stdout(io.Discard, outfile.StreamOptions{Turn: turn})}
		if _, err := out.sink.Write([]byte("held")); err != nil {
			t.Fatal(err)
		}
		return out
	}
	past, late := held(nil), held(nil)
	running := held(&stdoutTurn{turn: make(chan struct{}), ctx: t.Context()})
	ctx, cancel := context.WithCancel(t.Context())
	l := &lane{}
	defer l.watch(ctx)()
	l.guard(ctx, past)
	l.release()
	l.guard(ctx, running)
	cancel()
	if running.sink.Commit() == nil { // it waits until it is given up
		t.Error("the output of the operation that runs was not given up")
	}
	l.guard(ctx, late)
	if late.sink.Commit() == nil {
		t.Error("an output that came too late was not given up")
	}
	if err := past.sink.Commit(); err != nil {
		t.Errorf("the output of the operation before: %v", err)
	}
}
