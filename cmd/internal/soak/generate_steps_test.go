package soak

import (
	"fmt"
	"time"
)

func secondsOf(n int) time.Duration { return time.Duration(n) * time.Second }

// plain is an answer with its default body.
func plain(status int) step { return step{status: status, body: content{size: -1}} }

// failure draws a status that is an error, or a fault without an answer.
func (d dice) failure() step {
	if d.once(30) {
		return d.fault()
	}
	st := plain(pick(d, 503, 503, 503, 429, 429, 429, 500, 502, 504, 408, 425, 421, 404, 409, 413, 403, 422, 410, 501, 202, 304))
	if d.once(55) {
		d.delay(&st)
	}
	if d.once(15) {
		d.limits(&st)
	}
	if st.status >= 409 && d.once(8) {
		st.fields = append(st.fields, option{"Idempotent-Replayed", "true"})
	}
	d.dress(&st)
	return st
}

// fault draws a step without an answer.
func (d dice) fault() step {
	st := step{fault: pick(d, faultReset, faultClose, faultClose, faultGarbage, faultStall, faultCloseAfter, faultLost), body: content{size: -1}}
	switch st.fault {
	case faultCloseAfter:
		st.status, st.cut = pick(d, 200, 503), int64(pick(d, 0, 1, 12, 30))
	case faultLost:
		st.status, st.effect = 201, true
	}
	return st
}

// overHTTP2 makes it a scenario of HTTP/2, with its own ways to refuse.
func (d dice) overHTTP2(s *scenario) {
	s.http2 = true
	for i := range s.steps {
		st := &s.steps[i]
		st.chunked, st.noLength, st.http10, st.interim = false, false, false, false
		if st.status == 0 || st.fault == faultCloseAfter || st.fault == faultGarbage {
			*st = step{fault: pick(d, faultRefuse, faultRefuse, faultGoAway, faultReset, faultClose), body: content{size: -1}}
		}
	}
}

// success draws an answer below 400.
func (d dice) success() step {
	st := plain(pick(d, 200, 200, 200, 200, 201, 204, 302))
	d.dress(&st)
	return st
}

// dress draws body, framing and what else an answer may have.
func (d dice) dress(st *step) {
	if d.once(30) && st.status != 204 && st.status != 304 {
		st.body = content{version: d.IntN(2), size: int64(pick(d, 0, 1, 20, 299, 300, 301, 1000, 5000, 70_000))}
		if d.once(4) {
			st.body = content{size: int64(pick(d, 1<<20, 1<<20+1, 1<<20+5000))}
		}
	}
	switch d.IntN(10) {
	case 0:
		st.chunked = true
	case 1:
		st.noLength = true
	case 2:
		st.http10 = true
	}
	st.interim = d.once(6)
	st.effect = d.once(20)
	if d.once(8) {
		d.breakOff(st)
	}
}

// breakOff draws a fault within the body.
func (d dice) breakOff(st *step) {
	size := int(st.body.length(st.status))
	if size < 2 {
		return
	}
	switch n := d.IntN(20); {
	case n == 0:
		st.fault = faultReset
	case n < 4 && st.chunked:
		st.fault = faultGarbage
	case n < 8:
		st.fault = faultStall
	default:
		st.fault, st.cut = faultTruncate, int64(d.IntN(size))
	}
}

// statuses: some failures, mostly a success at the end.
func (d dice) statuses(s *scenario) {
	if d.once(8) {
		s.steps = append(s.steps, step{status: 200, fault: faultStall, body: content{size: int64(pick(d, 20, 1000, 70_000))}, chunked: d.once(20)})
		s.add(pick(d, "-m", "--deadline"), pick(d, "1", "3"))
	}
	for range d.IntN(6) {
		st := d.failure()
		if d.once(10) {
			st.times = 2
		}
		s.steps = append(s.steps, st)
	}
	if len(s.steps) == 0 || d.once(75) {
		s.steps = append(s.steps, d.success())
	}
}

// mixed: anything in any order.
func (d dice) mixed(s *scenario) {
	for range 1 + d.IntN(6) {
		s.steps = append(s.steps, pick(d, d.failure, d.success, d.redirect, d.piece(&state{size: 1000, etag: `"v1"`}))())
	}
	if d.once(70) {
		s.add("-L")
	}
}

// redirect draws a 3xx that leads somewhere.
func (d dice) redirect() step {
	st := plain(pick(d, 301, 302, 302, 303, 303, 307, 307, 308, 304))
	st.location = pick(d, "/b", "/c?x=1", "@/b", "@@/far", "@@/far", "/b", "ftp://host/x")
	if d.once(15) {
		st.location = "/b"
	}
	if d.once(25) {
		d.delay(&st)
	}
	return st
}

