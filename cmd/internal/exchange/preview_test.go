package exchange

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

// TestPreview holds R3.3f's reading ahead: Deliver gives the same body whether
// its beginning was looked at or not.
func TestPreview(t *testing.T) {
	const limit = 64 << 10
	for _, c := range []struct {
		script string
		size   int // of the body
		whole  bool
		class  retry.Class
	}{
		{"200 body=short", 5, true, retry.ClassNone},
		{"204", 0, true, retry.ClassNone},
		{"200 size=65536", limit, true, retry.ClassNone},
		{"200 size=65537 chunked", limit + 1, false, retry.ClassNone},
		{"200 size=3MiB no-length", 3 << 20, false, retry.ClassNone},
		{"200 size=60kB truncate=10kB", 10_000, false, retry.ClassTruncated},
		{"200 size=1MB truncate=500kB", 500_000, false, retry.ClassTruncated},
	} {
		t.Run(c.script, func(t *testing.T) {
			_, r, o := head(t, c.script)
			body, whole, err := r.Preview(t.Context(), limit)
			want := retrytest.Pattern(int64(c.size))
			if c.size == 5 {
				want = []byte("short")
			}
			if whole != c.whole || whole && !bytes.Equal(body, want) || !whole && body != nil {
				t.Errorf("%d bytes, whole %v, %v", len(body), whole, err)
			}
			var got bytes.Buffer
			o = r.Deliver(t.Context(), &got, o)
			if o.Class != c.class || !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%d bytes, %+v", got.Len(), o)
			}
			if again, _, err := r.Preview(t.Context(), limit); again != nil || err != nil {
				t.Errorf("after Deliver: %q, %v", again, err)
			}
		})
	}
	t.Run("given_up_the_connection_is_kept", func(t *testing.T) {
		s := retrytest.Serve(t, "200 size=70kB, 200")
		op := operation(client(t, retry.SystemClock(), transport.Settings{}), template(t, "GET", s.URL, ""))
		r, _ := op.Attempt(t.Context(), 1)
		if _, whole, err := r.Preview(t.Context(), limit); whole || err != nil {
			t.Fatal(whole, err)
		}
		r.Discard()
		op.Client.drains.wg.Wait()
		if r, _ = op.Attempt(t.Context(), 2); !r.Hops[0].Reused {
			t.Error("not used again")
		}
		r.Discard()
	})
	t.Run("left_unread", func(t *testing.T) {
		_, r, o := head(t, "200 size=1MB", func(op *Operation) { op.HeadOnly = true })
		if body, whole, err := r.Preview(t.Context(), limit); body != nil || whole || err != nil {
			t.Error(body, whole, err)
		}
		if o = r.Deliver(t.Context(), io.Discard, o); o.Err != nil || r.ReceivedBytes != 0 {
			t.Errorf("%+v, %d bytes", o, r.ReceivedBytes)
		}
	})
	t.Run("too_large", func(t *testing.T) {
		_, r, o := head(t, "200 size=20kB chunked", func(op *Operation) { op.MaxFileSize = 10_000 })
		if _, _, err := r.Preview(t.Context(), limit); err == nil {
			t.Error("no error")
		}
		if o = r.Deliver(t.Context(), io.Discard, o); o.Class != retry.ClassSize {
			t.Errorf("%+v", o)
		}
	})
}

// TestMonitor holds R1.2b.
func TestMonitor(t *testing.T) {
	for _, c := range []struct {
		name, method, headers string
		byBody                bool
		want                  string // the next attempt's request; "" is an error
	}{
		{"R1.2b_location", "POST", "location=/jobs/1", false, "GET /jobs/1"},
		{"R1.2b_operation_location", "POST", `header='Operation-Location: /o/1'`, false, "GET /o/1"},
		{"R1.2b_both", "POST", `location=/l header='Operation-Location: /o'`, false, "GET /l"},
		{"R1.2b_both_with_until", "POST", `location=/l header='Operation-Location: /o'`, true, "GET /o"},
		{"R1.2b_relative", "PUT", "location=status?x=1", false, "GET /a/status?x=1"},
		{"R1.2b_empty_is_none", "GET", `header='Location: '`, false, "GET /a/b"},
		{"R1.2b_none_get", "GET", "", false, "GET /a/b"},
		{"R1.2b_none_head", "HEAD", "", false, "HEAD /a/b"},
		{"R1.2b_none_post", "POST", "", false, ""},
		{"R1.2b_none_delete", "DELETE", "", false, ""},
		{"R1.2b_not_a_url", "POST", "location=http://", false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := retrytest.Serve(t, "202 "+c.headers+", 200")
			op := operation(client(t, retry.SystemClock(), transport.Settings{}), template(t, c.method, s.URL+"/a/b", "order"))
			if c.method == "GET" || c.method == "HEAD" {
				op.Template.Body = nil
			}
			op.Template.KeyName, op.Template.KeyValue = "Idempotency-Key", "k"
			r, o := op.Attempt(t.Context(), 1)
			r.Deliver(t.Context(), io.Discard, o)
			err := op.Monitor(r, c.byBody)
			if c.want == "" {
				if err == nil {
					t.Error("no error")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			r, o = op.Attempt(t.Context(), 2)
			r.Deliver(t.Context(), io.Discard, o)
			second := s.Log().Records[1]
			if got := second.Method + " " + second.Target; got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if moved := c.want != c.method+" /a/b"; moved && (slices.ContainsFunc(second.Header, func(f retrytest.Field) bool { return f.Name == "Idempotency-Key" }) || second.BodyBytes != 0) {
				t.Errorf("the key or the body went along: %+v", second)
			}
		})
	}
}
