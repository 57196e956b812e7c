package cmd

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestArrayWithin(t *testing.T) {
	for _, c := range []struct{ text, want, err string }{
		{text: `[]`},
		{text: " \n[ ]\t"},
		{text: `[1, 2]`, want: `1, 2`},
		{text: ` [ {"a": "]"} , [] ] `, want: `{"a": "]"} , []`},
		{text: `[1.50, 12345678901234567890, "\u00e9"]`, want: `1.50, 12345678901234567890, "\u00e9"`},
		{text: `{}`, err: "it is an object"},
		{text: `"x"`, err: "it is a string"},
		{text: `true`, err: "it is a boolean"},
		{text: `null`, err: "it is null"},
		{text: `17`, err: "it is a number"},
		{text: ``, err: "it ends early"},
		{text: `[1, 2`, err: "it ends early"},
		{text: `[1, "2`, err: "it ends early"},
		{text: `[1 2]`, err: "expected comma"},
		{text: `[1,]`, err: "invalid character"},
		{text: `[,1]`, err: "invalid character"},
		{text: `[1]]`, err: "something follows it"},
		{text: `[1] x`, err: "something follows it"},
		{text: `[1][2]`, err: "something follows it"},
		{text: `<html>`, err: "invalid character '<'"},
	} {
		start, end, err := arrayWithin(strings.NewReader(c.text))
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%q: %v, want %q", c.text, err, c.err)
		case c.err == "" && (err != nil || c.text[start:end] != c.want):
			t.Errorf("%q: %d to %d, %v", c.text, start, end, err)
		}
	}
}

// FuzzArrayWithin holds it to encoding/json: what is an array there is one here,
// with the same elements, and nothing else is.
func FuzzArrayWithin(f *testing.F) {
	f.Add(`[1, {"a": [2]}, "]"]`)
	f.Add(" [ ]\n")
	f.Add(`[1,]`)
	f.Add(`{"a": 1}`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, text string) {
		var want []json.RawMessage
		isArray := json.Unmarshal([]byte(text), &want) == nil && want != nil
		start, end, err := arrayWithin(strings.NewReader(text))
		if isArray != (err == nil) {
			t.Fatalf("%q: %v", text, err)
		}
		if err != nil {
			return
		}
		var got []json.RawMessage
		if err := json.Unmarshal([]byte("["+text[start:end]+"]"), &got); err != nil || len(got) != len(want) {
			t.Fatalf("%q: %q, %v", text, text[start:end], err)
		}
		for i := range want {
			if string(got[i]) != string(want[i]) {
				t.Fatalf("%q: element %d is %q", text, i, got[i])
			}
		}
	})
}
