// Package testscripts holds the product's specification as scripts, one
// behaviour each, and their one runner.
package testscripts

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bidehttp/bide/cmd"
)

func TestMain(m *testing.M) {
	// Scripts wait more than they work; -parallel on the command line wins.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"bide": func() { os.Exit(cmd.Main(context.Background(), cmd.SystemEnv())) },
		// bide-panics is bide with a fault where it draws its jitter.
		"bide-panics": func() {
			env := cmd.SystemEnv()
			env.Rand = func() float64 { panic("a fault") }
			os.Exit(cmd.Main(context.Background(), env))
		},
		// bide-canceled is bide whose caller has given up before the start.
		"bide-canceled": func() {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			os.Exit(cmd.Main(ctx, cmd.SystemEnv()))
		},
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 ".",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Cmds:                commands(),
		Condition:           condition,
	})
}

// condition knows [root]: this user may do everything.
func condition(name string) (bool, error) {
	if name == "root" {
		return os.Geteuid() == 0, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

// setup gives each script a home of its own, short waits and no proxy.
func setup(e *testscript.Env) error {
	home := filepath.Join(e.WorkDir, "home")
	for _, v := range [][2]string{
		{"HOME", home}, {"USERPROFILE", home}, {"XDG_CONFIG_HOME", filepath.Join(home, "config")},
		{"BIDE_BASE", "10ms"}, {"TERM", "dumb"}, {"TZ", "UTC"}, {"NL", "\n"},
	} {
		e.Setenv(v[0], v[1])
	}
	e.Values[servers{}] = newBench()
	return os.MkdirAll(home, 0o700)
}
