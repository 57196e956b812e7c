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
	schema, err := Schema()
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
		if err := errors.Join(schema.Validate(v), render.Consistent(d)); err != nil {
			faults = append(faults, fmt.Errorf("document %d: %w", i+1, err))
		}
	}
	return docs, errors.Join(faults...)
}

// Schema compiles docs/timeline.schema.json of the module that is being tested.
func Schema() (*jsonschema.Schema, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	return jsonschema.NewCompiler().Compile(filepath.Join(root, "docs", "timeline.schema.json"))
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
