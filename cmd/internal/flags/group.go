package flags

import (
	"maps"
	"math"
	"slices"

	"github.com/bidehttp/bide/cmd/internal/urlglob"
)

func defaultGroup() Group {
	return Group{
		MaxRedirects: defaultMaxRedirs, ConnectTimeout: defaultConnectTimeout,
		KeepaliveTime: defaultKeepalive, Expect100Timeout: defaultExpect100,
	}
}

// setNext ends a group: what follows starts from the defaults. What stays are
// the options of the whole run, --as-curl, which is one of them in spirit, and
// what variables and the default config file say about retries.
func setNext(p *parser, _ bool) error {
	switch {
	case p.urls == 0 && (p.src == srcFile || p.src == srcDefault):
		return nil // as in curl: each of several files may begin with it
	case p.urls == 0:
		return p.misuse("next", "missing URL before --next")
	}
	if err := p.finishGroup(); err != nil {
		return err
	}
	next := defaultGroup()
	next.AsCurl = p.g.AsCurl
	p.o.Groups = append(p.o.Groups, next)
	p.g = &p.o.Groups[len(p.o.Groups)-1]
	p.urls, p.outputs, p.uploads, p.shared = 0, 0, 0, 0
	p.settings = make(map[string]setting, 4)
	maps.Copy(p.settings, p.inherited)
	return nil
}

// finishGroup turns what was collected for a group into checked options.
func (p *parser) finishGroup() error {
	if err := p.buildPolicy(); err != nil {
		return err
	}
	if err := p.takeKeyHeader(); err != nil {
		return err
	}
	if err := p.finishURLs(); err != nil {
		return err
	}
	if err := p.pairChecksums(); err != nil {
		return err
	}
	if p.g.AsCurl && p.g.Fail == "" {
		p.g.Fail = FailNone
	}
	p.noteMethod()
	return p.checkGroup()
}

// checkKeys is R7.2: a key given by hand belongs to one operation.
func (p *parser) checkKeys() error {
	keyed := -1
	for i := range p.o.Groups {
		g := &p.o.Groups[i]
		if g.IdempotencyKey == "" || g.IdempotencyKey == "auto" {
			continue
		}
		keyed = i
		if n := g.operations(); n > 1 {
			return usagef("one idempotency key for %d URLs: two operations must not share a key; use --idempotency-key auto, or one URL at a time", n)
		}
	}
	if keyed < 0 {
		return nil
	}
	seen := make(map[string]bool)
	for i := range p.o.Groups {
		switch key := p.o.Groups[i].IdempotencyKey; {
		case key == "":
			return usagef("an idempotency key before or after --next, and a group without its own: --next forgets the key; give each group one, or auto")
		case key != "auto" && seen[key]:
			return usagef("the same idempotency key in two groups: two operations must not share a key")
		default:
			seen[key] = true
		}
	}
	return nil
}

// operations is how many the group asks for, its globs counted; a URL that
// cannot be read counts as one.
func (g *Group) operations() uint64 {
	n := uint64(0)
	for i := range g.URLs {
		a := &g.URLs[i]
		n += globCount(a.URL, g.GlobOff || a.NoGlob) * globCount(a.Upload, g.GlobOff)
	}
	return n
}

func globCount(text string, off bool) uint64 {
	if off {
		return 1
	}
	p, err := urlglob.Parse(text)
	if err != nil {
		return 1
	}
	return p.Count()
}

// Several reports whether the group asks for more than one operation. A glob that
// cannot be read counts as one.
func (g *Group) Several() bool {
	return len(g.URLs) != 1 || g.operations() > 1
}

// Operations is how many the command line asks for, its globs counted.
func (o *Options) Operations() int64 {
	n := uint64(0)
	for i := range o.Groups {
		n += o.Groups[i].operations()
	}
	return int64(min(n, math.MaxInt64)) //nolint:gosec // bounded
}

// AsCurl reports whether --as-curl was given.
func (o *Options) AsCurl() bool {
	return slices.ContainsFunc(o.Groups, func(g Group) bool { return g.AsCurl })
}

// SavesAll reports whether every body goes to a file.
func (o *Options) SavesAll() bool {
	for i := range o.Groups {
		if slices.ContainsFunc(o.Groups[i].URLs, func(u URLArg) bool { return !u.Saves() }) {
			return false
		}
	}
	return true
}

// SavesAny reports whether a body goes to a file.
func (o *Options) SavesAny() bool {
	return slices.ContainsFunc(o.Groups, func(g Group) bool { return slices.ContainsFunc(g.URLs, URLArg.Saves) })
}

// Saves reports whether the body goes to a file.
func (u URLArg) Saves() bool { return u.RemoteName || u.HasOutput && u.Output != "-" }
