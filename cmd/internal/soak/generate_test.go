package soak

import (
	"fmt"
	"math/rand/v2"

	"strconv"
	"strings"
)

// dice draws scenarios.
type dice struct{ *rand.Rand }

// once is true in n of 100 cases.
func (d dice) once(n int) bool { return d.IntN(100) < n }

func pick[T any](d dice, all ...T) T { return all[d.IntN(len(all))] }

// generate draws the scenario of a seed.
func generate(seed uint64) *scenario {
	d := dice{rand.New(rand.NewPCG(seed, 0x50a4))}
	for {
		s := d.scenario()
		if s.valid() == "" {
			return s
		}
	}
}

func (d dice) scenario() *scenario {
	s := &scenario{}
	d.request(s)
	theme := pick(d, d.statuses, d.statuses, d.resumes, d.resumes, d.redirects, d.mixed, d.stub)
	theme(s)
	d.patience(s)
	d.judgement(s)
	d.output(s)
	s.second = d.once(15)
	if s.has("-o") && d.once(40) {
		s.add("-C", "-")
		s.second, s.runs = false, 1+d.IntN(3)
	}
	if d.once(12) {
		d.overHTTP2(s)
	}
	s.tls = d.once(5)
	d.Shuffle(len(s.flags), func(i, j int) { s.flags[i], s.flags[j] = s.flags[j], s.flags[i] })
	return s
}

func (s *scenario) add(name string, value ...string) {
	f := option{name: name}
	if len(value) > 0 {
		f.value = value[0]
	}
	s.flags = append(s.flags, f)
}

// request draws method, body, key and credentials.
func (d dice) request(s *scenario) {
	body := func() { s.add(pick(d, "-d", "--json"), bodyText) }
	switch n := d.IntN(100); {
	case n < 55:
	case n < 62:
		s.add("-I")
	case n < 84:
		switch d.IntN(4) {
		case 0:
			s.add("-d", "@{dir}/"+bodyName)
		case 1:
			s.add("--data-binary", "@-")
		default:
			body()
		}
	case n < 91:
		s.add("-T", pick(d, "{dir}/"+bodyName, "-"))
	default:
		s.add("-X", pick(d, "DELETE", "PATCH", "QUERY", "delete", "PUT"))
		if d.once(70) {
			body()
		}
	}
	if d.once(map[bool]int{true: 50, false: 6}[s.has("-d", "--json", "--data-binary", "-T", "-X")]) {
		switch d.IntN(4) {
		case 0:
			s.add("--idempotency-key", "auto")
		case 1:
			s.add("-H", "Idempotency-Key: order 7")
		default:
			s.add("--idempotency-key", "order-7")
			if d.once(30) {
				s.add("--idempotency-header", "X-Request-Token")
			}
		}
	}
	if d.once(15) {
		s.add("-H", "Authorization: Bearer "+secret)
	}
}

// secret must not show anywhere.
const secret = "s3cr3t-0451"

// patience draws attempts, waits and time limits.
func (d dice) patience(s *scenario) {
	seldom := func(percent int, name string, values ...string) {
		if d.once(percent) {
			s.add(name, pick(d, values...))
		}
	}
	if d.once(60) {
		s.add(pick(d, "--attempts", "--attempts", "--retry"), pick(d, "1", "2", "2", "3", "4", "5", "6"))
	} else if d.once(10) {
		s.add("--attempts", "unlimited")
	}
	if d.once(10) {
		s.add("--retry-delay", pick(d, "0", "2", "0.5", "400"))
	} else {
		seldom(40, "--base", "0", "0.2", "500ms", "1", "1.5", "4", "7ns")
		seldom(15, "--backoff", "exponential", "fixed")
	}
	seldom(25, "--cap", "4", "5", "10", "1m30s", "0", "7.000000001")
	seldom(25, "--jitter", "0", "1", "0.5", "0.1", "0.333333333")
	seldom(15, "--jitter-mode", "full", "spread")
	seldom(15, "--retry-after-mode", "replace", "minimum")
	seldom(20, "--deadline", "1", "3", "5", "12", "20", "3.3", "6.600000000")
	seldom(8, "--attempt-reserve", "0", "1", "500ms")
	seldom(15, "-m", "1", "3", "0.5", "12")
	seldom(10, "--retry-max-time", "0", "1", "3", "10")
	seldom(15, "--max-resumes", "0", "1", "2")
}

