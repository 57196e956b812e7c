package cmd

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bidehttp/bide/retry/retrytest"
)

// TestChecksumProperty: whatever a server does, exit 0 means that the right
// body was written and nothing else, and any other code that a file is as it was
// and a stream without a byte of it (R9.3a, R9.3b).
func TestChecksumProperty(t *testing.T) {
	const size = 1200000
	right := retrytest.Pattern(size)
	sum := sha256.Sum256(right)
	want := "sha256:" + hex.EncodeToString(sum[:])
	wrong := append([]byte("X"), right[1:]...)
	steps := []string{
		`200 size=1200000B etag='"v"' ranges`, `200 size=1200000B etag='"v"' ranges truncate=400kB`, `200 size=1200000B etag='"v"' ranges truncate=1100kB`,
		`200 size=1200000B`, `200 body=@wrong etag='"v"' ranges`, `200 body=@wrong etag='"v"' ranges truncate=500kB`, `200 body=@wrong etag='"w"' ranges truncate=500kB`,
		`200 body=@wrong`, `503 body=busy`, `404 body=gone`, `reset`, `416`, `206 body=x header='Content-Range: bytes 0-0/1200000'`, `200 body=""`,
	}
	r := rand.New(rand.NewPCG(3, 14))
	succeeded := 0
	for range 60 {
		var script []string
		for range 1 + r.IntN(8) {
			script = append(script, steps[r.IntN(len(steps))])
		}
		dir := t.TempDir()
		write(t, dir+"/wrong", wrong)
		write(t, dir+"/f", []byte("as it was"))
		s := retrytest.Serve(t, strings.Join(script, ", "), retrytest.WithDir(dir))
		args := []string{"-q", "-s", "--base", "0", "--attempts", "4", "--checksum", want, s.URL}
		file := r.IntN(3) > 0
		if file {
			args = append(args, "-o", dir+"/f")
		}
		if r.IntN(3) == 0 && file {
			args = append(args, "-C", "-")
			if r.IntN(2) == 0 {
				write(t, dir+"/f", nil) // else it goes on behind what is there
			}
		}
		before, _ := os.ReadFile(dir + "/f")
		for range 1 + r.IntN(2) { // the next run may go on where this one ended
			got := runMain(t, args...)
			after, _ := os.ReadFile(dir + "/f")
			out, ok := got.stdout, len(got.stdout) < 100 && (got.stdout == "" || got.code == 22 || got.code == 75) // an error's own
			if file {
				out, ok = string(after), string(after) == string(before)
			}
			if got.code == 0 {
				ok = out == string(right)
				succeeded++
				before = after
			}
			if !ok {
				t.Fatalf("exit %d, %d bytes: %v\n%s\n%s", got.code, len(out), args, strings.Join(script, "\n"), s.Log())
			}
		}
		left, _ := filepath.Glob(dir + "/.bide-*")
		if len(left) > 0 {
			t.Fatalf("%v is left: %v\n%s", left, args, strings.Join(script, "\n"))
		}
	}
	if succeeded < 10 {
		t.Fatalf("only %d succeeded: the test says little", succeeded)
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
