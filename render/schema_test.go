package render_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/render/rendertest"
)

func line(t *testing.T, d *render.Document) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := render.JSON(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSamplesAreValid(t *testing.T) {
	for name, d := range render.Samples() {
		t.Run(name, func(t *testing.T) {
			b := line(t, d)
			docs := rendertest.Valid(t, b)
			if bytes.Count(b, []byte("\n")) != 1 {
				t.Error("not one line")
			}
			if diff := cmp.Diff(b, line(t, docs[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Every field of the types is required by the schema, and nothing else is.
func TestSchemaKnowsEveryField(t *testing.T) {
	schema := readSchema(t, "timeline")
	checkObject(t, "document", reflect.TypeFor[render.Document](), schema.object)
	for name, typ := range map[string]reflect.Type{
		"operation": reflect.TypeFor[render.Operation](), "policy": reflect.TypeFor[render.Policy](), "attempt": reflect.TypeFor[render.Attempt](),
		"connection": reflect.TypeFor[render.Connection](), "hop": reflect.TypeFor[render.Hop](), "tls": reflect.TypeFor[render.TLS](),
		"server": reflect.TypeFor[render.Server](), "decision": reflect.TypeFor[render.Decision](), "response": reflect.TypeFor[render.Response](),
		"outcome": reflect.TypeFor[render.Outcome](),
	} {
		checkObject(t, name, typ, schema.Defs[name])
	}
	if diff := cmp.Diff(render.Reasons(), schema.Defs["reason"].Enum); diff != "" {
		t.Errorf("reasons (-contract +schema):\n%s", diff)
	}
}

// The schema refuses each value that breaks it.
func TestSchemaRefuses(t *testing.T) {
	good := string(line(t, render.Samples()["retried"]))
	for _, c := range [][2]string{
		{`"version":1`, `"version":2`},
		{`"label":null,`, ``},
		{`"kind":"seconds"`, `"kind":"second"`},
		{`"reason":"success"`, `"reason":"fine"`},
		{`"action":"retry","reason":null`, `"action":"retry","reason":"success"`},
		{`"started_at":"2026-07-15T10:00:00.000Z"`, `"started_at":"2026-07-15T10:00:00Z"`},
		{`"offset_ms":0`, `"offset_ms":-1`},
		{`"status":429`, `"status":"429"`},
	} {
		bad := strings.Replace(good, c[0], c[1], 1)
		if bad == good {
			t.Fatalf("%s is not in the document", c[0])
		}
		if err := check(t, bad); err == nil {
			t.Errorf("%s accepted", c[1])
		}
	}
	if err := check(t, strings.Replace(good, `"version":1`, `"version":1,"later":[]`, 1)); err != nil {
		t.Errorf("a field of a later release: %v", err)
	}
}

func check(t *testing.T, doc string) error {
	t.Helper()
	schema, err := rendertest.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		t.Fatal(err)
	}
	return schema.Validate(v)
}

func TestConsistentFinds(t *testing.T) {
	ms := func(v float64) *render.MS { m := render.MS(v * 1e6); return &m }
	word := func(s string) *string { return &s }
	for name, spoil := range map[string]func(d *render.Document){
		"requests":          func(d *render.Document) { d.Outcome.Requests++ },
		"retries":           func(d *render.Document) { d.Outcome.Retries = 3 },
		"attempts":          func(d *render.Document) { d.Outcome.Attempts = 2 },
		"waited":            func(d *render.Document) { d.Outcome.WaitedMS += 1e6 },
		"elapsed":           func(d *render.Document) { d.Outcome.ElapsedMS = 1 },
		"order":             func(d *render.Document) { d.Attempts[1].OffsetMS = 0 },
		"number":            func(d *render.Document) { d.Attempts[1].Number = 7 },
		"early":             func(d *render.Document) { d.Attempts[0].Decision.WaitedMS = ms(1); d.Outcome.WaitedMS = *ms(2201.4) },
		"below the minimum": func(d *render.Document) { d.Attempts[0].Decision.FloorMS = ms(1) },
		"above the cap":     func(d *render.Document) { d.Policy.CapMS = ms(2000) },
		"outside":           func(d *render.Document) { d.Attempts[1].Decision.CeilingMS = ms(1) },
		"retry and reason":  func(d *render.Document) { d.Attempts[0].Decision.Reason = word("success") },
		"stop in between":   func(d *render.Document) { d.Attempts[0].Decision.Action = "stop" },
		"last retries":      func(d *render.Document) { d.Attempts[2].Decision = d.Attempts[1].Decision },
		"other reason":      func(d *render.Document) { d.Attempts[2].Decision.Reason = word("http_error") },
		"class on success":  func(d *render.Document) { d.Outcome.Class = word("status") },
		"unknown class":     func(d *render.Document) { d.Attempts[0].Class = word("bad") },
		"unknown phase":     func(d *render.Document) { d.Attempts[0].Phase = "over" },
		"kind":              func(d *render.Document) { d.Attempts[0].Server.Kind = "absent" },
		"status of no hop":  func(d *render.Document) { d.Attempts[0].Status = new(int) },
		"epoch":             func(d *render.Document) { d.Outcome.NextAttemptEpoch = new(float64) },
		"response":          func(d *render.Document) { d.Response.Status = 201 },
		"two bodies":        func(d *render.Document) { d.Response.BodyBase64 = word("") },
		"body length":       func(d *render.Document) { d.Response.BodyBytes = 1 },
		"version":           func(d *render.Document) { d.Version = 2 },
	} {
		d := render.Samples()["retried"]
		if err := render.Consistent(d); err != nil {
			t.Fatal(err)
		}
		spoil(d)
		if render.Consistent(d) == nil {
			t.Errorf("%s: not found", name)
		}
	}
}

func ExampleEvents() {
	var b bytes.Buffer
	e := render.NewEvents(&b)
	_ = e.Write(render.Waiting{EventHead: render.EventHead{Operation: "op", Attempt: 1, OffsetMS: 12e6}, Source: "server", WaitMS: 33e8})
	fmt.Print(b.String())
	// Output: {"event":"wait","operation":"op","attempt":1,"offset_ms":12,"source":"server","wait_ms":3300,"floor_ms":null,"ceiling_ms":null,"until":"0001-01-01T00:00:00.000Z"}
}

// schemaFile is what the tests ask of a schema.
type schemaFile struct {
	object
	Defs map[string]object `json:"$defs"`
}

type object struct {
	Required   []string
	Properties map[string]any
	Enum       []string
}

// readSchema reads docs/NAME.schema.json.
func readSchema(t *testing.T, name string) schemaFile {
	t.Helper()
	root, err := rendertest.Root()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(root, "docs", name+".schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema schemaFile
	if err := json.Unmarshal(b, &schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

// checkObject holds a schema's object to the fields of typ.
func checkObject(t *testing.T, name string, typ reflect.Type, o object) {
	t.Helper()
	var names []string
	for _, f := range reflect.VisibleFields(typ) {
		if !f.Anonymous {
			names = append(names, f.Tag.Get("json"))
		}
	}
	if diff := cmp.Diff(names, o.Required); diff != "" {
		t.Errorf("%s: required (-type +schema):\n%s", name, diff)
	}
	if len(o.Properties) != len(names) {
		t.Errorf("%s: %d properties for %d fields", name, len(o.Properties), len(names))
	}
}