// judgement draws what is worth another attempt and safe to send again.
func (d dice) judgement(s *scenario) {
	if d.once(15) {
		s.add("--idempotent")
	}
	if d.once(12) {
		s.add("--safe-on", pick(d, "429", "429,503", "500,502", "503"))
	}
	if d.once(20) {
		s.add("--retry-on", pick(d, "+404", "-503", "+4xx,-404", "503,429", "5xx", "+202", "+protocol", "-truncated", "-closed,-timeout",
			"truncated", "-409", "+413", "-4xx", "+2xx", "closed, 503", "+410,-410", "-421"))
	}
	if d.once(10) {
		s.add("--retry-all-errors")
	}
	if d.once(15) {
		s.add("--rate-limit-headers")
	}
}

// output draws where the answer goes.
func (d dice) output(s *scenario) {
	if d.once(45) {
		s.add("-o", "{dir}/"+outName)
		if d.once(60) {
			old := pick(d, "what was there before\n", "", "0123456789")
			s.existing = &old
		}
	}
	switch d.IntN(8) {
	case 0:
		s.add("-f")
	case 1:
		s.add("--fail-with-body")
	case 2:
		s.add("--no-fail")
	}
	if d.once(15) {
		s.add("-i")
	}
	if d.once(15) {
		s.add("-D", "{dir}/"+headName)
	}
	if d.once(6) {
		s.add("-N")
	}
	if d.once(10) {
		s.add("-s")
	}
	if d.once(3) {
		s.add("--raw")
	}
}

// valid says why the scenario proves nothing, or has no defined outcome; "" if
// it is good.
func (s *scenario) valid() string {
	g := s.settings()
	switch {
	case len(s.steps) == 0:
		return "a script has steps"
	case g.attempts == 0 && (g.deadline == 0 || g.deadline > 20e9 || g.base < 100e6):
		return "unlimited attempts end by a deadline alone"
	case g.cap > 0 && g.base > g.cap:
		return "a base over the cap is a usage error"
	case s.has("-I") && s.has("-X", "-d", "--json"):
		return "-I has no body"
	case s.has("-X") && s.has("-T"):
		return "not drawn"
	case g.resume != (s.runs > 0), g.resume && (s.second || s.idempotent || !g.file || g.key == "auto"),
		g.resume && s.has("-I", "-i", "-D", "-N", "-d", "--json", "--data-binary", "-T", "-X", "-L", "--location-trusted", "--raw"):
		return "-C - is for a plain download to a file"
	case s.http2 && (s.crosses() || s.has("-i", "-I", "-D", "--raw") || strings.Contains(fmt.Sprint(s.flags), "{-T -}")):
		return "heads and origins are compared on HTTP/1.1"
	case s.second && (s.has("-T", "--data-binary") || g.key != "" && g.key != "auto"):
		return "two URLs share neither standard input nor a key"
	case s.idempotent && s.has("--idempotency-header"):
		return "the stub knows one name of the key"
	}
	for i := range s.steps {
		if why := s.validStep(&s.steps[i], &g); why != "" {
			return why
		}
	}
	return ""
}

