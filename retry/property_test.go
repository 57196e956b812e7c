package retry_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry"
)

// exact is contract §4 once more, in rational arithmetic: an oracle that shares
// no code with the engine. The ratio counts to nine decimals.
type exact struct{ local, bound, floor, ceiling *big.Rat }

var (
	ratOne      = big.NewRat(1, 1)
	ratLongest  = ratNS(math.MaxInt64)
	nineDigits  = big.NewInt(1_000_000_000)
	largestWait = time.Duration(math.MaxInt64)
)

func ratNS(d time.Duration) *big.Rat { return new(big.Rat).SetInt64(int64(d)) }

func ratMin(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

func ratMax(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

// down rounds to a whole number of nanoseconds, towards zero.
func down(r *big.Rat) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Quo(r.Num(), r.Denom()))
}

func ns(r *big.Rat) time.Duration { return time.Duration(down(r).Num().Int64()) }

func onePlusRatio(jitter float64) *big.Rat {
	scaled := new(big.Int).SetInt64(int64(math.Round(jitter * 1e9)))
	return new(big.Rat).Add(ratOne, new(big.Rat).SetFrac(scaled, nineDigits))
}

// window computes the formulas of §4; minimum 0 is none.
func window(p retry.Policy, k int, minimum time.Duration) exact {
	grow := onePlusRatio(p.Jitter)
	limit := ratNS(p.Cap)
	if p.Cap == 0 {
		limit = ratLongest
	}
	local := ratNS(p.Base)
	if p.Backoff == retry.Exponential {
		power := new(big.Int).Lsh(big.NewInt(1), uint(k-1))
		local = ratMin(new(big.Rat).Mul(local, new(big.Rat).SetInt(power)), ratLongest)
	}
	s := ratNS(minimum)
	grown := func(r *big.Rat) *big.Rat { return ratMin(down(new(big.Rat).Mul(r, grow)), limit) }
	e := exact{local: local, bound: ratMin(local, down(new(big.Rat).Quo(limit, grow)))}
	switch {
	case p.RetryAfterMode == retry.Replace && minimum > 0:
		e.floor, e.ceiling = s, grown(s)
	case p.JitterMode == retry.Full:
		e.floor, e.ceiling = s, ratMin(limit, ratMax(local, grown(s)))
	default:
		e.floor = ratMax(e.bound, s)
		e.ceiling = grown(e.floor)
	}
	return e
}

// someDuration favours the edges: 0, 1, round figures, powers of two, the largest.
func someDuration(r *rand.Rand) time.Duration {
	switch r.IntN(6) {
	case 0:
		return time.Duration(r.IntN(3))
	case 1:
		return largestWait - time.Duration(r.IntN(3))
	case 2:
		return time.Duration(1) << r.IntN(63)
	case 3:
		return time.Duration(r.Int64())
	}
	return time.Duration(r.IntN(1000)) * 100 * time.Millisecond
}

func someJitter(r *rand.Rand) float64 {
	switch r.IntN(4) {
	case 0:
		return 0
	case 1:
		return 1
	case 2:
		return float64(r.IntN(100)) / 100
	}
	return r.Float64()
}

func someU(r *rand.Rand) float64 {
	switch r.IntN(4) {
	case 0:
		return 0
	case 1:
		return math.Nextafter(1, 0)
	}
	return r.Float64()
}

func somePolicy(r *rand.Rand) retry.Policy {
	p := retry.DefaultPolicy()
	p.Attempts = 1 << 30
	p.Base, p.Cap, p.Jitter = someDuration(r), someDuration(r), someJitter(r)
	if r.IntN(3) == 0 {
		p.JitterMode = retry.Full
	}
	if r.IntN(4) == 0 {
		p.Backoff = retry.Fixed
	}
	if r.IntN(4) == 0 {
		p.RetryAfterMode = retry.Replace
	}
	return p
}

func TestDecideProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(2026, 7))
	for range 20_000 {
		p, k, u := somePolicy(r), 1+r.IntN(80), someU(r)
		minimum := time.Duration(0)
		if r.IntN(2) == 0 {
			minimum = someDuration(r)
		}
		d := p.Decide(retry.State{Failures: k, Counted: k}, told(503, minimum), u)
		limit := p.Cap
		if limit == 0 {
			limit = largestWait
		}
		if minimum > limit {
			if d.Reason != retry.RetryAfterExceedsCap {
				t.Fatalf("R4.0: S %d over cap %d gives %+v", minimum, limit, d)
			}
			continue
		}
		e := window(p, k, minimum)
		switch {
		case !d.Retry:
			t.Fatalf("%+v k=%d S=%d: stopped: %+v", p, k, minimum, d)
		case d.Local != ns(e.local) || d.Floor != ns(e.floor) || d.Ceiling != ns(e.ceiling):
			t.Fatalf("R4.5: base %d cap %d R %v k %d S %d: got %+v, want local %v floor %v ceiling %v",
				p.Base, p.Cap, p.Jitter, k, minimum, d, e.local, e.floor, e.ceiling)
		case d.Wait < minimum || d.Wait > limit:
			t.Fatalf("R4.1: wait %d is not within S %d and cap %d", d.Wait, minimum, limit)
		case p.JitterMode == retry.Spread && p.RetryAfterMode == retry.Minimum && d.Wait < ns(e.bound):
			t.Fatalf("R4.1: wait %d is below the bound %v", d.Wait, e.bound)
		case d.Wait < d.Floor || d.Wait > d.Ceiling || d.Floor < 0 || d.Local < 0:
			t.Fatalf("R4.5: %+v is out of order", d)
		}
		checkDraw(t, d, u)
	}
}

// checkDraw compares the wait with floor + ⌊room·u⌋ in exact arithmetic.
func checkDraw(t *testing.T, d retry.Decision, u float64) {
	t.Helper()
	room := d.Ceiling - d.Floor
	product := new(big.Rat).Mul(ratNS(room), new(big.Rat).SetFloat64(u))
	want := d.Floor + ns(product)
	// The float product rounds by at most half a unit of 53 bits, and may so cross
	// one whole nanosecond.
	if off := (d.Wait - want).Abs(); off > room>>52+1 {
		t.Fatalf("R4.5: room %d u %v: wait %d, want %d", room, u, d.Wait, want)
	}
	if room < 1<<40 && d.Wait-want > 1 {
		t.Fatalf("R4.5: room %d u %v: wait %d, want %d", room, u, d.Wait, want)
	}
}

// TestDispersion is R4.2: over many u the waits use the whole window.
func TestDispersion(t *testing.T) {
	p := with(func(p *retry.Policy) { p.Cap = 10 * sec })
	spread := func(k int, minimum time.Duration) (lowest, highest time.Duration) {
		state := retry.State{Failures: k, Counted: 1}
		return p.Decide(state, told(503, minimum), 0).Wait, p.Decide(state, told(503, minimum), math.Nextafter(1, 0)).Wait
	}
	for _, c := range []struct {
		name    string
		k       int
		minimum time.Duration
		want    time.Duration // width of the window
	}{
		{"R4.2_at_the_local_cap", 30, 0, 1666666666}, // ⌊cap·R/(1+R)⌋
		{"R4.2_above_a_server_minimum", 1, 3 * sec, 600 * time.Millisecond},
		{"R4.2_near_the_cap", 1, 9500 * time.Millisecond, 500 * time.Millisecond},
		{"R4.2_no_room_at_the_cap", 1, 10 * sec, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			lowest, highest := spread(c.k, c.minimum)
			if got := highest - lowest; got > c.want || got < c.want-1 {
				t.Errorf("the waits disperse over %d, want %d", got, c.want)
			}
		})
	}
}

