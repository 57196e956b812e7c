package flags

import (
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
)

// The words of curl's tool for what is wrong with an option.
const (
	unknown     = "is unknown"
	noParameter = "requires parameter"
	trailing    = "had unsupported trailing garbage"
	notBoolean  = "used '--no-' for option that isn't a boolean"
	notNumber   = "expected a proper numerical parameter"
	notPositive = "expected a positive numerical parameter"
	notReadable = "error encountered when reading a file"
	badUse      = "is badly used here"
	unsupported = "a specified protocol is unsupported by libcurl"
)

// optionError is an error about one option in curl's words, with a hint of
// bide's if there is one.
func optionError(shown, words, hint string) *UsageError {
	u := usagef("option %s: %s", shown, words)
	u.Option, u.Lines, u.Hint = true, []string{u.Message}, hint
	if hint != "" {
		u.Message += "; " + hint
	}
	return u
}

// misuse is an option that does not go with another; why stands alone in curl.
func (p *parser) misuse(flag, why string) *UsageError {
	u := optionError(p.shown(flag), badUse, "")
	u.Lines = []string{why, u.Message}
	u.Message += "; " + why
	return u
}

// shown is a flag as the command line spells it.
func (p *parser) shown(flag string) string {
	for f, as := range p.spelled {
		if f.Name == flag {
			return as
		}
	}
	return "--" + flag
}

// misused explains why f does not take text. What is wrong with a flag of bide's
// own is one line, as is what a variable or the default config file says: curl has
// neither.
func (p *parser) misused(f *Flag, text string, err error) *UsageError {
	words, why, hint := badUse, err.Error(), err.Error()
	var lines []string
	_, unreadable := err.(inputError) //nolint:errorlint // as open returns it
	switch {
	case unreadable && f.Name == "config":
		words, hint, lines = notReadable, "", []string{"cannot read config from '" + printable(text) + "'"}
	case unreadable:
		words = notReadable
	case inCurlsWords(err):
		words, why, _ = strings.Cut(why, "; ")
		hint = ""
	}
	line := p.nameFor(f) + ": " + words
	if p.src == srcFlag {
		line = "option " + p.shown(f.Name) + ": " + words
	}
	u := usagef("%s", line)
	u.Option = true
	if why != "" {
		u.Message += "; " + why
	}
	if unreadable {
		u.Code = exitcode.Input
	}
	switch {
	case f.Own:
		return u
	case p.src == srcFile:
		u.Lines, u.Hint = append(lines, p.where.says(f.Name, words)), hint
	case p.src == srcFlag:
		u.Lines, u.Hint = append(lines, line), hint
	}
	return u
}

// says is how curl's tool words what is wrong with an option at a place.
func (at place) says(name, words string) string {
	return at.String() + ": '" + printable(name) + "' " + words
}

// misplaced is an error about the form of a line in a config file.
func (p *parser) misplaced(f *Flag, words string) *UsageError {
	u := usagef("%s: %s %s", p.where, f.Name, words)
	if !f.Own {
		u.Lines = []string{p.where.says(f.Name, words)}
	}
	return u
}

// inCurlsWords reports whether err begins with what curl would say.
func inCurlsWords(err error) bool {
	text := err.Error()
	for _, words := range [...]string{notNumber, notPositive, unsupported} {
		if strings.HasPrefix(text, words) {
			return true
		}
	}
	return false
}
