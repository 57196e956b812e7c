package flags

import "testing"

// BenchmarkRegister: the whole table must register in well under a millisecond.
func BenchmarkRegister(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newParser(Env{})
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
