package request_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/retry"
)

// sum opens a body and gives what came out.
func sum(t *testing.T, b request.Body) (hash [32]byte, text string, length int64) {
	t.Helper()
	r, n, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if n >= 0 && int64(len(data)) != n {
		t.Errorf("length %d, but %d bytes", n, len(data))
	}
	return sha256.Sum256(data), string(data), n
}

// twice holds two openings against each other (R8.2) and gives the text.
func twice(t *testing.T, b request.Body) (string, int64) {
	t.Helper()
	h1, text, n1 := sum(t, b)
	if err := b.Replay(); err != nil {
		t.Fatalf("Replay: %v", err)
	}
	h2, _, n2 := sum(t, b)
	if h1 != h2 || n1 != n2 {
		t.Errorf("R8.2 the second opening differs: %d and %d bytes", n1, n2)
	}
	return text, n1
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// onlyReader hides everything but Read, as a pipe does.
type onlyReader struct{ io.Reader }

func stdin(text string) *request.Files {
	return &request.Files{Stdin: onlyReader{strings.NewReader(text)}, MayReplay: true}
}

func TestBodyReplay(t *testing.T) {
	dir := t.TempDir()
	small := write(t, filepath.Join(dir, "small"), "a\r\nb\x00c\n")
	empty := write(t, filepath.Join(dir, "empty"), "")
	bigText := strings.Repeat("0123456789abcdef \r\n", 200_000)
	big := write(t, filepath.Join(dir, "big"), bigText)
	stripped := strings.NewReplacer("\r", "", "\n", "").Replace(bigText)
	encoded := strings.NewReplacer("\r", "%0D", "\n", "%0A", " ", "+").Replace(bigText)
	up := func(name string, f *request.Files) func() (request.Body, error) {
		return func() (request.Body, error) { return request.FromUpload(name, f) }
	}
	data := func(f *request.Files, kindsAndValues ...string) func() (request.Body, error) {
		var parts []request.DataPart
		for i := 0; i < len(kindsAndValues); i += 2 {
			parts = append(parts, request.DataPart{Kind: kindsAndValues[i], Value: kindsAndValues[i+1]})
		}
		return func() (request.Body, error) { return request.FromData(parts, f) }
	}
	for _, c := range []struct {
		name string
		make func() (request.Body, error)
		want string
	}{
		{"D1 -T - from a pipe", up("-", stdin("x\n")), "x\n"},
		{"D1 -T . from a pipe", up(".", stdin("x\n")), "x\n"},
		{"D12 -T from a big pipe", up("-", stdin(bigText)), bigText},
		{"D2 -T file", up(big, nil), bigText},
		{"D4 -T empty", up(empty, nil), ""},
		{"D4 -d @empty", data(nil, "data", "@"+empty), ""},
		{"D4 -d ''", data(nil, "data", ""), ""},
		{"D4 -T - empty", up("-", stdin("")), ""},
		{"D2 -d", data(nil, "data", "a=1"), "a=1"},
		{"D2 -d @file", data(nil, "data", "@"+small), "abc"},
		{"D2 -d @big", data(nil, "data", "@"+big), stripped},
		{"D2 --data-binary @file", data(nil, "data-binary", "@"+small), "a\r\nb\x00c\n"},
		{"D2 --data-binary @-", data(stdin(bigText), "data-binary", "@-"), bigText},
		{"D2 -d @-", data(stdin(bigText), "data", "@-"), stripped},
		{"D2 --json @-", data(stdin(`{"a":1}`), "json", "@-"), `{"a":1}`},
		{"D2 --data-urlencode @big", data(nil, "data-urlencode", "@"+big), encoded},
		{"D2 --data-urlencode n@-", data(stdin(bigText), "data-urlencode", "n@-"), "n=" + encoded},
		{"joined", data(nil, "data", "a=1", "data", "@"+small, "data-binary", "@"+small, "data-raw", "@x"), "a=1&abc&a\r\nb\x00c\n&@x"},
		{"stdin twice is empty the second time", data(stdin("q"), "data", "@-", "data", "@-"), "q&"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := c.make()
			if err != nil {
				t.Fatal(err)
			}
			text, n := twice(t, b)
			if text != c.want || n != int64(len(c.want)) {
				t.Errorf("%d bytes (length %d), want %d", len(text), n, len(c.want))
			}
			for range 2 {
				if err := b.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			}
		})
	}
}

