package soak

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// differ lists how a play differs from what the model predicts; nil: nowhere.
func differ(s *scenario, want *expectation, got *observation) []string {
	d := &differences{keys: keys{}}
	if got.hung {
		d.addf("the client did not end within %v", patience)
	}
	d.requests(want.requests, got.requests)
	d.waits(want.waits, got.waits)
	d.runs(want, got)
	d.bytes("stdout", want.stdout, got.stdout)
	for _, name := range slices.Sorted(maps.Keys(want.files)) {
		data, there := got.files[name]
		if !there {
			d.addf("file %s is not there; it should hold %s", name, excerpt(want.files[name]))
			continue
		}
		d.bytes("file "+name, want.files[name], data)
	}
	for _, name := range slices.Sorted(maps.Keys(got.files)) {
		if _, expected := want.files[name]; !expected {
			d.addf("file %s was left behind with %s", name, excerpt(got.files[name]))
		}
	}
	if want.effects != got.effects {
		d.addf("effects: %d, want %d", got.effects, want.effects)
	}
	d.told(s, got)
	if more := len(d.all) - maxDifferences; more > 0 {
		d.all = append(d.all[:maxDifferences], fmt.Sprintf("and %d more", more))
	}
	return d.all
}

// maxDifferences of one play are told.
const maxDifferences = 12

type differences struct {
	all  []string
	keys keys
}

// keys are those of bide's own making, by the operation's name in the model.
type keys map[string]string

// of is the key that stands for want: a fresh UUID for each operation that has none
// yet, so that two operations never share one (R7.2).
func (k keys) of(want, got string) string {
	if !strings.HasPrefix(want, "auto ") {
		return want
	}
	if _, known := k[want]; !known && uuid(got) && !slices.Contains(slices.Collect(maps.Values(k)), got) {
		k[want] = got
	}
	return k[want]
}

func (d *differences) addf(format string, args ...any) {
	d.all = append(d.all, fmt.Sprintf(format, args...))
}

func (d *differences) requests(want, got []seen) {
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got):
			d.addf("request %d was not sent: %s", i+1, &want[i])
		case i >= len(want):
			d.addf("request %d is one too many: %s", i+1, &got[i])
		default:
			w, g := want[i], got[i]
			w.key = d.keys.of(w.key, g.key)
			if w != g {
				d.addf("request %d: %s\n%swant %s", i+1, &g, indent, &w)
			}
		}
	}
}

const indent = "      "

func uuid(text string) bool {
	return regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`).MatchString(text)
}

func (w *seen) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s of %s", w.method, w.path, w.host)
	for _, f := range []struct {
		on          bool
		name, value string
	}{
		{w.hasKey, "key", w.key}, {w.credential != "", "credential", w.credential}, {w.rangeLine != "", "Range", w.rangeLine},
		{w.hasIfRange, "If-Range", w.ifRange}, {w.body != "", "body", w.body},
	} {
		if f.on {
			fmt.Fprintf(&b, ", %s %q", f.name, f.value)
		}
	}
	return b.String()
}

func (d *differences) waits(want []due, got []wait) {
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got):
			d.addf("wait %d is missing: %v after request %d", i+1, want[i].exact, want[i].after)
		case i >= len(want):
			d.addf("wait %d is one too many: %v after request %d", i+1, got[i].slept, got[i].after)
		default:
			d.wait(i+1, want[i], got[i])
		}
	}
}

func (d *differences) wait(n int, w due, g wait) {
	switch {
	case g.after != w.after:
		d.addf("wait %d came after request %d, want %d", n, g.after, w.after)
	case g.slept < w.floor || g.slept > w.ceiling:
		d.addf("wait %d: %v, want within %v and %v", n, g.slept, w.floor, w.ceiling)
	case w.known && g.slept != w.exact:
		d.addf("wait %d: %v, want %v by the draw, within %v and %v", n, g.slept, w.exact, w.floor, w.ceiling)
	}
}

func (d *differences) runs(want *expectation, got *observation) {
	if len(want.runs) != len(got.runs) {
		d.addf("%d operations, want %d", len(got.runs), len(want.runs))
		return
	}
	sent, last := 0, 0
	for i, w := range want.runs {
		g := got.runs[i]
		if g.exit != 0 {
			last = g.exit
		}
		if w.reason != g.reason || w.exit != g.exit && !slices.Contains(w.others, g.exit) {
			d.addf("it ended with %s, exit %d; want %s, exit %d", g.reason, g.exit, w.reason, w.exit)
		}
		if w.attempts != g.attempts || w.retries != g.retries || w.requests != g.requests {
			d.addf("the timeline has %d attempts, %d retries, %d requests; want %d, %d, %d", g.attempts, g.retries, g.requests, w.attempts, w.retries, w.requests)
		}
		if !slices.Equal(w.counted, g.counted) {
			d.addf("the timeline counts attempts %v, want %v", g.counted, w.counted)
		}
		if !slices.Equal(w.sources, g.sources) {
			d.addf("the timeline has waits by %v, want %v", g.sources, w.sources)
		}
		if w.next != g.next {
			d.addf("next_attempt_at is %q, want %q", g.next, w.next)
		}
		if sent < len(got.requests) && w.requests > 0 && got.requests[sent].key != g.key {
			d.addf("the timeline has the key %q, sent was %q", g.key, got.requests[sent].key)
		}
		sent += w.requests
	}
	exits := []int{last} // of the last that failed (R10.3)
	if len(got.exits) > 1 {
		exits = nil
		for _, run := range got.runs {
			exits = append(exits, run.exit)
		}
	}
	if !slices.Equal(got.exits, exits) {
		d.addf("exit %d; the operations say %d", got.exits, exits)
	}
}

// told looks at what the user was told.
func (d *differences) told(s *scenario, got *observation) {
	if strings.Contains(got.stderr, secret) {
		d.addf("stderr shows the secret: %s", got.stderr)
	}
	silent := s.has("-s")
	if silent && got.stderr != "" {
		d.addf("-s says: %s", got.stderr)
	}
	for _, run := range got.runs {
		if run.exit != 0 && run.requests > 0 && !silent && !strings.Contains(got.stderr, run.key) {
			d.addf("stderr does not name the key %q (R7.4): %s", run.key, got.stderr)
		}
	}
}

// bytes compares outputs, header lines of the server's own clock aside.
func (d *differences) bytes(what string, want, got []byte) {
	if bytes.Equal(want, got) {
		return
	}
	date := regexp.MustCompile(`(?m)^Date: .*\n`)
	want, got = date.ReplaceAll(want, nil), date.ReplaceAll(got, nil)
	if bytes.Equal(want, got) {
		return
	}
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	d.addf("%s: %d bytes %s\n%swant %d bytes %s\n%sthey differ from byte %d on", what, len(got), excerpt(got), indent, len(want), excerpt(want), indent, at)
}

func excerpt(p []byte) string {
	if len(p) > 160 {
		return fmt.Sprintf("%q...", p[:160])
	}
	return fmt.Sprintf("%q", p)
}
