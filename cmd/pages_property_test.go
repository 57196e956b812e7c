package cmd

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/bidehttp/bide/retry/retrytest"
)

// TestPagesProperty: whatever a server does, standard output is whole pages from
// the first on, in order, and all of them exactly with exit 0; a file is all or
// as it was (R6.1c).
func TestPagesProperty(t *testing.T) {
	const pages = 4
	r := rand.New(rand.NewPCG(2, 71))
	ended := map[int]int{}
	for range 60 {
		slurp, file := r.IntN(2) == 0, r.IntN(2) == 0
		var script strings.Builder
		whole, want := "", []string{""}
		for p := 1; p <= pages; p++ {
			body, next := fmt.Sprintf("[%d, %q]", p, strings.Repeat("x", 2000)), ""
			if p < pages {
				next = fmt.Sprintf(` header='Link: </%d>; rel=next'`, p+1)
			}
			fmt.Fprintf(&script, "/%d: %s\n", p, randomPage(r, body, next))
			whole += shape(slurp, body, p == 1)
			want = append(want, whole)
		}
		if slurp {
			want[pages] += "]\n"
		}
		s := retrytest.Serve(t, script.String())
		f := t.TempDir() + "/f"
		write(t, f, []byte("as it was"))
		args := []string{"-q", "-s", "--base", "0", "--attempts", "3", "--paginate", s.URL + "/1"}
		if slurp {
			args = append(args, "--slurp")
		}
		if file {
			args = append(args, "-o", f)
		}
		got := runMain(t, args...)
		ended[got.code]++
		out, full := got.stdout, got.stdout == want[pages]
		ok := false
		for _, w := range want[:pages] {
			ok = ok || out == w
		}
		if file {
			after, _ := os.ReadFile(f)
			ok, full = string(after) == "as it was", string(after) == want[pages]
		}
		if full != (got.code == 0) || !full && !ok {
			t.Fatalf("exit %d, %d bytes: %v\n%s\n%s", got.code, len(out), args, script.String(), s.Log())
		}
	}
	if ended[0] < 10 || len(ended) < 4 {
		t.Fatalf("exit codes %v: the test says little", ended)
	}
}

// randomPage is a script for one page, which may or may not come.
func randomPage(r *rand.Rand, body, next string) string {
	right := fmt.Sprintf(`200 body='%s' etag='"v"' ranges%s`, body, next)
	faults := []string{"503", "429 retry-after=0", "reset", right + " truncate=900B", fmt.Sprintf(`200 body='%s' truncate=5B`, body)}
	var steps []string
	for range r.IntN(4) {
		steps = append(steps, faults[r.IntN(len(faults))])
	}
	if r.IntN(20) == 0 {
		steps = append(steps, "404 body=gone")
	}
	return strings.Join(append(steps, right), ", ")
}

// shape is what a page adds to the output.
func shape(slurp bool, body string, first bool) string {
	switch elements := body[1 : len(body)-1]; {
	case !slurp:
		return body
	case first:
		return "[" + elements
	default:
		return "," + elements
	}
}
