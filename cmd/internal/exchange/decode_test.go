package exchange

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

// encode applies a coding with an encoder of its own where there is one: the
// standard library's for gzip and deflate.
func encode(t testing.TB, name string, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch name {
	case "gzip", "x-gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw":
		w, err = flate.NewWriter(&b, 6)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, err = zstd.NewWriter(&b)
	}
	if err == nil {
		_, err = w.Write(plain)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func classOf(err error) (retry.Class, exitcode.Code) {
	var c retry.Classified
	var e exitcode.Coder
	if !errors.As(err, &c) {
		return "", 0
	}
	errors.As(err, &e)
	return c.RetryClass(), e.ExitCode()
}

func second[T any](_ T, err error) error { return err }

func TestDecode(t *testing.T) {
	plain := append([]byte("some text, some text. "), retrytest.Pattern(300_000)...)
	for _, name := range []string{"gzip", "x-gzip", "deflate", "raw", "br", "zstd"} {
		coding := strings.Replace(name, "raw", "deflate", 1)
		coded := encode(t, name, plain)
		read := func(b []byte) ([]byte, error) {
			src, err := decode(bytes.NewReader(b), []string{coding})
			if err != nil {
				return nil, err
			}
			return io.ReadAll(src)
		}
		t.Run(name+"/whole", func(t *testing.T) {
			if got, err := read(coded); err != nil || !bytes.Equal(got, plain) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
		t.Run(name+"/empty_body", func(t *testing.T) {
			if got, err := read(nil); err != nil || len(got) != 0 {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
		t.Run(name+"/empty_stream", func(t *testing.T) {
			if got, err := read(encode(t, name, nil)); err != nil || len(got) != 0 {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
		t.Run(name+"/truncated_anywhere", func(t *testing.T) {
			short := encode(t, name, plain[:3000])
			for n := range len(short) - 1 {
				if class, code := classOf(second(read(short[:n+1]))); class != retry.ClassTruncated || code != exitcode.Truncated {
					t.Errorf("cut at %d of %d: %s", n+1, len(short), class)
				}
			}
			for _, n := range []int{len(coded) / 2, len(coded) - 1} {
				got, err := read(coded[:n])
				if !bytes.HasPrefix(plain, got) {
					t.Errorf("cut at %d of %d: wrong text", n, len(coded))
				}
				if class, code := classOf(err); class != retry.ClassTruncated || code != exitcode.Truncated {
					t.Errorf("cut at %d of %d: %v (%s)", n, len(coded), err, class)
				}
			}
		})
		t.Run(name+"/garbage_after_it", func(t *testing.T) {
			for _, garbage := range []string{"\x00\x00\x00\x00", "garbage", strings.Repeat("x", 100_000)} {
				if class, code := classOf(second(read(append(bytes.Clone(coded), garbage...)))); class != retry.ClassDecode || code != exitcode.Decode {
					t.Errorf("%d bytes: %s, %d", len(garbage), class, code)
				}
			}
		})
		t.Run(name+"/wrong", func(t *testing.T) {
			_, err := read([]byte("\xff\xff this is no coded stream at all, but long enough to tell"))
			if class, code := classOf(err); class != retry.ClassDecode || code != exitcode.Decode {
				t.Errorf("%v (%s, %d)", err, class, code)
			}
		})
		t.Run(name+"/error_of_the_source", func(t *testing.T) {
			broken := failure(retry.ClassTimeout, exitcode.Timeout, retry.PhaseBody, errors.New("time is up"))
			src, err := decode(io.MultiReader(bytes.NewReader(coded[:len(coded)/2]), errReader{broken}), []string{coding})
			if err != nil {
				t.Fatal(err)
			}
			if _, err = io.ReadAll(src); !errors.Is(err, broken) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("corrupt_checksum", func(t *testing.T) {
		coded := encode(t, "gzip", plain)
		coded[len(coded)-6] ^= 1
		src, _ := decode(bytes.NewReader(coded), []string{"gzip"})
		_, err := io.ReadAll(src)
		if class, _ := classOf(err); class != retry.ClassDecode {
			t.Errorf("%v (%s)", err, class)
		}
	})
	member := string(encode(t, "gzip", []byte("one ")))
	for _, tt := range []struct {
		name, in string
		class    retry.Class
	}{
		{"members", member + member, retry.ClassNone},
		{"short_and_wrong", "hello", retry.ClassDecode},
		{"one_wrong_byte", "h", retry.ClassDecode},
		{"short_and_wrong_after_a_member", member + "garbage", retry.ClassDecode},
		{"second_member_cut", member + member[:1], retry.ClassTruncated},
	} {
		t.Run("gzip/"+tt.name, func(t *testing.T) {
			src, _ := decode(strings.NewReader(tt.in), []string{"gzip"})
			got, err := io.ReadAll(src)
			if err == nil && tt.class == retry.ClassNone {
				if string(got) != "one one " {
					t.Errorf("decoded to %q", got)
				}
			} else if class, _ := classOf(err); class != tt.class {
				t.Errorf("%v (%s), want %s", err, class, tt.class)
			}
		})
	}
	t.Run("several", func(t *testing.T) {
		coded := encode(t, "br", encode(t, "gzip", plain))
		src, err := decode(bytes.NewReader(coded), []string{"gzip", "br"})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(src); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
	t.Run("unknown_or_too_many", func(t *testing.T) {
		for _, list := range [][]string{{"compress\x1b[2J"}, {"gzip", "gzip", "gzip", "gzip", "gzip", "gzip"}} {
			_, err := decode(strings.NewReader("x"), list)
			if class, code := classOf(err); class != retry.ClassDecode || code != exitcode.Decode || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("%q: %v (%s)", list, err, class)
			}
		}
	})
}

// TestCompressed: what the header says, from the wire to the output.
// TestGzipHeader: a member may have a name, a comment and an extra field of any size.
func TestGzipHeader(t *testing.T) {
	var b bytes.Buffer
	for _, text := range []string{"one ", "two"} {
		w := gzip.NewWriter(&b)
		w.Name, w.Comment, w.Extra = strings.Repeat("n", 5000), strings.Repeat("c", 100_000), make([]byte, 60_000)
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	whole := b.Bytes()
	for _, cut := range []int{0, len(whole) - 3, len(whole) / 2, 12, 200} {
		in := whole
		if cut > 0 {
			in = whole[:cut]
		}
		r, err := decode(bytes.NewReader(in), []string{"gzip"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		class, _ := classOf(err)
		switch {
		case cut == 0 && (err != nil || string(got) != "one two"):
			t.Errorf("%q, %v", got, err)
		case cut > 0 && class != retry.ClassTruncated:
			t.Errorf("cut at %d: %q, %v", cut, got, err)
		}
	}
}

func TestCompressed(t *testing.T) {
	dir := t.TempDir()
	plain := []byte("decoded text")
	for _, name := range []string{"gzip", "br"} {
		if err := os.WriteFile(filepath.Join(dir, name), encode(t, name, plain), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		script     string
		compressed bool
		raw        bool
		decoded    bool
	}{
		{"200 body=@gzip header='Content-Encoding: gzip'", true, false, true},
		{"200 body=@gzip header='Content-Encoding: GZIP' chunked", true, false, true},
		{"200 body=@br header='content-encoding: identity, br'", true, false, true},
		{"200 body=@gzip header='Content-Encoding: gzip'", false, false, false},
		{"200 body=@gzip header='Content-Encoding: gzip'", true, true, false},
		{"200 body=@gzip", true, false, false},
	} {
		s := retrytest.Serve(t, c.script, retrytest.WithDir(dir))
		op := operation(client(t, retry.SystemClock(), transport.Settings{}), template(t, "GET", s.URL, ""))
		op.Template.Compressed, op.Raw = c.compressed, c.raw
		for range 2 {
			_, o, body := get(t, op)
			if o.Class != retry.ClassNone || (body == string(plain)) != c.decoded {
				t.Errorf("%+v: %+v, body %q", c, o, body)
			}
		}
		s.Log().Check(t, "connections=1")
	}
	t.Run("size_limit_counts_decoded_bytes", func(t *testing.T) {
		if err := os.WriteFile(filepath.Join(dir, "bomb"), encode(t, "gzip", make([]byte, 1<<20)), 0o600); err != nil {
			t.Fatal(err)
		}
		s := retrytest.Serve(t, "200 body=@bomb header='Content-Encoding: gzip'", retrytest.WithDir(dir))
		op := operation(client(t, retry.SystemClock(), transport.Settings{}), template(t, "GET", s.URL, ""))
		op.Template.Compressed, op.MaxFileSize = true, 100_000
		if _, o, body := get(t, op); o.Class != retry.ClassSize || len(body) > 100_000 {
			t.Errorf("%+v, %d bytes", o, len(body))
		}
	})
}

// FuzzDecode: whatever a server sends, decoding ends with a whole body or an
// error that has its class.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"gzip", "deflate", "br", "zstd"} {
		f.Add(name, encode(f, name, []byte("text")))
	}
	f.Fuzz(func(t *testing.T, codings string, body []byte) {
		src, err := decode(bytes.NewReader(body), strings.Split(codings, ","))
		if err == nil {
			_, err = io.Copy(io.Discard, io.LimitReader(src, 10<<20))
		}
		switch class, _ := classOf(err); {
		case err == nil, class == retry.ClassDecode, class == retry.ClassTruncated:
		default:
			t.Errorf("%q: %v (%s)", codings, err, class)
		}
	})
}
