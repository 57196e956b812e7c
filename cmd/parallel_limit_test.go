package cmd

import "testing"

// TestAffordable: -Z leaves room for three files an operation.
func TestAffordable(t *testing.T) {
	for _, c := range []struct{ limit, files, want int }{
		{50, 0, 50}, {50, 1024, 50}, {300, 1024, 300}, {300, 256, 74}, {50, 62, 10}, {50, 8, 1}, {1, 256, 1},
	} {
		if got := affordable(c.limit, c.files); got != c.want {
			t.Errorf("affordable(%d, %d) = %d, want %d", c.limit, c.files, got, c.want)
		}
	}
}
