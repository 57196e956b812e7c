// Package simulate plays a fleet of clients that retry against a server which is
// down and comes back with a limited capacity, in virtual time. Each step of a
// client is the engine's own (retry.Policy.Decide); the capacity is the reference
// token bucket of the mock (retrytest.Bucket). The same configuration gives the
// same figures, whatever the machine.
package simulate

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

// Config is what is simulated.
type Config struct {
	Clients     int           // 1 or more
	Spread      time.Duration // first requests come at random within it
	AttemptTime time.Duration // from a request until its outcome is seen
	Method      string
	Keyed       bool
	Seed        uint64

	Down       time.Duration // the server is down until then
	DownStatus int           // what it answers meanwhile; 0 refuses the connection
	RetryAfter time.Duration // the instant that this answer names; 0 none
	Token      time.Duration // 1/capacity
	Burst      int
	BusyStatus int  // the answer beyond the capacity
	BusyNames  bool // it has a Retry-After

	Bin time.Duration // in which a peak is counted
}

// perClient is how many requests one client may send in a row at one instant, on
// average, and most how many a run may come to: there are policies that ask again
// without a pause.
const (
	perClient = 1000
	most      = 1_000_000_000
)

// Errors of Run.
var (
	ErrEndless = errors.New("the policy asks again and again without a wait, and an attempt takes no time: give --base, or --attempt-time")
	ErrMany    = errors.New("more than 1,000,000,000 requests: fewer clients, or longer waits, are needed")
)

// Run plays the fleet with a policy, which was checked. Label and Policy of the
// result are the caller's. It ends early with ctx.
func Run(ctx context.Context, c Config, p retry.Policy) (render.SimulationRun, error) {
	r := newRun(c, p)
	if err := r.play(ctx); err != nil {
		return render.SimulationRun{}, err
	}
	return r.result(), nil
}

func newRun(c Config, p retry.Policy) *run {
	return &run{
		Config: c, policy: p, bucket: retrytest.Bucket{Token: c.Token, Burst: c.Burst}, gaveUp: map[retry.Reason]int{},
		bins: bins{width: c.Bin}, peak: peak{width: c.Bin}, downPeak: peak{width: c.Bin},
	}
}

func (r *run) play(ctx context.Context) error {
	for i := range r.Clients {
		r.queue.push(arrival{at: r.start(uint32(i)), client: uint32(i), attempt: 1}) //nolint:gosec // Clients is bounded
	}
	const breath = 1 << 14
	for {
		a, ok := r.queue.pop()
		if !ok {
			return nil
		}
		if r.requests++; r.requests%breath == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if a.at != r.latest {
			r.atOnce = 0
		}
		switch r.atOnce++; {
		case r.atOnce > perClient*int64(r.Clients):
			return ErrEndless
		case r.requests > most:
			return ErrMany
		}
		r.request(a)
	}
}

// run is the state of Run. Per client there is its next arrival and nothing else.
type run struct {
	Config
	policy   retry.Policy
	queue    queue
	bucket   retrytest.Bucket
	bins     bins
	peak     peak // from the server's return on
	downPeak peak

	requests, down, busy int64
	succeeded            int
	latest               time.Duration    // of the requests
	atOnce               int64            // requests at that instant
	last                 time.Duration    // of the successes
	marks                [3]time.Duration // of a half, nine tenths, 99 %
	gaveUp               map[retry.Reason]int
}

// request lets one arrive: the server answers, the client decides.
func (r *run) request(a arrival) {
	o := retry.Outcome{Method: r.Method, Keyed: r.Keyed, Sent: retry.SentMaybe, Phase: retry.PhaseDone}
	what := r.serve(a.at, &o)
	r.bins.add(a.at, what)
	r.latest = a.at
	seen := later(a.at, r.AttemptTime)
	elapsed := seen - r.start(a.client)
	if r.policy.Deadline > 0 && elapsed > r.policy.Deadline {
		r.gaveUp[retry.DeadlineExceeded]++ // cut off in flight (R6.3)
		return
	}
	if what == toServed {
		r.success(seen)
		return
	}
	n := int(a.attempt)
	d := r.policy.Decide(retry.State{Failures: n, Counted: n, Elapsed: elapsed}, o, unit(r.Seed, a.client, a.attempt))
	if !d.Retry {
		r.gaveUp[d.Reason]++
		return
	}
	r.queue.push(arrival{at: later(seen, d.Wait), client: a.client, attempt: a.attempt + 1})
}

