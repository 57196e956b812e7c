package cookies

import (
	"time"

	"github.com/bidehttp/bide/cmd/internal/request"
)

// SetFrom is SetAll of one value.
func (j *Jar) SetFrom(u *request.URL, value string, now time.Time) {
	j.SetAll(u, []string{value}, now)
}
