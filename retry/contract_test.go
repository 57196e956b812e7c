package retry_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bidehttp/bide/retry"
)

func contract(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../docs/contract.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// rule gives the lines of one rule of the contract.
func rule(t *testing.T, name string) string {
	t.Helper()
	_, text, found := strings.Cut(contract(t), "- **"+name+"** ")
	if !found {
		t.Fatalf("the contract has no %s", name)
	}
	text, _, _ = strings.Cut(text, "\n- **")
	text, _, _ = strings.Cut(text, "\n\n")
	return text
}

func quoted(text string) []string {
	var words []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
		words = append(words, m[1])
	}
	return words
}

// TestContractTable: the published table of classes is the one in the code.
func TestContractTable(t *testing.T) {
	rows := map[retry.Class]retry.ClassInfo{}
	for _, row := range retry.Classes() {
		rows[row.Class] = row
	}
	seen := map[retry.Class]bool{}
	for line := range strings.Lines(contract(t)) {
		cells := strings.Split(line, "|")
		if len(cells) != 8 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		class := retry.Class(strings.Trim(cells[1], "`"))
		row, known := rows[class]
		if !known {
			t.Errorf("class %s is in the contract only", class)
			continue
		}
		seen[class] = true
		if class == retry.ClassStatus {
			continue // several rows: TestDefaultStatuses and TestDecideTransient
		}
		if row.Transient != (cells[3] == "yes") || row.NotActedOn != (cells[4] == "no") {
			t.Errorf("%s: the contract says transient %q, acted on %q, the code %+v", class, cells[3], cells[4], row)
		}
		if string(row.Final) != strings.TrimSuffix(cells[5], " ") {
			t.Errorf("%s: the contract says %q, the code %q", class, cells[5], row.Final)
		}
	}
	for class := range rows {
		if !seen[class] {
			t.Errorf("class %s is in the code only", class)
		}
	}
}

// TestContractLists: the words of R3.3 and R10.2 are those of the code.
func TestContractLists(t *testing.T) {
	var selectable []string
	for _, row := range retry.Classes() {
		if row.Selectable {
			selectable = append(selectable, string(row.Class))
		}
	}
	if !slices.Contains(quoted(rule(t, "R3.3")), strings.Join(selectable, " ")) {
		t.Errorf("R3.3 does not list %v", selectable)
	}
	var reasons []string
	for _, r := range retry.Reasons() {
		reasons = append(reasons, string(r))
	}
	if got := quoted(rule(t, "R10.2")); !slices.Equal(got[len(got)-len(reasons):], reasons) {
		t.Errorf("R10.2 lists %v, the code %v", got, reasons)
	}
}
