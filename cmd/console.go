package cmd

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/outfile"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

// console is stderr: notices, errors, countdowns and meters, each when its flag
// allows it. Everything on stderr goes through its one Live, so that lines never
// mix.
type console struct {
	live     *render.Live
	patience *patience // of those who write to it
	env      Env
	file     *os.File // --stderr FILE, to be closed; nil otherwise
	ascii    bool
	color    bool
	width    int
	silent   bool // -s
	errors   bool // errors are shown: no -s, or -S
	meters   bool
	bar      bool // -#
	curl     bool // --as-curl: errors in curl's words alone
	whole    bool // -Z: one line for the whole run instead of countdowns and meters
}

func newConsole(ctx context.Context, env Env, options *flags.Options) (*console, error) {
	global := &options.Global
	c := &console{
		env: env, silent: global.Silent, errors: !global.Silent || global.ShowError,
		meters: !global.Silent && !global.NoProgressMeter, bar: global.ProgressBar,
		ascii: plainASCII(env.Getenv), whole: global.Parallel, curl: options.AsCurl(),
	}
	w, err := c.open(ctx, global.Stderr)
	if err != nil {
		return nil, err
	}
	columns, terminal := env.Terminal(w)
	c.width = columns
	c.color = colored(global.Color, env.Getenv, terminal)
	c.patience = &patience{clock: env.Clock}
	out := w
	if !terminal {
		out = outfile.Bounded(w, c.patience.ended)
	}
	c.live = render.NewLive(out, render.LiveOptions{
		Terminal: terminal && env.Getenv("TERM") != "dumb", ASCII: c.ascii, Clock: env.Clock,
		Width: func() int { columns, _ := env.Terminal(w); return columns },
	})
	for _, note := range global.Notes {
		c.live.Println(render.Warning(note, c.width))
	}
	for _, note := range global.VerboseNotes {
		c.live.Println(render.Note(note, c.width))
	}
	return c, nil
}

// open follows --stderr: a file, or "-" for stdout.
func (c *console) open(ctx context.Context, name string) (io.Writer, error) {
	switch name {
	case "":
		return c.env.Stderr, nil
	case "-":
		return c.env.Stdout, nil
	}
	f, err := outfile.Create(ctx, name)
	if err != nil {
		return nil, err
	}
	c.file = f
	return f, nil
}

// close reports whether stderr itself could be written.
func (c *console) close() error {
	err := c.live.Err()
	if c.file != nil {
		if closing := c.file.Close(); err == nil {
			err = closing
		}
	}
	return err
}

// showsErrors: -s alone says nothing.
func (c *console) showsErrors() bool { return c.errors }

// notice is a line for those who did not ask for silence.
func (c *console) notice(text string) {
	if !c.silent {
		c.live.Println(render.Prefix + text)
	}
}

// warning is a line about the command line, for those who did not ask for silence.
func (c *console) warning(text string) {
	if !c.silent {
		c.live.Println(render.Warning(text, c.width))
	}
}

// note is a remark on what was not done, in curl's form.
func (c *console) note(text string) {
	if !c.silent {
		c.live.Println(render.Note(text, c.width))
	}
}

// failure is the line of an error that has no document, with its exit code.
func (c *console) failure(code exitcode.Code, text string) {
	if c.errors {
		c.live.Println(c.errorLine(code, text))
	}
}

func (c *console) errorLine(code exitcode.Code, text string) string {
	if c.curl {
		text = render.Cause(text)
	}
	return render.ErrorLine(int(code), text)
}

// problem is a line of an error that changes no exit code.
func (c *console) problem(text string) {
	if c.errors {
		c.live.Println(render.Prefix + text)
	}
}

// wait shows a wait until done is called: a countdown on a terminal, else one line.
func (c *console) wait(n render.Notices, plain string, e retry.Event) (done func()) {
	if c.silent || c.whole && c.live.Terminal() {
		return func() {}
	}
	return c.live.Wait(plain, c.env.Clock.Mono()+e.Wait, func(left time.Duration) string { return n.Countdown(e, left) })
}

// transfer shows the meter of a body's transfer; not when the body itself goes
// to a terminal. The returned function ends it.
func (c *console) transfer(r *exchange.Response, toTerminal bool) func() {
	if !c.meters || c.whole || toTerminal || !c.live.Terminal() && !c.bar {
		return func() {}
	}
	return c.live.Progress(render.Progress{
		Received: r.Arrived, Total: r.Whole, Bar: c.bar,
	})
}

// colored decides on colour: --color, then NO_COLOR and CLICOLOR_FORCE, then
// whether there is a terminal that can.
func colored(when string, getenv func(string) string, terminal bool) bool {
	switch when {
	case "always":
		return true
	case "never":
		return false
	}
	if getenv("NO_COLOR") != "" {
		return false
	}
	if force := getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return terminal && getenv("TERM") != "dumb"
}

// plainASCII reports whether the locale or the terminal asks for it.
func plainASCII(getenv func(string) string) bool {
	if term := getenv("TERM"); term == "dumb" || term == "linux" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := getenv(name); value != "" {
			upper := strings.ToUpper(value)
			return !strings.Contains(upper, "UTF-8") && !strings.Contains(upper, "UTF8")
		}
	}
	return true
}