// TestDataLikeCurl sends each row with the installed curl as well.
func TestDataLikeCurl(t *testing.T) {
	r := newRecorder(t)
	dir := t.TempDir()
	f := write(t, filepath.Join(dir, "f"), "a\r\nb\x00c \n")
	text := write(t, filepath.Join(dir, "text"), "a\r\nb c \n\n") // curl 7.88 drops what follows a NUL on its line
	for _, parts := range [][]request.DataPart{
		{{"data", "a"}, {"data", ""}, {"data", "b"}},
		{{"data", ""}, {"data", "b"}},
		{{"data", "a"}, {"json", "b"}, {"data", "c"}},
		{{"json", "{}"}, {"json", "@" + f}},
		{{"data", "@" + text}, {"data-binary", "@" + f}, {"data-raw", "@f"}},
		{{"data-urlencode", "=a=b c"}},
		{{"data-urlencode", "n m=a b"}},
		{{"data-urlencode", "abc äß~-._"}},
		{{"data-urlencode", "a b&="}},
		{{"data-urlencode", "x@" + f}},
		{{"data-urlencode", "@" + f}},
		{{"data-urlencode", "n=@" + f}},
	} {
		var args []string
		for _, p := range parts {
			args = append(args, "--"+p.Kind, p.Value)
		}
		_, bodies, _, code := r.curl(append(args, "h")...)
		b, err := request.FromData(parts, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, got, _ := sum(t, b); len(bodies) != 1 || got != bodies[0] {
			t.Errorf("%v: %q, curl (exit %d): %q", parts, got, code, bodies)
		}
	}
}

func TestQuery(t *testing.T) {
	got, err := request.Query([]request.DataPart{{"data-urlencode", "x=a b"}, {"data", "@-"}}, stdin("y=1\n"))
	if err != nil || got != "x=a+b&y=1" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := request.Query(nil, nil); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestBodyChanged(t *testing.T) {
	for _, how := range []struct {
		name   string
		change func(t *testing.T, name string)
	}{
		{"D5 longer", func(t *testing.T, name string) { write(t, name, "longer text") }},
		{"D5 same size, other time", func(t *testing.T, name string) {
			write(t, name, "TEXT")
			if err := os.Chtimes(name, time.Time{}, time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		}},
		{"D5 another file of the same size and time", func(t *testing.T, name string) {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			write(t, name+"2", "TEXT")
			if err := errors.Join(os.Chtimes(name+"2", time.Time{}, info.ModTime()), os.Rename(name+"2", name)); err != nil {
				t.Fatal(err)
			}
		}},
		{"D5 gone", func(t *testing.T, name string) {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		for _, kind := range []string{"-T", "data", "data-binary", "data-urlencode"} {
			t.Run("R7.3 "+how.name+" "+kind, func(t *testing.T) {
				name := write(t, filepath.Join(t.TempDir(), "f"), "text")
				b, err := request.FromUpload(name, nil)
				if kind != "-T" {
					b, err = request.FromData([]request.DataPart{{"data", "x"}, {kind, "@" + name}}, nil)
				}
				if err != nil {
					t.Fatal(err)
				}
				defer b.Close()
				how.change(t, name)
				if err := b.Replay(); !errors.Is(err, retry.ErrBodyChanged) {
					t.Errorf("Replay: %v", err)
				}
				if _, _, err := b.Open(); !errors.Is(err, retry.ErrBodyChanged) {
					t.Errorf("Open: %v", err)
				}
			})
		}
	}
}

func TestNoSpool(t *testing.T) {
	for _, c := range []struct {
		name  string
		files *request.Files
	}{
		{"R8.1 --no-spool", &request.Files{NoSpool: true, MayReplay: true}},
		{"R8.1 no second sending is possible", &request.Files{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.files.Stdin = strings.NewReader("once")
			b, err := request.FromUpload("-", c.files)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			r, _, err := b.Open()
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			if err := b.Replay(); err != nil {
				t.Errorf("R3.1 before a byte was read: %v", err)
			}
			if _, text, n := sum(t, b); text != "once" || n != -1 {
				t.Errorf("%q, length %d", text, n)
			}
			if err := b.Replay(); !errors.Is(err, retry.ErrNotReplayable) {
				t.Errorf("Replay: %v", err)
			}
			if _, _, err := b.Open(); !errors.Is(err, retry.ErrNotReplayable) {
				t.Errorf("Open: %v", err)
			}
		})
	}
	t.Run("R8.1 --no-spool with -d @-", func(t *testing.T) {
		b, err := request.FromData([]request.DataPart{{"data", "a"}, {"data", "@-"}},
			&request.Files{NoSpool: true, Stdin: strings.NewReader("b\n")})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if _, text, n := sum(t, b); text != "a&b" || n != -1 {
			t.Errorf("%q, length %d", text, n)
		}
		if err := b.Replay(); !errors.Is(err, retry.ErrNotReplayable) {
			t.Errorf("Replay: %v", err)
		}
	})
	t.Run("-d @- needs its length, so it is spooled without a retry in sight", func(t *testing.T) {
		b, err := request.FromData([]request.DataPart{{"data", "@-"}}, &request.Files{Stdin: strings.NewReader("b\n")})
		if err != nil {
			t.Fatal(err)
		}
		if _, n := twice(t, b); n != 1 {
			t.Errorf("length %d", n)
		}
	})
}

func entries(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestSpoolFile(t *testing.T) {
	big := strings.Repeat("x", 3<<20)
	t.Run("R8.1 nothing is left behind", func(t *testing.T) {
		dir := t.TempDir()
		b, err := request.FromUpload("-", &request.Files{Stdin: strings.NewReader(big), TempDir: dir, MayReplay: true})
		if err != nil {
			t.Fatal(err)
		}
		if n := entries(t, dir); runtime.GOOS != "windows" && n != 0 {
			t.Errorf("%d names while it is open", n)
		}
		twice(t, b)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if n := entries(t, dir); n != 0 {
			t.Errorf("%d files left", n)
		}
		if _, _, err := b.Open(); err == nil {
			t.Error("opened after Close")
		}
	})
	t.Run("R8.1 one MiB stays in memory", func(t *testing.T) {
		b, err := request.FromUpload("-", &request.Files{Stdin: strings.NewReader(big[:1<<20]), TempDir: "/nonexistent/dir", MayReplay: true})
		if err != nil {
			t.Fatal(err)
		}
		twice(t, b)
	})
	t.Run("a missing TMPDIR is an input error before the first request", func(t *testing.T) {
		for _, make := range []func(*request.Files) (request.Body, error){
			func(f *request.Files) (request.Body, error) { return request.FromUpload("-", f) },
			func(f *request.Files) (request.Body, error) {
				return request.FromData([]request.DataPart{{"data-binary", "@-"}}, f)
			},
		} {
			_, err := make(&request.Files{Stdin: strings.NewReader(big), TempDir: filepath.Join(t.TempDir(), "none"), MayReplay: true})
			inputClass(t, err)
		}
	})
	t.Run("a source that breaks is an input error and leaves nothing", func(t *testing.T) {
		for _, head := range []string{"", big} {
			dir := t.TempDir()
			broken := io.MultiReader(strings.NewReader(head), brokenReader{})
			_, err := request.FromUpload("-", &request.Files{Stdin: broken, TempDir: dir, MayReplay: true})
			inputClass(t, err)
			if !errors.Is(err, errBroken) {
				t.Errorf("the cause is lost: %v", err)
			}
			if n := entries(t, dir); n != 0 {
				t.Errorf("%d files left", n)
			}
		}
	})
	t.Run("readers do not disturb each other", func(t *testing.T) {
		b, err := request.FromUpload("-", &request.Files{Stdin: strings.NewReader(big), TempDir: t.TempDir(), MayReplay: true})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		r1, _, _ := b.Open()
		io.CopyN(io.Discard, r1, 100)
		r2, _, _ := b.Open()
		rest, _ := io.ReadAll(r1)
		all, _ := io.ReadAll(r2)
		if len(rest) != len(big)-100 || len(all) != len(big) {
			t.Errorf("%d and %d bytes", len(rest), len(all))
		}
	})
}

var errBroken = errors.New("broken")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

func inputClass(t *testing.T, err error) {
	t.Helper()
	var e *request.Error
	if !errors.As(err, &e) || e.Code != exitcode.Input || e.RetryClass() != retry.ClassInput {
		t.Errorf("%v: want class input, exit 26", err)
	}
}

func TestUnreadableSources(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{filepath.Join(dir, "none"), dir} {
		_, err := request.FromUpload(name, nil)
		inputClass(t, err)
		for _, kind := range []string{"data", "data-binary", "data-urlencode", "json"} {
			_, err := request.FromData([]request.DataPart{{kind, "@" + name}}, nil)
			inputClass(t, err)
		}
	}
}

// TestBigFileIsNotLoaded reads 16 MiB through every transform and looks at what was allocated.
func TestBigFileIsNotLoaded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "big")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(16<<20), f.Close()); err != nil { // sparse
		t.Fatal(err)
	}
	for _, kind := range []string{"data", "data-binary", "data-urlencode"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		b, err := request.FromData([]request.DataPart{{"data", "x"}, {kind, "@" + name}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, n, err := b.Open()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.Copy(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r})
		if err != nil || got != n {
			t.Errorf("%s: %d bytes of %d, %v", kind, got, n, err)
		}
		r.Close()
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
			t.Errorf("D3 %s: %d bytes allocated", kind, used)
		}
	}
}

func TestFileGoesAsItIs(t *testing.T) {
	name := write(t, filepath.Join(t.TempDir(), "f"), "text")
	for _, make := range []func() (request.Body, error){
		func() (request.Body, error) { return request.FromUpload(name, nil) },
		func() (request.Body, error) {
			return request.FromData([]request.DataPart{{"data-binary", "@" + name}}, nil)
		},
	} {
		b, err := make()
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := b.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if _, ok := r.(*os.File); !ok {
			t.Errorf("%T: only an *os.File goes by sendfile", r)
		}
	}
}

func FuzzDataURLEncode(f *testing.F) {
	for _, s := range []string{"a b", "=a", "n=v", "n=a=b", "ä\x00&"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "@") {
			return
		}
		b, err := request.FromData([]request.DataPart{{"data-urlencode", text}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, got, _ := sum(t, b)
		if i := strings.IndexByte(text, '='); i > 0 {
			got = strings.TrimPrefix(got, text[:i+1])
		}
		if bytes.ContainsAny([]byte(got), "&= \x00\r\n") {
			t.Fatalf("%q gives %q", text, got)
		}
	})
}
