package exchange

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/outfile"
	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

// head makes one attempt at script's server and leaves the body unread.
func head(t *testing.T, script string, change ...func(*Operation)) (*retrytest.Server, *Response, retry.Outcome) {
	t.Helper()
	s := retrytest.Serve(t, script)
	op := operation(client(t, retry.SystemClock(), transport.Settings{}), template(t, "GET", s.URL, ""))
	for _, f := range change {
		f(op)
	}
	r, o := op.Attempt(t.Context(), 1)
	return s, r, o
}

func TestDeliver(t *testing.T) {
	want := retrytest.Pattern(3 << 20)
	for _, script := range []string{"200 size=3MiB", "200 size=3MiB chunked", "200 size=3MiB no-length", "200 size=3MiB drip=1MiB/1ms"} {
		t.Run("to_a_file/"+script, func(t *testing.T) {
			_, r, o := head(t, script)
			path := filepath.Join(t.TempDir(), "f")
			sink := outfile.File(outfile.FileSpec{Path: path})
			if o = r.Deliver(t.Context(), sink, o); o.Err != nil || o.Class != retry.ClassNone {
				t.Fatalf("%+v", o)
			}
			if err := sink.Commit(); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			if r.ReceivedBytes != 3<<20 || r.Hops[0].Body() <= 0 || r.Hops[0].Total() < r.Hops[0].Body() {
				t.Errorf("received %d, hop %+v", r.ReceivedBytes, r.Hops[0])
			}
		})
		t.Run("to_a_bare_file/"+script, func(t *testing.T) {
			_, r, o := head(t, script)
			f, err := os.Create(filepath.Join(t.TempDir(), "f"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if o = r.Deliver(t.Context(), f, o); o.Err != nil {
				t.Fatalf("%+v", o)
			}
			if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
		t.Run("to_stdout/"+script, func(t *testing.T) {
			_, r, o := head(t, script)
			var out bytes.Buffer
			sink := outfile.Stdout(&out, outfile.StreamOptions{})
			if o = r.Deliver(t.Context(), sink, o); o.Err != nil {
				t.Fatalf("%+v", o)
			}
			if err := sink.Commit(); err != nil || !bytes.Equal(out.Bytes(), want) {
				t.Errorf("%d bytes, %v", out.Len(), err)
			}
		})
	}
	t.Run("trailers_are_a_block", func(t *testing.T) {
		_, r, o := head(t, "200 body=x chunked trailer='X-Sum: 1'")
		r.Deliver(t.Context(), io.Discard, o)
		if n := len(r.Blocks); n != 2 || !strings.Contains(r.Blocks[1], "X-Sum: 1") {
			t.Errorf("blocks %q", r.Blocks)
		}
	})
	t.Run("only_once", func(t *testing.T) {
		_, r, o := head(t, "200 body=once")
		var out bytes.Buffer
		r.Deliver(t.Context(), &out, o)
		r.Deliver(t.Context(), &out, o)
		if out.String() != "once" {
			t.Errorf("%q", out.String())
		}
	})
	t.Run("attempt's_context_is_over", func(t *testing.T) {
		s := retrytest.Serve(t, "200 size=1MiB")
		op := operation(client(t, retry.SystemClock(), transport.Settings{}), template(t, "GET", s.URL, ""))
		ctx, cancel := context.WithCancel(t.Context())
		r, o := op.Attempt(ctx, 1)
		r.live.ctx.Tie(t.Context())
		cancel()
		var out bytes.Buffer
		if o = r.Deliver(t.Context(), &out, o); o.Err != nil || out.Len() != 1<<20 {
			t.Errorf("%+v, %d bytes", o, out.Len())
		}
	})
}

// broken refuses every byte.
type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestDeliverErrors(t *testing.T) {
	for _, c := range []struct {
		name, script string
		class        retry.Class
		got          string
	}{
		{"C1_truncated", "200 body=0123456789 truncate=5B", retry.ClassTruncated, "01234"},
		{"C2_chunked_without_its_end", "200 body=0123456789 chunked truncate=5B", retry.ClassTruncated, ""},
		{"reset_in_the_body", "200 size=1MiB reset", retry.ClassTruncated, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, r, o := head(t, c.script)
			var out bytes.Buffer
			o = r.Deliver(t.Context(), &out, o)
			if o.Class != c.class || o.Err == nil || o.Phase != retry.PhaseBody || o.Sent != retry.SentMaybe || o.Status != 200 || o.Method != "GET" {
				t.Errorf("%+v", o)
			}
			if c.got != "" && out.String() != c.got {
				t.Errorf("delivered %q", out.String())
			}
		})
	}
	t.Run("C1_held_stdout_is_not_committed", func(t *testing.T) {
		_, r, o := head(t, "200 body=0123456789 truncate=5B")
		sink := outfile.Stdout(io.Discard, outfile.StreamOptions{})
		if o = r.Deliver(t.Context(), sink, o); o.Committed || o.Class != retry.ClassTruncated {
			t.Errorf("%+v", o)
		}
	})
	t.Run("R9.3_committed_stdout", func(t *testing.T) {
		_, r, o := head(t, "200 size=3MB truncate=2MB")
		sink := outfile.Stdout(io.Discard, outfile.StreamOptions{})
		if o = r.Deliver(t.Context(), sink, o); !o.Committed || o.Class != retry.ClassTruncated {
			t.Errorf("%+v", o)
		}
	})
	t.Run("write_errors_are_the_output's", func(t *testing.T) {
		for _, script := range []string{"200 body=x", "200 size=2MiB", "200 size=2MiB chunked"} {
			_, r, o := head(t, script)
			if o = r.Deliver(t.Context(), broken{os.ErrPermission}, o); o.Class != retry.ClassOutput || !errors.Is(o.Err, os.ErrPermission) {
				t.Errorf("%s: %+v", script, o)
			}
			_, r, o = head(t, script)
			sink := outfile.Stdout(broken{io.ErrClosedPipe}, outfile.StreamOptions{Unheld: true})
			if o = r.Deliver(t.Context(), sink, o); o.Class != retry.ClassOutput || !outfile.IsBrokenPipe(o.Err) {
				t.Errorf("%s: %+v", script, o)
			}
		}
	})
	t.Run("E8_full_device", func(t *testing.T) {
		if _, err := os.Stat("/dev/full"); err != nil {
			t.Skip("no /dev/full here")
		}
		_, r, o := head(t, "200 size=2MiB")
		if o = r.Deliver(t.Context(), outfile.File(outfile.FileSpec{Path: "/dev/full"}), o); o.Class != retry.ClassOutput {
			t.Errorf("%+v", o)
		}
	})
	t.Run("time_is_up_in_the_body", func(t *testing.T) {
		_, r, o := head(t, "200 size=2MiB stall=inf")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(20*time.Millisecond, func() { cancel(retry.ErrAttemptTimeout) })
		if o = r.Deliver(ctx, io.Discard, o); o.Class != retry.ClassTimeout || !errors.Is(o.Err, retry.ErrAttemptTimeout) {
			t.Errorf("%+v", o)
		}
	})
	t.Run("R10.1_sink_given_up_by_a_signal", func(t *testing.T) {
		_, r, o := head(t, "200 body=x")
		ctx, cancel := context.WithCancel(t.Context())
		sink := outfile.Stdout(io.Discard, outfile.StreamOptions{})
		cancel()
		_ = sink.Abandon()
		if o = r.Deliver(ctx, sink, o); o.Class != retry.ClassCanceled || !errors.Is(o.Err, context.Canceled) {
			t.Errorf("%+v", o)
		}
	})
	t.Run("R10.1_canceled_while_the_output_is_full", func(t *testing.T) {
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		defer out.Close()
		_, r, o := head(t, "200 size=8MiB")
		ctx, cancel := context.WithCancel(t.Context())
		sink := outfile.Stdout(out, outfile.StreamOptions{Unheld: true})
		time.AfterFunc(20*time.Millisecond, func() { cancel(); _ = sink.Abandon(); in.Close() })
		if o = r.Deliver(ctx, sink, o); o.Class != retry.ClassCanceled {
			t.Errorf("%+v", o)
		}
	})
}

// zeros is a body without an end.
type zeros struct{}

func (zeros) Open() (io.ReadCloser, int64, error) { return zeros{}, 1 << 40, nil }
func (zeros) Replay() error                       { return nil }
func (zeros) Close() error                        { return nil }
func (zeros) Read(p []byte) (int, error)          { clear(p); return len(p), nil }

// TestDiscardOvertaken: R9.1 of a success that came before the request's body was
// out: nothing waits for its end.
func TestDiscardOvertaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	served := make(chan struct{})
	go func() {
		defer close(served)
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		<-over
		_ = c.Close()
	}()
	defer func() { close(over); _ = l.Close(); <-served }()
	tpl := template(t, "PUT", "http://"+l.Addr().String(), "")
	tpl.Body, tpl.Headers = zeros{}, []request.HeaderLine{{Name: "Expect", Remove: true}}
	op := operation(client(t, retry.SystemClock(), transport.Settings{}), tpl)
	r, o := op.Attempt(t.Context(), 1)
	if o.Err != nil || !r.live.resp.Body.Sending() {
		t.Fatalf("%+v", o)
	}
	began := time.Now()
	r.Discard()
	if took := time.Since(began); took >= drainWithin {
		t.Errorf("it took %v", took)
	}
	op.Client.drains.wg.Wait()
	if took := time.Since(began); took > 10*drainWithin {
		t.Errorf("the drain took %v", took)
	}
}

func TestMaxFileSize(t *testing.T) {
	limit := func(n int64) func(*Operation) { return func(op *Operation) { op.MaxFileSize = n } }
	for _, c := range []struct {
		script string
		limit  int64
		class  retry.Class
	}{
		{"200 body=12345678", 8, ""}, {"200 body=12345678", 7, retry.ClassSize}, {"200 body=12345678 chunked", 8, ""},
		{"200 body=12345678 chunked", 7, retry.ClassSize}, {"200 body=12345678 no-length", 7, retry.ClassSize},
		{"503 body=12345678", 7, retry.ClassSize}, {"503 body=12345678", 8, retry.ClassStatus}, {"503 body=12345678", 0, retry.ClassStatus},
		{"404 body=12345678", 7, retry.ClassSize}, {"404 body=12345678 chunked", 7, retry.ClassSize},
	} {
		_, r, o := head(t, c.script, limit(c.limit))
		if r.Status >= 400 && o.Class != retry.ClassStatus {
			t.Errorf("%s, limit %d: before its body counts, an error is its status: %+v", c.script, c.limit, o)
		}
		var out bytes.Buffer
		if o.Err == nil {
			o = r.Deliver(t.Context(), &out, o)
		}
		var coder exitcode.Coder
		if o.Class != c.class || c.class == retry.ClassSize && (!errors.As(o.Err, &coder) || coder.ExitCode() != exitcode.TooLarge) {
			t.Errorf("%s, limit %d: %+v", c.script, c.limit, o)
		}
		if c.class == retry.ClassSize && int64(out.Len()) > c.limit {
			t.Errorf("%s: %d bytes were delivered", c.script, out.Len())
		}
	}
}
