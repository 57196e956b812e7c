package render_test

import (
	"reflect"
	"testing"

	"github.com/bidehttp/bide/render"
)

// schemaKnows holds that docs/NAME.schema.json requires every field of the
// types, in their order, and nothing else. "" is the document.
func schemaKnows(t *testing.T, name string, types map[string]reflect.Type) {
	t.Helper()
	schema := readSchema(t, name)
	if len(schema.Defs) != len(types)-1 {
		t.Errorf("%d definitions for %d types", len(schema.Defs), len(types)-1)
	}
	for def, typ := range types {
		o := schema.Defs[def]
		if def == "" {
			o = schema.object
		}
		checkObject(t, def, typ, o)
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
