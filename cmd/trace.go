package cmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/outfile"
	"github.com/bidehttp/bide/render"
)

// tracer shows what happens on connections, in curl's shapes: -v on stderr
// (redacted, R11.1), --trace and --trace-ascii into a file (as it is, the docs
// say so). It is safe for concurrent use.
type tracer struct {
	mu       sync.Mutex
	w        io.Writer
	file     *os.File         // to be closed; nil otherwise
	verbose  bool             // -v: lines with marks; else dumps
	hex      bool             // --trace
	times    func() time.Time // --trace-time, nil without
	redactor *render.Redactor
	err      error
}

// newTracer is nil when nothing asked for it.
func newTracer(ctx context.Context, r *run) (*tracer, error) {
	global := &r.options.Global
	t := &tracer{redactor: r.redactor}
	if r.options.AsCurl() { // which shows -v unredacted
		t.redactor = &render.Redactor{NoRedact: true}
	}
	if global.TraceTime {
		t.times = func() time.Time { return r.env.Clock.Wall().In(r.env.Location) }
	}
	name := global.TraceASCII
	if global.Trace != "" {
		name, t.hex = global.Trace, true
	}
	switch {
	case name == "" && !global.Verbose:
		return nil, nil
	case name == "":
		t.w, t.verbose = r.console.live, true
	case name == "-":
		t.w = r.env.Stdout
	case name == "%":
		t.w = r.console.live
	default:
		f, err := outfile.Create(ctx, name)
		if err != nil {
			return nil, err
		}
		t.w, t.file = f, f
	}
	return t, nil
}

func (t *tracer) close() error {
	if t == nil {
		return nil
	}
	if t.file != nil {
		if err := t.file.Close(); t.err == nil {
			t.err = err
		}
	}
	if t.err != nil && t.file != nil {
		return &outfile.Error{Path: t.file.Name(), Err: t.err}
	}
	return nil
}

// WantsData: dumps show bodies, -v does not.
func (t *tracer) WantsData() bool { return !t.verbose }

// Info is a line about the connection.
func (t *tracer) Info(text string) {
	if t.verbose {
		t.write(t.stamp() + "* " + t.redactor.Text(text) + "\n")
		return
	}
	t.write(t.stamp() + "== Info: " + text + "\n")
}

// HeaderOut is a request's head.
func (t *tracer) HeaderOut(b []byte) { t.head("> ", "=> Send header", b) }

// HeaderIn is a response's head, whole or in lines.
func (t *tracer) HeaderIn(b []byte) { t.head("< ", "<= Recv header", b) }

// DataOut is a piece of a request's body.
func (t *tracer) DataOut(b []byte) { t.data("=> Send data", b) }

// DataIn is a piece of a response's body.
func (t *tracer) DataIn(b []byte) { t.data("<= Recv data", b) }

func (t *tracer) head(mark, title string, b []byte) {
	if !t.verbose {
		t.write(t.dump(title, b))
		return
	}
	var text strings.Builder
	for _, line := range t.redactor.HeaderBlock(b) {
		text.WriteString(t.stamp() + mark + render.Text(line) + "\n")
	}
	if s := string(b); strings.HasSuffix(s, "\r\n\r\n") || s == "\r\n" || s == "\n" {
		text.WriteString(t.stamp() + mark + "\n") // the head's end, as curl shows it
	}
	t.write(text.String())
}

func (t *tracer) data(title string, b []byte) {
	if !t.verbose {
		t.write(t.dump(title, b))
	}
}

func (t *tracer) write(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := io.WriteString(t.w, text); err != nil && t.err == nil {
		t.err = err
	}
}

func (t *tracer) stamp() string {
	if t.times == nil {
		return ""
	}
	return t.times().Format("15:04:05.000000 ")
}

// dump is curl's shape of a block: a title with its size, then lines of 16
// bytes in hexadecimal, or of up to 64 characters that end at a line's end.
func (t *tracer) dump(title string, b []byte) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s%s, %d bytes (0x%x)\n", t.stamp(), title, len(b), len(b))
	for offset := 0; offset < len(b); {
		var n int
		if t.hex {
			n = dumpHex(&s, b[offset:], offset)
		} else {
			n = dumpText(&s, b[offset:], offset)
		}
		offset += n
	}
	return s.String()
}

func dumpHex(s *strings.Builder, b []byte, offset int) int {
	const width = 16
	line := b[:min(width, len(b))]
	fmt.Fprintf(s, "%04x: ", offset)
	for i := range width {
		if i < len(line) {
			fmt.Fprintf(s, "%02x ", line[i])
		} else {
			s.WriteString("   ")
		}
	}
	writePrintable(s, line)
	s.WriteByte('\n')
	return len(line)
}

func dumpText(s *strings.Builder, b []byte, offset int) int {
	const width = 64
	line := b[:min(width, len(b))]
	used := len(line)
	if end := bytes.Index(b[:min(width+2, len(b))], []byte("\r\n")); end >= 0 {
		line, used = b[:end], end+2
	}
	fmt.Fprintf(s, "%04x: ", offset)
	writePrintable(s, line)
	s.WriteByte('\n')
	return used
}

func writePrintable(s *strings.Builder, line []byte) {
	for _, c := range line {
		if c < 0x20 || c >= 0x7f {
			c = '.'
		}
		s.WriteByte(c)
	}
}

// newRedactor knows the secrets of the command line by their values.
func newRedactor(options *flags.Options) *render.Redactor {
	r := &render.Redactor{NoRedact: options.Global.NoRedact, RedactPath: options.Global.RedactPath}
	add := func(secret string) {
		if secret != "" {
			r.Secrets = append(r.Secrets, secret)
		}
	}
	for i := range options.Groups {
		g := &options.Groups[i]
		for _, pair := range []string{g.User, g.ProxyUser} {
			_, password, _ := strings.Cut(pair, ":")
			add(password)
		}
		add(g.Bearer)
		add(g.Pass)
		for _, c := range g.Cookies {
			add(c)
		}
		r.KeyHeader = g.IdempotencyHeader
	}
	return r
}
