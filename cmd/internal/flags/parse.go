package flags

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/checksum"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/variables"
	"github.com/spf13/pflag"
)

// Env is what parsing may ask of the world.
type Env struct {
	// Getenv looks a variable up; an empty one counts as unset. nil: no variables.
	Getenv func(string) string
	// LookupEnv tells an empty variable from none (--variable %NAME). nil: Getenv
	// is asked, and they are the same.
	LookupEnv func(string) (string, bool)
	// Open opens a file that a flag names (-K, -H @file). nil: no files.
	Open func(name string) (io.ReadCloser, error)
	// Stdin is read for "-K -" and "-H @-". nil: empty.
	Stdin io.Reader
}

// UsageError is a command line that cannot be run: why, and the exit code. It
// never holds a secret, and control characters in it are escaped.
type UsageError struct {
	Message string
	Code    exitcode.Code
	// Option: it is about how an option is used; curl shows no code then.
	Option bool
	// Warning: curl calls it one, though it ends the run.
	Warning bool
	// Lines are what curl's tool says of it, line by line, before it names its help.
	// nil: it has no words for it, and Message is all there is to say.
	Lines []string
	// Hint is what bide adds on a line of its own; Message has it, too.
	Hint string
}

func (e *UsageError) Error() string { return e.Message }

func usagef(format string, a ...any) *UsageError {
	return &UsageError{Message: fmt.Sprintf(format, a...), Code: exitcode.Usage}
}

// Defaults that are curl's or cli.md's, where the zero value means something else.
const (
	defaultMaxRedirs      = 50
	defaultConnectTimeout = 30 * time.Second
	defaultKeepalive      = 60 * time.Second
	defaultExpect100      = time.Second
)

// parser is the state of one Parse.
type parser struct {
	env    Env
	tables [7][]Flag      // of the command whose flags are being read
	full   [7][]Flag      // of the root command
	sub    *subline       // nil for the root command
	fs     *pflag.FlagSet // has the names of this command line
	o      *Options
	g      *Group
	err    error // the first error inside a Set, unwrapped
	src    source
	where  place // in a config file
	depth  int   // of nested -K
	// spelled is how the command line names flags that take a value.
	spelled map[*Flag]string

	positional int // positional arguments already turned into URLs
	urls       int // nodes of g.URLs that have their URL, output, upload
	outputs    int
	uploads    int
	checksums  []*checksum.Source // of the group, in order
	settings   map[string]setting
	inherited  map[string]setting // what --next leaves of them
	vars       variables.Set
	asCurl     source // where --as-curl was given
	curlsWords bool   // --as-curl stands somewhere
	shared     int    // headers that come from the default config file
	wait       bool   // of bide wait
}

// Parse reads a whole command line of the root command (without the program's
// name), BIDE_* variables and config files. It opens files that -K and -H @file
// name, and nothing else. The error is a *UsageError. Options share no memory
// with args, so that ScrubArgs can overwrite those afterwards.
func Parse(args []string, env Env) (*Options, error) {
	return newParser(env).parse(args)
}

