package render

import "io"

// SimulationVersion is the version of the simulation document. Within it fields
// are only added.
const SimulationVersion = 1

// Simulation is a fleet of clients that meet a server which was down
// (docs/simulation.schema.json): bide simulate. Instants count from the start; a
// value that does not exist is null.
type Simulation struct {
	Version       int             `json:"version"`
	Bide          string          `json:"bide"`
	Seed          uint64          `json:"seed"`
	Clients       int             `json:"clients"`
	SpreadMS      MS              `json:"spread_ms"` // over which their first requests are spread
	AttemptTimeMS MS              `json:"attempt_time_ms"`
	Method        string          `json:"method"`
	Server        SimulatedServer `json:"server"`
	BinMS         MS              `json:"bin_ms"` // in which a peak is counted
	Runs          []SimulationRun `json:"runs"`
}

// SimulatedServer is the server that the clients meet.
type SimulatedServer struct {
	DownMS         MS      `json:"down_ms"`
	DownAnswer     string  `json:"down_answer"`      // refused or 503
	RetryAfterMS   *MS     `json:"retry_after_ms"`   // the instant that its 503 names
	CapacityPerBin float64 `json:"capacity_per_bin"` // requests
	TokenMS        float64 `json:"token_ms"`         // one more request every
	Burst          int     `json:"burst"`
	BusyAnswer     int     `json:"busy_answer"` // to what is beyond the capacity
	BusyRetryAfter bool    `json:"busy_retry_after"`
	IdealMS        MS      `json:"ideal_ms"` // in which it could serve all clients, after its return
}

// SimulationRun is what one policy comes to.
type SimulationRun struct {
	Label     string    `json:"label"` // "policy", or what --compare changes
	Policy    Policy    `json:"policy"`
	Keyed     bool      `json:"keyed"` // an idempotency key goes with each attempt
	Requests  int64     `json:"requests"`
	Succeeded int       `json:"succeeded"`
	GaveUp    []Counted `json:"gave_up"` // clients by reason, the most frequent first
	// Amplification is requests ÷ clients, PerSuccess requests ÷ successes.
	Amplification float64  `json:"amplification"`
	PerSuccess    *float64 `json:"requests_per_success"`
	Down          int64    `json:"requests_while_down"`
	Busy          int64    `json:"requests_turned_away"`
	// LastRequestMS is when the last request came.
	LastRequestMS MS `json:"last_request_ms"`
	// Peak is the most requests in a bin from the server's return on.
	Peak     int64    `json:"peak"`
	PeakMS   *MS      `json:"peak_at_ms"`
	PeakPer  *float64 `json:"peak_per_capacity"`
	DownPeak int64    `json:"peak_while_down"`
	// Instants at which a half, nine tenths and 99 % of the clients had succeeded,
	// and the last of those that did.
	P50MS  *MS `json:"succeeded_p50_ms"`
	P90MS  *MS `json:"succeeded_p90_ms"`
	P99MS  *MS `json:"succeeded_p99_ms"`
	LastMS *MS `json:"succeeded_last_ms"`
	// DrainMS is from the server's return until all had succeeded; null: not all did.
	DrainMS   *MS       `json:"drain_ms"`
	Histogram Histogram `json:"histogram"`
}

// Histogram counts requests by their arrival. Bin i begins at i·BinMS.
type Histogram struct {
	BinMS  MS      `json:"bin_ms"`
	Down   []int64 `json:"down"`
	Busy   []int64 `json:"turned_away"`
	Served []int64 `json:"served"`
}

// SimulationJSON writes s as one line.
func SimulationJSON(w io.Writer, s *Simulation) error {
	c := *s
	c.Runs = append([]SimulationRun{}, s.Runs...)
	for i := range c.Runs {
		r := &c.Runs[i]
		r.Policy.RetryOn, r.Policy.SafeOn, r.GaveUp = list(r.Policy.RetryOn), list(r.Policy.SafeOn), list(r.GaveUp)
		r.Histogram.Down, r.Histogram.Busy, r.Histogram.Served = list(r.Histogram.Down), list(r.Histogram.Busy), list(r.Histogram.Served)
	}
	return writeLine(w, &c)
}
