package cmd

import (
	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/render"
)

// verification is nil where nothing is to be verified.
func (op *operation) verification(arg flags.URLArg, output string) (*verification, error) {
	if arg.Checksum == nil {
		return nil, nil
	}
	want, err := arg.Checksum.For(output, op.template.URL.DecodedPath())
	if err != nil {
		return nil, &flags.UsageError{Message: "--checksum: " + render.Text(err.Error()), Code: exitcode.Usage}
	}
	return &verification{want: want, hash: want.New(), found: make(map[*exchange.Response]string)}, nil
}

// findSums looks all names up before anything is sent. Of very many names, the
// rest is looked up when its turn comes.
func (r *run) findSums() error {
	const most = 10000
	left := most
	for i := range r.options.Groups {
		g := &prepared{Group: &r.options.Groups[i]}
		for _, arg := range g.URLs {
			if arg.Checksum == nil {
				continue
			}
			for one, err := range combinations(g, arg) {
				if left--; left < 0 || err != nil {
					break // an error of a glob is told in its place
				}
				if err := r.findSum(g, one); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (r *run) findSum(g *prepared, arg flags.URLArg) error {
	u, err := request.ParseURL(arg.URL, "http", g.PathAsIs)
	if err != nil {
		return nil //nolint:nilerr // told in its place
	}
	if arg.HasUpload {
		u = u.WithUploadName(uploadName(arg.Upload))
	}
	op := &operation{run: r, group: g, template: request.Template{URL: u}}
	name, _, err := op.outputName(arg)
	if err != nil {
		return nil //nolint:nilerr // likewise
	}
	_, err = op.verification(arg, name)
	return err
}
