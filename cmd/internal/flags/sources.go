package flags

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"

	"github.com/bidehttp/bide/cmd/internal/configfile"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
)

// source is where a setting came from, weakest first.
type source uint8

const (
	srcNone    source = iota
	srcDefault        // the default config file
	srcFile           // a -K file
	srcEnv            // BIDE_*
	srcFlag
)

// setting is a policy flag's value with its source. It is applied when all
// sources have been read, because the strongest wins whatever the order.
type setting struct {
	text string
	src  source
	name string // as the user wrote it, for messages
}

// keep validates and records a policy flag.
func (p *parser) keep(f *Flag, text string) error {
	if err := f.check(text); err != nil {
		return err
	}
	if old, ok := p.settings[f.Name]; (!ok || old.src <= p.src) && !p.overruled(f) {
		p.settings[f.Name] = setting{text: text, src: p.src, name: p.nameFor(f)}
	}
	return nil
}

// variables reads BIDE_<NAME> for the flags that have one.
func (p *parser) variables() error {
	p.src = srcEnv
	for i := range retryFlags { // they alone have variables: TestVariables
		f := &retryFlags[i]
		if !f.Env {
			continue
		}
		text := p.env.Getenv(f.EnvName())
		if text == "" {
			continue
		}
		negated := false
		if f.Kind != Value {
			on, err := parseBool(text)
			if err != nil {
				return usagef("%s: %v", f.EnvName(), err)
			}
			negated = !on
		}
		if err := p.apply(f, text, negated); err != nil {
			return err
		}
	}
	return nil
}

// defaultConfig reads $XDG_CONFIG_HOME/bide/config, else ~/.config/bide/config.
func (p *parser) defaultConfig() error {
	dir := p.env.Getenv("XDG_CONFIG_HOME")
	if dir == "" {
		home := p.env.Getenv("HOME")
		if home == "" {
			home = p.env.Getenv("USERPROFILE")
		}
		if home == "" {
			return nil
		}
		dir = path.Join(home, ".config")
	}
	if p.env.Open == nil {
		return nil
	}
	_, err := p.defaultFile(path.Join(dir, "bide", "config"))
	return err
}

// curlrc reads the file that curl would, for --as-curl: the first there is.
func (p *parser) curlrc() error {
	if p.env.Open == nil {
		return nil
	}
	curl, xdg, home := p.env.Getenv("CURL_HOME"), p.env.Getenv("XDG_CONFIG_HOME"), p.env.Getenv("HOME")
	places := [][2]string{{curl, ".curlrc"}, {xdg, "curlrc"}, {home, ".curlrc"}}
	if xdg == "" {
		places = append(places, [2]string{curl, ".config/curlrc"}, [2]string{home, ".config/curlrc"})
	}
	for _, place := range places {
		if place[0] == "" {
			continue
		}
		if found, err := p.defaultFile(path.Join(place[0], place[1])); found || err != nil {
			return err
		}
	}
	return nil
}

// defaultFile reads a config file that nobody named, if it is there.
func (p *parser) defaultFile(name string) (found bool, _ error) {
	r, err := p.env.Open(name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			p.note("cannot read %s: %s", quote(name), reason(err))
		}
		return false, nil
	}
	p.src = srcDefault
	return true, p.readConfig(r, name)
}

// maxDepth bounds config files that name config files.
const maxDepth = 5

func setConfig(p *parser, name string) error {
	if p.depth >= maxDepth {
		return fmt.Errorf("more than %d config files inside each other", maxDepth)
	}
	r, err := p.open(name)
	if err != nil {
		return err
	}
	src, where := p.src, p.where
	if p.src == srcFlag {
		p.src = srcFile
	}
	p.depth++
	err = p.readConfig(r, name)
	p.depth--
	p.src, p.where = src, where
	if u, ok := err.(*UsageError); ok && u.Lines != nil && src == srcFlag { //nolint:errorlint // as readConfig returns it
		u.Code, u.Option = exitcode.Input, true // as curl 8: what is wrong in the file is wrong with the file
		u.Lines = append(u.Lines, "option "+p.shown("config")+": "+notReadable)
	}
	return err
}

