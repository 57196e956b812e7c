package mock

import (
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/bidehttp/bide/render"
)

// A small client that GETs with three attempts, as the matrix wants it. Each
// field makes it wrong in one way.
type tiny struct {
	giveUpOn   []int // statuses that it does not retry
	retries    []int // statuses that it retries although they are final
	shrinks    bool  // the second wait is shorter
	noSeconds  bool  // Retry-After in seconds, up to a minute, is not obeyed
	noDate     bool  // as a date
	noReset    bool  // a transport failure is final
	noWhole    bool  // a short body is taken for whole
	oneMore    bool  // a fourth attempt
	noCap      bool  // sleeps however long it is told to
	fullJitter bool
}

const tinyBase = 120 * time.Millisecond

// run is the client; it gives its exit code.
func (c tiny) run(url string) int {
	attempts := 3
	if c.oneMore {
		attempts = 4
	}
	for n := 1; ; n++ {
		again, asked, code := c.try(url)
		if !again || n == attempts {
			return code
		}
		wait := tinyBase << n
		if c.shrinks { // by more than a busy machine can make up for
			wait = 8 * tinyBase / time.Duration(n*n*n)
		}
		if c.fullJitter {
			wait = time.Duration(rand.Float64() * float64(wait))
		}
		if asked > time.Minute && !c.noCap {
			return 75
		}
		time.Sleep(max(wait, asked))
	}
}

// try asks once.
func (c tiny) try(url string) (again bool, asked time.Duration, code int) {
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(url)
	if err != nil {
		return !c.noReset, 0, 7
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) && !c.noWhole:
		return true, 0, 18
	case resp.StatusCode == 200:
		return false, 0, 0
	case slices.Contains(c.giveUpOn, resp.StatusCode):
		return false, 0, 22
	case resp.StatusCode < 500 && resp.StatusCode != 429 && !slices.Contains(c.retries, resp.StatusCode):
		return false, 0, 22
	}
	return true, c.asked(resp.Header.Get("Retry-After")), 75
}

func (c tiny) asked(value string) time.Duration {
	if n, err := strconv.Atoi(value); err == nil && (n > 60 || !c.noSeconds) {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil && !c.noDate {
		return time.Until(at)
	}
	return 0
}

// wrongClients are clients by the row in which they must fail; "right" and
// "full-jitter" fail in none.
func wrongClients() map[string]func(url string) int {
	return map[string]func(string) int{
		"right": tiny{}.run, "full-jitter": tiny{fullJitter: true}.run,
		"500": tiny{giveUpOn: []int{500}}.run, "502": tiny{giveUpOn: []int{502}}.run, "503": tiny{giveUpOn: []int{503}}.run,
		growthRow: tiny{shrinks: true}.run, "429-seconds": tiny{noSeconds: true}.run, "429-date": tiny{noDate: true}.run,
		"400": tiny{retries: []int{400}}.run, "403": tiny{retries: []int{403}}.run, "404": tiny{retries: []int{404}}.run,
		"transport": tiny{noReset: true}.run, "truncated": tiny{noWhole: true}.run,
		"never-recovers": tiny{oneMore: true}.run, "huge-retry-after": tiny{noCap: true}.run,
	}
}

// The client that is wrong in one row fails in exactly that row.
func TestConformance_one_wrong_client_per_row(t *testing.T) {
	names := []string{"right", "full-jitter"}
	for _, r := range rows() {
		names = append(names, r.name)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, stdout, stderr := process(t, name)
			o := options("")
			o.Conformance, o.JSON, o.Timeout, o.Jobs = true, true, 2*time.Minute, 6
			if name == "huge-retry-after" {
				o.Timeout = 20 * time.Second // it does not end by itself; every other row must have ended by then
			}
			code := Run(t.Context(), p, o)
			fits(t, stdout.String())
			var fail []string
			for _, r := range decodeMatrix(t, stdout.String()).Rows {
				if !r.OK {
					fail = append(fail, r.Row)
				}
			}
			want, wantCode := []string{name}, 1
			switch name {
			case "right", "full-jitter":
				want, wantCode = nil, 0
			}
			if !slices.Equal(fail, want) || int(code) != wantCode {
				t.Errorf("fails in %v, want %v; exit code %d\n%s%s", fail, want, code, stdout, stderr)
			}
		})
	}
}

func decodeMatrix(t *testing.T, text string) render.MockConformance {
	t.Helper()
	var d render.MockConformance
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return d
}

// Bands of growth: one draw of a full jitter may be small, one of a constant wait late.
func TestGrown(t *testing.T) {
	const ms = time.Millisecond
	up, down, same, none := waits{100 * ms, 140 * ms}, waits{200 * ms, 50 * ms}, waits{100 * ms, 120 * ms}, waits{1 * ms, 9 * ms}
	for name, tt := range map[string]struct {
		samples []waits
		last    bool
		want    bool
	}{
		"no run": {nil, true, false}, "one": {[]waits{up}, false, true}, "half": {[]waits{up, down}, false, true},
		"a third": {[]waits{up, down, down}, false, false}, "a third at the end": {[]waits{up, down, down}, true, true},
		"a quarter at the end": {[]waits{up, same, down, same}, true, false}, "constant": {[]waits{same, same, same}, true, false},
		"at once": {[]waits{none, none}, true, false},
	} {
		if got := grown(tt.samples, tt.last); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	// Full jitter under ceilings of 1 s and 2 s, 10,000 times.
	r := rand.New(rand.NewPCG(1, 2))
	failed := 0
	for range 10_000 {
		var samples []waits
		for len(samples) < 3 || len(samples) < 3+growthRuns && !grown(samples, false) {
			samples = append(samples, waits{time.Duration(r.Float64() * 1e9), time.Duration(r.Float64() * 2e9)})
		}
		if !grown(samples, true) {
			failed++
		}
	}
	if failed > 1 {
		t.Errorf("%d of 10,000 clients with full jitter fail", failed)
	}
}
