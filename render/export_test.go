package render

import "testing"

// Samples are the documents of the golden tests.
func Samples() map[string]*Document { return samples() }

// Reasons is the list that Consistent knows.
func Reasons() []string { return reasons() }

// Update reports whether -update was given.
func Update() bool { return *update }

// Golden compares got with testdata/NAME.golden.
func Golden(t *testing.T, name, got string) { t.Helper(); golden(t, name, got) }
