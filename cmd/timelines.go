package cmd

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/render"
)

// runTimeline shows saved timelines again.
func runTimeline(ctx context.Context, env Env, args []string) exitcode.Code {
	o, err := flags.ParseTimeline(args, parseEnv(env))
	if err != nil {
		return reportUsage(ctx, env, err)
	}
	if o.Global.Help {
		return printCommandHelp(env, "timeline")
	}
	if len(o.Files) == 0 {
		if _, terminal := env.Terminal(env.Stdin); terminal {
			complain(env, "timeline: no FILE; - reads standard input")
			return exitcode.Usage
		}
		o.Files = []string{"-"}
	}
	sheet := sheetOptions(env, o.Global.Color)
	sheet.Dated = true
	s := &savedTimelines{
		env: env, options: o, sheet: sheet,
		redactor: &render.Redactor{NoRedact: o.Global.NoRedact, RedactPath: o.Global.RedactPath},
	}
	code, err := abandonable(ctx, func() (exitcode.Code, error) { return s.run(), nil })
	if err != nil {
		return signalCode(ctx)
	}
	return code
}

// savedTimelines reads the files one after the other.
type savedTimelines struct {
	env      Env
	options  *flags.TimelineOptions
	sheet    render.Options
	redactor *render.Redactor
	summing  render.Summing
	shown    int
	faults   int
}

func (s *savedTimelines) run() exitcode.Code {
	code := printed(s.env, func(w io.Writer) error {
		for _, name := range s.options.Files {
			if err := s.file(w, name); err != nil {
				return err
			}
		}
		if s.options.Summary {
			return s.summary(w)
		}
		return nil
	})
	if code == exitcode.OK && s.faults > 0 {
		return exitcode.Input
	}
	return code
}

// file shows what a file holds. The error is that of writing.
func (s *savedTimelines) file(w io.Writer, name string) error {
	r := s.env.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			s.fault(name, causeOf(err))
			return nil
		}
		defer f.Close() //nolint:errcheck // read only
		r = f
	} else {
		name = "standard input"
	}
	saved := render.NewSaved(r)
	for empty := true; ; empty = false {
		doc, err := saved.Next()
		var one *render.SavedError
		switch {
		case err == io.EOF:
			if empty {
				s.fault(name, "it holds no timeline")
			}
			return nil
		case errors.As(err, &one):
			s.fault(name, one.Error())
		case err != nil:
			s.fault(name, causeOf(err))
			return nil
		default:
			if err := s.show(w, doc); err != nil {
				return err
			}
		}
	}
}

// show shows one timeline, or enters it into the summary.
func (s *savedTimelines) show(w io.Writer, doc *render.Document) error {
	s.redactor.Document(doc)
	switch {
	case s.options.Summary:
		s.summing.Add(doc)
		return nil
	case s.options.Format == flags.FormatJSON:
		if doc.Policy.JitterMode == "" {
			s.fault("operation "+doc.Operation.ID, "its events do not tell its policy, so that they make no document; see --format human, --summary")
			return nil
		}
		return render.JSON(w, doc)
	}
	if s.shown++; s.shown > 1 {
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	return render.Human(w, []*render.Document{doc}, s.sheet)
}

func (s *savedTimelines) summary(w io.Writer) error {
	sum := s.summing.Sum()
	sum.Bide = version
	if s.options.Format == flags.FormatJSON {
		return render.SummaryJSON(w, sum)
	}
	return render.SummaryHuman(w, sum, s.sheet)
}

// mostFaults is how many faults are told; beyond them there is nothing to learn.
const mostFaults = 20

func (s *savedTimelines) fault(where, what string) {
	switch s.faults++; {
	case s.faults < mostFaults:
		complain(s.env, render.Text(where)+": "+s.redactor.Text(what))
	case s.faults == mostFaults:
		complain(s.env, "more of that kind is not told")
	}
}

// causeOf is err without the path that the message has already named.
func causeOf(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}
