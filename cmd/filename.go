package cmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/outfile"
	"github.com/bidehttp/bide/render"
)

// unnamed is what -O calls the file of a URL without a file name, as curl 8 does.
const unnamed = "curl_response"

// outputName is the path that -o or -O names, "" for stdout. With -J, it may
// also be "" because only the response names the file: remote is then true.
func (op *operation) outputName(arg flags.URLArg) (name string, remote bool, err error) {
	name = arg.Output
	if arg.RemoteName {
		remote = op.group.RemoteHeaderName
		name = path.Base(op.template.URL.Path)
		if name = name[strings.LastIndexByte(name, '\\')+1:]; name == "" || name == "." || name == "/" {
			name = unnamed
			op.run.console.warning(`No remote filename, uses "` + unnamed + `"`)
		}
	} else if !arg.HasOutput || name == "-" {
		return "", false, nil
	}
	return op.inOutputDir(name), remote, nil
}

func (op *operation) inOutputDir(name string) string {
	if op.group.OutputDir != "" {
		return filepath.Join(op.group.OutputDir, name)
	}
	return name
}

// existing is what becomes of a file that bears the output's name already.
func (op *operation) existing() outfile.Existing {
	if op.group.Clobber == flags.ClobberNever {
		return outfile.Number
	}
	return outfile.Replace
}

// skips reports whether --skip-existing makes the operation needless. A file
// that is not what --checksum says is as good as none.
func (op *operation) skips(ctx context.Context) bool {
	if !op.group.SkipExisting || op.output.path == "" {
		return false
	}
	if _, err := os.Lstat(op.output.path); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if right, err := op.output.check.holdsAlready(ctx, op.output.path); !right || err != nil {
		op.run.console.notice(render.Text(op.output.path) + " exists, but is not what --checksum says; it is fetched again")
		return false
	}
	op.run.console.note(`skips transfer, "` + render.Text(op.output.path) + `" exists locally`)
	return true
}

// takeName gives the file the name in Content-Disposition (-J). A server must
// not choose a folder, hide a file or replace one.
func (out *output) takeName(r *exchange.Response) error {
	if !out.remote {
		return nil
	}
	op := out.op
	value, _ := headerOf(r, "Content-Disposition")
	name, given := dispositionName(value)
	existing := op.existing()
	if given {
		if err := acceptName(name); err != nil {
			return err
		}
		if op.group.Clobber == "" {
			existing = outfile.Refuse
		}
		out.path = op.inOutputDir(name)
	} else {
		out.path = out.urlPath
	}
	if file, ok := out.sink.(*outfile.FileSink); ok {
		return file.SetPath(out.path, existing)
	}
	return nil
}

// acceptName refuses names that could do harm or cannot be seen.
func acceptName(name string) error {
	why := ""
	switch {
	case name == "":
		why = "it is empty"
	case strings.HasPrefix(name, "."):
		why = "it starts with a dot"
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }):
		why = "it holds a control character"
	case !filepath.IsLocal(name):
		why = "it is not a plain file name"
	}
	if why == "" {
		return nil
	}
	return &outfile.Error{Path: "to the file name of the response", Err: errors.New(why)}
}

// dispositionName is the file name in a Content-Disposition header, as curl
// reads it: the first parameter filename=, in quotes or up to a semicolon; of a
// path only what is behind the last slash or backslash. filename* is not read.
func dispositionName(value string) (name string, ok bool) {
	const key = "filename="
	for rest := value; ; {
		rest = strings.TrimLeftFunc(rest, func(r rune) bool { return !(r|0x20 >= 'a' && r|0x20 <= 'z') })
		if after, is := strings.CutPrefix(rest, key); is {
			return lastElement(unquoted(after))
		}
		var more bool
		if _, rest, more = strings.Cut(rest, ";"); !more {
			return "", false
		}
	}
}

func unquoted(s string) string {
	stop := ";"
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		stop, s = s[:1], s[1:]
	}
	s, _, _ = strings.Cut(s, stop)
	return s
}

// lastElement cuts a path down to its last element; one that ends in a
// separator names no file.
func lastElement(s string) (string, bool) {
	if i := strings.LastIndexAny(s, `/\`); i >= 0 {
		return s[i+1:], s[i+1:] != ""
	}
	return s, true
}
