package cmd

import (
	"errors"
	"slices"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/formdata"
	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/render"
)

// prepareForm makes the body of -F. Its boundary is drawn once: every attempt
// and every URL of the group sends the same bytes.
func (r *run) prepareForm(g *prepared) error {
	args := make([]formdata.Arg, len(g.Form))
	for i, f := range g.Form {
		args[i] = formdata.Arg{Text: f.Value, Literal: f.Literal}
	}
	root, err := formdata.Parse(args, formdata.Env{
		Open: g.files.OpenText,
		Warn: func(text string) { r.console.warning(render.Text(text)) },
	})
	if err != nil {
		return badForm(err)
	}
	options := formdata.Options{
		Random: r.env.Random, Escape: g.FormEscape, ContentType: g.takeContentType(),
		Source: func(name string) (formdata.Source, error) { return request.FromFormFile(name, g.files) },
	}
	form, err := formdata.New(root, options)
	if err != nil {
		return err
	}
	g.body, g.contentType = form, form.ContentType()
	return nil
}

// badForm says in curl's words, and then in ours, that -F cannot be read.
func badForm(err error) error {
	var bad *formdata.Error
	if !errors.As(err, &bad) {
		return err
	}
	const use = "option -F: is badly used here"
	return &flags.UsageError{Message: use + "; " + bad.Reason, Lines: []string{bad.Reason, use}, Code: bad.Code, Option: true}
}

// takeContentType takes a Content-Type line of -H out of the headers: a form
// adds its boundary to it, and sends it in its own place (curl).
func (g *prepared) takeContentType() *string {
	for i, l := range g.headers {
		if strings.EqualFold(l.Name, "Content-Type") {
			g.headers = slices.Delete(slices.Clone(g.headers), i, i+1)
			return &l.Value
		}
	}
	return nil
}

// prepareQuery makes what --url-query and -G add to the URL's query.
func prepareQuery(parts, get []request.DataPart, files *request.Files) (string, error) {
	var query []string
	for _, row := range [][]request.DataPart{parts, get} {
		text, err := request.Query(row, files)
		if err != nil {
			return "", err
		}
		if text != "" {
			query = append(query, text)
		}
	}
	return strings.Join(query, "&"), nil
}

func dataParts(args []flags.DataArg) []request.DataPart {
	parts := make([]request.DataPart, len(args))
	for i, d := range args {
		parts[i] = request.DataPart{Kind: string(d.Kind), Value: d.Value}
	}
	return parts
}
