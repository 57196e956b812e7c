package exchange

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/outfile"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/cmd/internal/wire"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

func TestParseContentRange(t *testing.T) {
	for text, want := range map[string]span{
		"bytes 0-0/1":    {0, 0, 1},
		"bytes 5-9/10":   {5, 9, 10},
		"Bytes 5-9/*":    {5, 9, -1},
		"bytes */10":     {-1, -1, 10},
		"bytes 00-09/10": {0, 9, 10},
		fmt.Sprintf("bytes 0-1/%d", int64(math.MaxInt64-1)): {0, 1, math.MaxInt64 - 1},
	} {
		if got, ok := parseContentRange(text); !ok || got != want {
			t.Errorf("%q = %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{
		"", "bytes", "bytes ", "bytes /", "bytes 5-9", "bytes=5-9/10", "bytes 9-5/10", "bytes 5-10/10", "bytes -9/10", "bytes 5-/10",
		"bytes */*", "bytes 5-9/", "bytes 5-9/-1", "bytes +5-9/10", "bytes 5 -9/10", "lines 5-9/10", "bytes 5-9/10, bytes 5-9/10",
		"bytes  5-9/10", "bytes 0-1/9223372036854775807", "bytes 0-99999999999999999999/*", "bytes 5-9-9/10",
	} {
		if got, ok := parseContentRange(text); ok {
			t.Errorf("%q = %v", text, got)
		}
	}
}

func FuzzParseContentRange(f *testing.F) {
	for _, text := range []string{"bytes 5-9/10", "bytes 5-9/*", "bytes */10", "bytes 9-5/10", "bytes 0-9223372036854775807/*"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, ok := parseContentRange(text)
		switch {
		case !ok:
			if s != (span{}) {
				t.Errorf("%q is refused with %v", text, s)
			}
		case s.from < 0:
			if s.to >= 0 || s.total < 0 {
				t.Errorf("%q = %v", text, s)
			}
		case s.to < s.from || s.size() < 1 || s.total >= 0 && s.to >= s.total:
			t.Errorf("%q = %v", text, s)
		default:
			total := "*"
			if s.total >= 0 {
				total = fmt.Sprint(s.total)
			}
			if again, ok := parseContentRange(fmt.Sprintf("bytes %d-%d/%s", s.from, s.to, total)); !ok || again != s {
				t.Errorf("%q = %v, then %v", text, s, again)
			}
		}
	})
}

// fields makes a head of pairs of names and values.
func fields(pairs ...string) fieldsOf {
	var head fieldsOf
	for i := 0; i < len(pairs); i += 2 {
		head = append(head, wire.Field{Name: pairs[i], Value: pairs[i+1]})
	}
	return head
}

func TestAccept(t *testing.T) {
	const date, later = "Wed, 15 Jul 2026 10:00:00 GMT", "Wed, 15 Jul 2026 10:00:01 GMT"
	tagged, dated := Resume{5, 10, `"a"`}, Resume{5, 10, date}
	blind := Resume{5, -1, `"a"`}
	part := func(text string, more ...string) fieldsOf {
		return append(fields("content-range", text), fields(more...)...)
	}
	for _, c := range []struct {
		name   string
		want   Resume
		status int
		head   fieldsOf
		length int64
		v      verdict
		part   span
	}{
		{"E3_the_rest", tagged, 206, part("bytes 5-9/10", "ETag", `"a"`), 5, continues, span{5, 9, 10}},
		{"E3_without_a_tag", tagged, 206, part("bytes 5-9/10"), 5, continues, span{5, 9, 10}},
		{"E3_without_a_length", tagged, 206, part("bytes 5-9/10"), -1, continues, span{5, 9, 10}},
		{"E3_by_date", dated, 206, part("bytes 5-9/10", "Last-Modified", date, "ETag", `"new"`), 5, continues, span{5, 9, 10}},
		{"E3_identity", tagged, 206, part("bytes 5-9/10", "Content-Encoding", "identity"), 5, continues, span{5, 9, 10}},
		{"E4_changed", tagged, 200, fields("ETag", `"b"`), 10, over, span{}},
		{"E5_start", tagged, 206, part("bytes 4-9/10"), 6, astray, span{}},
		{"E5_later_start", tagged, 206, part("bytes 6-9/10"), 4, astray, span{}},
		{"E5_end", tagged, 206, part("bytes 5-10/*"), 6, astray, span{}},
		{"E5_total", tagged, 206, part("bytes 5-9/11"), 5, astray, span{}},
		{"E5_longer_than_it_says", tagged, 206, part("bytes 5-9/10"), 6, astray, span{}},
		{"E5_shorter_than_it_says", tagged, 206, part("bytes 5-9/10"), 4, astray, span{}},
		{"E5_no_Content-Range", tagged, 206, fields("Content-Type", "multipart/byteranges"), 5, astray, span{}},
		{"E5_two_of_them", tagged, 206, part("bytes 5-9/10", "Content-Range", "bytes 5-9/10"), 5, astray, span{}},
		{"E5_another_tag", tagged, 206, part("bytes 5-9/10", "ETag", `"b"`), 5, astray, span{}},
		{"E5_a_weak_tag", tagged, 206, part("bytes 5-9/10", "ETag", `W/"a"`), 5, astray, span{}},
		{"E5_another_date", dated, 206, part("bytes 5-9/10", "Last-Modified", later), 5, astray, span{}},
		{"E5_coded", tagged, 206, part("bytes 5-9/10", "Content-Encoding", "gzip"), 5, astray, span{}},
		{"E6_complete", blind, 416, part("bytes */5"), 0, complete, span{}},
		{"E6_complete_of_what_was_said_to_be_more", tagged, 416, part("bytes */5"), 0, complete, span{}},
		{"E6_another_size", tagged, 416, part("bytes */4"), 0, astray, span{}},
		{"E6_no_size", tagged, 416, nil, 0, astray, span{}},
		{"E6_another_tag", blind, 416, part("bytes */5", "ETag", `"b"`), 0, astray, span{}},
		{"E14_shorter", tagged, 206, part("bytes 5-6/10"), 2, continues, span{5, 6, 10}},
		{"E14_unknown_size", tagged, 206, part("bytes 5-6/*"), 2, continues, span{5, 6, -1}},
		{"E14_size_learnt", blind, 206, part("bytes 5-6/8"), 2, continues, span{5, 6, 8}},
		{"R2.4d_transient", tagged, 503, nil, 0, other, span{}},
		{"R2.4d_final", tagged, 404, nil, 0, other, span{}},
		{"R2.4d_no_content", tagged, 204, nil, 0, astray, span{}},
		{"R2.4d_redirect", tagged, 302, nil, 0, astray, span{}},
		{"R2.4d_precondition", tagged, 412, nil, 0, astray, span{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if v, part := accept(c.want, c.status, c.head, c.length); v != c.v || part != c.part {
				t.Errorf("verdict %d %v, want %d %v", v, part, c.v, c.part)
			}
		})
	}
}

func TestValidatorOf(t *testing.T) {
	now := time.Date(2026, 7, 15, 10, 0, 0, 0, time.UTC)
	const date, second, old = "Wed, 15 Jul 2026 10:00:00 GMT", "Wed, 15 Jul 2026 10:00:01 GMT", "Wednesday, 15-Jul-26 10:00:00 GMT"
	for _, c := range []struct {
		name string
		head fieldsOf
		want string
	}{
		{"strong", fields("etag", ` "a b" `), `"a b"`},
		{"strong_before_date", fields("ETag", `"a"`, "Last-Modified", date, "Date", second), `"a"`},
		{"empty_tag", fields("ETag", `""`), `""`},
		{"weak", fields("ETag", `W/"a"`, "Last-Modified", date, "Date", second), ""},
		{"unquoted", fields("ETag", "a"), ""},
		{"half_quoted", fields("ETag", `"`), ""},
		{"two", fields("ETag", `"a"`, "ETag", `"b"`), ""},
		{"a_second_old", fields("Last-Modified", date, "Date", second), date},
		{"as_received", fields("Last-Modified", old, "Date", second), old},
		{"as_young_as_the_answer", fields("Last-Modified", date, "Date", date), ""},
		{"from_the_future", fields("Last-Modified", second, "Date", date), ""},
		{"without_Date", fields("Last-Modified", date), ""},
		{"no_date", fields("Last-Modified", "yesterday", "Date", second), ""},
		{"none", nil, ""},
	} {
		if got := validatorOf(c.head, now); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// continuing runs an operation that may continue, into a file as cmd does.
func continuing(t *testing.T, script string, change ...func(*Operation)) (all []retry.Outcome, rec *retry.Record, got []byte) {
	t.Helper()
	s := retrytest.Serve(t, script)
	op := operation(client(t, fakeClock(), transport.Settings{}), template(t, "GET", s.URL, ""))
	op.Continue, op.Policy.MaxResumes = true, 100
	for _, f := range change {
		f(op)
	}
	path := filepath.Join(t.TempDir(), "f")
	sink := outfile.File(outfile.FileSpec{Path: path})
	l := retry.Loop{Policy: op.Policy, Clock: op.Client.Clock, Rand: op.Client.Rand}
	_, rec, _ = retry.Do(t.Context(), l, func(ctx context.Context, n int) (*Response, retry.Outcome) {
		r, o := op.Attempt(ctx, n)
		if o.Err == nil && !op.Policy.Transient(o, retry.State{}) {
			if !r.Continued() {
				must(t, sink.Reset())
			}
			o = r.Deliver(ctx, sink, o)
		}
		all = append(all, o)
		return r, o
	}, (*Response).Discard)
	must(t, sink.Commit())
	got, err := os.ReadFile(path)
	must(t, err)
	return all, rec, got
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestContinue(t *testing.T) {
	const whole = `200 size=3MiB etag='"a"' ranges`
	for _, c := range []struct {
		name, script string
		change       func(*Operation)
		progress     []int64
	}{
		{"E3_zero_copy", whole + " truncate=1MiB, " + whole, nil, []int64{1 << 20, 3 << 20}},
		{"E3_chunked", whole + " chunked truncate=1MiB, " + whole + " chunked", nil, []int64{1 << 20, 3 << 20}},
		{"E3_paced", whole + " truncate=1MiB, " + whole, func(op *Operation) { op.LimitRate = 1 << 20 }, []int64{1 << 20, 3 << 20}},
		{"E3_limited", whole + " chunked truncate=1MiB, " + whole + " chunked", func(op *Operation) { op.MaxFileSize = 3 << 20 }, []int64{1 << 20, 3 << 20}},
		{"R2.4d_503_in_between", whole + " truncate=2MiB, 503, " + whole, nil, []int64{2 << 20, 2 << 20, 3 << 20}},
		{"R2.4d_no_answer_in_between", whole + " truncate=2MiB, reset, " + whole, nil, []int64{2 << 20, 2 << 20, 3 << 20}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, rec, got := continuing(t, c.script, func(op *Operation) {
				if c.change != nil {
					c.change(op)
				}
			})
			if rec.Reason != retry.Success || !bytes.Equal(got, retrytest.Pattern(3<<20)) {
				t.Fatalf("%s, %d bytes", rec.Reason, len(got))
			}
			if len(all) != len(c.progress) {
				t.Fatalf("%d attempts", len(all))
			}
			for i, o := range all {
				last := i == len(all)-1
				if o.Progress != c.progress[i] || o.Resumable == last {
					t.Errorf("attempt %d: progress %d of %d, resumable %v", i+1, o.Progress, o.Total, o.Resumable)
				}
			}
			if !all[len(all)-1].Continued {
				t.Error("not continued")
			}
		})
	}
	t.Run("max-filesize_counts_what_is_held", func(t *testing.T) {
		all, rec, _ := continuing(t, whole+" chunked truncate=1MiB, "+whole, func(op *Operation) { op.MaxFileSize = 3<<20 - 1 })
		if rec.Reason != retry.TransportError || all[1].Class != retry.ClassSize {
			t.Errorf("%s, %+v", rec.Reason, all)
		}
	})
	t.Run("E5_longer_than_it_says_is_not_gone_on_from", func(t *testing.T) {
		all, _, _ := continuing(t, `200 body=0123456789 etag='"a"' truncate=5B, 206 chunked body=56789X header='Content-Range: bytes 5-9/10', 200 body=0123456789`)
		if len(all) != 3 || !all[0].Resumable || all[1].Resumable || all[2].Continued {
			t.Errorf("%+v", all)
		}
	})
	t.Run("not_unless_asked", func(t *testing.T) {
		all, _, _ := continuing(t, whole+" truncate=1MiB, "+whole, func(op *Operation) { op.Continue = false })
		if len(all) != 2 || all[0].Resumable || all[1].Continued {
			t.Errorf("%+v", all)
		}
	})
}