// validStep refuses what leaves the order of events to the network: a
// connection that is closed unannounced after a whole answer may or may not be
// used again.
func (s *scenario) validStep(st *step, g *settings) string {
	inBody := st.status > 0 && st.fault != "" && st.fault != faultCloseAfter && st.fault != faultLost
	size := st.body.length(st.status)
	switch {
	case s.http2 && (st.chunked || st.noLength || st.http10 || st.interim || st.fault == faultCloseAfter || st.fault == faultGarbage),
		!s.http2 && (st.fault == faultRefuse || st.fault == faultGoAway):
		return "not of this version of HTTP"
	case st.fault == faultStall && g.maxTime == 0 && g.deadline == 0:
		return "silence without a limit has no end"
	case st.fault == faultStall && st.status > 0 && g.resume:
		return "what stays of a silent body is a race"
	case st.fault == faultStall && st.status > 0 && !s.quietBody(st, g):
		return "how much of the body came before the limit is a race"
	case st.status == 0 && st.fault == "":
		return "a step does something"
	case g.cap == 0 && strings.Contains(strings.Join(st.retryAfter, " "), "999999"):
		return "a wait without end"
	case st.chunked && s.has("--raw"):
		return "the framing would be part of the body"
	case st.fault == faultLost && !st.effect:
		return "what is lost has its effect"
	case s.idempotent && (st.status == 0 || st.location != ""):
		return "what the stub remembers of a broken request is a race"
	case !inBody:
		return ""
	case s.has("-I") || st.status/100 == 3 || st.status == 204:
		return "there is no body to break"
	case st.chunked != (st.fault == faultGarbage) && st.fault == faultGarbage:
		return "garbage in a body is a chunk"
	case st.fault == faultTruncate && st.cut >= size, size < 2:
		return "nothing would be cut off"
	case st.fault == faultReset && size > 32<<10:
		return "a reset overtakes what the socket buffers do not hold"
	case st.noLength && st.fault == faultTruncate:
		return "the connection's end would be the body's"
	}
	for _, other := range s.steps {
		if st.ranges && other.body.size > size {
			return "a fault behind a 416"
		}
	}
	return ""
}

// quietBody reports whether nothing but the timeout tells of a body that falls
// silent: not how much of it has come, nor whether its head had been read.
func (s *scenario) quietBody(st *step, g *settings) bool {
	return st.status == 200 && g.named("200") != putIn && st.etag == "" && st.modified == "" && st.retryAfter == nil && st.fields == nil &&
		!s.has("-i", "-D", "-N", "-I") && st.body.length(200) < holdLimit
}

// at is a date that many seconds from the start of the play.
func at(seconds int, layout string) string {
	return wallStart().Add(secondsOf(seconds)).Format(layout)
}

const imf = "Mon, 02 Jan 2006 15:04:05 GMT"

// delay draws Retry-After lines.
func (d dice) delay(st *step) {
	st.retryAfter = append(st.retryAfter, d.delayLine())
	if d.once(15) {
		st.retryAfter = append(st.retryAfter, d.delayLine())
	}
	if d.once(50) {
		st.date = at(d.IntN(180)-90, imf)
	}
	if d.once(12) {
		st.age = strconv.Itoa(d.IntN(60))
	}
}

func (d dice) delayLine() string {
	switch n := d.IntN(100); {
	case n < 55:
		return pick(d, "0", "1", "2", "3", "3", "5", "7", "10", "004")
	case n < 62:
		return pick(d, "86400", "301", "99999999999999999999", "60")
	case n < 82:
		layout := pick(d, imf, "Monday, 02-Jan-06 15:04:05 GMT", "Mon Jan _2 15:04:05 2006")
		return at(d.IntN(30)-8, layout)
	case n < 85:
		return strings.Replace(at(4, imf), "Sun", "Mon", 1)
	}
	return pick(d, "-1", "1.5", "soon", "1e3", "+2", "5, 10", "0x5", "", "3 s", at(3, "Mon, 02 Jan 2006 15:04:05 UTC"))
}

// limits draws the fields of R5.7.
func (d dice) limits(st *step) {
	st.fields = append(st.fields, pick(d,
		[]option{{"retry-after-ms", "2500"}}, []option{{"x-ms-retry-after-ms", "1"}},
		[]option{{"RateLimit-Reset", "3"}, {"RateLimit-Remaining", "0"}}, []option{{"RateLimit-Reset", "3"}, {"RateLimit-Remaining", "5"}},
		[]option{{"X-RateLimit-Reset-After", "1.25"}, {"X-RateLimit-Remaining", "0"}},
		[]option{{"X-RateLimit-Reset", "4"}, {"X-RateLimit-Remaining", "0"}},
		[]option{{"X-RateLimit-Reset", strconv.FormatInt(wallStart().Unix()+9, 10)}, {"X-RateLimit-Remaining", "0"}},
		[]option{{"X-RateLimit-Remaining", "0"}},
		[]option{{"retry-after-ms", "soon"}},
	)...)
}
