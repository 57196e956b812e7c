package soak

import (
	"math"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// settings are what a command line asks for, as the contract and the flags'
// documentation read it.
type settings struct {
	attempts       int // 0 unlimited
	base, cap      time.Duration
	jitter         *big.Rat
	full, fixed    bool
	replace        bool
	deadline       time.Duration
	reserve        time.Duration
	maxTime        time.Duration
	retryMaxTime   time.Duration
	maxResumes     int
	retryOn        string
	allErrors      bool
	idempotent     bool
	safeOn         []string
	rateLimit      bool
	method         string
	given          bool // by -X
	kind           string
	body, unsized  bool   // unsized: of unknown length
	key, keyName   string // key: "auto" for one of bide's making
	credential     string
	follow         bool
	trusted        bool
	maxRedirects   int
	fail           failMode
	include        bool
	head           bool
	dump, file     bool
	resume         bool // -C -
	unheld         bool
	raw            bool
	userRange      bool
	silent         bool
	keepsRedirects map[int]bool // --post301 and its kin
}

// failMode is what a final error does to output and exit code.
type failMode int

const (
	failDefault failMode = iota
	failSilent           // -f
	failBody             // --fail-with-body
	failNot              // --no-fail
)

// keyName is the header that carries the idempotency key.
func (s *scenario) keyName() string {
	if name, ok := s.get("--idempotency-header"); ok {
		return name
	}
	return "Idempotency-Key"
}

func (s *scenario) settings() settings {
	g := settings{
		attempts: 3, base: time.Second, cap: 5 * time.Minute, jitter: big.NewRat(1, 5), maxResumes: 100,
		maxRedirects: 50, keyName: s.keyName(), keepsRedirects: map[int]bool{},
	}
	for _, f := range s.flags {
		g.policyFlag(f)
		g.requestFlag(f)
		g.outputFlag(f)
	}
	g.curlDelay(s)
	// R6.4: -m alone bounds the whole, too.
	if g.maxTime > 0 && !s.patient() {
		g.deadline = g.maxTime
	}
	g.settleMethod()
	return g
}

// patient reports whether attempts, waits or deadlines were spoken of (R6.4a).
func (s *scenario) patient() bool {
	return s.has("--attempts", "--retry", "--retry-delay", "--retry-max-time", "--retry-all-errors", "--base", "--cap",
		"--jitter", "--jitter-mode", "--backoff", "--deadline", "--attempt-reserve", "--retry-on", "--retry-after-mode", "--max-resumes")
}

func (g *settings) policyFlag(f option) {
	switch f.name {
	case "--attempts":
		g.attempts = number(f.value) // "unlimited" is 0
	case "--retry":
		g.attempts = number(f.value) + 1
	case "--base":
		g.base = duration(f.value)
	case "--cap":
		g.cap = duration(f.value)
	case "--jitter":
		g.jitter, _ = new(big.Rat).SetString(f.value)
	case "--jitter-mode":
		g.full = f.value == "full"
	case "--backoff":
		g.fixed = f.value == "fixed"
	case "--retry-after-mode":
		g.replace = f.value == "replace"
	case "--deadline":
		g.deadline = duration(f.value)
	case "--attempt-reserve":
		g.reserve = duration(f.value)
	case "-m":
		g.maxTime = duration(f.value)
	case "--retry-max-time":
		g.retryMaxTime = duration(f.value)
	case "--max-resumes":
		g.maxResumes = number(f.value)
	case "--retry-on":
		g.retryOn = f.value
	case "--retry-all-errors":
		g.allErrors = true
	case "--idempotent":
		g.idempotent = true
	case "--safe-on":
		g.safeOn = strings.Split(f.value, ",")
	case "--rate-limit-headers":
		g.rateLimit = true
	}
}

func (g *settings) requestFlag(f option) {
	switch f.name {
	case "-X":
		g.method, g.given = f.value, true
	case "-I":
		g.head, g.kind = true, http.MethodHead
	case "-d", "--data-binary", "--json":
		g.kind, g.body = http.MethodPost, true
	case "-T":
		g.kind, g.body, g.unsized = http.MethodPut, true, f.value == "-"
	case "--idempotency-key":
		g.key = f.value
	case "-H":
		name, value, _ := strings.Cut(f.value, ": ")
		switch {
		case strings.EqualFold(name, "Idempotency-Key"):
			g.key = value
		case name == "Authorization":
			g.credential = value
		case name == "Range":
			g.userRange = true
		}
	case "-L":
		g.follow = true
	case "--location-trusted":
		g.follow, g.trusted = true, true
	case "--max-redirs":
		g.maxRedirects = number(f.value)
	case "-r":
		g.userRange = true
	case "--raw":
		g.raw = true
	case "--post301", "--post302", "--post303":
		g.keepsRedirects[number(strings.TrimPrefix(f.name, "--post"))] = true
	}
}

func (g *settings) outputFlag(f option) {
	switch f.name {
	case "-f":
		g.fail = failSilent
	case "--fail-with-body":
		g.fail = failBody
	case "--no-fail":
		g.fail = failNot
	case "-i":
		g.include = true
	case "-D":
		g.dump = true
	case "-o":
		g.file = true
	case "-C":
		g.resume = true
	case "-N":
		g.unheld = true
	case "-s":
		g.silent = true
	}
}

// curlDelay is --retry-delay: fixed waits, with a cap that has room for their
// jitter unless a cap was given beside it; 0 keeps the exponential ones.
func (g *settings) curlDelay(s *scenario) {
	value, ok := s.get("--retry-delay")
	if !ok || duration(value) == 0 {
		return
	}
	g.base, g.fixed = duration(value), true
	if !s.has("--cap") {
		room := times(g.base, new(big.Rat).Add(big.NewRat(1, 1), g.jitter))
		g.cap = max(g.cap, room)
	}
}

func (g *settings) settleMethod() {
	if g.kind == "" {
		g.kind = http.MethodGet
	}
	if !g.given {
		g.method = g.kind
	}
}

// number reads a whole number; what is none is 0.
func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// duration reads seconds with decimals, or Go's units (R4.8).
func duration(text string) time.Duration {
	if r, ok := new(big.Rat).SetString(text); ok {
		return rounded(r.Mul(r, big.NewRat(int64(time.Second), 1)))
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		panic("a scenario with the duration " + text)
	}
	return d
}

// times is ⌊d·r⌋, saturating (R4.4a, R4.5).
func times(d time.Duration, r *big.Rat) time.Duration {
	return rounded(new(big.Rat).Mul(big.NewRat(int64(d), 1), r))
}

// rounded is ⌊r⌋ as a duration, saturating.
func rounded(r *big.Rat) time.Duration {
	q := new(big.Int).Quo(r.Num(), r.Denom())
	if !q.IsInt64() {
		return math.MaxInt64
	}
	return time.Duration(q.Int64())
}

// The classes of failures, as contract §3 names them.
const (
	classNone      = ""
	classStatus    = "status"
	classClosed    = "closed"
	classRefused   = "refused"
	classTimeout   = "timeout"
	classTruncated = "truncated"
	classProtocol  = "protocol"
	classRedirect  = "redirect"
)

// edit is what --retry-on says of a name: put in, taken out or not mentioned.
type edit int

const (
	unnamed edit = iota
	putIn
	takenOut
)

// named looks a status or class up in --retry-on (R3.3, R3.3a): the last item
// that speaks of it counts.
func (g *settings) named(item string) edit {
	found := unnamed
	if g.retryOn == "" {
		return found
	}
	for _, x := range strings.Split(g.retryOn, ",") {
		x = strings.TrimSpace(x)
		to := putIn
		if strings.HasPrefix(x, "-") {
			to = takenOut
		}
		x = strings.TrimLeft(x, "+-")
		if x == item || len(x) == 3 && strings.HasSuffix(x, "xx") && len(item) == 3 && item[0] == x[0] {
			found = to
		}
	}
	return found
}

// replaces: a list without signs takes the place of the defaults.
func (g *settings) replaces() bool {
	return g.retryOn != "" && !strings.ContainsAny(g.retryOn, "+-")
}

// transientStatus is the first question of contract §3 for a status.
func (g *settings) transientStatus(a *attempt) bool {
	code := strconv.Itoa(a.status)
	if a.replayed && (a.status == 409 || a.status >= 500) {
		return false
	}
	switch g.named(code) {
	case putIn:
		return true
	case takenOut:
		return false
	}
	if g.allErrors && a.status >= 400 {
		return true
	}
	if g.rateLimit && a.status == 403 && (a.told.exhausted || a.told.fromRetryAfter) {
		return true
	}
	if g.replaces() {
		return false
	}
	switch a.status {
	case 408, 425, 429, 500, 502, 503, 504:
		return true
	case 409:
		return a.keyed
	case 413:
		return a.told.valid
	case 421:
		return a.misdirected == 0
	}
	return false
}

// transientClass is the same for a failure without a complete answer.
func (g *settings) transientClass(class string) bool {
	switch named := g.named(class); {
	case named == putIn:
		return true
	case named == takenOut:
		return false
	case g.allErrors:
		return true
	case g.replaces():
		return false
	}
	return class == classClosed || class == classRefused || class == classTimeout || class == classTruncated
}

// safe is the second question (R3.1, R3.2).
func (g *settings) safe(a *attempt) bool {
	if a.unsent || a.class == classStatus && a.status == 421 {
		return true
	}
	if g.repeatable(a) {
		return true
	}
	answered := a.class == classStatus || a.inBody
	return answered && slices.Contains(g.safeOn, strconv.Itoa(a.status))
}

// repeatable: whatever became of the request, it may be sent again.
func (g *settings) repeatable(a *attempt) bool {
	return g.idempotent || a.keyed || idempotentMethod(a.method)
}

// idempotentMethod: those methods of IANA's registry that scenarios use.
func idempotentMethod(method string) bool {
	return slices.Contains([]string{"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "QUERY"}, method)
}
