package cmd

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/bidehttp/bide/cmd/internal/hsts"
	"github.com/bidehttp/bide/cmd/internal/outfile"
	"github.com/bidehttp/bide/cmd/internal/savefile"
)

// openHSTS loads the files of --hsts; nil without the flag. A file that is not
// there is made at the end.
func (r *run) openHSTS() (*hsts.Cache, error) {
	names := r.options.Global.HSTS
	if len(names) == 0 {
		return nil, nil
	}
	cache := &hsts.Cache{}
	for _, name := range names {
		if name == "" {
			continue
		}
		if err := loadHSTS(cache, name); err != nil {
			return nil, err
		}
	}
	return cache, nil
}

func loadHSTS(cache *hsts.Cache, name string) error {
	f, err := os.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer f.Close()
	return unreadable(name, cache.Load(f))
}

// saveHSTS writes the last file of --hsts.
func (r *run) saveHSTS() error {
	if r.hsts == nil {
		return nil
	}
	names := r.options.Global.HSTS
	name := names[len(names)-1]
	if name == "" {
		return nil
	}
	err := savefile.Write(name, func(w io.Writer) error { return r.hsts.Write(w, r.env.Clock.Wall()) })
	if err != nil {
		return &outfile.Error{Path: name, Err: err}
	}
	return nil
}
