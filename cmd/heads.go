package cmd

import (
	"context"
	"io"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/outfile"
)

// putHead writes the head before the body. That of an answer which continues
// the body takes the place of the one before it (R9.2), unless that has left.
func (out *output) putHead(r *exchange.Response) error {
	before := out.headSize
	if r.Continued() && (out.sink.Committed() || before > 0 && out.op.exchange.From != nil) {
		return nil
	}
	head := strings.Join(r.Blocks, "")
	out.headSize = int64(len(head))
	if sink, ok := out.sink.(outfile.Reheader); ok && r.Continued() && before > 0 {
		return sink.Rehead(before, []byte(head))
	}
	if out.op.headTwice() {
		return writeTwice(out.sink, head)
	}
	return writeBlocks(out.sink, r.Blocks)
}

// headTwice: -i and "-D -" both write the head to standard output.
func (op *operation) headTwice() bool {
	return op.group.Include && op.group.DumpHeader == "-" && op.output.path == ""
}

// writeTwice writes each line twice, as curl does where two options ask for it.
func writeTwice(w io.Writer, head string) error {
	var twice []byte
	for line := range strings.Lines(head) {
		twice = append(append(twice, line...), line...)
	}
	_, err := w.Write(twice)
	return err
}

// headAlone: -i shows the head of an answer whose body is not shown: the one of
// a final error with -f, a redirect that is not followed, a proxy's refusal.
func (out *output) headAlone() bool {
	return (out.path == "" || out.op.group.AsCurl) && !out.remote && out.capture == nil && !out.kept && !out.sink.Committed() && (out.op.group.Include || out.op.group.Head) &&
		(out.delivered != out.op.final() || out.dropped || out.headOwed || out.op.group.Fail == flags.FailSilent && out.failed)
}

// showHead puts it where the body would go.
func (out *output) showHead(blocks []string) error {
	if out.path == "" {
		return out.toStdout(blocks)
	}
	if err := out.sink.Reset(); err != nil {
		return err
	}
	out.kept = true
	return writeBlocks(out.sink, blocks)
}

func (out *output) toStdout(blocks []string) error {
	return writeBlocks(out.op.stdout(), blocks)
}

// dumpHead writes -D's file: the final attempt's header blocks (R9.2).
func (out *output) dumpHead(ctx context.Context, blocks []string) error {
	name := out.op.group.DumpHeader
	switch {
	case name == "":
		return nil
	case name == "%":
		return writeBlocks(out.op.run.console.live, blocks)
	case name != "-":
		return out.op.run.headers.write(ctx, out.op.group, blocks)
	case out.path != "" || !out.kept:
		return out.toStdout(blocks)
	}
	return nil // it stands with the body
}

// includesHead: the header blocks stand before the body.
func (op *operation) includesHead() bool {
	return op.group.Include || op.group.Head || op.group.DumpHeader == "-" && op.output.path == ""
}

func writeBlocks(w io.Writer, blocks []string) error {
	for _, b := range blocks {
		if _, err := w.Write([]byte(b)); err != nil {
			return err
		}
	}
	return nil
}
