package bounded

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadAll(t *testing.T) {
	for _, wrap := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.DataErrReader} {
		for _, row := range []struct {
			text  string
			limit int64
			fits  bool
		}{
			{"", 0, true}, {"a", 0, false}, {"abc", 3, true}, {"abcd", 3, false}, {strings.Repeat("a", 5000), 4999, false}, {strings.Repeat("a", 5000), 5000, true},
		} {
			got, err := ReadAll(wrap(strings.NewReader(row.text)), row.limit)
			tooLarge, is := errors.AsType[*TooLargeError](err)
			if is == row.fits || row.fits && (err != nil || string(got) != row.text) || is && tooLarge.Limit != row.limit {
				t.Errorf("%d bytes, limit %d: %d bytes and %v", len(row.text), row.limit, len(got), err)
			}
		}
	}
	broken := errors.New("broken")
	if _, err := ReadAll(iotest.ErrReader(broken), 10); err != broken { //nolint:errorlint // as it is
		t.Errorf("%v: want the reader's own error", err)
	}
}

func TestTooLargeError(t *testing.T) {
	for limit, want := range map[int64]string{Text: "it is larger than 16 MiB", 8000000: "it is larger than 8000000 bytes"} {
		if got := (&TooLargeError{limit}).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestReadFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadFile(name, 4); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := ReadFile(name+"x", 4); !os.IsNotExist(err) {
		t.Errorf("%v: want that there is none", err)
	}
}
