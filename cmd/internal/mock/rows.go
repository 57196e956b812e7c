package mock

import "time"

// row is one line of the conformance matrix: what a client that should GET with
// three attempts meets, and what is right.
type row struct {
	name     string
	wants    string
	script   string
	succeeds bool // the command's exit
	checks   []string
	growth   bool // its gaps count for the row of growing waits
}

// retryAfter is what the rows of Retry-After ask for: longer than most clients
// would wait by themselves.
const retryAfter = "3"

// rows is the matrix.
func rows() []row {
	all := []row{}
	for _, status := range []string{"500", "502", "503"} {
		all = append(all, row{
			name: status, wants: "retried twice, then success", script: status + " x2, 200", succeeds: true, growth: true,
			checks: []string{"attempts=3", "no-overlap", "last-status=200", "no-request-after-exit"},
		})
	}
	all = append(all,
		row{
			name: growthRow, wants: "the wait before the third attempt may be longer than the one before the second, and is one",
			script: "503 x2, 200", succeeds: true, growth: true,
		},
		row{
			name: "429-seconds", wants: "waits the seconds of Retry-After at least, then success", script: "429 retry-after=" + retryAfter + ", 200", succeeds: true,
			checks: []string{"attempts=2", "gaps>=retry-after", "last-status=200"},
		},
		row{
			name: "429-date", wants: "waits for the date of Retry-After at least, then success", script: "429 retry-after=date+" + retryAfter + "s, 200", succeeds: true,
			checks: []string{"attempts=2", "gaps>=retry-after", "last-status=200"},
		})
	for _, status := range []string{"400", "403", "404"} {
		all = append(all, row{name: status, wants: "asked once, the command fails", script: status, checks: []string{"attempts=1"}})
	}
	return append(all,
		row{
			name: "transport", wants: "a reset connection is retried, then success", script: "reset, 200", succeeds: true,
			checks: []string{"attempts=2", "last-status=200"},
		},
		row{
			name: "truncated", wants: "a body cut off half-way is retried, then success", script: "200 size=2kB truncate=1kB, 200 size=2kB", succeeds: true,
			checks: []string{"attempts=2", "last-status=200"},
		},
		row{
			name: "never-recovers", wants: "three attempts, no request afterwards, the command fails", script: "504",
			checks: []string{"attempts=3", "no-request-after-exit"},
		},
		row{
			name: "huge-retry-after", wants: "a wait of a day: given up, neither slept through nor come back early", script: "429 retry-after=86400, 200",
			checks: []string{"attempts=1", "no-request-after-exit"},
		},
	)
}

// growthRow is the row that is judged from the gaps of all rows of 5xx answers.
const growthRow = "waits-grow"

const (
	// leastWait is what counts as a wait: a client that comes back at once does
	// so within milliseconds.
	leastWait = 20 * time.Millisecond
	// growthFactor shows growth in one run: full jitter under doubled ceilings gets
	// there with a probability of 2/3, constant waits only by a delay of the machine.
	growthFactor = 1.34
	// growthRuns are the most runs for this row alone. Together with those of the
	// three rows before they make a wrong verdict on full jitter rarer than one in 10,000.
	growthRuns = 18
)

// waits are the two gaps of one run.
type waits [2]time.Duration

// growing counts the runs in which the second wait was the longer one.
func growing(samples []waits) int {
	n := 0
	for _, w := range samples {
		if w[1] >= leastWait && float64(w[1]) >= growthFactor*float64(w[0]) {
			n++
		}
	}
	return n
}

// grown reports whether the second ceiling is higher than the first: most runs
// show it, or at the end of all more than a delayed machine would feign.
func grown(samples []waits, last bool) bool {
	n := growing(samples)
	return n > 0 && (2*n >= len(samples) || last && 7*n >= 2*len(samples))
}