func (p *parser) parse(args []string) (*Options, error) {
	p.curlsWords = slices.Contains(args, "--as-curl")
	tokens, stop, err := p.prepare(args)
	if err != nil {
		return nil, err
	}
	if stop {
		return p.o, nil // -h or -V: nothing else counts
	}
	if err := p.variables(); err != nil {
		return nil, err
	}
	if !skipsDefaultConfig(args) {
		if err := p.defaultConfig(); err != nil {
			return nil, err
		}
		if p.curlsWords {
			if err := p.curlrc(); err != nil {
				return nil, err
			}
		}
	}
	p.src, p.shared = srcFlag, len(p.g.Headers)
	if len(p.settings) > 0 {
		p.inherited = maps.Clone(p.settings)
	}
	if err := p.fs.Parse(tokens); err != nil {
		if p.err != nil {
			return nil, p.err
		}
		return nil, usagef("%s", printable(err.Error()))
	}
	if err := p.flushPositional(); err != nil {
		return nil, err
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	return p.o, nil
}

func newParser(env Env) *parser {
	if env.Getenv == nil {
		env.Getenv = func(string) string { return "" }
	}
	if env.Stdin == nil {
		env.Stdin = strings.NewReader("")
	}
	all := tables()
	p := &parser{env: env, tables: all, full: all, o: &Options{Groups: []Group{defaultGroup()}}, settings: make(map[string]setting, 4)}
	p.g = &p.o.Groups[0]
	p.o.Global.Color = "auto"
	p.fs = pflag.NewFlagSet("bide", pflag.ContinueOnError)
	p.fs.SetOutput(io.Discard)
	p.fs.Usage = func() {}
	return p
}

// finish turns what was collected into checked options.
func (p *parser) finish() error {
	if err := p.finishGroup(); err != nil {
		return err
	}
	return p.checkRun()
}

func (p *parser) note(format string, a ...any) {
	if !p.o.Global.Silent { // -s counts from its place on, as in curl
		p.o.Global.Notes = append(p.o.Global.Notes, fmt.Sprintf(format, a...))
	}
}

// flagValue is the pflag.Value of one name of one flag.
type flagValue struct {
	p   *parser
	f   *Flag
	neg bool
	// expand: --expand-NAME, whose value has variables.
	expand bool
}

// implicit stands for "no value given"; no argument can hold it.
const implicit = "\x00"

func (v *flagValue) String() string { return "" }
func (v *flagValue) Type() string   { return v.f.Arg }

// Set is called by pflag, in the order of the command line.
func (v *flagValue) Set(text string) error {
	err := v.p.flushPositional()
	if err == nil && v.expand {
		text, err = v.p.expand(v.f, text)
	}
	if err == nil {
		err = v.p.apply(v.f, text, v.neg)
	}
	if err != nil && v.p.err == nil {
		v.p.err = err
	}
	return err
}

// register gives pflag a name that the command line has. Registering the whole
// table would be the greater part of Parse's time.
func (p *parser) register(name string, f *Flag, neg bool) {
	if p.fs.Lookup(name) != nil {
		return
	}
	expand := name != f.Name && strings.HasPrefix(name, expandPrefix)
	pf := &pflag.Flag{Name: name, Value: &flagValue{p: p, f: f, neg: neg, expand: expand}}
	if f.Kind != Value {
		pf.NoOptDefVal = implicit
	}
	p.fs.AddFlag(pf)
}

// lookup finds a long name, and whether it is the flag's hidden negation.
func (p *parser) lookup(name string) (f *Flag, neg bool) {
	for _, part := range p.tables {
		for i := range part {
			if part[i].Name == name {
				return &part[i], false
			}
		}
	}
	for _, part := range p.tables {
		for i := range part {
			if part[i].negatedBy(name) {
				f, neg = &part[i], true
			}
		}
	}
	return f, neg
}

// letter finds a short name; nil when there is none.
func (p *parser) letter(c string) *Flag {
	for _, part := range p.tables {
		for i := range part {
			if part[i].Short == c {
				return &part[i]
			}
		}
	}
	return nil
}

// apply carries out one occurrence of f. Errors name the flag and its source.
func (p *parser) apply(f *Flag, text string, neg bool) error {
	err := p.applyText(f, text, neg)
	if err == nil {
		return nil
	}
	if u, ok := err.(*UsageError); ok { //nolint:errorlint // a complete message, made below
		return u
	}
	u := p.misused(f, text, err)
	if f.Name == "proto-default" {
		u.Code = exitcode.BadProtocol
	}
	return u
}

func (p *parser) applyText(f *Flag, text string, neg bool) error {
	if f.OneLine && p.src == srcDefault && !(p.curlsWords && f.Name == "next") {
		return fmt.Errorf("belongs to one command line, not to the default config file")
	}
	switch {
	case f.check != nil:
		if f.Kind != Value {
			text = boolText(!neg)
		}
		return p.keep(f, text)
	case f.flag != nil:
		*f.flag(p) = !neg
		if f.Name == "as-curl" {
			p.asCurl = p.src
		}
		return nil
	case f.on != nil:
		return f.on(p, !neg)
	case f.str != nil:
		*f.str(p) = text
		return nil
	case f.dur != nil:
		d, err := parseDuration(text)
		if err == nil {
			*f.dur(p) = d
		}
		return err
	default:
		return f.set(p, text)
	}
}

// nameFor names f as the user wrote it, with its source.
func (p *parser) nameFor(f *Flag) string {
	switch p.src {
	case srcEnv:
		return f.EnvName()
	case srcDefault, srcFile:
		return p.where.String() + ": " + f.Name
	}
	if f.Short != "" {
		return "-" + f.Short + ", --" + f.Name
	}
	return "--" + f.Name
}

func boolText(b bool) string {
	if b {
		return "true"
	}
	return "false"
}
