package retrytest

import (
	"strconv"
	"strings"
)

// parser turns a script's text into routes.
type parser struct {
	scanner
	routes   []route
	heads    map[string]bool // method and path of the routes so far
	needHead bool            // the first route must have a head, too
}

// ParseScript reports what is wrong with a script, without a server. The error is
// a *ScriptError. Files that it names are not looked at.
func ParseScript(text string) error {
	_, err := parseScript(text)
	return err
}

// ScriptFiles lists the files that a script names (body=@FILE). The error is a *ScriptError.
func ScriptFiles(text string) ([]string, error) {
	sc, err := parseScript(text)
	if err != nil {
		return nil, err
	}
	return sc.files(), nil
}

// files are the body files, in the order of the steps.
func (sc *script) files() []string {
	var all []string
	for _, r := range sc.routes {
		for i := range r.steps {
			if f := r.steps[i].bodyFile; f != "" {
				all = append(all, f)
			}
		}
	}
	return all
}

// ParseRoute is ParseScript for a text in which each route must have its head,
// so that it can be put after another script.
func ParseRoute(text string) error {
	p := newParser(text)
	p.needHead = true
	_, err := p.script()
	return err
}

func newParser(text string) *parser {
	return &parser{scanner: scanner{src: text}, heads: map[string]bool{}}
}

// parseScript reads a whole script. The error is a *ScriptError.
func parseScript(text string) (*script, error) {
	return newParser(text).script()
}

// script reads it all.
func (p *parser) script() (*script, error) {
	p.gaps()
	if p.pos == len(p.src) {
		p.fail(p.pos, "", stepExpected)
	}
	for p.err == nil && p.pos < len(p.src) {
		p.route(len(p.routes) == 0 && !p.needHead)
		p.gaps()
	}
	if p.err != nil {
		return nil, p.err
	}
	return &script{routes: p.routes}, nil
}

// maxInterim bounds the repetitions of a 1xx step.
const maxInterim = 100

const stepExpected = "a step (a status such as 503, or a fault such as reset)"

// route reads a head (which only the first route may lack), steps, "then=" and
// the options in brackets.
func (p *parser) route(first bool) {
	r := route{then: thenLast}
	at := p.pos
	if !p.head(&r) && !first {
		expected := "a route such as \"POST /jobs:\""
		if len(p.routes) > 0 {
			expected += " after the options of the one before"
		}
		p.fail(p.pos, p.rest(), expected)
		return
	}
	key := r.method + " " + r.path
	if p.heads[key] {
		p.fail(at, strings.TrimRight(p.src[at:p.pos], " \t\r\n,"), "a route that was not given before")
	}
	p.heads[key] = true
	p.steps(&r)
	if p.err != nil {
		return
	}
	if len(r.steps) == 0 {
		p.fail(p.pos, p.rest(), stepExpected)
		return
	}
	p.routes = append(p.routes, r)
}

// head reads "METHOD /path:", "/path:" or "*:" if one stands here.
func (p *parser) head(r *route) bool {
	start := p.pos
	w := p.word()
	if p.err == nil && isMethod(w.text) {
		p.blanks()
		if c := p.peek(); c == '/' || c == '*' || c == '\'' || c == '"' {
			r.method = w.text
			w = p.word()
		}
	}
	path, ok := strings.CutSuffix(w.text, ":")
	switch {
	case p.err == nil && ok && strings.HasPrefix(path, "/"):
		r.path = path
	case p.err == nil && ok && path == "*":
	case p.err == nil && r.method != "":
		p.failWord(w, "a path that begins with / and ends with a colon")
	default:
		p.err, p.pos = nil, start // no head: the step's parser says what is wrong
		return false
	}
	p.gaps()
	return true
}

// startsRoute reports whether a route's head stands here.
func (p *parser) startsRoute() bool {
	look := parser{scanner: scanner{src: p.src, pos: p.pos}}
	return look.head(&route{}) || look.err != nil
}

// steps reads a route's steps up to its options, the next head or the end.
func (p *parser) steps(r *route) {
	var interim []step
	for p.err == nil {
		p.gaps()
		if p.pos == len(p.src) || p.startsRoute() {
			break
		}
		if p.peek() == '[' {
			if len(r.steps) == 0 {
				p.fail(p.pos, p.rest(), stepExpected+" before the route's options")
			}
			p.routeOptions(r)
			break
		}
		start := p.pos
		first := p.word()
		if value, ok := strings.CutPrefix(first.text, "then="); ok {
			p.thenWord(r, first, value)
			break
		}
		s := p.step(start, first)
		switch {
		case p.err != nil:
		case s.status >= 100 && s.status < 200 && s.status != 101:
			if s.times == forever || s.times > maxInterim {
				p.fail(start, s.src, "a 1xx step at most x"+strconv.Itoa(maxInterim))
				break
			}
			for range s.times {
				interim = append(interim, s)
			}
		default:
			s.interim, interim = interim, nil
			r.steps = append(r.steps, s)
		}
	}
	if p.err == nil && interim != nil {
		p.fail(p.pos, p.rest(), "a final answer after the 1xx step")
	}
}

