package render

import "io"

// PlanVersion is the version of the plan document. Within it fields are only added.
const PlanVersion = 1

// Plan is what a policy would do (docs/plan.schema.json): bide plan. A value
// that does not exist is null.
type Plan struct {
	Version       int        `json:"version"`
	Bide          string     `json:"bide"`
	Method        string     `json:"method"`
	Keyed         bool       `json:"keyed"` // an idempotency key goes with each attempt
	Policy        Policy     `json:"policy"`
	Given         []string   `json:"given"` // as --given; empty: each attempt fails with Assumed
	Assumed       *string    `json:"assumed"`
	AttemptTimeMS MS         `json:"attempt_time_ms"`
	Waits         []PlanWait `json:"waits"`
	Omitted       int        `json:"waits_omitted"` // beyond those listed
	// How it ends when each wait is the shortest and when each is the longest
	// that it can be; null: the attempt after the last wait decides.
	StopEarliest *PlanStop  `json:"stop_earliest"`
	StopLatest   *PlanStop  `json:"stop_latest"`
	Longest      PlanBound  `json:"longest"`
	Rules        []PlanRule `json:"rules"`
	Warnings     []PlanRule `json:"warnings"`
}

// PlanWait is one wait and the window that its jitter leaves open.
type PlanWait struct {
	Number    int    `json:"number"` // of the wait, and of the attempt before it
	After     string `json:"after"`  // what that attempt came to, as --given
	Status    *int   `json:"status"`
	Class     string `json:"class"`
	MinimumMS *MS    `json:"minimum_ms"` // the server's
	Source    string `json:"source"`
	LocalMS   MS     `json:"local_ms"`
	FloorMS   MS     `json:"floor_ms"`
	CeilingMS MS     `json:"ceiling_ms"`
	MeanMS    MS     `json:"mean_ms"`
	// Instants from the operation's start at which the next attempt begins, the
	// attempts before it included. The mean is null where a limit may cut it off.
	EarliestMS MS  `json:"next_earliest_ms"`
	LatestMS   MS  `json:"next_latest_ms"`
	NextMeanMS *MS `json:"next_mean_ms"`
	// Sure: it is waited for whatever the jitter; otherwise a time limit may come first.
	Sure bool `json:"sure"`
}

// PlanStop is an end.
type PlanStop struct {
	Attempts int    `json:"attempts"`
	Reason   string `json:"reason"`
	ExitCode int    `json:"exit_code"`
}

// PlanBound is how long the operation can take; null is without bound.
type PlanBound struct {
	WaitsMS     *MS     `json:"waits_ms"`      // all waits, the server naming no minimum
	WaitsAtCap  *MS     `json:"waits_cap_ms"`  // all waits, the server asking for the cap each time
	QuietMS     *MS     `json:"quiet_ms"`      // the operation, the server naming no minimum
	OperationMS *MS     `json:"operation_ms"`  // the operation, whatever the server asks for
	BoundedBy   *string `json:"bounded_by"`    // deadline, retry_max_time or attempts
	Uncounted   int     `json:"max_uncounted"` // continuations of a broken body, on top where no deadline is set
}

// PlanRule is a rule of the contract in words.
type PlanRule struct {
	Rule string `json:"rule"`
	Text string `json:"text"`
}

// PlanJSON writes p as one line.
func PlanJSON(w io.Writer, p *Plan) error {
	c := *p
	c.Policy.RetryOn, c.Policy.SafeOn = list(c.Policy.RetryOn), list(c.Policy.SafeOn)
	c.Given, c.Waits, c.Rules, c.Warnings = list(c.Given), list(c.Waits), list(c.Rules), list(c.Warnings)
	return writeLine(w, &c)
}
