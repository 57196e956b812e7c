package flags

import "testing"

// BenchmarkRegister: the whole table, as help and completion have it, must
// register in well under a millisecond. Requests register what they use.
func BenchmarkRegister(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Command(false)
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	args := []string{"-sSfL", "-H", "A: b", "--attempts", "5", "-o", "f", "https://example.com/"}
	for b.Loop() {
		if _, err := Parse(args, Env{}); err != nil {
			b.Fatal(err)
		}
	}
}
