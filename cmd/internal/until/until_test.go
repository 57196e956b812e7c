package until

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

func answer(status int, body string, header ...Field) Answer {
	return Answer{Status: status, Header: header, Body: []byte(body), Whole: true}
}

// TestHolds holds R3.3e: what an expression sees, and when it is true.
func TestHolds(t *testing.T) {
	two := []Field{{"X-Id", "a"}, {"x-id", "b"}, {"Retry-After", "3"}}
	for _, c := range []struct {
		expr string
		a    Answer
		want bool
	}{
		{".status == 200", answer(200, ""), true},
		{".status == 200", answer(201, ""), false},
		{".body.state == \"done\"", answer(200, `{"state":"done"}`), true},
		{".body.state == \"done\"", answer(200, `{"state":"running"}`), false},
		{".body.done", answer(200, `{"done":false}`), false},
		{".body.done", answer(200, `{}`), false},
		{".body.done", answer(200, `{"done":0}`), true}, // jq's truth
		{".body == null", answer(200, `not JSON`), true},
		{".body == null", answer(200, `{} {}`), true},
		{".body == null", answer(200, ``), true},
		{".body == {}", answer(200, " {}\n"), true},
		{".text == \"ok\\n\"", answer(200, "ok\n"), true},
		{".text | test(\"^ok\")", answer(200, "ok\n"), true},
		{".text == \"\\ufffd\"", answer(200, "\xff"), true},
		{".body == null and .text == null", Answer{Status: 200, Body: []byte("{}")}, true},
		{".headers[\"x-id\"] == \"a, b\"", answer(200, "", two...), true},
		{".headers[\"X-Id\"] == null", answer(200, "", two...), true},
		{".headers[\"retry-after\"] | tonumber == 3", answer(200, "", two...), true},
		{".body.n == 12345678901234567890", answer(200, `{"n":12345678901234567890}`), true},
		{".body.n == 12345678901234567891", answer(200, `{"n":12345678901234567890}`), false},
		{"true, false", answer(200, ""), false}, // the last value counts
		{"false, true", answer(200, ""), true},
		{"empty", answer(200, ""), false},
		{".body | all(.ready)", answer(200, `[{"ready":true},{"ready":true}]`), true},
		{".body.s | IN(\"ok\", \"failed\")", answer(200, `{"s":"failed"}`), true},
		{"env | length == 0", answer(200, ""), true}, // the environment is none of its business
		{"$ENV | length == 0", answer(200, ""), true},
	} {
		e, err := Compile(c.expr)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		if got, err := e.Holds(t.Context(), c.a); err != nil || got != c.want {
			t.Errorf("%s of %d %q: %v, %v", c.expr, c.a.Status, c.a.Body, got, err)
		}
	}
}

// TestWants: an error status is what is waited for only where the expression
// asks for it.
func TestWants(t *testing.T) {
	for expr, want := range map[string]bool{
		".status == 404":                   true,
		".status >= 400":                   true,
		".status != 200":                   true,
		".status == 200 or .status == 404": true,
		".status < 500":                    true,
		".body.state != \"running\"":       false,
		"true":                             false,
		".status == 404 or .body.state != \"run\"": false,
	} {
		e, err := Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		a := answer(404, "<html>")
		if holds, err := e.Holds(t.Context(), a); !holds || err != nil {
			t.Errorf("%s: %v, %v", expr, holds, err)
		}
		if got := e.Wants(t.Context(), a); got != want {
			t.Errorf("%s wants 404: %v", expr, got)
		}
	}
}

func TestHoldsErrors(t *testing.T) {
	for expr, want := range map[string]string{
		".status | keys":       "keys cannot be applied to",
		".body.x[0].y | error": "",
		"error(\"mine\")":      "mine",
		"true, error(\"x\")":   "x",
		"halt":                 "halt",
		"halt_error":           "",
		"\"x\" * 1e12":         "too large",
		".status.x":            "expected an object",
	} {
		e, err := Compile(expr)
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		holds, err := e.Holds(t.Context(), answer(200, `{}`))
		if holds || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", expr, holds, err)
		}
	}
}

func TestCompileErrors(t *testing.T) {
	for expr, want := range map[string]SyntaxError{
		".body }":              {7, "unexpected token \"}\""},
		".body.":               {7, "unexpected EOF"},
		"":                     {1, ""},
		".a | nosuch(1)":       {6, "function not defined: nosuch/1"},
		"\"ä\" == $x":          {8, "variable not defined: $x"},
		"\"open":               {6, "unterminated string literal"},
		"import \"m\" as m; .": {8, "cannot load module"},
		"input":                {1, "input"},
		".a.b ==":              {8, "unexpected EOF"},
	} {
		e, err := Compile(expr)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			if expr != "" {
				t.Errorf("%q: %v, %v", expr, e, err)
			}
			continue
		}
		if syntax.Position != want.Position || !strings.Contains(syntax.Message, want.Message) {
			t.Errorf("%q: %v, want %v", expr, syntax, &want)
		}
	}
}

// TestBounds: an endless expression ends with its context, whose cause is told,
// and one that takes memory for ever ends by itself.
func TestBounds(t *testing.T) {
	forget(t)
	cause := errors.New("the deadline")
	for _, expr := range []string{"last(repeat(.))", "def f: f; f", "until(false; .)", "[limit(3; repeat(1))] | last(range(infinite))"} {
		e, err := Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, cause)
		if holds, err := e.Holds(ctx, answer(200, "{}")); holds || !errors.Is(err, cause) {
			t.Errorf("%s: %v, %v", expr, holds, err)
		}
		cancel()
	}
	for _, expr := range []string{"reduce range(infinite) as $i (\"x\"; . + .)", "def f: 1 + f; f"} {
		e, err := Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		if holds, err := e.Holds(t.Context(), answer(200, "{}")); holds || !errors.Is(err, errTooMuch) {
			t.Errorf("%s: %v, %v", expr, holds, err)
		}
	}
}

// forget waits until what tests before this one took is given back: the limit is
// the process's, and what was given up ends at its next step.
func forget(t *testing.T) {
	t.Helper()
	var m runtime.MemStats
	for patient := time.Now().Add(30 * time.Second); time.Now().Before(patient); time.Sleep(time.Millisecond) {
		runtime.GC()
		if runtime.ReadMemStats(&m); m.HeapAlloc < memoryLimit/8 {
			return
		}
	}
	t.Errorf("%d MiB are held", m.HeapAlloc>>20)
}

// FuzzHolds: no expression and no body makes it panic or go on beyond its time.
func FuzzHolds(f *testing.F) {
	f.Add(".body.state == \"done\"", `{"state":"done"}`)
	f.Add("last(repeat(.))", "")
	f.Add(".text | test(\"a(b\")", "ab")
	f.Add("[.body[] | .ready] | all", `[{"ready":true},[]]`)
	f.Add(".headers | keys[0] as $x | $x", "[1e999]")
	f.Fuzz(func(t *testing.T, expr, body string) {
		e, err := Compile(expr)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Position < 1 || syntax.Position > len(expr)+1 {
				t.Fatalf("%q: %#v", expr, err)
			}
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if holds, err := e.Holds(ctx, answer(200, body, Field{"A", "b"})); holds && err != nil {
			t.Fatalf("%q holds, with the error %v", expr, err)
		}
	})
}
