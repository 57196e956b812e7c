// Package rendertest checks timeline documents in tests: against the published
// schema and for consistency. Only tests import it.
package rendertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/bidehttp/bide/render"
)

// Valid fails tb unless data is a stream of at least one document, each valid
// by docs/timeline.schema.json and by render.Consistent. It returns them.
func Valid(tb testing.TB, data []byte) []*render.Document {
	tb.Helper()
	docs, err := Check(data)
	if err != nil {
		tb.Errorf("timeline: %v\n%s", err, data)
	}
	return docs
}

// Check is Valid for callers without a testing.TB, such as commands of test scripts.
func Check(data []byte) ([]*render.Document, error) {
	document, err := Schema()
	if err != nil {
		return nil, err
	}
	docs, err := render.Decode(bytes.NewReader(data))
	if err != nil {
		return docs, fmt.Errorf("not a document: %w", err)
	}
	if len(docs) == 0 {
		return nil, errors.New("no document")
	}
	var faults []error
	dec := json.NewDecoder(bytes.NewReader(data))
	for i, d := range docs {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return docs, err
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			return docs, err
		}
		if err := errors.Join(document.Validate(v), render.Consistent(d)); err != nil {
			faults = append(faults, fmt.Errorf("document %d: %w", i+1, err))
		}
	}
	return docs, errors.Join(faults...)
}

// Schema compiles docs/timeline.schema.json of the module that is being tested.
func Schema() (*jsonschema.Schema, error) { return schema(timeline) }

const timeline = "timeline"

func schema(name string) (*jsonschema.Schema, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if name != timeline { // whose definitions the others use
		text, err := os.ReadFile(filepath.Join(root, "docs", timeline+".schema.json"))
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		if err := c.AddResource("https://github.com/bidehttp/bide/docs/timeline.schema.json", doc); err != nil {
			return nil, err
		}
	}
	return c.Compile(filepath.Join(root, "docs", name+".schema.json"))
}

// Fits reports whether data is one JSON document that is valid by
// docs/NAME.schema.json.
func Fits(name string, data []byte) error {
	s, err := schema(name)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// Root is the module's folder: tests run in the folder of their package.
func Root() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the test's folder")
		}
	}
	return "", err
}
