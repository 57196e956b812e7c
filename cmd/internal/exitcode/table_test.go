package exitcode

import (
	"testing"

	"github.com/bidehttp/bide/retry"
)

func TestTable(t *testing.T) {
	t.Run("R10.3_ascending_and_complete", func(t *testing.T) {
		seen := map[Code]bool{}
		last := Code(-1)
		for _, e := range Table() {
			if e.Code <= last {
				t.Errorf("code %d comes after %d", e.Code, last)
			}
			if e.Meaning == "" {
				t.Errorf("code %d has no meaning", e.Code)
			}
			last, seen[e.Code] = e.Code, true
		}
		for _, want := range []Code{0, 2, 22, 75, 28, 130, 143} {
			if !seen[want] {
				t.Errorf("R10.3's code %d is not in the table", want)
			}
		}
	})
}

// TestForClass holds the exit column of contract §3.
func TestForClass(t *testing.T) {
	for class, want := range map[retry.Class]Code{
		retry.ClassNone: 0, retry.ClassStatus: 22, retry.ClassResolve: 6, retry.ClassNXDomain: 6,
		retry.ClassConnect: 7, retry.ClassTLS: 35, retry.ClassCert: 60, retry.ClassProxy: 7,
		retry.ClassProxyRefused: 56, retry.ClassRefused: 92, retry.ClassClosed: 52, retry.ClassTimeout: 28,
		retry.ClassTruncated: 18, retry.ClassProtocol: 56, retry.ClassRedirect: 47, retry.ClassDecode: 61,
		retry.ClassChecksum: 1, retry.ClassSize: 63, retry.ClassInput: 26, retry.ClassOutput: 23,
		retry.ClassRequest: 2, retry.ClassCanceled: 130,
	} {
		if got := ForClass(class); got != want {
			t.Errorf("ForClass(%q) = %d, want %d", class, got, want)
		}
	}
}