// TestRatioIsExact is R4.4a: the ratio counts to nine decimals, and products
// and quotients with it round down.
func TestRatioIsExact(t *testing.T) {
	window := func(jitter float64, base, limit time.Duration) (floor, ceiling time.Duration) {
		p := with(func(p *retry.Policy) { p.Jitter, p.Base, p.Cap = jitter, base, limit })
		d := p.Decide(retry.State{Failures: 1, Counted: 1}, status(503), 0)
		return d.Floor, d.Ceiling
	}
	for _, c := range []struct {
		name           string
		jitter         float64
		base, limit    time.Duration
		floor, ceiling time.Duration
	}{
		{"R4.4a_ninth_decimal_counts", 0.000000001, sec, 0, sec, sec + 1},
		{"R4.4a_tenth_decimal_does_not", 0.0000000004, sec, 0, sec, sec},
		{"R4.4a_product_rounds_down", 0.333333333, 10, 0, 10, 13},
		{"R4.4a_quotient_rounds_down", 0.2, 10, 10, 8, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			if floor, ceiling := window(c.jitter, c.base, c.limit); floor != c.floor || ceiling != c.ceiling {
				t.Errorf("window %d to %d, want %d to %d", floor, ceiling, c.floor, c.ceiling)
			}
		})
	}
}

// TestStrangeValues is R4.5 for values that Check would refuse.
func TestStrangeValues(t *testing.T) {
	for _, jitter := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 2, 1e300} {
		for _, u := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 1, 2} {
			for _, d := range []time.Duration{math.MinInt64, -1, 0, math.MaxInt64} {
				p := with(func(p *retry.Policy) { p.Jitter, p.Base, p.Cap, p.Deadline = jitter, d, d, d })
				o := told(503, d)
				got := p.Decide(retry.State{Failures: int(int32(d)), Counted: 1, Elapsed: d, HoldFor: d}, o, u)
				if got.Wait < 0 || got.Floor < 0 || got.Wait > got.Ceiling || got.Wait < got.Floor {
					t.Fatalf("jitter %v u %v d %d: %+v", jitter, u, d, got)
				}
				if hop := p.DecideHop(o.Server, d, u); hop.Wait < 0 || hop.Wait > hop.Ceiling {
					t.Fatalf("jitter %v u %v d %d: hop %+v", jitter, u, d, hop)
				}
			}
		}
	}
}

func FuzzDecide(f *testing.F) {
	f.Add(int64(sec), int64(10*sec), 0.2, 1, int64(3*sec), int64(0), 0.5, int64(0), int64(0), false, false)
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), 1.0, 64, int64(0), int64(0), 0.999, int64(math.MaxInt64), int64(math.MinInt64), true, true)
	f.Fuzz(func(t *testing.T, base, limit int64, jitter float64, k int, minimum, hold int64, u float64, deadline, elapsed int64, full, replace bool) {
		p := with(func(p *retry.Policy) {
			p.Base, p.Cap, p.Jitter = time.Duration(base), time.Duration(limit), jitter
			p.Deadline, p.Attempts = time.Duration(deadline), retry.Unlimited
			if full {
				p.JitterMode = retry.Full
			}
			if replace {
				p.RetryAfterMode = retry.Replace
			}
		})
		s := retry.State{Failures: k, Counted: k, Elapsed: time.Duration(elapsed), HoldFor: time.Duration(hold)}
		d := p.Decide(s, told(503, time.Duration(minimum)), u)
		if d.Retry == (d.Reason != "") {
			t.Fatalf("neither retry nor stop: %+v", d)
		}
		if d.Wait < d.Floor || d.Wait > d.Ceiling || d.Floor < 0 || d.Local < 0 {
			t.Fatalf("out of order: %+v", d)
		}
		if d.HasWait && d.Wait < time.Duration(minimum) {
			t.Fatalf("R4.1: %+v is below the server's %d", d, minimum)
		}
		if limit > 0 && d.Wait > time.Duration(limit) {
			t.Fatalf("R4.1: %+v is above the cap %d", d, limit)
		}
		if d.Retry && deadline > 0 && elapsed >= 0 && int64(d.Wait) >= deadline-elapsed {
			t.Fatalf("R6.2: %+v with %d of %d gone", d, elapsed, deadline)
		}
	})
}
