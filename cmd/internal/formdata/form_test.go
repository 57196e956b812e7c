package formdata

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

func readFuzzed(t *testing.T, f *Form) string {
	r, size, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	body, err := io.ReadAll(iotest.OneByteReader(r))
	if err != nil {
		if errors.Is(err, errNot7Bit) {
			return err.Error()
		}
		t.Fatal(err)
	}
	if size >= 0 && size != int64(len(body)) {
		t.Fatalf("length %d was said, %d bytes came", size, len(body))
	}
	return string(body)
}

func TestBoundary(t *testing.T) {
	f := mustBuild(t, "", "a=(", "b=c", "=)")
	if !regexp.MustCompile(`^multipart/form-data; boundary=-{24}[0-9A-Za-z]{22}$`).MatchString(f.ContentType()) {
		t.Errorf("%q", f.ContentType())
	}
	all := regexp.MustCompile(`-{24}[0-9A-Za-z]{22}`).FindAllString(f.ContentType()+read(t, f), -1)
	distinct := map[string]bool{}
	for _, b := range all {
		distinct[b] = true
	}
	if len(all) != 6 || len(distinct) != 2 {
		t.Errorf("boundaries %q", all)
	}
	if _, err := build(fields("a=b"), "", Options{Random: strings.NewReader("short")}); err == nil {
		t.Error("a random source that ends was not seen")
	}
}

// TestFrozen/R8.2: every attempt sends the same bytes and the same length.
func TestFrozen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f.txt")
	if err := os.WriteFile(name, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("R8.2_same_bytes", func(t *testing.T) {
		f := mustBuild(t, "input", "a=b", "f=@"+name, "g=@-", "h=@"+name+";encoder=base64")
		if one, two := read(t, f), read(t, f); one != two || !strings.Contains(one, "input") || !strings.Contains(one, "Y29udGVudA==") {
			t.Errorf("%q\n%q", one, two)
		}
		if f.SendChunked() {
			t.Error("standard input is held: its length is known")
		}
	})
	t.Run("R7.3_changed_source", func(t *testing.T) {
		source := &fileSource{name: name}
		f, err := build(fields("f=@x"), "", Options{Source: func(string) (Source, error) { return source, nil }})
		if err != nil {
			t.Fatal(err)
		}
		source.changed = retry.ErrBodyChanged
		if _, _, err := f.Open(); !errors.Is(err, retry.ErrBodyChanged) || !errors.Is(f.Replay(), retry.ErrBodyChanged) {
			t.Errorf("%v", err)
		}
		if err := f.Close(); err != nil || source.closed != 1 {
			t.Errorf("closed %d times, %v", source.closed, err)
		}
	})
	t.Run("R7.3_shorter_while_it_is_sent", func(t *testing.T) {
		f, err := build(fields("f=@x"), "", Options{Source: func(string) (Source, error) { return liar{}, nil }})
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(r); !errors.Is(err, retry.ErrBodyChanged) || classOf(err) != retry.ClassInput {
			t.Errorf("%v", err)
		}
	})
}

