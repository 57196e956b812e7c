package cmd

import (
	"io"
	"os"

	"github.com/bidehttp/bide/cmd/internal/cookies"
	"github.com/bidehttp/bide/cmd/internal/outfile"
)

// openJar loads the files of -b; nil when neither -b FILE nor -c was given. A
// file that is not there switches the engine on and is noticed, as in curl.
func (r *run) openJar() (*cookies.Jar, error) {
	global := &r.options.Global
	if len(global.CookieFiles) == 0 && global.CookieJar == "" {
		return nil, nil
	}
	jar := &cookies.Jar{}
	for _, name := range global.CookieFiles {
		if err := r.loadCookies(jar, name); err != nil {
			return nil, err
		}
	}
	return jar, nil
}

func (r *run) loadCookies(jar *cookies.Jar, name string) error {
	var in io.Reader = r.env.Stdin
	switch name {
	case "":
		return nil // -b "": the engine without a file
	case "-":
	default:
		f, err := os.Open(name)
		if err != nil {
			r.console.notice(r.redactor.Text("no cookies read: " + err.Error()))
			return nil
		}
		defer f.Close()
		in = f
	}
	return unreadable(name, jar.Load(in, r.options.Global.JunkSessionCookies, r.env.Clock.Wall()))
}

// saveJar writes -c's file.
func (r *run) saveJar() error {
	name := r.options.Global.CookieJar
	if r.jar == nil || name == "" {
		return nil
	}
	if err := r.jar.Save(name, r.env.Stdout, r.env.Clock.Wall()); err != nil {
		return &outfile.Error{Path: name, Err: err}
	}
	return nil
}