// readConfig applies each entry in its place, as if it stood on the command line.
func (p *parser) readConfig(r io.ReadCloser, name string) (err error) {
	p.inFull(func() { err = p.entries(r, name) })
	return err
}

func (p *parser) entries(r io.ReadCloser, name string) error {
	shown := name
	if name == "-" {
		shown = "standard input"
	}
	entries, err := configfile.Parse(r, shown)
	r.Close() //nolint:errcheck // read only
	if err != nil {
		return usagef("%s", printable(err.Error()))
	}
	p.where.file = printable(shown)
	p.g.URLs = slices.Grow(p.g.URLs, countURLs(entries))
	for _, e := range entries {
		p.where.line = e.Line
		if err := p.spaced(e); err != nil {
			return err
		}
		if err := p.entry(e); err != nil {
			return err
		}
	}
	return nil
}

// spaced warns, as curl does, that a value without quotes ends at its first blank.
// What says how requests are repeated is refused: "5 m" is no 5 seconds.
func (p *parser) spaced(e configfile.Entry) error {
	if !e.Spaced {
		return nil
	}
	if f, _ := p.lookup(e.Name); !e.Short && f != nil && (f.Own || f.check != nil) {
		return usagef("%s: a value with spaces must stand in double quotes", p.where)
	}
	p.note("%s: warning: '%s' uses unquoted whitespace", p.where, printable(e.Name))
	p.note("This may cause side-effects. Consider using double quotes?")
	return nil
}

// countURLs is how many URLs a file lists: there may be very many.
func countURLs(entries []configfile.Entry) int {
	n := 0
	for i := range entries {
		if entries[i].Name == "url" {
			n++
		}
	}
	return n
}

// place is a line of a file.
type place struct {
	file string
	line int
}

func (at place) String() string { return at.file + ":" + strconv.Itoa(at.line) }

// entry applies one line: a long name, or letters as on the command line.
func (p *parser) entry(e configfile.Entry) error {
	if !e.Short {
		f, neg := p.lookup(e.Name)
		if f != nil {
			return p.entryFlag(f, neg, e.Value, e.HasValue)
		}
		if f = p.lookupExpand(e.Name); f == nil {
			return p.at(e.Name, p.unknownLong(e.Name))
		}
		value, err := p.expand(f, e.Value)
		if err != nil {
			return p.at(e.Name, err)
		}
		return p.entryFlag(f, false, value, e.HasValue)
	}
	for i := range len(e.Name) {
		letter := e.Name[i : i+1]
		f := p.letter(letter)
		if f == nil {
			return p.at(letter, p.unknownShort(letter, ""))
		}
		last := i == len(e.Name)-1
		if f.Kind == Value && !last {
			return p.entryFlag(f, false, e.Name[i+1:], true)
		}
		if err := p.entryFlag(f, false, e.Value, last && e.HasValue); err != nil {
			return err
		}
	}
	return nil
}

// at puts the place in a config file before what is wrong with an option there.
func (p *parser) at(name string, err error) error {
	u := usagef("%s: %v", p.where, err)
	if old, ok := err.(*UsageError); ok && old.Lines != nil { //nolint:errorlint // as it was made
		u.Lines, u.Hint = []string{p.where.says(name, unknown)}, old.Hint
	}
	return u
}

func (p *parser) entryFlag(f *Flag, neg bool, value string, has bool) error {
	switch {
	case f.Name == "help" && p.g.AsCurl:
		return nil // curl goes on
	case f.Name == "help" || f.Name == "version":
		return usagef("%s: %s belongs on the command line", p.where, f.Name)
	case f.Kind == Value && !has:
		return p.misplaced(f, noParameter)
	case f.Kind != Value && has:
		return p.misplaced(f, trailing)
	}
	if has {
		p.noteQuote(f, value)
	}
	return p.apply(f, value, neg)
}
