package cmd

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/bidehttp/bide"

// allowed lists, for each package of the house, the packages of the house that
// it may import. A new edge needs a decision, and a line here.
var allowed = map[string][]string{
	"":                        {"cmd"},
	"httpdate":                {},
	"retry":                   {"retry/tied"},
	"retry/tied":              {},
	"retry/httpretry":         {"retry", "httpdate"},
	"retry/retrytest":         {"retry"},
	"render":                  {"retry"},
	"render/rendertest":       {"render"},
	"cmd/internal/auth":       {},
	"cmd/internal/bounded":    {},
	"cmd/internal/exitcode":   {"retry"},
	"cmd/internal/checksum":   {},
	"cmd/internal/configfile": {"cmd/internal/bounded"},
	"cmd/internal/curldate":   {},
	"cmd/internal/formdata":   {"cmd/internal/bounded", "cmd/internal/exitcode", "retry"},
	"cmd/internal/header":     {},
	"cmd/internal/link":       {},
	"cmd/internal/netrc":      {"cmd/internal/bounded"},
	"cmd/internal/urlglob":    {"cmd/internal/exitcode", "retry"},
	"cmd/internal/until":      {},
	"cmd/internal/variables":  {"cmd/internal/bounded"},
	"cmd/internal/writeout":   {"cmd/internal/bounded"},
	"cmd/internal/request":    {"render", "cmd/internal/header", "cmd/internal/bounded", "cmd/internal/auth", "cmd/internal/exitcode", "retry"},
	"cmd/internal/hsts":       {"cmd/internal/bounded"},
	"cmd/internal/savefile":   {},
	"cmd/internal/cookies":    {"cmd/internal/bounded", "cmd/internal/savefile", "cmd/internal/request"},
	"cmd/internal/outfile":    {"retry"},
	"cmd/internal/transport":  {"cmd/internal/bounded", "cmd/internal/auth", "cmd/internal/exitcode", "retry", "retry/httpretry"},
	"cmd/internal/wire":       {"cmd/internal/transport", "cmd/internal/header", "cmd/internal/exitcode", "retry", "retry/tied"},
	"cmd/internal/flags":      {"cmd/internal/auth", "cmd/internal/bounded", "cmd/internal/checksum", "cmd/internal/configfile", "cmd/internal/urlglob", "cmd/internal/variables", "cmd/internal/exitcode", "retry"},
	"cmd/internal/flags/gen":  {"cmd/internal/flags"},
	"cmd/internal/mock":       {"cmd/internal/exitcode", "cmd/internal/savefile", "render", "retry/retrytest"},
	"cmd/internal/plan":       {"render", "retry"},
	"cmd/internal/simulate":   {"render", "retry", "retry/retrytest"},
	"cmd/internal/exchange":   {"cmd/internal/header", "cmd/internal/hsts", "cmd/internal/auth", "cmd/internal/request", "cmd/internal/transport", "cmd/internal/wire", "cmd/internal/cookies", "cmd/internal/outfile", "cmd/internal/exitcode", "retry", "retry/tied", "retry/httpretry", "httpdate"},
	"cmd/internal/soak":       {}, // tests alone
	"docs/comparison":         {"render"},
	"testscripts":             {},
	"cmd":                     nil, // the one place where everything meets
}

// pure lists the packages that stand on the standard library alone, without
// net/http where that is promised.
var pure = map[string][]string{
	"httpdate":   {"net/http", "net"},
	"retry":      {"net/http", "net"},
	"retry/tied": {"net/http", "net"},
}

// TestImportDirections fails on an import that runs upward or sideways, and on an
// edge that nobody needs any more.
func TestImportDirections(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		name := strings.TrimPrefix(strings.TrimPrefix(fields[0], module), "/")
		edges, known := allowed[name]
		if !known {
			t.Errorf("package %q is not in the list of the house", name)
			continue
		}
		for _, imported := range fields[1:] {
			checkEdge(t, name, imported, edges)
		}
		for _, edge := range edges {
			if !slices.Contains(fields[1:], module+"/"+edge) {
				t.Errorf("%q no longer imports %q: take it off the list", name, edge)
			}
		}
	}
}

func checkEdge(t *testing.T, name, imported string, edges []string) {
	t.Helper()
	if inside, ok := strings.CutPrefix(imported, module); ok {
		inside = strings.TrimPrefix(inside, "/")
		if name != "cmd" && !slices.Contains(edges, inside) {
			t.Errorf("%q imports %q: not an allowed edge", name, inside)
		}
		return
	}
	forbidden, isPure := pure[name]
	if !isPure {
		return
	}
	if strings.Contains(strings.Split(imported, "/")[0], ".") || slices.Contains(forbidden, imported) {
		t.Errorf("%q imports %q: it must stand on the standard library alone", name, imported)
	}
}
