package cmd_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/simulate"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry/retrytest"
)

// The fleet of TestFleetLikeSimulation and its server.
const (
	fleetClients = 300
	fleetDown    = 4 * time.Second
	fleetToken   = 16 * time.Millisecond
	fleetScript  = "200 [bucket=125/2s burst=10]"
	fleetBurst   = 10
)

// fleetPolicy is generous, so that all come through on a slow machine, too.
var fleetPolicy = []string{"--attempts", "unlimited", "--base", "500ms", "--cap", "4", "--deadline", "120"}

// figures are what is compared; times are from the server's return.
type figures struct {
	amplification float64
	peak          float64
	drain         time.Duration
}

// TestFleetLikeSimulation: real processes against the token bucket of the mock
// come to what the simulation says, within the tolerance that docs/simulate.md
// states: a quarter of the amplification, a third of the drain time and two
// seconds, half of the peak and ten requests. Much of that is for machines that
// are busy.
func TestFleetLikeSimulation(t *testing.T) {
	if testing.Short() {
		t.Skip("300 processes in real time")
	}
	dir, bide := t.TempDir(), buildBide(t)
	began := time.Now()
	server, err := retrytest.New(fleetScript, retrytest.WithListenDelay(fleetDown))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	runFleet(t, bide, server.URL, dir)
	first, last, attempts := readFleet(t, dir)
	got := measured(server.Log(), attempts)

	options, err := flags.ParseSimulate(fleetPolicy, flags.Env{})
	if err != nil {
		t.Fatal(err)
	}
	played, err := simulate.Run(context.Background(), simulate.Config{
		Clients: fleetClients, Spread: last.Sub(first), Method: "GET", Seed: 1, Down: max(fleetDown-first.Sub(began), 0),
		Token: fleetToken, Burst: fleetBurst, BusyStatus: 429, BusyNames: true, Bin: time.Second,
	}, options.Groups[0].Policy)
	if err != nil {
		t.Fatal(err)
	}
	want := figures{played.Amplification, float64(played.Peak), played.DrainMS.Duration()}
	t.Logf("started within %v; real %+v, simulated %+v", last.Sub(first), got, want)
	if off := math.Abs(got.amplification - want.amplification); off > want.amplification/4 {
		t.Errorf("amplification %.2f, simulated %.2f", got.amplification, want.amplification)
	}
	if off := math.Abs(got.peak - want.peak); off > want.peak/2+10 {
		t.Errorf("peak %.0f, simulated %.0f", got.peak, want.peak)
	}
	if off := (got.drain - want.drain).Abs(); off > want.drain/3+2*time.Second {
		t.Errorf("drained in %v, simulated %v", got.drain, want.drain)
	}
}

// runFleet starts all clients and waits for them.
func runFleet(t *testing.T, bide, url, dir string) {
	t.Helper()
	var all sync.WaitGroup
	for i := range fleetClients {
		args := append([]string{"-q", "-s", "-o", os.DevNull, "--timeline-file", filepath.Join(dir, strconv.Itoa(i)+".json")}, fleetPolicy...)
		command := exec.Command(bide, append(args, url+"/"+strconv.Itoa(i))...)
		command.Env = []string{"HOME=" + dir}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			if err := command.Wait(); err != nil {
				t.Errorf("client %d: %v", i, err)
			}
		})
	}
	all.Wait()
}

// readFleet is when the first and the last client began, and the attempts of all.
func readFleet(t *testing.T, dir string) (first, last time.Time, attempts int) {
	t.Helper()
	for i := range fleetClients {
		text, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(i)+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var doc render.Document
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		began := doc.Operation.StartedAt.Time
		if i == 0 || began.Before(first) {
			first = began
		}
		if began.After(last) {
			last = began
		}
		attempts += len(doc.Attempts)
	}
	return first, last, attempts
}

// measured are the figures of the server's log, whose clock began with the server.
func measured(l *retrytest.Log, attempts int) figures {
	f := figures{amplification: float64(attempts) / fleetClients}
	perSecond := map[time.Duration]int{}
	for _, r := range l.Records {
		since := r.Arrival - fleetDown
		perSecond[since/time.Second]++
		f.peak = max(f.peak, float64(perSecond[since/time.Second]))
		if r.Status == 200 {
			f.drain = max(f.drain, since)
		}
	}
	return f
}
