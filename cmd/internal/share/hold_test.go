package share

import (
	"testing"
	"time"
)

func TestHolds(t *testing.T) {
	t.Run("R4.12_longest_hold_stands", func(t *testing.T) {
		var h Holds
		if got := h.Until("http://a"); got != 0 {
			t.Fatalf("Until of an unknown origin = %v, want 0", got)
		}
		h.Tell("http://a", 5*time.Second)
		h.Tell("http://a", 3*time.Second)
		if got := h.Until("http://a"); got != 5*time.Second {
			t.Errorf("Until = %v, want 5s", got)
		}
		if got := h.Until("http://b"); got != 0 {
			t.Errorf("another origin is held until %v", got)
		}
	})
}
