package flags

import (
	"fmt"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
)

// subline is the command line of a sub-command that sends nothing: its own rows,
// some of the table's, and words that are no URLs.
type subline struct {
	name     string
	own      []Flag
	borrowed []string // names of rows of the table
	retry    bool     // the retry flags, with their variables and config files
	words    bool     // words are taken; otherwise they are refused
	goal     any      // what the own rows fill in
}

// tables are the rows that such a command line knows.
func (s *subline) tables() [7][]Flag {
	var borrowed []Flag
	for _, part := range tables() {
		for i := range part {
			for _, name := range s.borrowed {
				if part[i].Name == name {
					borrowed = append(borrowed, part[i])
				}
			}
		}
	}
	known := [7][]Flag{s.own, borrowed}
	if s.retry {
		known[2] = retryFlags[:]
	}
	return known
}

// parse reads args, and BIDE_* and the config files where the retry flags count.
// What a config file says about requests is read and has no effect. The group's
// Policy is checked; help is true where that was asked for.
func (s *subline) parse(args []string, env Env) (o *Options, words []string, err error) {
	p := newParser(env)
	p.sub, p.tables = s, s.tables()
	tokens, stop, err := p.prepare(args)
	if err != nil || stop {
		return p.o, nil, err
	}
	if s.retry {
		if err := p.variables(); err != nil {
			return nil, nil, err
		}
		if !skipsDefaultConfig(args) {
			if err := p.defaultConfig(); err != nil {
				return nil, nil, err
			}
		}
	}
	p.src, p.shared = srcFlag, len(p.g.Headers)
	if err := p.fs.Parse(tokens); err != nil {
		if p.err != nil {
			return nil, nil, p.err
		}
		return nil, nil, usagef("%s", printable(err.Error()))
	}
	words = p.fs.Args()
	if len(words) > 0 && !s.words {
		return nil, nil, usagef("bide %s takes no %s: it sends nothing; bide -h %s lists its flags", s.name, quote(words[0]), s.name)
	}
	if len(p.o.Groups) > 1 {
		return nil, nil, usagef("bide %s is about one group of flags; the config file has --next", s.name)
	}
	if err := p.buildPolicy(); err != nil {
		return nil, nil, err
	}
	return p.o, words, p.takeKeyHeader()
}

// unknown explains a flag that the sub-command does not take; nil where the
// root command's words fit.
func (s *subline) unknown(p *parser, shown, name, letter string) *UsageError {
	var f *Flag
	p.inFull(func() {
		if f = p.letter(letter); name != "" {
			f, _ = p.lookup(name)
		}
	})
	if f == nil {
		return nil
	}
	return &UsageError{
		Message: fmt.Sprintf("option %s: is not for bide %s; bide -h %s lists its flags", shown, s.name, s.name),
		Code:    exitcode.Usage, Option: true,
	}
}

// inFull runs f where the root command's whole table is known: in a config
// file, whichever command reads it.
func (p *parser) inFull(f func()) {
	sub, known := p.sub, p.tables
	p.sub, p.tables = nil, p.full
	f()
	p.sub, p.tables = sub, known
}

// Forms of what plan, simulate and timeline print.
const (
	FormatHuman = "human"
	FormatJSON  = "json"
)

// formatRow is the row of --format, for a command's own flags.
func formatRow(to func(p *parser) *string) Flag {
	return Flag{Name: "format", Arg: "FORM", Kind: Value, Own: true, Default: FormatHuman, Values: []string{FormatHuman, FormatJSON},
		Help: "human, or json for machines",
		set: func(p *parser, v string) error {
			*to(p) = v
			return oneOf(v, FormatHuman, FormatJSON)
		}}
}

// writeCommandHelp is the help of a sub-command that has flags of its own.
func (h *helpWriter) commandFlags(s *Subcommand) {
	if s.Long != "" {
		h.line("")
		h.wrapped("", 0, s.Long)
	}
	if !s.takesFlags() {
		return
	}
	h.line("")
	for i := range s.Flags {
		h.flagLine(&s.Flags[i])
	}
	if s.All {
		h.wrapped("", 0, s.borrows())
	} else if len(s.Borrowed) > 0 {
		h.line("")
		h.wrapped("", 0, s.borrows())
	}
}

// takesFlags reports whether flags are parsed on its line.
func (s *Subcommand) takesFlags() bool { return len(s.Flags) > 0 || s.All }

// borrows says which of the root command's flags a sub-command takes, too.
func (s *Subcommand) borrows() string {
	var names []string
	for _, name := range s.Borrowed {
		names = append(names, "--"+name)
	}
	text := strings.Join(names, ", ")
	switch {
	case s.All:
		return "It takes every flag of requests."
	case s.Retry:
		return "Also every retry flag (bide -h retry), with its variable and the config file, and " + text + "."
	}
	return "Also " + text + "."
}
