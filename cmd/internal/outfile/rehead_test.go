package outfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRehead/R9.2: the head of the final answer takes the place of the first one's.
func TestRehead(t *testing.T) {
	body := strings.Repeat("0123456789", copyBuffer/4)
	for _, c := range []struct{ name, old, head string }{
		{"shorter", "a long head\n", "short\n"}, {"longer", "short\n", strings.Repeat("a long head\n", 30000)},
		{"equal", "head 1\n", "head 2\n"}, {"none", "", "head\n"}, {"gone", "head\n", ""},
	} {
		t.Run("R9.2_"+c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			file, memory := File(FileSpec{Path: path}), Capture(8<<20)
			var out bytes.Buffer
			for _, s := range []Sink{file, memory, Stdout(&out, StreamOptions{})} {
				put(t, s, c.old+body)
				must(t, s.(Reheader).Rehead(int64(len(c.old)), []byte(c.head)))
				put(t, s, "end")
				must(t, s.Commit())
			}
			got, err := os.ReadFile(path)
			must(t, err)
			want := c.head + body + "end"
			if string(got) != want || string(memory.Bytes()) != want || out.String() != want {
				t.Errorf("%d, %d and %d bytes, want %d", len(got), len(memory.Bytes()), out.Len(), len(want))
			}
		})
	}
	t.Run("R9.3_committed", func(t *testing.T) {
		s := Stdout(io.Discard, StreamOptions{Unheld: true})
		put(t, s, "head")
		if err := s.Rehead(4, nil); !errors.Is(err, ErrCommitted) {
			t.Errorf("%v", err)
		}
	})
}