// thenWord reads what follows "then=": options in brackets may, a step may not.
func (p *parser) thenWord(r *route, w word, value string) {
	switch t := then(value); t {
	case thenLast, thenFail, thenLoop:
		r.then = t
	default:
		p.failWord(w, "then=last, then=fail or then=loop")
		return
	}
	p.gaps()
	switch {
	case p.peek() == '[':
		p.routeOptions(r)
	case p.pos < len(p.src) && !p.startsRoute():
		p.fail(p.pos, p.rest(), "the end of the route after "+w.text)
	}
}

const optionExpected = "a route option (idempotent, bucket=5/s, burst=10, window=100/10s) or ]"

// routeOptions reads "[idempotent]" and the limiters.
func (p *parser) routeOptions(r *route) {
	p.pos++
	for p.err == nil {
		p.blanks()
		if p.peek() == ']' {
			p.pos++
			return
		}
		w := p.word()
		switch {
		case p.err != nil || p.limitOption(r, w):
		case w.text == "idempotent":
			r.idempotent = true
		case w.end == w.start:
			p.fail(p.pos, p.rest(), optionExpected)
		default:
			p.failWord(w, optionExpected)
		}
	}
}

// step reads one step whose first word is first.
func (p *parser) step(start int, first word) step {
	s := step{times: 1, size: -1, read: forever, lastStream: forever}
	if n, err := strconv.Atoi(first.text); err == nil && len(first.text) == 3 && n >= 100 {
		s.status = n
	} else if !p.fault(&s, first) && p.err == nil {
		p.failWord(wordOr(p, first), stepExpected)
	}
	end := p.pos
	for p.err == nil {
		p.blanks()
		if c := p.peek(); p.pos == len(p.src) || isSeparator(c) || c == '[' {
			break
		}
		w := p.word()
		if p.err != nil {
			break
		}
		if !p.fault(&s, w) && p.err == nil && !p.option(&s, w) && p.err == nil {
			p.failWord(wordOr(p, w), "an option of the step (such as retry-after=2, body=text or x3), a comma or a new line")
		}
		end = p.pos
	}
	s.src = p.src[start:end]
	p.settle(&s, first)
	return s
}

// wordOr widens an empty word to the character that stopped it, so that an
// error always shows something.
func wordOr(p *parser, w word) word {
	if w.end == w.start && w.end < len(p.src) {
		w.end++
	}
	return w
}

// settle checks what only the whole step shows, and fills in what follows.
func (p *parser) settle(s *step, first word) {
	if p.err != nil {
		return
	}
	bodyFault := s.end == endTruncate || s.end == endCloseAfter || s.dripBytes > 0
	if s.status == 0 && bodyFault {
		s.status = 200
		if !s.hasBody && s.size < 0 {
			s.size = max(2*s.endBytes, 10*s.dripBytes)
		}
	}
	switch {
	case s.status == 0 && s.stall == 0 && s.end == endNone:
		p.failWord(first, stepExpected)
	case s.status > 0 && s.end == endGarbage && !s.chunked:
		p.failWord(first, "garbage alone, or after a status with chunked")
	case s.status > 0 && s.end == endRaw:
		p.failWord(first, "raw=... alone, without a status")
	case s.lost && !s.effect:
		p.failWord(first, "effect before lost")
	case s.lost && s.end != endNone:
		p.failWord(first, "lost or another fault, not both")
	case len(s.trailer) > 0 && !s.chunked:
		p.failWord(first, "chunked with trailer=...")
	case s.chunked && (s.noLength || s.http10):
		p.failWord(first, "chunked, or no-length and http=1.0, not both")
	case s.hasBody && s.size >= 0:
		p.failWord(first, "body=... or size=..., not both")
	}
}

// rest is the text at the position up to the end of its word, for messages.
func (p *parser) rest() string {
	end := p.pos
	for end < len(p.src) && !isBlank(p.src[end]) && !isSeparator(p.src[end]) {
		end++
	}
	if end == p.pos && end < len(p.src) {
		end++
	}
	return p.src[p.pos:end]
}

func isMethod(s string) bool {
	if s == "*" {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'A' || c > 'Z') && c != '-' {
			return false
		}
	}
	return s != ""
}
