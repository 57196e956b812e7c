package cmd

import (
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/cmd/internal/wire"
	"github.com/bidehttp/bide/retry/retrytest"
)

func TestTimeConditionUnmet(t *testing.T) {
	at := time.Date(2001, 2, 3, 4, 5, 6, 789, time.UTC)
	since := timeCondition{header: "If-Modified-Since", at: at}
	before := timeCondition{header: "If-Unmodified-Since", at: at}
	for _, c := range []struct {
		name     string
		c        timeCondition
		status   int
		modified string
		unmet    bool
	}{
		{"newer", since, 200, "Sat, 03 Feb 2001 04:05:07 GMT", false},
		{"the_same", since, 200, "Sat, 03 Feb 2001 04:05:06 GMT", true},
		{"older", since, 200, "Fri, 02 Feb 2001 04:05:06 GMT", true},
		{"older_wanted", before, 200, "Fri, 02 Feb 2001 04:05:06 GMT", false},
		{"older_wanted_the_same", before, 200, "Sat, 03 Feb 2001 04:05:06 GMT", true},
		{"an_error_is_shown", since, 404, "Fri, 02 Feb 2001 04:05:06 GMT", false},
		{"no_date", since, 200, "", false},
		{"bad_date", since, 200, "yesterday", false},
		{"no_condition", timeCondition{}, 200, "Fri, 02 Feb 2001 04:05:06 GMT", false},
	} {
		r := &exchange.Response{Status: c.status}
		if c.modified != "" {
			r.Header = []wire.Field{{Name: "last-modified", Value: c.modified}}
		}
		if got := c.c.unmet(r, retrytest.NewFakeClock(at)); got != c.unmet {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestRedirectSchemes(t *testing.T) {
	for _, c := range []struct{ proto, redir, want []string }{
		{nil, nil, nil}, {[]string{"http"}, nil, []string{"http"}}, {nil, []string{"https"}, []string{"https"}},
		{[]string{"http", "https"}, []string{"https"}, []string{"https"}}, {[]string{"http"}, []string{"https"}, []string{}},
	} {
		got := redirectSchemes(c.proto, c.redir)
		if (got == nil) != (c.want == nil) || len(got) != len(c.want) || len(got) > 0 && got[0] != c.want[0] {
			t.Errorf("%v and %v: %v", c.proto, c.redir, got)
		}
	}
}
