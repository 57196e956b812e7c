package flags

import (
	"strings"
	"unicode/utf8"
)

// prepare walks the arguments before pflag does. It splits attached short
// values, because pflag reads "-d=foo" as the value "foo" and curl as "=foo";
// refuses what pflag would drop or guess at; and finds the secrets. stop is
// true when help or the version was asked for: those end parsing, as in curl.
// The tokens share no memory with args.
func (p *parser) prepare(args []string) (tokens []string, stop bool, err error) {
	w := walker{p: p, args: args, out: make([]string, 0, len(args)+4)}
	for w.i = 0; w.i < len(args) && !w.stop; w.i++ {
		a := args[w.i]
		switch {
		case a == "--":
			w.out = append(w.out, "--")
			for w.i++; w.i < len(args); w.i++ {
				w.positional(args[w.i])
			}
		case a == "-" && (p.sub == nil || !p.sub.words):
			err = usagef("- is not a URL")
		case strings.HasPrefix(a, "--"):
			err = w.long(a[2:])
		case strings.HasPrefix(a, "-") && a != "-":
			err = w.short(a)
		default:
			w.positional(a)
		}
		if err != nil {
			return nil, false, err
		}
	}
	return w.out, w.stop, nil
}

type walker struct {
	p    *parser
	args []string
	i    int
	out  []string
	stop bool
	// silent: -s was there already.
	silent bool
}

func (w *walker) emit(s string) { w.out = append(w.out, strings.Clone(s)) }

// spelled keeps how the command line names f, for what may be said of its value.
func (w *walker) spelled(f *Flag, shown string) {
	if w.p.spelled == nil {
		w.p.spelled = make(map[*Flag]string, 8)
	}
	w.p.spelled[f] = shown
}

// emitFlag emits a flag by a long name, and makes that name known to pflag.
func (w *walker) emitFlag(name string, f *Flag, neg bool) {
	w.p.register(name, f, neg)
	w.out = append(w.out, "--"+name)
	if f.Name == "silent" {
		w.silent = !neg
	}
}

// note is about an argument, unless -s stands before it.
func (w *walker) note(format string, a ...any) {
	if !w.silent {
		w.p.note(format, a...)
	}
}

// noteQuote warns of a quote that a word processor made, by showing the value: a
// secret one as curl would, or not at all.
func (p *parser) noteQuote(f *Flag, value string) {
	if (!f.Secret || p.curlsWords) && strings.HasPrefix(value, "\xe2\x80\x9c") {
		p.note("The argument '%s' starts with a Unicode quote where maybe an ASCII \" was intended?", printable(value))
	}
}

func (w *walker) positional(a string) {
	if start, end, ok := userinfo(a); ok {
		w.secret(start, end)
	}
	w.emit(a)
}

func (w *walker) secret(start, end int) {
	w.p.o.Secrets = append(w.p.o.Secrets, ArgSpan{Index: w.i, Start: start, End: end})
}

func (w *walker) long(text string) error {
	name, value, has := strings.Cut(text, "=")
	f, neg := w.p.lookup(name)
	if f == nil {
		if f = w.p.lookupExpand(name); f == nil {
			return w.p.unknownLong(name)
		}
	}
	if f.Kind != Value {
		if f.Name == "help" || f.Name == "version" {
			return w.stopAt(f, value)
		}
		if has {
			if f.Kind == Boolean && !neg && f.Negation() != "" {
				return usagef("--%s takes no value; --%s turns it off", name, f.Negation())
			}
			return usagef("--%s takes no value", name)
		}
		w.emitFlag(name, f, neg)
		return nil
	}
	if has {
		w.spelled(f, "--"+strings.Clone(name))
		w.found(f, value, len("--")+len(name)+len("="))
		w.emitFlag(name, f, false)
		w.emit(value)
		return nil
	}
	return w.separate(f, name, "--"+name)
}

