package cmd

import (
	"cmp"
	"context"
	"iter"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/urlglob"
	"github.com/bidehttp/bide/render"
)

// job is one operation to be: one URL out of the globs of an argument.
type job struct {
	flags.URLArg     // its URL, Output and Upload have no globs any more
	num          int // of the argument among all of the run, from 0: %{urlnum}
	index        int // of the operation, from 1
}

// jobs gives the operations of a group in order, made as they are asked for. An
// argument whose globs cannot be read gives its error in their place.
func (r *run) jobs(g *prepared) iter.Seq2[job, error] {
	return func(yield func(job, error) bool) {
		for i := range g.URLs {
			num := r.urls
			r.urls++
			if !r.expand(g, g.URLs[i], num, yield) {
				return
			}
		}
	}
}

// expand gives one argument's operations. It reports whether more are wanted.
func (r *run) expand(g *prepared, arg flags.URLArg, num int, yield func(job, error) bool) bool {
	for one, err := range combinations(g, arg) {
		r.index++
		if !yield(job{URLArg: one, num: num, index: r.index}, err) {
			return false
		}
	}
	return true
}

// combinations are what an argument's globs stand for: every upload to every
// URL, as curl orders them. Where they cannot be read, it is the argument itself
// with the error.
func combinations(g *prepared, arg flags.URLArg) iter.Seq2[flags.URLArg, error] {
	return func(yield func(flags.URLArg, error) bool) {
		if g.literal(arg.Upload) && (arg.NoGlob || g.literal(arg.URL)) {
			yield(arg, nil)
			return
		}
		uploads, err := glob(g, arg.Upload)
		urls, bad := glob(g, arg.URL)
		if arg.NoGlob {
			urls, bad = urlglob.Literal(arg.URL), nil
		}
		if err = cmp.Or(err, bad); err != nil {
			yield(arg, err)
			return
		}
		for upload := range uploads.All() {
			for match := range urls.All() {
				one := arg
				one.URL, one.Upload, one.Output = match.URL, upload.URL, match.Expand(arg.Output)
				if !yield(one, nil) {
					return
				}
			}
		}
	}
}

// literal: there are no globs in text.
func (g *prepared) literal(text string) bool { return g.GlobOff || urlglob.IsLiteral(text) }

func glob(g *prepared, text string) (*urlglob.Pattern, error) {
	if g.GlobOff {
		return urlglob.Literal(text), nil
	}
	return urlglob.Parse(text)
}

// pointAt is a message about a place in a URL, with the URL and a mark under the
// place where that can be shown. What may be secret in it is masked, byte by byte,
// so that the place stays the same.
func (r *run) pointAt(e *urlglob.Error) string {
	const widest = 200
	text := e.Error()
	shown := []byte(e.URL)
	if len(shown) > widest {
		return text
	}
	if !r.redactor.NoRedact {
		maskSecrets(shown, r.redactor.RedactPath)
	}
	for i, c := range shown {
		if c < ' ' || c >= 0x7f {
			shown[i] = '?'
		}
	}
	return text + ":\n" + string(shown) + "\n" + strings.Repeat(" ", e.Pos-1) + "^"
}

// maskSecrets puts stars over userinfo, over what follows "?", but for names and
// what globs are made of, and with paths over those.
func maskSecrets(url []byte, paths bool) {
	at := 0
	if i := strings.Index(string(url), "://"); i >= 0 {
		at = i + len("://")
	}
	end := at
	for end < len(url) && strings.IndexByte("/?#", url[end]) < 0 {
		end++
	}
	if user := strings.LastIndexByte(string(url[at:end]), '@'); user > 0 {
		stars(url[at : at+user])
	}
	query := end
	for query < len(url) && url[query] != '?' {
		query++
	}
	if paths {
		stars(url[end:query])
	}
	value := false
	for i := query; i < len(url); i++ {
		switch url[i] {
		case '?', '&':
			value = false
		case '=':
			value = true
		default:
			if value {
				stars(url[i : i+1])
			}
		}
	}
}

func stars(text []byte) {
	for i, c := range text {
		if strings.IndexByte("{}[],-:/", c) < 0 {
			text[i] = '*'
		}
	}
}

// pace is --rate: it returns when the next operation may start, false when the
// run was stopped.
func (r *run) pace(ctx context.Context) bool {
	every := r.options.Global.StartEvery
	clock := r.env.Clock
	if every > 0 && r.started {
		if wait := r.lastStart + every - clock.Mono(); wait > 0 {
			if wait >= time.Second {
				r.console.notice("waiting " + render.Duration(wait, true) + " as --rate asks")
			}
			if clock.Sleep(ctx, wait) != nil {
				return false
			}
		}
	}
	r.started, r.lastStart = true, clock.Mono()
	return ctx.Err() == nil
}