func (d dice) redirects(s *scenario) {
	for range 1 + d.IntN(4) {
		st := d.redirect()
		if d.once(10) {
			st.times = 2 + d.IntN(3)
		}
		s.steps = append(s.steps, st)
		if d.once(40) {
			s.steps = append(s.steps, d.failure())
		}
	}
	if d.once(80) {
		s.steps = append(s.steps, d.success())
	}
	if d.once(90) {
		s.add(pick(d, "-L", "-L", "-L", "--location-trusted"))
	}
	if d.once(15) {
		s.add("--max-redirs", pick(d, "0", "1", "2", "3"))
	}
}

// state is what a script of ranges is about.
type state struct {
	size     int64
	etag     string
	modified string
	date     string
	held     int64 // what a client would hold by now
}

// resumes: a body that breaks off again and again, on a server with ranges and
// other habits.
func (d dice) resumes(s *scenario) {
	st := &state{size: int64(pick(d, 20, 100, 1000, 1000, 5000, 70_000))}
	if d.once(6) {
		st.size = int64(pick(d, 1<<20, 1<<20+1, 1<<20+5000, 2_500_000))
	}
	switch d.IntN(10) {
	case 0:
	case 1:
		st.etag = `W/"v1"`
	case 2, 3:
		st.modified, st.date = at(-600, imf), at(pick(d, -600, -599, 0), imf)
	default:
		st.etag = `"v1"`
	}
	for range 1 + d.IntN(6) {
		s.steps = append(s.steps, d.piece(st)())
	}
	if d.once(85) {
		s.steps = append(s.steps, d.whole(st))
	}
}

// whole is the body on a server with ranges.
func (d dice) whole(st *state) step {
	return step{
		status: 200, body: content{size: st.size}, etag: st.etag, modified: st.modified, date: st.date,
		ranges: !d.once(15), chunked: d.once(15),
	}
}

// piece draws a step of such a script.
func (d dice) piece(st *state) func() step {
	return func() step {
		switch n := d.IntN(100); {
		case n < 60:
			return d.broken(st)
		case n < 68:
			return d.failure()
		case n < 76: // another version
			s := d.whole(st)
			s.etag, s.body = pick(d, `"v2"`, `"v2"`, "", st.etag), content{version: 2, size: min(st.size, 2000) / int64(pick(d, 1, 2))}
			return s
		case n < 90:
			return d.part(st)
		case n < 95:
			s := plain(416)
			s.fields = []option{{"Content-Range", fmt.Sprintf("bytes */%d", pick(d, st.held, st.size, 7))}}
			s.etag = pick(d, "", st.etag)
			return s
		}
		return plain(pick(d, 412, 404, 204, 206, 304))
	}
}

// broken is the body, cut off.
func (d dice) broken(st *state) step {
	s := d.whole(st)
	left := max(st.size-st.held, 1)
	cut := int64(d.IntN(int(left)))
	switch d.IntN(5) {
	case 0:
		cut = min(cut, st.size/100-1)
	case 1:
		cut = min(cut, int64(d.IntN(3)))
	}
	s.fault, s.cut = faultTruncate, max(cut, 0)
	if d.once(3) {
		s.fault = faultReset
		cut = left / 2
	}
	st.held += max(cut, 0)
	return s
}

// part is a 206 of the script's own, right or wrong.
func (d dice) part(st *state) step {
	from, to, total := st.held, st.size-1, fmt.Sprint(st.size)
	switch d.IntN(9) {
	case 0:
		from++
	case 1:
		from = max(from-1, 0)
	case 2:
		total = fmt.Sprint(st.size + 1)
	case 3:
		total = "*"
	case 4:
		to = min(to, from+max((to-from)/2, 0))
	case 5:
		to++
	}
	from = min(from, to)
	s := step{status: 206, etag: pick(d, "", st.etag, st.etag, `"v2"`), chunked: d.once(25)}
	size := to - from + 1
	if d.once(15) {
		size += int64(d.IntN(3) - 1)
	}
	s.body = content{version: 2, size: max(min(size, 3000), 0)}
	s.fields = []option{{"Content-Range", fmt.Sprintf("bytes %d-%d/%s", from, to, total)}}
	if d.once(5) {
		s.fields = append(s.fields, s.fields[0])
	}
	if d.once(10) {
		d.breakOff(&s)
	}
	return s
}

// stub: a keyed request on a server that remembers.
func (d dice) stub(s *scenario) {
	s.idempotent = true
	for range 1 + d.IntN(5) {
		st := plain(pick(d, 201, 200, 503, 500, 409, 429, 422))
		switch d.IntN(4) {
		case 0:
			st.fault, st.effect = faultLost, true
		case 1:
			st.effect = true
		case 2:
			d.delay(&st)
		}
		s.steps = append(s.steps, st)
	}
}
