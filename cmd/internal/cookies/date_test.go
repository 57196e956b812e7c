package cookies

import (
	"testing"
	"time"
)

func TestParseDate(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"},
		{"Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z"},
		{"Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37Z"},
		{"Wed, 09-Jun-2021 10:18:14 GMT", "2021-06-09T10:18:14Z"},
		{"6 nov 69 1:2:3", "2069-11-06T01:02:03Z"},
		{"6 november 70 1:2:3", "1970-11-06T01:02:03Z"},
		{"06 Nov 1994", "1994-11-06T00:00:00Z"},
		{"1 Jan 1601 0:0:0", "1970-01-01T00:00:01Z"},
		{"1 Jan 1600 0:0:0", ""},
		{"31 Feb 2020 1:2:3", ""},
		{"32 Jan 2020 1:2:3", ""},
		{"1 Jan 2020 24:0:0", ""},
		{"1 Foo 2020 1:2:3", ""},
		{"Jan 2020 1:2:3", ""},
		{"", ""},
		{"tomorrow", ""},
	} {
		n, ok := parseDate(c.in)
		got := ""
		if ok {
			got = time.Unix(n, 0).UTC().Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("parseDate(%q) = %s, want %s", c.in, got, c.want)
		}
	}
}