func TestPieces(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f.txt")
	if err := os.WriteFile(name, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("not_in_crumbs", func(t *testing.T) {
		f := mustBuild(t, "", "a=b", "f=@"+name+";encoder=quoted-printable", "g=@"+name, `c="d e=f";encoder=base64`)
		want := read(t, f)
		r, _, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		buf := make([]byte, 64<<10)
		if n, err := r.Read(buf); err != nil || string(buf[:n]) != want {
			t.Errorf("%d of %d bytes at once, %v", n, len(want), err)
		}
	})
	t.Run("unknown_length_goes_in_chunks", func(t *testing.T) {
		f, err := build(fields("f=@fifo"), "", Options{Source: func(string) (Source, error) {
			return &fileSource{name: stdin, text: "x", unknown: true}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, size, _ := f.Open(); size != -1 || !f.SendChunked() {
			t.Errorf("length %d, chunked %v", size, f.SendChunked())
		}
	})
}

// liar says that it is longer than it is.
type liar struct{}

func (liar) Open() (io.ReadCloser, int64, error) {
	return io.NopCloser(strings.NewReader("short")), 100, nil
}
func (liar) Replay() error { return nil }
func (liar) Close() error  { return nil }

func TestEncoders(t *testing.T) {
	for _, c := range []struct{ encoder, in, out string }{
		{"base64", "", ""},
		{"base64", "a", "YQ=="},
		{"base64", strings.Repeat("x", 57), strings.Repeat("eHh4", 19)},
		{"base64", strings.Repeat("x", 58), strings.Repeat("eHh4", 19) + "\r\neA=="},
		{"quoted-printable", "a=b", "a=3Db"},
		{"quoted-printable", "a \r\nb\t", "a=20\r\nb=09"},
		{"quoted-printable", "a\nb\rc\r\n", "a=0Ab=0Dc\r\n"},
		{"quoted-printable", strings.Repeat("x", 76), strings.Repeat("x", 76)},
		{"quoted-printable", strings.Repeat("x", 77), strings.Repeat("x", 75) + "=\r\nxx"},
		{"quoted-printable", strings.Repeat("x", 74) + "é", strings.Repeat("x", 74) + "=\r\n=C3=A9"},
		{"8bit", "é\n", "é\n"}, {"binary", "é\n", "é\n"}, {"7bit", "e\n", "e\n"},
	} {
		got, err := io.ReadAll(iotest.OneByteReader(encode(c.encoder, iotest.HalfReader(strings.NewReader(c.in)))))
		if err != nil || string(got) != c.out {
			t.Errorf("%s %q: %q, %v; want %q", c.encoder, c.in, got, err, c.out)
		}
		if n := encodedSize(c.encoder, int64(len(c.in))); n >= 0 && n != int64(len(c.out)) {
			t.Errorf("%s %q: length %d said, it is %d", c.encoder, c.in, n, len(c.out))
		}
	}
	if _, err := io.ReadAll(encode("7bit", strings.NewReader("aé"))); !errors.Is(err, errNot7Bit) {
		t.Errorf("7bit: %v", err)
	}
}

// FuzzQuotedPrintable decodes with the standard library what was encoded here.
func FuzzQuotedPrintable(f *testing.F) {
	f.Add("a=b \r\n\r\tx\n")
	f.Fuzz(func(t *testing.T, in string) {
		encoded, err := io.ReadAll(encode(encQP, strings.NewReader(in)))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(string(encoded), "\r\n") {
			if len(line) > lineLength {
				t.Errorf("%q is longer than a line may be", line)
			}
		}
		decoded, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(string(encoded))))
		if err != nil || string(decoded) != in {
			t.Errorf("%q became %q and %q: %v", in, encoded, decoded, err)
		}
	})
}

func TestUnknownEncoder(t *testing.T) {
	for _, text := range []string{"a=b;encoder=rot13", "a=b;encoder="} {
		_, err := build(fields(text), "", Options{})
		var e *Error
		if !errors.As(err, &e) || e.Code != exitcode.BadOption {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestSourceFails(t *testing.T) {
	held := &fileSource{name: stdin, text: "x"}
	_, err := build(fields("a=@-", "b=@none"), "", Options{Source: func(name string) (Source, error) {
		if name == stdin {
			return held, nil
		}
		return nil, os.ErrNotExist
	}})
	if !errors.Is(err, os.ErrNotExist) || held.closed != 1 {
		t.Errorf("%v, closed %d times", err, held.closed)
	}
}

// TestReadable reads what was made with the standard library.
func TestReadable(t *testing.T) {
	f := mustBuild(t, "input", "a=b", `q"n=x`, "f=@-;filename=x.png", "g=(", "h=i", "=)")
	_, params, err := mime.ParseMediaType(f.ContentType())
	if err != nil {
		t.Fatal(err)
	}
	r := multipart.NewReader(strings.NewReader(read(t, f)), params["boundary"])
	var seen []string
	for {
		part, err := r.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, part.FormName()+"|"+part.FileName()+"|"+strings.SplitN(part.Header.Get("Content-Type"), ";", 2)[0])
	}
	if got := strings.Join(seen, " "); got != "a|| q%22n|| f|x.png|image/png g||multipart/mixed" {
		t.Errorf("%s", got)
	}
}
