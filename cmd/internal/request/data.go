package request

import (
	"io"
	"strings"
)

// DataPart is one piece of -d or its kin, in the order given. Kind is "data",
// "data-raw", "data-binary", "data-urlencode" or "json"; Value is the flag's
// text, "@file" not yet read.
type DataPart struct{ Kind, Value string }

// FromData makes the body that the pieces spell together: joined by "&", but
// for a json piece, which is joined to what precedes by nothing (curl). Files
// are read now only as far as their length needs it, and again at each Open;
// streams are spooled, or with files.NoSpool left to be streamed once. No
// parts give nil. Errors are *Error of class input.
func FromData(parts []DataPart, files *Files) (Body, error) {
	if len(parts) == 0 {
		return nil, nil
	}
	b := &dataBody{}
	for i, part := range parts {
		if i > 0 && part.Kind != "json" {
			b.literal("&")
		}
		if err := b.addPart(part, files); err != nil {
			b.Close()
			return nil, err
		}
	}
	return b.simplify(), nil
}

// Query is the text that the pieces add to the URL's query with -G.
func Query(parts []DataPart, files *Files) (string, error) {
	source := Files{}
	if files != nil {
		source = *files
	}
	source.limit = maxURL
	body, err := FromData(parts, &source)
	if body == nil || err != nil {
		return "", err
	}
	defer body.Close()
	r, _, err := body.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxURL+1))
	if err != nil {
		return "", sourceError("the query", err)
	}
	return string(text), nil
}

func (b *dataBody) addPart(part DataPart, files *Files) error {
	name, isFile := strings.CutPrefix(part.Value, "@")
	switch part.Kind {
	case "data-raw":
		isFile = false
	case "data-urlencode":
		return b.addURLEncoded(part.Value, files)
	}
	switch {
	case !isFile:
		b.literal(part.Value)
		return nil
	case part.Kind == "data":
		return b.addFile(name, dropBreaks, files)
	}
	return b.addFile(name, nil, files)
}

// addURLEncoded reads the five forms: content, =content, name=content, @file,
// name@file. The name goes as it is; the content is percent-encoded. As in curl the
// first "=" counts, and only without one the first "@".
func (b *dataBody) addURLEncoded(text string, files *Files) error {
	if name, content, ok := strings.Cut(text, "="); ok {
		if name != "" {
			name += "="
		}
		b.literal(name + urlEncodePlus(content))
		return nil
	}
	name, file, ok := strings.Cut(text, "@")
	if !ok {
		b.literal(urlEncodePlus(text))
		return nil
	}
	if name != "" {
		b.literal(name + "=")
	}
	return b.addFile(file, encodeBytes, files)
}
