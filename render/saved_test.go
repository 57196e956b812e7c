package render_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/render/rendertest"
)

// readSaved is what a stream holds: each document's operation and reason, and
// each fault with its line.
func readSaved(t *testing.T, r io.Reader) (found []string) {
	t.Helper()
	s := render.NewSaved(r)
	for {
		d, err := s.Next()
		var fault *render.SavedError
		switch {
		case err == io.EOF:
			return found
		case errors.As(err, &fault):
			found = append(found, fault.Error())
		case err != nil:
			return append(found, "stopped: "+err.Error())
		case d.Outcome == nil:
			found = append(found, d.Operation.ID+" unfinished")
		default:
			found = append(found, d.Operation.ID+" "+d.Outcome.Reason)
		}
	}
}

func savedDoc(id string) string {
	return `{"version":1,"bide":"9","operation":{"id":"` + id + `"},"attempts":[],"outcome":{"reason":"success"}}`
}

func TestSaved(t *testing.T) {
	doc := savedDoc
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(doc("b")), "", "  "); err != nil {
		t.Fatal(err)
	}
	started := func(id string) string {
		return `{"event":"attempt_started","operation":"` + id + `","attempt":1,"offset_ms":0,"method":"GET","url":"http://x/"}`
	}
	ended := func(id string) string {
		return `{"event":"outcome","operation":"` + id + `","attempt":1,"offset_ms":3,"outcome":{"reason":"success"},"response":null}`
	}
	lines := func(l ...string) string { return strings.Join(l, "\n") + "\n" }
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"empty":                 {"", nil},
		"blank":                 {" \n\n", nil},
		"one":                   {doc("a"), []string{"a success"}},
		"lines":                 {lines(doc("a"), doc("b")), []string{"a success", "b success"}},
		"one_line":              {doc("a") + doc("b"), []string{"a success", "b success"}},
		"several_lines":         {lines(pretty.String(), doc("a")), []string{"b success", "a success"}},
		"crlf":                  {doc("a") + "\r\n" + doc("b") + "\r\n", []string{"a success", "b success"}},
		"byte_order_mark":       {"\xef\xbb\xbf" + doc("a"), []string{"a success"}},
		"array":                 {"[" + doc("a") + ",\n" + doc("b") + ",\n3]", []string{"a success", "b success", "line 3: not a timeline: 3"}},
		"events":                {lines(started("a"), ended("a")), []string{"a success"}},
		"events_mixed":          {lines(started("a"), started("b"), doc("c"), ended("b"), ended("a")), []string{"c success", "b success", "a success"}},
		"events_without_end":    {lines(started("b"), started("a"), doc("c")), []string{"c success", "b unfinished", "a unfinished"}},
		"unknown_fields":        {strings.Replace(doc("a"), `{"version"`, `{"later":[1],"version"`, 1), []string{"a success"}},
		"unknown_events":        {lines(started("a"), `{"event":"later","operation":"a"}`, ended("a")), []string{"a success"}},
		"newer":                 {lines(doc("a"), strings.Replace(doc("b"), `"version":1`, `"version":2`, 1), doc("c")), []string{"a success", "line 2: a timeline of version 2; this bide reads version 1", "c success"}},
		"version_is_text":       {strings.Replace(doc("b"), `"version":1`, `"version":"1"`, 1), []string{`line 1: a timeline of version "1"; this bide reads version 1`}},
		"foreign":               {lines(`{"a":1}`, `7`, `"x"`, `null`, `[]`), []string{`line 1: not a timeline, which has version, operation and attempts: {"a":1}`, "line 2: not a timeline: 7", `line 3: not a timeline: "x"`, "line 4: not a timeline: null"}},
		"wrong_types":           {strings.Replace(doc("a"), `"attempts":[]`, `"attempts":7`, 1), []string{"line 1: not a timeline of version 1: cannot unmarshal number into Go struct field Document.attempts of type []render.Attempt"}},
		"event_of_nothing":      {`{"event":"wait"}`, []string{"line 1: not an event of a timeline: it names no operation"}},
		"cut_off":               {lines(doc("a")) + doc("b")[:40], []string{"a success", "line 2: it is cut off: the value that begins here has no end"}},
		"cut_off_in_the_middle": {lines(doc("a"), doc("b")[:40], doc("c")), []string{"a success", `line 2: not JSON: invalid character '\n' in string literal`, "c success"}},
		"cut_off_between":       {lines(doc("a"), `{"version":1,`, doc("c")), []string{"a success", `line 2: not JSON: invalid character '{' looking for beginning of object key string`, "c success"}},
		"log_lines":             {lines("bide: 503 from x", doc("a"), "  indented {", doc("b")), []string{`line 1: not JSON: invalid character 'b' looking for beginning of value`, "a success", `line 3: not JSON: invalid character 'i' looking for beginning of value`, "b success"}},
		"deep":                  {strings.Repeat("[", 20000), []string{"line 1: not JSON: invalid character '[' exceeded max depth"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, readSaved(t, strings.NewReader(c.text))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.want, readSaved(t, iotest.OneByteReader(strings.NewReader(c.text)))); diff != "" {
				t.Errorf("byte by byte (-want +got):\n%s", diff)
			}
		})
	}
	broken := readSaved(t, io.MultiReader(strings.NewReader(doc("a")+started("b")), iotest.ErrReader(errors.New("gone"))))
	if diff := cmp.Diff([]string{"a success", "b unfinished", "stopped: gone"}, broken); diff != "" {
		t.Errorf("a broken reader (-want +got):\n%s", diff)
	}
}

