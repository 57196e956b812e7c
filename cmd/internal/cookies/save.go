package cookies

import (
	"io"
	"time"

	"github.com/bidehttp/bide/cmd/internal/savefile"
)

// Save writes the jar to a file (-c), as savefile does, or for "-" to stdout.
func (j *Jar) Save(path string, stdout io.Writer, now time.Time) error {
	j.dropExpired(now)
	write := func(w io.Writer) error {
		_, err := j.WriteTo(w)
		return err
	}
	if path == "-" {
		return write(stdout)
	}
	return savefile.Write(path, write)
}
