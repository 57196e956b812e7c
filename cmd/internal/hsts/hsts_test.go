package hsts

import (
	"strings"
	"testing"
	"time"
)

func now() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

func TestFile(t *testing.T) {
	var c Cache
	err := c.Load(strings.NewReader("# comment\n.Example.test \"20991231 23:59:59\"\nplain.test. \"20991231 23:59:59\"\nold.test \"20001231 23:59:59\"\n" +
		"bare.test unlimited\nalways.test \"unlimited\"\n127.0.0.1 \"unlimited\"\nbad.test \"20261399 99:00:00\"\n\nx\n"))
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{
		"example.test": true, "a.b.EXAMPLE.test.": true, "plain.test": true, "sub.plain.test": false, "old.test": false,
		"bare.test": false, "always.test": true, "127.0.0.1": false, "bad.test": false, "notexample.test": false, "": false,
	} {
		if got := c.Wants(host, now()); got != want {
			t.Errorf("%s: %v", host, got)
		}
	}
	var b strings.Builder
	if err := c.Write(&b, now()); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(b.String(), "risk.\n")
	if want := ".example.test \"20991231 23:59:59\"\nplain.test \"20991231 23:59:59\"\nalways.test \"unlimited\"\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestLearn(t *testing.T) {
	for field, want := range map[string]string{
		"max-age=60":                              `h.test "20260101 00:01:00"`,
		`MAX-AGE="60" ; includeSubDomains`:        `.h.test "20260101 00:01:00"`,
		"includeSubDomains;max-age=60; preload;x": `.h.test "20260101 00:01:00"`,
		"max-age=99999999999999999999":            `h.test "unlimited"`,
		"max-age=0":                               "",
		"max-age":                                 "before",
		"max-age=":                                "before",
		"max-age=1.5":                             "before",
		"max-age=-1":                              "before",
		"max-age=1;max-age=2":                     "before",
		"max-age=1;includeSubDomains;includeSubDomains": "before",
		"includeSubDomains":                             "before",
		"":                                              "before",
	} {
		var c Cache
		c.Learn("h.test", "max-age=5", now())
		c.Learn("H.test.", field, now())
		c.Learn("127.0.0.1", "max-age=60", now())
		var b strings.Builder
		_ = c.Write(&b, now())
		_, got, _ := strings.Cut(b.String(), "risk.\n")
		if want == "before" {
			want = `h.test "20260101 00:00:05"`
		}
		if got = strings.TrimSpace(got); got != want {
			t.Errorf("%q gives %s, want %s", field, got, want)
		}
	}
}

// TestSubdomain: a subdomain's own word changes nothing for the hosts above it.
func TestSubdomain(t *testing.T) {
	var c Cache
	c.Learn("h.test", "max-age=600; includeSubDomains", now())
	c.Learn("sub.h.test", "max-age=1", now())
	c.Learn("sub.h.test", "max-age=0", now())
	later := now().Add(300 * time.Second)
	for _, host := range []string{"h.test", "sub.h.test", "other.h.test"} {
		if !c.Wants(host, later) {
			t.Errorf("%s is no longer asked by https", host)
		}
	}
}

func TestExpiry(t *testing.T) {
	var c Cache
	c.Learn("h.test", "max-age=60", now())
	if !c.Wants("h.test", now().Add(59*time.Second)) || c.Wants("h.test", now().Add(60*time.Second)) {
		t.Error("an entry ends with its time")
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("a.test \"unlimited\"\n.b.test \"20991231 23:59:59\"\n", "max-age=60; includeSubDomains")
	f.Add("\"\" \"\"\n. \"unlimited\"\n", "max-age=\"\"")
	f.Fuzz(func(t *testing.T, file, field string) {
		var c Cache
		_ = c.Load(strings.NewReader(file))
		c.Learn("h.test", field, now())
		var one, two strings.Builder
		_ = c.Write(&one, now())
		var again Cache
		if err := again.Load(strings.NewReader(one.String())); err != nil {
			t.Skip()
		}
		_ = again.Write(&two, now())
		if one.String() != two.String() {
			t.Errorf("%q comes back as %q", one.String(), two.String())
		}
	})
}
