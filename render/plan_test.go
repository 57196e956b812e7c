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

// schemaKnows holds that docs/NAME.schema.json requires every field of the
// types, in their order, and nothing else. "" is the document.
func schemaKnows(t *testing.T, name string, types map[string]reflect.Type) {
	t.Helper()
	type object struct {
		Required   []string
		Properties map[string]any
	}
	var schema struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	root, err := rendertest.Root()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(root, "docs", name+".schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &schema); err != nil {
		t.Fatal(err)
	}
	if len(schema.Defs) != len(types)-1 {
		t.Errorf("%d definitions for %d types", len(schema.Defs), len(types)-1)
	}
	for def, typ := range types {
		o := schema.Defs[def]
		if def == "" {
			o = schema.object
		}
		var names []string
		for i := range typ.NumField() {
			names = append(names, typ.Field(i).Tag.Get("json"))
		}
		if diff := cmp.Diff(names, o.Required); diff != "" {
			t.Errorf("%s: required (-type +schema):\n%s", def, diff)
		}
		if len(o.Properties) != len(names) {
			t.Errorf("%s: %d properties for %d fields", def, len(o.Properties), len(names))
		}
	}
}

func TestPlanSchemaKnowsEveryField(t *testing.T) {
	schemaKnows(t, "plan", map[string]reflect.Type{
		"": reflect.TypeFor[render.Plan](), "wait": reflect.TypeFor[render.PlanWait](), "stop": reflect.TypeFor[render.PlanStop](),
		"bound": reflect.TypeFor[render.PlanBound](), "rule": reflect.TypeFor[render.PlanRule](),
	})
}

func TestSimulationSchemaKnowsEveryField(t *testing.T) {
	schemaKnows(t, "simulation", map[string]reflect.Type{
		"": reflect.TypeFor[render.Simulation](), "server": reflect.TypeFor[render.SimulatedServer](), "run": reflect.TypeFor[render.SimulationRun](),
		"counted": reflect.TypeFor[render.Counted](), "histogram": reflect.TypeFor[render.Histogram](),
	})
}
