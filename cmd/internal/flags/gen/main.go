// Command gen writes the files that are generated from the flag table. It runs
// in the folder of package flags: go generate ./cmd/internal/flags.
package main

import (
	"bytes"
	"log"
	"os"
	"path/filepath"

	"github.com/bidehttp/bide/cmd/internal/flags"
)

func main() {
	log.SetFlags(0)
	for _, a := range flags.Artifacts() {
		var b bytes.Buffer
		if err := a.Write(&b); err != nil {
			log.Fatalf("%s: %v", a.Path, err)
		}
		path := filepath.Join("..", "..", "..", filepath.FromSlash(a.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
