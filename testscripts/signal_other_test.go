//go:build !unix

package testscripts

import "github.com/rogpeppe/go-internal/testscript"

// signal is for systems that have signals; scripts that use it begin with
// "[!unix] skip".
func signal(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("no signals on this system")
}
