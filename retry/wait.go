package retry

import (
	"math"
	"math/bits"
	"time"
)

// maxDuration is where all arithmetic saturates (R4.5).
const maxDuration time.Duration = math.MaxInt64

// ratioUnit is the fixed point of the jitter ratio: it counts to nine decimals,
// so that 0.2 is two tenths exactly and cap/(1+R) can round down exactly.
const ratioUnit = 1_000_000_000

// ratio is a jitter ratio in units of 1/ratioUnit, from 0 to 1.
type ratio uint64

func (p *Policy) ratio() ratio {
	switch r := math.Round(p.Jitter * ratioUnit); {
	case r >= ratioUnit:
		return ratioUnit
	case r > 0:
		return ratio(r)
	}
	return 0 // also NaN
}

// grow is ⌊d·(1+r)⌋, saturating. d must not be negative.
func (r ratio) grow(d time.Duration) time.Duration {
	hi, lo := bits.Mul64(uint64(d), uint64(r))
	extra, _ := bits.Div64(hi, lo, ratioUnit) // hi < ratioUnit, since r ≤ ratioUnit and d < 2^63
	return addSaturating(d, time.Duration(extra))
}

// shrink is ⌊d/(1+r)⌋. d must not be negative.
func (r ratio) shrink(d time.Duration) time.Duration {
	hi, lo := bits.Mul64(uint64(d), ratioUnit)
	q, _ := bits.Div64(hi, lo, ratioUnit+uint64(r))
	return time.Duration(q)
}

func addSaturating(a, b time.Duration) time.Duration {
	if a > maxDuration-b {
		return maxDuration
	}
	return a + b
}

// limit is the longest single wait; a cap of 0 is none.
func (p *Policy) limit() time.Duration {
	if p.Cap <= 0 {
		return maxDuration
	}
	return p.Cap
}

// local is base·2^(k-1), or base with fixed backoff; it saturates.
func (p *Policy) local(k int) time.Duration {
	base := max(p.Base, 0)
	if p.Backoff == Fixed || k <= 1 || base == 0 {
		return base
	}
	if k-1 >= 63 || base > maxDuration>>(k-1) {
		return maxDuration
	}
	return base << (k - 1)
}

// window fills Local, Floor, Ceiling and Source of d (contract §4) for the k-th
// wait. server is the server's own minimum and hold the time until a shared hold
// ends, both at most the cap; 0 is none. replace is R4.10's mode.
func (p *Policy) window(d *Decision, k int, server, hold time.Duration, replace bool) {
	limit, r := p.limit(), p.ratio()
	minimum := max(server, hold)
	d.Local = p.local(k)
	bound := min(d.Local, r.shrink(limit))
	leads := minimum > 0 // the minimum decides, not the backoff
	switch {
	case replace && server > 0:
		d.Floor, d.Ceiling = minimum, min(r.grow(minimum), limit)
	case p.JitterMode == Full:
		d.Floor, d.Ceiling = minimum, min(limit, max(d.Local, r.grow(minimum)))
	default:
		d.Floor = max(bound, minimum)
		d.Ceiling = min(r.grow(d.Floor), limit)
		leads = leads && minimum >= bound
	}
	switch {
	case !leads:
		d.Source = SourceBackoff
	case hold > server:
		d.Source = SourceShared
	default:
		d.Source = SourceServer
	}
}

// draw sets Wait to the point u of the window, u in [0,1); a u outside is clamped.
func (d *Decision) draw(u float64) {
	d.HasWait = true
	room := d.Ceiling - d.Floor
	switch {
	case !(u > 0): // also NaN
		d.Wait = d.Floor
	case u >= 1:
		d.Wait = d.Ceiling
	default:
		// room·u < 2^63, since u ≤ 1 - 2^-53; rounding may still reach past room.
		d.Wait = d.Floor + min(time.Duration(float64(room)*u), room)
	}
}