// TestSavedEvents: a document made of events tells what they told.
func TestSavedEvents(t *testing.T) {
	root, err := rendertest.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "render", "testdata", "saved", "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	s := render.NewSaved(bytes.NewReader(text))
	var out bytes.Buffer
	for {
		d, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := render.Human(&out, []*render.Document{d}, render.Options{Width: 80, Dated: true}); err != nil {
			t.Fatal(err)
		}
	}
	render.Golden(t, "saved_events", out.String())
}

// TestRedactorDocument (R11.1): what was saved without redaction is hidden.
func TestRedactorDocument(t *testing.T) {
	const secret = "hunter22"
	text := strings.NewReplacer("SECRET", secret).Replace(`{"version":1,"bide":"9",
		"operation":{"id":"a","method":"GET","url":"https://u:SECRET@h/p?token=SECRET","label":"https://h/?k=SECRET"},
		"attempts":[{"number":1,"error":"Get \"https://h/?k=SECRET\": EOF","connections":[{"address":"a","error":"x https://u:SECRET@h/"}],
			"hops":[{"method":"GET","url":"https://h/?k=SECRET","location":"/x?k=SECRET"}],
			"headers":{"set-cookie":"SECRET","location":"/?a=SECRET"},"server":{"header":"X-Auth","raw":"SECRET","kind":"invalid"}}],
		"response":{"status":200,"headers":[["authorization","SECRET"]],"saved_to":"https://h/?k=SECRET"},
		"outcome":{"reason":"transport_error","message":"x https://u:SECRET@h/?a=SECRET y"}}`)
	d, err := render.NewSaved(strings.NewReader(text)).Next()
	if err != nil {
		t.Fatal(err)
	}
	r := &render.Redactor{}
	r.Document(d)
	once := line(t, d)
	if bytes.Contains(once, []byte(secret)) {
		t.Errorf("R11.1: %s", once)
	}
	if r.Document(d); !bytes.Equal(once, line(t, d)) {
		t.Errorf("hiding twice differs:\n%s%s", once, line(t, d))
	}
}

