package main

import (
	"encoding/json"
	"os"
	"testing"
)

// TestPage holds the page to the results that it is made of, and the results to
// the rows.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("results.json")
	if err != nil {
		t.Fatal(err)
	}
	var found []measured
	if err := json.Unmarshal(text, &found); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../comparison.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != markdown(found) {
		t.Error("docs/comparison.md is not current: go run ./docs/comparison")
	}
	names := map[string]bool{}
	for _, r := range matrixRows() {
		names[r[0]] = true
	}
	for _, r := range rows() {
		names[r.name] = true
	}
	if len(found) != len(clients()) {
		t.Errorf("%d clients of %d", len(found), len(clients()))
	}
	for _, m := range found {
		for name := range m.Rows {
			if !names[name] {
				t.Errorf("%s: the page leaves row %s out", m.Name, name)
			}
		}
		if len(m.Rows) != len(names) {
			t.Errorf("%s: %d rows of %d", m.Name, len(m.Rows), len(names))
		}
	}
}

// A check finds what changed, for the same version only; bide's is always held.
func TestCompare(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(root+"/docs/comparison", 0o755); err != nil {
		t.Fatal(err)
	}
	rows := func(ok bool) map[string]cell { return map[string]cell{"500": {OK: ok}} }
	if err := write(root, []measured{{Name: bideName, Version: "1.0", Rows: rows(true)}, {Name: "curl", Version: "8.0", Rows: rows(true)}}); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		found measured
		fails bool
	}{
		"same":               {measured{Name: "curl", Version: "8.0", Rows: rows(true)}, false},
		"changed":            {measured{Name: "curl", Version: "8.0", Rows: rows(false)}, true},
		"another version":    {measured{Name: "curl", Version: "8.1", Rows: rows(false)}, false},
		"unknown":            {measured{Name: "lynx", Version: "2.9", Rows: rows(true)}, true},
		"bide, next version": {measured{Name: bideName, Version: "1.1", Rows: rows(false)}, true},
	} {
		known, err := read(root)
		if err != nil {
			t.Fatal(err)
		}
		if err := compare(known, tt.found); (err != nil) != tt.fails {
			t.Errorf("%s: %v", name, err)
		}
	}
}
