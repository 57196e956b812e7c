package render_test

import (
	"reflect"
	"testing"

	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/render/rendertest"
)

// Every field of the mock's types is required by its schema, and nothing else is.
func TestMockSchemaKnowsEveryField(t *testing.T) {
	schema := readSchema(t, "mock-log")
	for name, typ := range map[string]reflect.Type{
		"log": reflect.TypeFor[render.MockLog](), "line": reflect.TypeFor[render.MockLine](), "request": reflect.TypeFor[render.MockRequest](),
		"field": reflect.TypeFor[render.MockField](), "answer": reflect.TypeFor[render.MockAnswer](), "check": reflect.TypeFor[render.MockCheck](),
		"command": reflect.TypeFor[render.MockCommand](), "conformance": reflect.TypeFor[render.MockConformance](), "row": reflect.TypeFor[render.MockRow](),
	} {
		checkObject(t, name, typ, schema.Defs[name])
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
