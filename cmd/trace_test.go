package cmd

import (
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/render"
)

func TestTrace(t *testing.T) {
	const head = "GET / HTTP/1.1\r\nAuthorization: Bearer s3cret\r\n\r\n"
	play := func(tr *tracer) string {
		var out strings.Builder
		tr.w = &out
		tr.Info("Connected")
		tr.HeaderOut([]byte(head))
		tr.DataIn([]byte("\x00a\xff"))
		return out.String()
	}
	t.Run("R11.1_verbose_is_redacted", func(t *testing.T) {
		got := play(&tracer{verbose: true, redactor: &render.Redactor{}})
		want := "* Connected\n> GET / HTTP/1.1\n> Authorization: ***\n> \n"
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("trace_ascii_has_curls_shape", func(t *testing.T) {
		got := play(&tracer{redactor: &render.Redactor{}})
		want := "== Info: Connected\n=> Send header, 48 bytes (0x30)\n0000: GET / HTTP/1.1\n0010: Authorization: Bearer s3cret\n002e: \n<= Recv data, 3 bytes (0x3)\n0000: .a.\n"
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("trace_shows_hexadecimal", func(t *testing.T) {
		tr := &tracer{hex: true, redactor: &render.Redactor{}}
		tr.times = func() time.Time { return time.Date(2026, 7, 15, 10, 0, 0, 42000, time.UTC) }
		got := tr.dump("<= Recv data", []byte("0123456789abcdefXY"))
		want := "10:00:00.000042 <= Recv data, 18 bytes (0x12)\n" +
			"0000: 30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66 0123456789abcdef\n" +
			"0010: 58 59                                           XY\n"
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}
