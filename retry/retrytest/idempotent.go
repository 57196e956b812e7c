package retrytest

import (
	"net/http"
	"slices"
)

// keyedResult is what the idempotent stub remembers of a key.
type keyedResult struct {
	body string // SHA-256 of the first request's
	busy bool   // it is still being answered
	step *step  // what it was answered; nil until then
}

// choose picks the step of a request for the control function or on an idempotent
// route, now that its body is known.
func (s *Server) choose(x *exchange) {
	if x.control {
		reply := s.cfg.control(s, &x.req)
		x.st = step{status: reply.Status, times: 1, size: -1, read: forever, hasBody: true, body: string(reply.Body)}
		x.st.header = []Field{{"Content-Type", reply.Type}}
		return
	}
	if !x.keyed {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.script.match(x.req.Method, x.req.Path)
	if i < 0 { // another script came in between
		x.st = noRoute()
		return
	}
	key := x.req.Get("Idempotency-Key")
	if key == "" {
		x.st = builtin(http.StatusBadRequest, "no Idempotency-Key")
		return
	}
	key = x.req.route() + " " + key
	first := s.results[key]
	switch {
	case first == nil:
	case first.body != x.req.BodySHA256:
		x.st = builtin(http.StatusUnprocessableEntity, "another body under the same Idempotency-Key")
		return
	case first.busy:
		x.st = builtin(http.StatusConflict, "the first request is still in progress")
		return
	case first.step != nil:
		x.st = replay(first.step)
		return
	}
	x.st, x.ranOut = s.next(i)
	x.st.effect = x.st.effect || x.st.status >= 200 && x.st.status < 300
	result := &keyedResult{body: x.req.BodySHA256, busy: true}
	if x.st.effect {
		answered := x.st
		result.step = &answered
	}
	results := s.results
	results[key] = result
	x.settle = func() {
		if result.busy = false; result.step == nil && results[key] == result {
			delete(results, key) // nothing was done: the next request is the first
		}
	}
}

// replay is a stored answer, whole this time and without a second effect.
func replay(first *step) step {
	st := *first
	st.src += " (replayed)"
	st.interim, st.effect, st.lost, st.end, st.stall, st.delay = nil, false, false, endNone, 0, 0
	st.header = append(slices.Clone(st.header), Field{"Idempotent-Replayed", "true"})
	return st
}
