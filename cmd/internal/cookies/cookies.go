// Package cookies is curl's cookie engine: Netscape jar files, host-only and
// domain cookies, public suffixes, expiry.
package cookies

import (
	"time"

	"github.com/bidehttp/bide/cmd/internal/request"
)

// Jar holds cookies. Safe for concurrent use.
type Jar struct {
	state jarState
}

type jarState struct{}

// SetFrom takes one Set-Cookie value received from u at now.
func (j *Jar) SetFrom(u *request.URL, value string, now time.Time) { panic("skeleton") }

// Header is the Cookie value for u, longest path first; "" none.
func (j *Jar) Header(u *request.URL, now time.Time) string { panic("skeleton") }