func FuzzSaved(f *testing.F) {
	f.Add([]byte(savedDoc("a") + "\n" + savedDoc("b")[:30]))
	f.Add([]byte(`[{"event":"attempt_started","operation":"a","attempt":1},{"event":"wait","operation":"a","wait_ms":-1e300,"floor_ms":1,"until":"2026-01-01T00:00:00Z"},{"event":"outcome","operation":"a","outcome":{"elapsed_ms":1e300}}]`))
	f.Add([]byte(`{"version":1,"operation":{"started_at":"0001-01-01T00:00:00Z"},"attempts":[{"offset_ms":-1e99,"duration_ms":1e99,"status":-1,"class":"x","decision":{"action":"retry","waited_ms":-5,"source":"server"},"server":{"minimum_ms":1e99}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := render.NewSaved(bytes.NewReader(text))
		var sum render.Summing
		for range len(text) + 2 {
			d, err := s.Next()
			var fault *render.SavedError
			if errors.As(err, &fault) {
				if fault.Line < 1 || fault.Line > bytes.Count(text, []byte("\n"))+1 {
					t.Fatalf("line %d of %d", fault.Line, bytes.Count(text, []byte("\n"))+1)
				}
				continue
			}
			if err != nil {
				if err := render.SummaryHuman(io.Discard, sum.Sum(), render.Options{ASCII: true}); err != nil {
					t.Fatal(err)
				}
				return
			}
			(&render.Redactor{}).Document(d)
			sum.Add(d)
			var out bytes.Buffer
			if err := render.Human(&out, []*render.Document{d}, render.Options{ASCII: true, Dated: true}); err != nil {
				t.Fatal(err)
			}
			for _, c := range out.Bytes() {
				if c != '\n' && (c < ' ' || c > '~') {
					t.Fatalf("R11.2: byte %#x on a terminal", c)
				}
			}
		}
		t.Fatal("it does not end")
	})
}

func TestSummarySchemaKnowsEveryField(t *testing.T) {
	schemaKnows(t, "summary", map[string]reflect.Type{
		"": reflect.TypeFor[render.Summary](), "counted": reflect.TypeFor[render.Counted](), "distribution": reflect.TypeFor[render.Distribution](),
		"source": reflect.TypeFor[render.SourceWaits](), "origin": reflect.TypeFor[render.OriginSum](),
	})
}

func TestSummary(t *testing.T) {
	var sum render.Summing
	ms := func(n int) *render.MS { v := render.MS(n * 1e6); return &v }
	word := func(s string) *string { return &s }
	number := func(n int) *int { return &n }
	for i := 1; i <= 200; i++ {
		d := &render.Document{Operation: render.Operation{URL: "https://a.example/x"}, Outcome: &render.Outcome{Reason: "success", Requests: 1, ElapsedMS: *ms(i)}}
		d.Attempts = []render.Attempt{{Status: number(200)}}
		if i > 190 {
			d.Operation.URL, d.Outcome.Reason, d.Outcome.Requests = "http://b.example:81", "attempts_exhausted", 2
			d.Attempts = []render.Attempt{
				{Status: number(503), Class: word("status"), Decision: render.Decision{Action: "retry", Source: word("backoff"), WaitedMS: ms(i)}},
				{Class: word("connect")},
			}
		}
		sum.Add(d)
	}
	sum.Add(&render.Document{Operation: render.Operation{InitialWaitMS: *ms(7)}})
	got := sum.Sum()
	if got.Operations != 201 || got.Succeeded != 190 || got.Failed != 10 || got.Unfinished != 1 || got.Attempts != 210 || got.Requests != 210 || *got.Amplification != 210.0/201 {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(render.Distribution{Count: 200, TotalMS: *ms(20100), P50MS: ms(100), P90MS: ms(180), P99MS: ms(198), MaxMS: ms(200)}, got.Duration); diff != "" {
		t.Error(diff)
	}
	if got.Wait.Count != 11 || *got.Wait.P50MS != *ms(195) || *got.Wait.MaxMS != *ms(200) || len(got.WaitSources) != 2 || got.WaitSources[1].Source != "shared" {
		t.Errorf("%+v", got.Wait)
	}
	if diff := cmp.Diff([]render.Counted{{Name: "200", Count: 190}, {Name: "503", Count: 10}, {Name: "connect", Count: 10}}, got.Results); diff != "" {
		t.Error(diff)
	}
	if len(got.Origins) != 3 || got.Origins[1].Origin != "http://b.example:81" || got.Origins[1].Failed != 10 || *got.Origins[1].Amplification != 2 {
		t.Errorf("%+v", got.Origins)
	}
	var empty render.Summing
	var b bytes.Buffer
	if err := errors.Join(render.SummaryJSON(&b, empty.Sum()), rendertest.Fits("summary", b.Bytes())); err != nil {
		t.Error(err)
	}
}
