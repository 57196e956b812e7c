package render

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-golden +got):\n%s", name, diff)
	}
}

func human(t *testing.T, o Options, docs ...*Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := Human(&b, docs, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHuman(t *testing.T) {
	zone := time.FixedZone("CEST", 2*3600)
	for name, d := range samples() {
		t.Run(name, func(t *testing.T) {
			golden(t, name, human(t, Options{Width: 80, Location: zone}, d))
		})
	}
	all := samples()
	for name, o := range map[string]Options{
		"retried_40":    {Width: 40},
		"retried_132":   {Width: 132},
		"retried_ascii": {Width: 80, ASCII: true},
		"retried_color": {Width: 80, Color: true},
		"connect_40":    {Width: 40, ASCII: true},
		"hundred_132":   {Width: 132},
		"exhausted_60":  {Width: 60},
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, name, human(t, o, all[name[:strings.IndexByte(name, '_')]]))
		})
	}
	t.Run("several", func(t *testing.T) {
		golden(t, "several", human(t, Options{}, all["success"], all["retried"]))
	})
}

// Every line fits, whatever the width, and ASCII is ASCII.
func TestHumanFits(t *testing.T) {
	for name, d := range samples() {
		for w := 40; w <= 200; w += 3 {
			for _, ascii := range []bool{false, true} {
				for _, line := range strings.Split(human(t, Options{Width: w, ASCII: ascii}, d), "\n") {
					if n := columns(line); n > w {
						t.Errorf("%s, width %d: %d columns: %q", name, w, n, line)
					}
					if ascii && !printable(line) {
						t.Errorf("%s, width %d: not ASCII: %q", name, w, line)
					}
					if line != Text(line) {
						t.Errorf("%s: a control character: %q", name, line)
					}
				}
			}
		}
	}
}

// Colour adds escapes and changes nothing else, whatever the environment says.
func TestHumanColorCarriesNoMeaning(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	escape := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for name, d := range samples() {
		plain, colored := human(t, Options{Width: 80}, d), human(t, Options{Width: 80, Color: true}, d)
		if !strings.Contains(colored, "\x1b[") {
			t.Errorf("%s: no colour", name)
		}
		if strings.Contains(plain, "\x1b") {
			t.Errorf("%s: colour without being asked", name)
		}
		if diff := cmp.Diff(plain, escape.ReplaceAllString(colored, "")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A saved document gives the same picture.
func TestHumanOfSavedDocument(t *testing.T) {
	for name, d := range samples() {
		var b bytes.Buffer
		if err := JSON(&b, d); err != nil {
			t.Fatal(err)
		}
		saved, err := Decode(&b)
		if err != nil || len(saved) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(human(t, Options{}, d), human(t, Options{}, saved...)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestHumanUnfinished(t *testing.T) {
	d := samples()["retried"]
	d.Outcome, d.Attempts = nil, d.Attempts[:1]
	d.Attempts[0].Decision.WaitedMS = Millis(time.Second)
	got := human(t, Options{}, d)
	if !strings.Contains(got, "waited 1s of 3.3s") || !strings.Contains(got, "not finished") {
		t.Error(got)
	}
}

// R10.1: a wait that was cut short is drawn and told as far as it went.
func TestHumanCanceledInWait(t *testing.T) {
	d := sample("GET", api, "canceled", 130, try{status: 503, class: "status", took: 10 * time.Millisecond, would: 3 * time.Second})
	a := &d.Attempts[0].Decision
	a.WaitedMS, a.Source = Millis(time.Second), ptr("backoff")
	d.Outcome.WaitedMS, d.Outcome.ElapsedMS = MS(time.Second), MS(1010*time.Millisecond)
	if err := Consistent(d); err != nil {
		t.Error(err)
	}
	if got := human(t, Options{}, d); !strings.Contains(got, "waited 1s of 3s until 10:00:01Z: backoff") || !strings.Contains(got, "█┄┄┄") {
		t.Error(got)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestHumanReportsWriteError(t *testing.T) {
	if err := Human(brokenWriter{}, []*Document{samples()["success"]}, Options{}); err == nil {
		t.Error("no error")
	}
}

func TestBarsNeverPanic(t *testing.T) {
	d := samples()["retried"]
	d.Attempts[0].OffsetMS, d.Attempts[0].DurationMS = -1<<62, 1<<62
	d.Attempts[1].Server.MinimumMS = ptr(MS(1<<63 - 1))
	human(t, Options{}, d)
	d.Outcome.ElapsedMS = 1<<63 - 1
	human(t, Options{}, d)
}

func BenchmarkHuman(b *testing.B) {
	d := []*Document{samples()["retried"]}
	b.ReportAllocs()
	for b.Loop() {
		_ = Human(&bytes.Buffer{}, d, Options{Width: 80})
	}
}
