package render_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/render/rendertest"
)

// Every field of the mock's types is required by its schema, and nothing else is.
func TestMockSchemaKnowsEveryField(t *testing.T) {
	root, err := rendertest.Root()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(root, "docs", "mock-log.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs map[string]struct {
			Required   []string
			Properties map[string]any
		} `json:"$defs"`
	}
	if err := json.Unmarshal(b, &schema); err != nil {
		t.Fatal(err)
	}
	for name, typ := range map[string]reflect.Type{
		"log": reflect.TypeFor[render.MockLog](), "line": reflect.TypeFor[render.MockLine](), "request": reflect.TypeFor[render.MockRequest](),
		"field": reflect.TypeFor[render.MockField](), "answer": reflect.TypeFor[render.MockAnswer](), "check": reflect.TypeFor[render.MockCheck](),
		"command": reflect.TypeFor[render.MockCommand](), "conformance": reflect.TypeFor[render.MockConformance](), "row": reflect.TypeFor[render.MockRow](),
	} {
		var names []string
		for _, f := range reflect.VisibleFields(typ) {
			if !f.Anonymous {
				names = append(names, f.Tag.Get("json"))
			}
		}
		if diff := cmp.Diff(names, schema.Defs[name].Required); diff != "" {
			t.Errorf("%s: required (-type +schema):\n%s", name, diff)
		}
		if len(schema.Defs[name].Properties) != len(names) {
			t.Errorf("%s: %d properties for %d fields", name, len(schema.Defs[name].Properties), len(names))
		}
	}
}

func TestMockSchemaRefuses(t *testing.T) {
	for _, doc := range []string{`{}`, `{"version":1,"kind":"log"}`, `{"version":2,"kind":"conformance","bide":"x","command":"x","rows":[],"ok":true}`} {
		if rendertest.Fits("mock-log", []byte(doc)) == nil {
			t.Errorf("%s accepted", doc)
		}
	}
	if err := rendertest.Fits("mock-log", []byte(`{"version":1,"kind":"conformance","bide":"x","command":"x","rows":[],"ok":true,"later":1}`)); err != nil {
		t.Errorf("a field of a later release: %v", err)
	}
}
