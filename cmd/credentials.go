package cmd

import (
	"strings"

	"github.com/bidehttp/bide/cmd/internal/auth"
)

// credentials takes apart what -u and --aws-sigv4 say. Passwords that were
// missing have been asked for by now.
func (g *prepared) credentials() error {
	if g.HasAWSSigV4 {
		s, err := auth.ParseSigV4(g.AWSSigV4)
		if err != nil {
			return err // flags has checked it
		}
		g.sigV4 = &s
	}
	if g.HasUser {
		g.user, g.password, _ = strings.Cut(g.User, ":")
	}
	return nil
}
