// Package netrc looks up logins in a .netrc file as curl does.
//
// It is its own reader, not a library's: those known to the module proxy split
// on blanks only (no quoted passwords), take the words machine and default for
// keywords inside passwords and macros, or start gpg for a file named *.gpg.
package netrc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/bounded"
)

// File is a parsed .netrc. It is not changed after Parse; safe for concurrent use.
type File struct{ entries []entry }

type entry struct {
	machine               string // "" with isDefault
	isDefault             bool
	login, password       string
	hasLogin, hasPassword bool
}

// Open reads the file at path. The error is a *fs.PathError when there is none
// (--netrc-optional), and never holds a word of the file.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Parse(f, path)
}

// Parse reads r, called name in errors.
func Parse(r io.Reader, name string) (*File, error) {
	text, err := bounded.ReadAll(r, bounded.Text)
	if err != nil {
		return nil, fmt.Errorf("cannot read netrc file %s: %w", name, err)
	}
	p := parser{lines: bufio.NewScanner(bytes.NewReader(text))}
	p.lines.Buffer(nil, len(text)+1)
	if err := p.run(); err != nil {
		return nil, fmt.Errorf("netrc file %s:%d: %w", name, p.number, err)
	}
	return &File{entries: p.entries}, nil
}

// Lookup finds the login and password for a host. With user, only an entry of
// that login fits, or one without a login. Of the host's entries that fit the
// first with a password wins, else the first; a default entry fits every host
// that no machine entry before it does.
func (f *File) Lookup(host, user string) (login, password string, ok bool) {
	var found *entry
	for i := range f.entries {
		e := &f.entries[i]
		if !e.fits(host, user) {
			continue
		}
		if found == nil {
			found = e
		}
		if e.hasPassword && !(e.isDefault && !found.isDefault) {
			found = e
			break
		}
	}
	switch {
	case found == nil:
		return "", "", false
	case user != "":
		return user, found.password, true
	}
	return found.login, found.password, true
}

func (e *entry) fits(host, user string) bool {
	switch {
	case !e.isDefault && !strings.EqualFold(e.machine, host):
		return false
	case user != "" && e.hasLogin && e.login != user:
		return false
	}
	return e.hasLogin || e.hasPassword
}

type parser struct {
	lines   *bufio.Scanner
	number  int
	entries []entry
	expect  string // keyword whose value comes next
	macro   bool   // inside macdef: until an empty line
}

var errQuote = errors.New("a quoted word does not end")

func (p *parser) run() error {
	for p.lines.Scan() {
		p.number++
		line := p.lines.Text()
		if p.macro {
			p.macro = strings.Trim(line, " \t\r") != ""
			continue
		}
		if err := p.line(line); err != nil {
			return err
		}
	}
	return p.lines.Err()
}

func (p *parser) line(line string) error {
	for {
		line = strings.TrimLeft(line, " \t\r\v\f")
		if line == "" || line[0] == '#' {
			return nil // a password that starts with # must be quoted, as in curl
		}
		word, rest, err := nextWord(line)
		if err != nil {
			return err
		}
		line = rest
		if p.expect != "" {
			p.value(word)
			continue
		}
		if stop := p.keyword(word); stop {
			return nil
		}
	}
}

// keyword reports whether the rest of the line is of no interest.
func (p *parser) keyword(word string) (stop bool) {
	switch strings.ToLower(word) {
	case "machine", "login", "password", "account":
		p.expect = strings.ToLower(word)
	case "default":
		p.entries = append(p.entries, entry{isDefault: true})
	case "macdef":
		p.macro = true
		return true
	}
	return false
}

func (p *parser) value(word string) {
	keyword := p.expect
	p.expect = ""
	if keyword == "machine" {
		p.entries = append(p.entries, entry{machine: word})
		return
	}
	if len(p.entries) == 0 {
		return // belongs to no machine
	}
	e := &p.entries[len(p.entries)-1]
	switch keyword {
	case "login":
		e.login, e.hasLogin = word, true
	case "password":
		e.password, e.hasPassword = word, true
	}
}

// nextWord cuts the first word off s, which starts with none of the blanks. In
// double quotes it may hold blanks, and \n \r \t \" \\.
func nextWord(s string) (word, rest string, _ error) {
	if s[0] != '"' {
		end := strings.IndexAny(s, " \t\r\v\f")
		if end < 0 {
			end = len(s)
		}
		return s[:end], s[end:], nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"':
			return b.String(), s[i+1:], nil
		case c == '\\' && i+1 < len(s):
			i++
			c = s[i]
			switch c {
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case 't':
				c = '\t'
			}
		}
		b.WriteByte(c)
	}
	return "", "", errQuote
}
