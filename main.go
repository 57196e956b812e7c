// Command bide is an HTTP client that waits its turn.
package main

import (
	"context"
	"os"

	"github.com/bidehttp/bide/cmd"
)

func main() {
	os.Exit(cmd.Main(context.Background(), cmd.SystemEnv()))
}
