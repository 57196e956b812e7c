package flags

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// TestExitCodesDocument (R10.3): the page names every code, reason and class,
// and the statuses of contract §3.
func TestExitCodesDocument(t *testing.T) {
	var page bytes.Buffer
	if err := WriteExitCodes(&page); err != nil {
		t.Fatal(err)
	}
	want := []string{"408, 425, 429, 500, 502, 503, 504;", "| 130, 143 |", "| 22, 75 |"}
	for _, e := range exitcode.Table() {
		want = append(want, fmt.Sprintf("\n| %d | ", e.Code))
	}
	for _, r := range retry.Reasons() {
		want = append(want, fmt.Sprintf("\n| `%s` | ", r))
	}
	for _, c := range retry.Classes() {
		want = append(want, fmt.Sprintf("\n| `%s` | ", c.Class))
	}
	for _, w := range want {
		if !strings.Contains(page.String(), w) {
			t.Errorf("R10.3: the page does not hold %q", w)
		}
	}
}

// TestExamplesParse: the man page's command lines are ones that bide takes.
func TestExamplesParse(t *testing.T) {
	for _, e := range examples() {
		line, _, _ := strings.Cut(e[0], " | ")
		var args []string
		for i, quoted := range strings.Split(line, "'") {
			if i%2 == 1 {
				args = append(args, quoted)
				continue
			}
			args = append(args, strings.Fields(quoted)...)
		}
		if _, err := Parse(args[1:], Env{Getenv: func(string) string { return "" }, Open: func(string) (io.ReadCloser, error) { return nil, fs.ErrNotExist }}); err != nil {
			t.Errorf("%s: %v", e[0], err)
		}
	}
}
