package cmd

import (
	"context"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
)

var _ = context.Background
var _ exitcode.Code
var _ flags.Options
