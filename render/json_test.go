package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestJSONIsSafe(t *testing.T) {
	d := samples()["success"]
	d.Response.SetBody([]byte("<b>&\u009b31m\u202e\x7f\U000e0041é 例\u2028"))
	d.Operation.URL = "http://h/\xff"
	var b bytes.Buffer
	if err := JSON(&b, d); err != nil {
		t.Fatal(err)
	}
	got := strings.TrimSuffix(b.String(), "\n")
	if !utf8.ValidString(got) || got != Text(got) {
		t.Errorf("R11.2 %q", got)
	}
	for _, want := range []string{`<b>&\u009b31m\u202e\u007f\udb40\udc41é 例\u2028`, `"url":"http://h/\ufffd"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	back, err := Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*d.Response.Body, *back[0].Response.Body); diff != "" {
		t.Error(diff)
	}
}

func TestJSONHasNoNullLists(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, &Document{Attempts: []Attempt{{}}, Response: &Response{}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"retry_on":[]`, `"safe_on":[]`, `"connections":[]`, `"hops":[]`, `"headers":{}`, `"headers":[]`, `"outcome":null`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is not in %s", want, b.String())
		}
	}
	if err := JSON(brokenWriter{}, &Document{}); err == nil {
		t.Error("no error")
	}
}

func TestRoundTrip(t *testing.T) {
	for name, d := range samples() {
		var b bytes.Buffer
		if err := JSON(&b, d); err != nil {
			t.Fatal(err)
		}
		back, err := Decode(&b)
		if err != nil || len(back) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(rounded(t, d), back[0]); diff != "" {
			t.Errorf("%s (-saved +read):\n%s", name, diff)
		}
	}
}

// rounded is d with its durations in whole microseconds, by way of generic JSON.
func rounded(t *testing.T, d *Document) *Document {
	t.Helper()
	b, err := json.Marshal(normal(d))
	if err != nil {
		t.Fatal(err)
	}
	var c Document
	if err := json.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	return &c
}

func TestDecodeRefuses(t *testing.T) {
	docs, err := Decode(strings.NewReader(`{"version":1}` + "\n" + `{"version":`))
	if err == nil || len(docs) != 1 {
		t.Errorf("%d documents, %v", len(docs), err)
	}
}

func TestSetBody(t *testing.T) {
	var r Response
	r.SetBody([]byte("\xff\x00"))
	if r.Body != nil || r.BodyBase64 == nil || *r.BodyBase64 != "/wA=" || r.BodyBytes != 2 {
		t.Errorf("%+v", r)
	}
	r.SetBody(nil)
	if r.Body == nil || *r.Body != "" || r.BodyBase64 != nil || r.BodyBytes != 0 {
		t.Errorf("%+v", r)
	}
}

func TestEvents(t *testing.T) {
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	e := NewEvents(w)
	head := EventHead{Operation: "id", Attempt: 1, OffsetMS: 1500000}
	for _, ev := range []Event{
		AttemptStarted{head, "GET", "http://h/"}, Responded{EventHead: head, Phase: "done", Sent: "maybe", Server: Server{Kind: "absent"}},
		Waiting{EventHead: head, Source: "server"}, Resumed{EventHead: head}, Ended{EventHead: head, Response: &Response{}},
	} {
		before := out.Len()
		if err := e.Write(ev); err != nil {
			t.Fatal(err)
		}
		if out.Len() == before {
			t.Errorf("%s is not flushed", ev.name())
		}
		var m map[string]any
		if err := json.Unmarshal(out.Bytes()[before:], &m); err != nil {
			t.Fatal(err)
		}
		if m["event"] != ev.name() || m["operation"] != "id" || m["attempt"] != 1.0 || m["offset_ms"] != 1.5 {
			t.Errorf("%v", m)
		}
	}
	if strings.Contains(out.String(), `"headers":null`) {
		t.Error("headers are null")
	}
}

func TestEventsConcurrently(t *testing.T) {
	var out bytes.Buffer
	e := NewEvents(&out)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { _ = e.Write(Resumed{}) })
	}
	wg.Wait()
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if !json.Valid([]byte(line)) {
			t.Errorf("%q", line)
		}
	}
}

func BenchmarkJSON(b *testing.B) {
	d := samples()["retried"]
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		_ = JSON(&out, d)
	}
}