// serve fills in what the server makes of a request.
func (r *run) serve(at time.Duration, o *retry.Outcome) (what int) {
	if at < r.Down {
		r.down++
		r.downPeak.add(at)
		if r.DownStatus == 0 {
			o.Class, o.Sent, o.Phase = retry.ClassConnect, retry.SentNothing, retry.PhaseConnect
			return toDown
		}
		o.Class, o.Status = r.policy.StatusClass(r.DownStatus), r.DownStatus
		if left := r.RetryAfter - at; left > 0 {
			o.Server = retry.Server{Valid: true, Minimum: left}
		}
		return toDown
	}
	r.peak.add(at - r.Down)
	wait, ok := r.bucket.Take(at)
	if ok {
		return toServed
	}
	r.busy++
	o.Class, o.Status = r.policy.StatusClass(r.BusyStatus), r.BusyStatus
	if r.BusyNames {
		o.Server = retry.Server{Valid: true, Minimum: retrytest.RetryAfter(wait)}
	}
	return toBusy
}

// shares are the parts of the clients whose success is marked, in percent.
var shares = [3]int{50, 90, 99}

func (r *run) success(at time.Duration) {
	r.succeeded++
	r.last = at
	for i, percent := range shares {
		if r.succeeded == (r.Clients*percent+99)/100 {
			r.marks[i] = at
		}
	}
}

func (r *run) result() render.SimulationRun {
	s := render.SimulationRun{
		Requests: r.requests, Succeeded: r.succeeded, Down: r.down, Busy: r.busy, LastRequestMS: render.MS(r.latest),
		Amplification: float64(r.requests) / float64(r.Clients), Peak: r.peak.most, DownPeak: r.downPeak.most, Histogram: r.bins.histogram(),
	}
	for reason, n := range r.gaveUp {
		s.GaveUp = append(s.GaveUp, render.Counted{Name: string(reason), Count: n})
	}
	slices.SortFunc(s.GaveUp, render.Counted.Compare)
	if r.peak.mostIsSeen {
		s.PeakMS = render.Millis(r.Down + r.peak.mostAt)
		per := float64(r.peak.most) / r.CapacityPerBin()
		s.PeakPer = &per
	}
	for i, to := range [3]**render.MS{&s.P50MS, &s.P90MS, &s.P99MS} {
		if r.succeeded >= (r.Clients*shares[i]+99)/100 {
			*to = render.Millis(r.marks[i])
		}
	}
	if r.succeeded > 0 {
		per := float64(r.requests) / float64(r.succeeded)
		s.PerSuccess, s.LastMS = &per, render.Millis(r.last)
	}
	if r.succeeded == r.Clients {
		s.DrainMS = render.Millis(max(r.last-r.Down, 0))
	}
	return s
}

// CapacityPerBin is how many requests the server takes in a bin, on average.
func (c *Config) CapacityPerBin() float64 { return float64(c.Bin) / float64(c.Token) }

// Ideal is the time in which the server could serve all clients if they stood in
// line at its return.
func (c *Config) Ideal() time.Duration {
	return time.Duration(max(c.Clients-c.Burst, 0))*c.Token + c.AttemptTime
}

// start is the instant of a client's first request.
func (r *run) start(client uint32) time.Duration {
	if r.Spread == 0 {
		return 0
	}
	return min(time.Duration(unit(r.Seed, client, 0)*float64(r.Spread)), r.Spread-1)
}

// unit is the u of a client's attempt in [0,1): the same for the same seed, in
// whatever order the clients come, and for each policy that is compared. It is
// SplitMix64 (Steele, Lea and Flood 2014) of seed, client and attempt.
func unit(seed uint64, client, attempt uint32) float64 {
	z := mix(seed + (uint64(client)+1)*0x9e3779b97f4a7c15)
	z = mix(z + (uint64(attempt)+1)*0x9e3779b97f4a7c15)
	return float64(z>>11) / (1 << 53)
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// later is a+b, at most the last instant there is.
func later(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
