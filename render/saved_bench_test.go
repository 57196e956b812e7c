package render_test

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/bidehttp/bide/render"
)

func BenchmarkSaved(b *testing.B) {
	text, err := os.ReadFile("testdata/jq/retried.json")
	if err != nil {
		b.Fatal(err)
	}
	many := bytes.Repeat(text, 1000)
	for b.Loop() {
		s := render.NewSaved(bytes.NewReader(many))
		var sum render.Summing
		for {
			d, err := s.Next()
			if err == io.EOF {
				break
			}
			(&render.Redactor{}).Document(d)
			sum.Add(d)
		}
	}
}
