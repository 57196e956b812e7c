package cmd

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/bounded"
	"github.com/bidehttp/bide/cmd/internal/curldate"
	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/header"
	"github.com/bidehttp/bide/cmd/internal/outfile"
	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/httpdate"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

// timeCondition is -z: what is wanted only if it is newer, or older, than at.
type timeCondition struct {
	header string // that asks for it; "" no condition
	at     time.Time
}

// timeCondition reads -z's date, or the time of the file of that name. What is
// neither is no condition, as in curl: the file may not be there yet.
func (r *run) timeCondition(text string) timeCondition {
	if text == "" {
		return timeCondition{}
	}
	c := timeCondition{header: "If-Modified-Since"}
	switch text[0] {
	case '+':
		text = text[1:]
	case '-':
		c.header, text = "If-Unmodified-Since", text[1:]
	case '=':
		c.header, text = "Last-Modified", text[1:]
	}
	var ok bool
	if c.at, ok = curldate.Parse(text); ok {
		return c
	}
	info, err := os.Stat(text)
	if err != nil {
		r.console.warning("Illegal date format for -z, --time-cond (and not a file name). Disabling time condition. See curl_getdate(3) for valid date syntax.")
		return timeCondition{}
	}
	c.at = info.ModTime()
	return c
}

func (c timeCondition) fields() []header.Line {
	if c.header == "" {
		return nil
	}
	return []header.Line{{Name: c.header, Value: httpdate.Format(c.at)}}
}

// unmet reports whether an answer is one that the condition did not ask for:
// the server did not look at it, so it is looked at here (curl).
func (c timeCondition) unmet(r *exchange.Response, clock retry.Clock) bool {
	if c.header == "" || r.Status != 200 {
		return false
	}
	modified, ok := lastModified(r, clock)
	if !ok {
		return false
	}
	at := c.at.Truncate(time.Second)
	if c.header == "If-Unmodified-Since" {
		return !modified.Before(at)
	}
	return !modified.After(at)
}

func lastModified(r *exchange.Response, clock retry.Clock) (time.Time, bool) {
	value, ok := headerOf(r, "Last-Modified")
	if !ok {
		return time.Time{}, false
	}
	if t, err := httpdate.Parse(value, clock.Wall()); err == nil {
		return t, true
	}
	return curldate.Parse(value) // as lenient as curl: a wrong weekday is a date
}

// headerOf is the last header of that name.
func headerOf(r *exchange.Response, name string) (value string, ok bool) {
	for _, f := range r.Header {
		if strings.EqualFold(f.Name, name) {
			value, ok = strings.Trim(f.Value, " \t"), true
		}
	}
	return value, ok
}

// maxETag bounds what is read from a file of --etag-compare.
const maxETag = 64 << 10

// compareETag adds what --etag-compare asks for, behind the -H lines (curl).
func (r *run) compareETag(g *prepared) error {
	if g.EtagCompare == "" {
		return nil
	}
	etag := `""`
	f, err := g.files.OpenText(g.EtagCompare)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if g.EtagSave != g.EtagCompare {
			r.console.warning("Failed to open " + render.Text(g.EtagCompare) + ": No such file or directory")
		}
	case err != nil:
		return err
	default:
		defer f.Close()
		text, err := bounded.ReadAll(f, maxETag)
		if err != nil {
			return unreadable(g.EtagCompare, err)
		}
		if line := strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(string(text)); line != "" {
			etag = line
		}
	}
	g.headers = append(slices.Clone(g.headers), request.HeaderLine{Name: "If-None-Match", Value: etag})
	return nil
}

// checkETagFile finds out, before anything is sent, that --etag-save names a
// folder that is not there.
func checkETagFile(g *prepared) error {
	if g.EtagSave == "" || g.EtagSave == "-" || g.CreateDirs {
		return nil
	}
	if _, err := os.Stat(filepath.Dir(g.EtagSave)); err != nil {
		return &flags.UsageError{Message: "Failed creating file for saving etags: " + render.Text(g.EtagSave), Code: exitcode.Input}
	}
	return nil
}

// checkHeaderFile finds out the same of -D.
func checkHeaderFile(g *prepared) error {
	if g.DumpHeader == "" || g.CreateDirs {
		return nil
	}
	if _, err := os.Stat(filepath.Dir(g.DumpHeader)); err != nil {
		return &flags.UsageError{Message: "Failed to open " + render.Text(g.DumpHeader) + " to write headers", Code: exitcode.Output}
	}
	return nil
}

// saveETag writes --etag-save's file. It comes after the output, so that the
// file is never newer than what it stands for (E16). An answer without an ETag
// leaves an empty file; a 304 without one leaves it as it is.
func (out *output) saveETag() error {
	name, r := out.op.group.EtagSave, out.delivered
	if name == "" || r == nil || out.unmet {
		return nil
	}
	etag, ok := headerOf(r, "ETag")
	switch {
	case r.Status == 304 && ok:
	case r.Continued() && out.kept:
		if etag = r.Resumed.Validator; !strings.HasPrefix(etag, `"`) {
			etag = "" // it went on under its date
		}
	case out.op.group.AsCurl:
	case r.Status < 200 || r.Status > 399 || r.Status == 304 || !out.kept:
		return nil
	}
	if etag != "" {
		etag += "\n"
	}
	if name == "-" {
		return out.toStdout([]string{etag})
	}
	file := outfile.File(outfile.FileSpec{Path: name, CreateDirs: out.op.group.CreateDirs, TempDir: os.TempDir()})
	defer file.Abandon() //nolint:errcheck // after Commit it does nothing
	if _, err := io.WriteString(file, etag); err != nil {
		return err
	}
	return file.Commit()
}

// allowScheme refuses a URL whose scheme --proto does not permit.
func allowScheme(allowed []string, u *request.URL) error {
	if allowed == nil || slices.Contains(allowed, u.Scheme) {
		return nil
	}
	return &request.Error{Class: retry.ClassRequest, Code: exitcode.BadProtocol, Err: errors.New(`Protocol "` + u.Scheme + `" disabled`)}
}

// redirectSchemes are those that --proto and --proto-redir both permit; nil is the default.
func redirectSchemes(proto, redir []string) []string {
	switch {
	case proto == nil:
		return redir
	case redir == nil:
		return proto
	}
	both := []string{}
	for _, s := range proto {
		if slices.Contains(redir, s) {
			both = append(both, s)
		}
	}
	return both
}