// separate takes the next argument as f's value.
func (w *walker) separate(f *Flag, name, shown string) error {
	if w.i+1 >= len(w.args) {
		return optionError(shown, noParameter, "")
	}
	w.i++
	value := w.args[w.i]
	w.spelled(f, strings.Clone(shown))
	if f.File && !f.Secret && len(value) > 1 && value[0] == '-' {
		w.note("The filename argument '%s' looks like a flag.", printable(value))
	}
	if !w.silent {
		w.p.noteQuote(f, value)
	}
	w.found(f, value, 0)
	w.emitFlag(name, f, false)
	w.emit(value)
	return nil
}

// found notes a secret value that starts at offset of the current argument.
func (w *walker) found(f *Flag, value string, offset int) {
	switch {
	case f.Secret && !f.isProxy() && value != "":
		w.secret(offset, offset+len(value))
	case f.isProxy() || f.Name == "url":
		if start, end, ok := userinfo(value); ok {
			w.secret(offset+start, offset+end)
		}
	}
}

// isProxy: of the value, the user and password alone are secret.
func (f *Flag) isProxy() bool {
	switch f.Name {
	case "proxy", "preproxy", "proxy1.0", "socks4", "socks4a", "socks5", "socks5-hostname":
		return true
	}
	return false
}

func (w *walker) short(a string) error {
	for j := 1; j < len(a); j++ {
		if a[j] >= utf8.RuneSelf {
			r, _ := utf8.DecodeRuneInString(a[j:])
			return w.p.unknownShort(string(r), a[1:j])
		}
		letter := a[j : j+1]
		f := w.p.letter(letter)
		if f == nil {
			if name, _, _ := strings.Cut(a[1:], "="); j == 1 && len(name) > 1 {
				if long, _ := w.p.lookup(name); long != nil {
					return optionError("-"+letter, unknown, "did you mean --"+name+"?")
				}
			}
			return w.p.unknownShort(letter, a[1:j])
		}
		rest := a[j+1:]
		if f.Kind == Value {
			if rest == "" {
				return w.separate(f, f.Name, a)
			}
			w.spelled(f, "-"+f.Short)
			w.found(f, rest, j+1)
			w.emitFlag(f.Name, f, false)
			w.emit(rest)
			return nil
		}
		if f.Name == "help" || f.Name == "version" {
			return w.stopAt(f, rest)
		}
		if strings.HasPrefix(rest, "=") {
			return usagef("-%s takes no value", letter)
		}
		w.emitFlag(f.Name, f, false)
	}
	return nil
}

// stopAt ends parsing at -h and -V. The word after -h is a category.
func (w *walker) stopAt(f *Flag, attached string) error {
	w.stop = true
	if f.Name == "version" {
		w.p.o.Global.Version = true
		return nil
	}
	w.p.o.Global.Help = true
	topic := attached
	if topic == "" && w.i+1 < len(w.args) && !strings.Contains(w.args[w.i+1], "/") {
		topic = w.args[w.i+1]
	}
	w.p.o.Global.HelpCategory = strings.Clone(topic)
	return nil
}

// skipsDefaultConfig reports whether -q is the first flag, alone or leading a
// cluster; --as-curl may stand before it, as it does in an alias.
func skipsDefaultConfig(args []string) bool {
	if len(args) > 0 && args[0] == "--as-curl" {
		args = args[1:]
	}
	if len(args) == 0 {
		return false
	}
	return args[0] == "--disable" || strings.HasPrefix(args[0], "-q")
}

// userinfo finds "user:password" in a URL's authority, with or without a scheme.
func userinfo(url string) (start, end int, ok bool) {
	if i := strings.Index(url, "://"); i >= 0 {
		start = i + len("://")
	}
	authority := url[start:]
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		authority = authority[:i]
	}
	at := strings.LastIndexByte(authority, '@')
	if at <= 0 {
		return 0, 0, false
	}
	return start, start + at, true
}
