package render

import "testing"

// The lines are the installed curl's, which breaks after a blank and keeps it.
func TestWarning(t *testing.T) {
	for _, c := range []struct {
		text, want string
		columns    int
	}{
		{text: "Got more output options than URLs", want: "Warning: Got more output options than URLs"},
		{text: "A specified range MUST include at least one dash (-). Appending one for you!",
			want: "Warning: A specified range MUST include at least one dash (-). Appending one \nWarning: for you!"},
		{text: "aaaaaaaaaaaaaaaa bbbb", columns: 20, want: "Warning: aaaaaaaaaaa\nWarning: aaaaa bbbb"},
		{text: "", want: "Warning: "},
	} {
		if got := Warning(c.text, c.columns); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}
