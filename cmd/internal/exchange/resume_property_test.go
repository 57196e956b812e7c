package exchange

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/outfile"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
)

// fickle is a server whose resource has two versions, and which breaks off,
// errs and lies about its parts. What it says under a version's tag at the right
// place is that version's; what it lies about shows in its head.
type fickle struct {
	mu       sync.Mutex // each connection has a handler of its own
	rand     *rand.Rand
	versions [2][]byte
	now      int
}

func (f *fickle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rand.IntN(12) == 0 {
		f.now = 1 - f.now
	}
	body, tag := f.versions[f.now], fmt.Sprintf(`"v%d"`, f.now)
	w.Header().Set("ETag", tag)
	from := 0
	text, asked := strings.CutPrefix(r.Header.Get("Range"), "bytes=")
	if asked && r.Header.Get("If-Range") == tag {
		from, _ = strconv.Atoi(strings.TrimSuffix(text, "-"))
	} else {
		asked = false
	}
	switch what := f.rand.IntN(10); {
	case what == 0:
		w.WriteHeader(503)
	case what == 1:
		panic(http.ErrAbortHandler)
	case asked && from >= len(body):
		w.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", len(body)))
		w.WriteHeader(416)
	case asked && what == 2:
		f.lie(w, from, len(body))
	case asked:
		f.part(w, body, from)
	default:
		if f.rand.IntN(2) == 0 {
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		}
		f.send(w, body)
	}
}

// part sends what begins at from, or some of it.
func (f *fickle) part(w http.ResponseWriter, body []byte, from int) {
	to, total := len(body), strconv.Itoa(len(body))
	if f.rand.IntN(3) == 0 {
		to = from + 1 + f.rand.IntN(len(body)-from)
	}
	if f.rand.IntN(4) == 0 {
		total = "*"
	}
	w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%s", from, to-1, total))
	if f.rand.IntN(2) == 0 {
		w.Header().Set("Content-Length", strconv.Itoa(to-from))
	}
	w.WriteHeader(206)
	f.send(w, body[from:to])
}

// lie sends what does not belong to the body.
func (f *fickle) lie(w http.ResponseWriter, from, size int) {
	garbage := bytes.Repeat([]byte("!"), size-from)
	head := fmt.Sprintf("bytes %d-%d/%d", from, size-1, size)
	switch f.rand.IntN(4) {
	case 0:
		head = fmt.Sprintf("bytes %d-%d/%d", from+1, size, size+1)
	case 1:
		head = fmt.Sprintf("bytes %d-%d/%d", from, size-1, size+7)
		w.Header().Set("ETag", `"other"`)
	case 2:
		w.Header().Set("ETag", `"other"`)
	default:
		head = ""
	}
	if head != "" {
		w.Header().Set("Content-Range", head)
	}
	w.WriteHeader(206)
	_, _ = w.Write(garbage)
}

// send writes p, or breaks off in it.
func (f *fickle) send(w http.ResponseWriter, p []byte) {
	if f.rand.IntN(2) == 0 {
		_, _ = w.Write(p)
		return
	}
	_, _ = w.Write(p[:f.rand.IntN(len(p))])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// TestResumeProperty/R2.4: whatever the server does, a success is one version of
// the body, whole; and what a committed output has is the beginning of one.
func TestResumeProperty(t *testing.T) {
	t.Run("R2.4_one_version_and_whole", func(t *testing.T) {
		succeeded, went := 0, 0
		for seed := range uint64(150) {
			f := &fickle{rand: rand.New(rand.NewPCG(seed, 7))}
			f.versions[0] = []byte(strings.Repeat("a0123456789", 100))
			f.versions[1] = []byte(strings.Repeat("b987654321", 90+int(seed%40)))
			ok, continued := f.play(t, seed%2 == 1)
			succeeded += ok
			went += continued
		}
		if succeeded < 50 || went < 50 {
			t.Errorf("only %d successes and %d continuations: the test has no force", succeeded, went)
		}
	})
}

// play runs one operation against f and checks its output.
func (f *fickle) play(t *testing.T, committed bool) (succeeded, continued int) {
	t.Helper()
	s := httptest.NewServer(f)
	defer s.Close()
	op := operation(client(t, fakeClock(), transport.Settings{}), template(t, "GET", s.URL, ""))
	op.Continue, op.Policy.MaxResumes, op.Policy.Attempts = true, 100, 8
	var stdout bytes.Buffer
	path := filepath.Join(t.TempDir(), "f")
	var sink outfile.Sink = outfile.File(outfile.FileSpec{Path: path})
	if committed {
		sink = outfile.Stdout(&stdout, outfile.StreamOptions{Unheld: true})
	}
	l := retry.Loop{Policy: op.Policy, Clock: op.Client.Clock, Rand: op.Client.Rand}
	_, rec, _ := retry.Do(t.Context(), l, func(ctx context.Context, n int) (*Response, retry.Outcome) {
		r, o := op.Attempt(ctx, n)
		o.Committed = sink.Committed()
		if r.Continued() {
			continued++
		} else if o.Err != nil || op.Policy.Transient(o, retry.State{}) {
			return r, o
		} else if err := sink.Reset(); err != nil {
			r.Discard()
			o.Class, o.Err, o.Stop = retry.ClassOutput, err, retry.OutputCommitted
			return r, o
		}
		o = r.Deliver(ctx, sink, o)
		return r, o
	}, (*Response).Discard)
	got := stdout.Bytes()
	if rec.Reason == retry.Success {
		succeeded = 1
		must(t, sink.Commit())
		if !committed {
			var err error
			got, err = os.ReadFile(path)
			must(t, err)
		}
		if !bytes.Equal(got, f.versions[0]) && !bytes.Equal(got, f.versions[1]) {
			t.Errorf("%d bytes that are no version: %.60q", len(got), got)
		}
	} else {
		must(t, sink.Abandon())
		if !bytes.HasPrefix(f.versions[0], got) && !bytes.HasPrefix(f.versions[1], got) {
			t.Errorf("%s: %d bytes that begin no version: %.60q", rec.Reason, len(got), got)
		}
	}
	return succeeded, continued
}
