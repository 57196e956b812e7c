package link

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  []Link
	}{
		{"one", []string{`</items?page=2>; rel="next"`}, []Link{{Target: "/items?page=2", Rel: "next"}}},
		{"two", []string{`<a>; rel="next", <b>; rel="last"`}, []Link{{Target: "a", Rel: "next"}, {Target: "b", Rel: "last"}}},
		{"two lines", []string{`<a>; rel=prev`, `<b>; rel=next`}, []Link{{Target: "a", Rel: "prev"}, {Target: "b", Rel: "next"}}},
		{"without quotes", []string{`<a>;rel=next;title=x`}, []Link{{Target: "a", Rel: "next"}}},
		{"blanks", []string{" \t<a> ; rel = \"next\" ,\t<b> ;rel= last "}, []Link{{Target: "a", Rel: "next"}, {Target: "b", Rel: "last"}}},
		{"comma, semicolon and > in quotes", []string{`<a>; title="x, <y>; rel=\"next\""; rel="last"`}, []Link{{Target: "a", Rel: "last"}}},
		{"comma and semicolon in the target", []string{`</a;b=1,2?c="d">; rel=next`}, []Link{{Target: `/a;b=1,2?c="d"`, Rel: "next"}}},
		{"the first rel counts", []string{`<a>; rel=prev; rel=next`}, []Link{{Target: "a", Rel: "prev"}}},
		{"an empty first rel", []string{`<a>; rel=""; rel=next`}, []Link{{Target: "a"}}},
		{"case of names", []string{`<a>; REL="next"`}, []Link{{Target: "a", Rel: "next"}}},
		{"rel without a value", []string{`<a>; rel; rel=next`}, []Link{{Target: "a"}}},
		{"extended parameter is another", []string{`<a>; rel*=UTF-8''next; rel=last`}, []Link{{Target: "a", Rel: "last"}}},
		{"anchor", []string{`<a>; rel=next; anchor="#x"`}, []Link{{Target: "a", Rel: "next", Anchor: "#x", HasAnchor: true}}},
		{"empty anchor", []string{`<a>; anchor=""; rel=next; anchor=b`}, []Link{{Target: "a", Rel: "next", HasAnchor: true}}},
		{"empty target", []string{`<>; rel=next`}, []Link{{Rel: "next"}}},
		{"blanks in the target", []string{`< /a >; rel=next`}, []Link{{Target: "/a", Rel: "next"}}},
		{"empty elements", []string{`, ,<a>; rel=next,, <b>`}, []Link{{Target: "a", Rel: "next"}, {Target: "b"}}},
		{"no >", []string{`<a>; rel=next, <b; rel=last`}, []Link{{Target: "a", Rel: "next"}}},
		{"text after the target", []string{`<a> x; rel=next`}, []Link{{Target: "a"}}},
		{"quote that does not end", []string{`<a>; rel="next, <b>; rel=last`}, []Link{{Target: "a", Rel: "next, <b>; rel=last"}}},
		{"backslash at the end", []string{`<a>; rel="next\`}, []Link{{Target: "a", Rel: "next"}}},
		{"a bad line spoils no other", []string{`x`, `<a>; rel=next`}, []Link{{Target: "a", Rel: "next"}}},
		{"semicolons alone", []string{`<a>;;; rel=next;`}, []Link{{Target: "a", Rel: "next"}}},
		{"nothing", []string{"", " "}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Parse(c.lines)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHasRel(t *testing.T) {
	for rel, want := range map[string]bool{
		"next": true, "NeXT": true, "prev next": true, "\tnext  last": true, "": false, "nextpage": false,
		"http://example.com/rel/next": false, "next,last": false,
	} {
		if (Link{Rel: rel}).HasRel("next") != want {
			t.Errorf("%q: %v", rel, !want)
		}
	}
}

// FuzzParse: lines are read apart from each other, what is found stands in them,
// and what is written out again is read as the same.
func FuzzParse(f *testing.F) {
	f.Add(`<a>; rel="next", <b>; rel="last prev"; title="x, y"`, `<c>;rel=next;anchor="#z"`)
	f.Add(`<a>; title*=UTF-8''x; rel=next`, ``)
	f.Add(`<a>;rel="ne\"xt"`, `<a`)
	f.Fuzz(func(t *testing.T, one, two string) {
		both := Parse([]string{one, two})
		if apart := append(Parse([]string{one}), Parse([]string{two})...); !slices.Equal(both, apart) {
			t.Fatalf("%v, apart %v", both, apart)
		}
		var again []string
		for _, l := range both {
			if strings.Contains(l.Target, ">") || !strings.Contains(one+"\n"+two, l.Target) {
				t.Fatalf("target %q", l.Target)
			}
			again = append(again, written(l))
		}
		if got := Parse([]string{strings.Join(again, ", ")}); !slices.Equal(got, both) {
			t.Fatalf("%q is read as %v, not %v", again, got, both)
		}
	})
}

func written(l Link) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	text := "<" + l.Target + `>; rel="` + escape.Replace(l.Rel) + `"`
	if l.HasAnchor {
		text += `; anchor="` + escape.Replace(l.Anchor) + `"`
	}
	return text
}
